"""Real pages to measure with: the HTML of Debian's documentation packages, always the same.

`make corpora` (or `python -m tests.corpora`) fetches the package files into `.corpora`, each known
by its checksum, from where this machine's apt has its packages from; `make bench` and `make
experiments` do so first. Pages are read out of these files: nothing is installed, and what
documentation the machine has plays no part. The tests of the product need none of it.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

CORPORA = Path(__file__).resolve().parents[1] / ".corpora"
_POOLS = ("pool/main", "pool/updates/main")
_SECONDS = 60
# A page of a megabyte would be a tenth of all bytes.
_MOST_BYTES = 1 << 19
# A Debian package is an archive of `ar`: this mark, then members after heads of 60 bytes.
_AR_MARK, _AR_HEAD = b"!<arch>\n", 60


class NotFetched(Exception):
    """A package file that cannot be had, or is not the one that is wanted."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package file. `source`: the source package, a folder of the mirrors; `html`: where in it
    the pages stand, or whatever is wanted."""

    name: str
    version: str
    source: str
    html: str
    sha256: str
    architecture: str = "all"

    @property
    def file(self) -> str:
        """Its name on the mirrors, and here."""
        return f"{self.name}_{self.version}_{self.architecture}.deb"

    def addresses(self, mirrors: Sequence[str]) -> list[str]:
        """Where it may be had, the likely place first."""
        path = f"{self.source[0]}/{self.source}/{quote(self.file)}"
        return [f"{mirror}/{path}" for mirror in mirrors]


POSTGRES_13 = Package(
    "postgresql-doc-13", "13.23-0+deb11u4", "postgresql-13",
    "usr/share/doc/postgresql-doc-13/html",
    "61feae0ac11f0e4d14a7d0faae760fa16bbd4499feb065cf02f588d463631e9b",
)  # fmt: skip
POSTGRES_15 = Package(
    "postgresql-doc-15", "15.20-0+deb12u1", "postgresql-15",
    "usr/share/doc/postgresql-doc-15/html",
    "4c44bf2c599f208b3f46454a6cf7a72e25ec46ff74d37b59dd31ad76b00eebb7",
)  # fmt: skip
POSTGRES_17 = Package(
    "postgresql-doc-17", "17.12-0+deb13u1", "postgresql-17",
    "usr/share/doc/postgresql-doc-17/html",
    "d2bcd368b73c1a908043f337f794dd1b0aaf6062724313b1211d9edd0e6289c3",
)  # fmt: skip
PYTHON_311 = Package(
    "python3.11-doc", "3.11.2-6+deb12u9", "python3.11", "usr/share/doc/python3.11/html",
    "5b3594189d6ef9a6963ce0347fd307a1cc67620ad697e144db366070e2e146be",
)  # fmt: skip
PYTHON_313 = Package(
    "python3.13-doc", "3.13.5-2+deb13u5", "python3.13", "usr/share/doc/python3.13/html",
    "a8a924637eeb25e666df5bbf7660ae09eb280be9effa39f9f6929e7a452bf65c",
)  # fmt: skip
JAVA_17 = Package(
    "openjdk-17-doc", "17.0.21+9-1~deb12u1", "openjdk-17",
    "usr/share/doc/openjdk-17-jre-headless/api",
    "27fdc1ab97af0f09e2a10f8baf039c35e0d7d663c7f4898cbe880a193ddfaf6a",
)  # fmt: skip
EIGEN_34 = Package(
    "libeigen3-doc", "3.4.0-4", "eigen3", "usr/share/doc/libeigen3-dev/html",
    "87fc424386cef92f58d0594936fa668d1b73d6e52232d2f99369e3e66aa5c0ff",
)  # fmt: skip
FREE_PASCAL_32 = Package(
    "fp-docs-3.2.2", "3.2.2+dfsg-20", "fpc", "usr/share/doc/fp-docs/3.2.2",
    "17dafb8b4dc5098bad1373dea7a414dacaef9017b6085c41f28b4e455da2b04e",
)  # fmt: skip
GHC_90 = Package(
    "ghc-doc", "9.0.2-4", "ghc", "usr/share/doc/ghc-doc/html/libraries",
    "a7c77e36c8906f82eef411ceeba13b7d663b7766a5ecc6659e3405889e0429c9",
)  # fmt: skip
RUST_163 = Package(
    "rust-doc", "1.63.0+dfsg1-2", "rustc", "usr/share/doc/rust-doc/html",
    "96ef96fe6df87d939ca713bd7df3d15c2b778ccb892eca025c4ee504146f697b",
)  # fmt: skip
ERLANG_25 = Package(
    "erlang-doc", "25.2.3+dfsg-1+deb12u4", "erlang", "usr/share/doc/erlang-doc",
    "7d172cecfdd9c2930b27c776ad226ffcc84670375cf830c79ee41c6944e8a1c8",
)  # fmt: skip
LILYPOND_224 = Package(
    "lilypond-doc-html", "2.24.1-2", "lilypond", "usr/share/doc/lilypond/html/Documentation",
    "be9fb743e58bd5ad4710146fe05e7c5f447fe4559e42c6acef1916d53e4bec60",
)  # fmt: skip
SCALA_211 = Package(
    "scala-doc", "2.11.12-5", "scala", "usr/share/doc/scala-2.11/api",
    "9937bcdc5a21c74ab40d4290228076dd119c166d3f032068f3755a559b185cce",
)  # fmt: skip
BENCHMARKS = (POSTGRES_15, PYTHON_311)
"""What the benchmarks of a step read; those of whole commands read others too, the experiments
all."""
PACKAGES = (*BENCHMARKS, RUST_163, POSTGRES_13, POSTGRES_17, PYTHON_313, JAVA_17, EIGEN_34,
            FREE_PASCAL_32, GHC_90, ERLANG_25, LILYPOND_224, SCALA_211)  # fmt: skip


def pages(package: Package, directory: Path = CORPORA) -> dict[str, bytes]:
    """The package's pages by path, in the order of paths; the longest, over half a megabyte, are
    left out."""
    with tarfile.open(fileobj=io.BytesIO(data_of(fetch(package, directory)))) as archive:
        return dict(sorted(_html(archive, package.html)))


def _html(archive: tarfile.TarFile, folder: str) -> Iterator[tuple[str, bytes]]:
    for member in archive:
        path = member.name.removeprefix("./")
        wanted = path.startswith(f"{folder}/") and path.endswith(".html")
        if wanted and member.isfile() and 0 < member.size <= _MOST_BYTES:
            content = archive.extractfile(member)
            assert content is not None
            yield path.removeprefix(f"{folder}/"), content.read()


def data_of(file: Path) -> bytes:
    """The member of a package file that holds its tree."""
    found = file.read_bytes()
    at = len(_AR_MARK)
    while at < len(found):
        head = found[at : at + _AR_HEAD]
        size = int(head[48:58])
        at += _AR_HEAD
        if head.startswith(b"data.tar"):
            return found[at : at + size]
        at += size + size % 2
    raise NotFetched(f"{file} holds no data.tar: it is no Debian package")


def mirrors_of_apt() -> list[str]:
    """The pools of Debian's mirrors that this machine's apt is set up with."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    try:
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    # Security updates stand in a folder of their own of their pool.
    return [f"{uri.rstrip('/')}/{pool}" for uri in dict.fromkeys(told.split()) for pool in _POOLS]


