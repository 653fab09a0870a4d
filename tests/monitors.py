"""Prometheus, Alertmanager and their tools, always the same: what tests and `make watch`
run.

`make monitors` (or `python -m tests.monitors`) fetches Debian's packages, each known by its
checksum, from where this machine's apt has its packages from, and unpacks the programs into
`.monitors`: nothing is installed, and no root is needed. Where a mirror has another version by now,
or the machine is of another kind, those are taken that apt has there and knows to be sound.
"""

from __future__ import annotations

import io
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.corpora import NotFetched, Package, data_of, fetch

MONITORS = Path(__file__).resolve().parents[1] / ".monitors"
PROMETHEUS = Package(
    "prometheus", "2.42.0+ds-5+deb12u1", "prometheus", "usr/bin",
    "81d59a24fce84f7fbe97a45a4f2914b6a5881b5cd1db2a6a0e129e515e1a5f55", "amd64",
)  # fmt: skip
ALERTMANAGER = Package(
    "prometheus-alertmanager", "0.25.0-1+b4", "prometheus-alertmanager", "usr/bin",
    "4fb9aed15cfe8e0c32408e643ab32a1e41ee87d2cc26f18aeba928b1b0b98ae7", "amd64",
)  # fmt: skip
# Each program, by the name that Debian gives it.
PROGRAMS = {
    "prometheus": (PROMETHEUS, "prometheus"),
    "promtool": (PROMETHEUS, "promtool"),
    "alertmanager": (ALERTMANAGER, "prometheus-alertmanager"),
    "amtool": (ALERTMANAGER, "amtool"),
}


# What Debian's Alertmanager reads as it starts, and where: below where packages are installed.
TEMPLATES = "usr/share/prometheus/alertmanager"
_INSTALLED = f"/{TEMPLATES}".encode()
# Ours looks in the directory where it is started. As long as the other: it stands in the program.
_HERE = b"./" * (len(_INSTALLED) // 2)


def program(name: str, directory: Path = MONITORS) -> Path:
    """Where a program is. Raises NotFetched, with what provides it."""
    _, installed = PROGRAMS[name]
    found = directory / name
    if found.exists():
        return found
    there = shutil.which(installed) or shutil.which(name)
    if there is None:
        raise NotFetched(
            f"{name} is not here: `make monitors` fetches it; where that fails, install Debian's "
            "packages prometheus and prometheus-alertmanager"
        )
    return Path(there)


def unpack(directory: Path = MONITORS) -> None:
    """Put the programs into the directory, unless they are there."""
    for package in (PROMETHEUS, ALERTMANAGER):
        mark = directory / f"{package.name}.sha256"
        if mark.exists() and mark.read_text() == package.sha256:
            continue
        file = _package_file(package, directory)
        _unpack(package, file, directory)
        file.unlink()
        mark.write_text(package.sha256)  # last: what was cut short is unpacked anew


def _package_file(package: Package, directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    try:
        if platform.machine() == "x86_64":
            return fetch(package, directory)
        raise NotFetched(f"{package.file} is not for {platform.machine()}")
    except NotFetched as error:
        found = _of_apt(package, directory)
        if found is None:
            raise NotFetched(
                f"{error}; nor does `apt-get download {package.name}` bring it"
            ) from error
        return found


def _of_apt(package: Package, directory: Path) -> Path | None:
    """The version that apt has, which it checks itself."""
    try:
        subprocess.run(
            ["apt-get", "download", package.name], cwd=directory, check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return next(directory.glob(f"{package.name}_*.deb"), None)


def _unpack(package: Package, file: Path, directory: Path) -> None:
    mine = {there: name for name, (which, there) in PROGRAMS.items() if which is package}
    with tarfile.open(fileobj=io.BytesIO(data_of(file))) as archive:
        for member in archive:
            folder, _, there = member.name.removeprefix("./").rpartition("/")
            wanted = {package.html: mine.get(there), TEMPLATES: there}.get(folder)
            content = archive.extractfile(member) if wanted and member.isfile() else None
            if wanted and content is not None:
                _write(directory / wanted, content.read().replace(_INSTALLED, _HERE))


def _write(target: Path, content: bytes) -> None:
    partial = target.with_name(f"{target.name}.partial")
    partial.write_bytes(content)
    partial.chmod(0o755)
    partial.replace(target)


def main() -> int:
    """Unpack them, or say what is wanted instead."""
    try:
        unpack()
    except NotFetched as error:
        try:
            for name in PROGRAMS:
                program(name)
        except NotFetched:
            print(error, file=sys.stderr)  # noqa: T201
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
