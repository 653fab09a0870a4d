"""Programs out of Debian's packages: each where it is wanted, and what is said without them."""

from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from tests import monitors
from tests.corpora import NotFetched, Package

TEMPLATE = "usr/share/prometheus/alertmanager/default.tmpl"
FILES = {
    "./usr/bin/prometheus-alertmanager": b"looks in /" + TEMPLATE.encode(),
    "./usr/bin/amtool": b"a tool",
    f"./{TEMPLATE}": b"a template",
    "./usr/share/doc/prometheus-alertmanager/copyright": b"text",
}  # fmt: skip


def package_in(directory: Path) -> Package:
    """A package file, as `ar` and `tar` make it."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        for name, content in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    found = data.getvalue()
    head = f"{'data.tar.xz':<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(found):<10}`\n".encode()
    whole = b"!<arch>\n" + head + found
    package = replace(monitors.ALERTMANAGER, sha256=sha256(whole).hexdigest())
    (directory / package.file).write_bytes(whole)
    return package


def test_programs_and_templates_stand_in_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = package_in(tmp_path)
    monkeypatch.setattr(monitors, "PROGRAMS", {
        "alertmanager": (package, "prometheus-alertmanager"), "amtool": (package, "amtool"),
    })  # fmt: skip
    monitors._unpack(package, tmp_path / package.file, tmp_path / ".")
    assert monitors.program("amtool", tmp_path).read_bytes() == b"a tool"
    assert monitors.program("amtool", tmp_path).stat().st_mode & 0o111
    assert (tmp_path / "default.tmpl").read_bytes() == b"a template"
    assert not (tmp_path / "copyright").exists()
    # Its templates are looked for where it is started, in a program of the same length.
    before = FILES["./usr/bin/prometheus-alertmanager"]
    after = monitors.program("alertmanager", tmp_path).read_bytes()
    assert len(after) == len(before)
    looked = after.removeprefix(b"looks in ").decode()
    assert (tmp_path / looked).samefile(tmp_path / "default.tmpl")


def test_what_is_missing_is_named_with_what_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotFetched, match="promtool is not here: `make monitors`"):
        monitors.program("promtool", tmp_path)