def fetch(
    package: Package, directory: Path = CORPORA, mirrors: Sequence[str] | None = None
) -> Path:
    """The package's file, fetched unless it is there."""
    file = directory / package.file
    if file.exists() and _is(file.read_bytes(), package):
        return file
    directory.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")  # a fetch that is cut short leaves no half package
    known = mirrors_of_apt() if mirrors is None else mirrors
    partial.write_bytes(_fetched(package, directory, known))
    return partial.replace(file)


def _fetched(package: Package, directory: Path, mirrors: Sequence[str]) -> bytes:
    tried = []
    for address in package.addresses(mirrors):
        try:
            with urlopen(address, timeout=_SECONDS) as response:
                found: bytes = response.read()
        except OSError as error:
            tried.append(f"{address}: {error}")
            continue
        if _is(found, package):
            return found
        tried.append(f"{address}: not the file with this checksum")
    raise NotFetched(
        f"{package.file} is needed and cannot be fetched; put it into {directory} (sha256 "
        f"{package.sha256}), and run this again. Tried: "
        f"{'; '.join(tried) or 'nothing, as there is no apt with sources of packages'}"
    )


def _is(found: bytes, package: Package) -> bool:
    return hashlib.sha256(found).hexdigest() == package.sha256


def main(names: Sequence[str]) -> int:
    """Fetch the packages that are named, or all."""
    wanted = [one for one in PACKAGES if not names or one.name in names]
    for package in wanted:
        if not (CORPORA / package.file).exists():
            print(f"fetching {package.file} (once)", file=sys.stderr)  # noqa: T201
        try:
            fetch(package)
        except NotFetched as error:
            print(error, file=sys.stderr)  # noqa: T201
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
