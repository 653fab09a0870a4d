"""Real pages of Debian's documentation packages, of this release and of others.

A package that is not installed is fetched by apt and unpacked below a directory, without root;
those of another release by a list of sources of our own, signed by Debian as any.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path("usr/share/doc")
MIRROR = "http://deb.debian.org/debian"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
_MOST_BYTES = 1 << 19


@dataclass(frozen=True, slots=True)
class Package:
    """Where the HTML of a package is. `release`: of Debian, if not the machine's own."""

    name: str
    html: str
    release: str = ""


POSTGRES_13 = Package("postgresql-doc-13", "postgresql-doc-13/html", "bullseye")
POSTGRES_15 = Package("postgresql-doc-15", "postgresql-doc-15/html")
POSTGRES_17 = Package("postgresql-doc-17", "postgresql-doc-17/html", "trixie")
PYTHON_311 = Package("python3.11-doc", "python3.11/html")
PYTHON_313 = Package("python3.13-doc", "python3.13/html", "trixie")
JAVA_17 = Package("openjdk-17-doc", "openjdk-17-jre-headless/api")


def pages(package: Package, cache: Path) -> dict[str, bytes]:
    """The package's pages by path; the longest, of half a megabyte, are left out."""
    return dict(_read(root(package, cache)))


def root(package: Package, cache: Path) -> Path:
    """Where the pages are: as installed, as fetched before, or as fetched now."""
    fetched = cache / f"{package.name}-{package.release or 'own'}"
    for base in (Path("/"), fetched):
        if (found := base / DOCS / package.html).is_dir():
            return found
    fetch(package, fetched)
    return fetched / DOCS / package.html


class NotFetched(Exception):
    """A package that is neither installed nor to be had."""


def fetch(package: Package, directory: Path) -> None:
    """Have apt fetch a package, and unpack it here; nothing is installed."""
    directory.mkdir(parents=True, exist_ok=True)
    options = _other_release(package.release, directory.resolve()) if package.release else []
    if options:
        _run(package, directory, "apt-get", "--quiet", *options, "update")
    _run(package, directory, "apt-get", "--quiet", *options, "download", package.name)
    for file in directory.glob(f"{package.name}_*.deb"):
        _run(package, directory, "dpkg-deb", "--extract", file.name, ".")


def _run(package: Package, directory: Path, *command: str) -> None:
    try:
        subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or error
        release = f" of {package.release}" if package.release else ""
        raise NotFetched(
            f"the experiment needs the Debian package {package.name}{release}; it is not "
            f"installed, and apt cannot fetch it: {said}"
        ) from error


def _other_release(release: str, directory: Path) -> list[str]:
    """apt's options for a list of sources of our own."""
    for name in ("lists/partial", "cache/archives/partial"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    sources = directory / "sources.list"
    sources.write_text(f"deb [signed-by={KEYS}] {MIRROR} {release} main\n")
    settings = {
        "Dir::Etc::sourcelist": sources, "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": directory / "lists", "Dir::Cache": directory / "cache",
        "APT::Sandbox::User": "root",
    }  # fmt: skip
    return [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]


def _read(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*.html")):
        if path.is_file() and 0 < path.stat().st_size <= _MOST_BYTES:
            yield path.relative_to(folder).as_posix(), path.read_bytes()
