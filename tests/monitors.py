"""Prometheus, Alertmanager and their tools, always the same: what tests and `make watch`
run.

`make monitors` (or `python -m tests.monitors`) fetches Debian's packages, each known by its
checksum, from where this machine's apt has its packages from, and unpacks the programs into
`.monitors`: nothing is installed, and no root is needed.
"""

from __future__ import annotations

import io
import platform
import shutil
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
            f"{name} is not here: `make monitors` fetches it; elsewhere than on amd64, install "
            "Debian's packages prometheus and prometheus-alertmanager"
        )
    return Path(there)


def unpack(directory: Path = MONITORS) -> None:
    """Put the programs into the directory, unless they are there."""
    for package in (PROMETHEUS, ALERTMANAGER):
        mine = {
            there: name for name, (which, there) in PROGRAMS.items() if which is package
        }  # fmt: skip
        mark = directory / f"{package.name}.sha256"
        if mark.exists() and mark.read_text() == package.sha256:
            continue
        file = fetch(package, directory)
        with tarfile.open(fileobj=io.BytesIO(data_of(file))) as archive:
            for member in archive:
                folder, _, there = member.name.removeprefix("./").rpartition("/")
                wanted = {package.html: mine.get(there), TEMPLATES: there}.get(folder)
                content = archive.extractfile(member) if wanted and member.isfile() else None
                if wanted and content is not None:
                    found = content.read()
                    _write(directory / wanted, found.replace(_INSTALLED, _HERE))
        file.unlink()
        mark.write_text(package.sha256)  # last: what was cut short is unpacked anew


def _write(target: Path, content: bytes) -> None:
    partial = target.with_name(f"{target.name}.partial")
    partial.write_bytes(content)
    partial.chmod(0o755)
    partial.replace(target)


def main() -> int:
    """Unpack them, or say what is wanted instead."""
    if platform.machine() not in ("x86_64", "AMD64"):
        try:
            for name in PROGRAMS:
                program(name)
        except NotFetched as error:
            print(error, file=sys.stderr)  # noqa: T201
            return 2
        return 0
    try:
        unpack()
    except NotFetched as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
