"""What is not on every machine is out of the tests' reach; `make bench` fetches what it needs."""

from __future__ import annotations

import io
import os
import sysconfig
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.corpora import NotFetched, Package, fetch, pages
from tests.hermetic import DOCUMENTATION, NotOurs

HTML = "usr/share/doc/lamps/html"
TREE = {
    f"./{HTML}/index.html": b"<p>Lamps",
    f"./{HTML}/a/lamp.html": b"<p>A lamp",
    f"./{HTML}/empty.html": b"",
    f"./{HTML}/long.html": b" " * (1 << 19) + b".",
    f"./{HTML}/style.css": b"p {}",
    "./usr/share/doc/lamps/elsewhere.html": b"<p>Elsewhere",
}


@pytest.mark.parametrize("folder", DOCUMENTATION)
def test_documentation_of_the_machine_cannot_be_read(folder: str) -> None:
    with pytest.raises(NotOurs, match="is not on every machine"):
        Path(folder, "lamps", "index.html").read_bytes()
    with pytest.raises(NotOurs):
        os.listdir(folder)
    with pytest.raises(NotOurs):
        list(Path(folder).rglob("*.html"))


def test_pages_of_installed_packages_cannot_be_read() -> None:
    packages = Path(sysconfig.get_paths()["purelib"])
    with pytest.raises(NotOurs):
        (packages / "lamps" / "templates" / "page.html").read_text()
    assert (packages / "pytest" / "__init__.py").read_text()


def debian_package(tree: dict[str, bytes]) -> bytes:
    """A file as dpkg makes it: an archive of `ar` with a tar file in it."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        for name, content in tree.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    members = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.xz": data.getvalue()}
    made = b"!<arch>\n"
    for name, content in members.items():
        made += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
        made += content + b"\n" * (len(content) % 2)
    return made


@pytest.fixture
def made() -> bytes:
    return debian_package(TREE)


@pytest.fixture
def package(made: bytes) -> Package:
    return Package("lamps-doc", "1.2-3+deb12u1", "lamps", HTML, sha256(made).hexdigest())


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Requests are not news."""


@pytest.fixture
def mirrors(tmp_path: Path, package: Package, made: bytes) -> Iterator[list[str]]:
    """Three: one without the package, one with another file of its name, and one that has it."""
    for name, content in {"other": b"other", "good": made}.items():
        place = tmp_path / name / "l" / "lamps"
        place.mkdir(parents=True)
        (place / package.file).write_bytes(content)
    handler = partial(_Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_address[1]}"
        yield [f"{base}/{name}" for name in ("none", "other", "good")]
        server.shutdown()


def test_a_package_is_fetched_once_from_the_first_that_has_it(
    tmp_path: Path, package: Package, mirrors: list[str]
) -> None:
    corpora = tmp_path / "corpora"
    file = fetch(package, corpora, mirrors)
    assert [path.name for path in corpora.iterdir()] == [package.file]
    assert fetch(package, corpora, ["http://127.0.0.1:1"]) == file
    assert pages(package, corpora) == {"a/lamp.html": b"<p>A lamp", "index.html": b"<p>Lamps"}


def test_a_damaged_file_is_fetched_again(
    tmp_path: Path, package: Package, mirrors: list[str], made: bytes
) -> None:
    (tmp_path / package.file).write_bytes(made[:-1])
    assert fetch(package, tmp_path, mirrors).read_bytes() == made


def test_another_file_is_not_taken_and_what_to_do_is_told(
    tmp_path: Path, package: Package, mirrors: list[str]
) -> None:
    wanted = replace(package, sha256="0" * 64)
    with pytest.raises(NotFetched, match=r"put it into .* \(sha256 0000") as raised:
        fetch(wanted, tmp_path / "corpora", mirrors)
    assert "none/l/lamps/lamps-doc_1.2-3%2Bdeb12u1_all.deb: HTTP Error 404" in str(raised.value)
    assert "good/l/lamps/lamps-doc_1.2-3%2Bdeb12u1_all.deb: not the file" in str(raised.value)
    assert list((tmp_path / "corpora").iterdir()) == []
