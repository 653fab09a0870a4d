"""Files that another user could have written are not trusted: such a user attacks here."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import run

import pytest
import xxhash

from reusewatch.streams import kernels
from reusewatch.streams.trust import foreign, foreign_within
from tests.command import environment

STRANGER = 65534
AS_ANOTHER = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")
_FINGERPRINT = """
from reusewatch.streams import kernels
kernels.prepare(print, pages=True)
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
print(len(fingerprints([Document(b"<p>some words")], HashScheme()).sketches.words))
print(kernels.directory())
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory like /tmp: everybody may write there, and delete what is his."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        path = Path(made)
        path.chmod(0o1777)
        yield path


def as_stranger(act: Callable[[], None]) -> None:
    """Run this as another user."""
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(STRANGER)
            os.setuid(STRANGER)
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0


class Evil:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, proof: Path) -> None:
        self._proof = proof

    def __reduce__(self) -> object:
        return os.mkdir, (str(self._proof),)


def forged(place: Path, proof: Path) -> None:
    """A cache whose image and whose kernels run code of their own."""
    data = pickle.dumps(Evil(proof))
    place.mkdir(parents=True)
    for name in ("compiled", "compiled-pages", "compiled-questions"):
        image = xxhash.xxh3_128_digest(data) + data
        (place / kernels.mark_of(name)).write_bytes(image)


def test_an_image_of_this_kind_would_be_run(tmp_path: Path) -> None:
    place, proof = tmp_path / "place", tmp_path / "proof"
    forged(place, proof)
    with pytest.raises(TypeError):  # what it made is no image, but that is too late
        kernels._loaded.__wrapped__(place, "compiled")
    assert proof.exists()


@AS_ANOTHER
@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"])
@pytest.mark.parametrize("opened", [0o700, 0o755, 0o777])
def test_a_cache_that_a_stranger_made_first_is_refused(
    variable: str, opened: int, shared: Path, tmp_path: Path
) -> None:
    ours = kernels.directory()
    assert ours is not None
    private = tmp_path / "reusewatch-0" / ours.name
    shutil.copytree(ours, private)
    home, proof = shared / "home", shared / "proof"
    below = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": "reusewatch", "HOME": ".cache/reusewatch"}

    def attack() -> None:
        forged(home / below[variable] / ours.name, proof)
        for path in (home, *home.rglob("*")):
            path.chmod(opened if path.is_dir() else 0o644)

    as_stranger(attack)
    usual = {n: v for n, v in environment().items() if n not in below}
    given = {variable: str(home), "TMPDIR": str(tmp_path)}
    if variable == "NUMBA_CACHE_DIR":
        given["XDG_CACHE_HOME"] = str(home / "file" / "nothing")
    done = run(
        [sys.executable, "-c", _FINGERPRINT], env=usual | given, text=True, capture_output=True,
        check=False, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    said, *_, count, place = done.stdout.splitlines()
    assert said.startswith(f"{home}")
    assert "belongs to another user" in said
    assert (count, place) == ("1", str(private))
    assert not proof.exists()


@AS_ANOTHER
@pytest.mark.parametrize("what", ["parent", "below", "link", "writable", "sticky"])
def test_what_others_could_have_written(what: str, shared: Path) -> None:
    path = shared / "ours" / "place"
    path.mkdir(parents=True, mode=0o700)
    (path / "file").touch(0o600)
    assert foreign_within(path) is None
    if what == "parent":
        os.chown(path.parent, STRANGER, STRANGER)
    elif what == "below":
        os.chown(path / "file", STRANGER, STRANGER)
    elif what == "link":
        (path / "link").symlink_to(shared)
    elif what == "writable":
        path.parent.chmod(0o770)
    else:
        shared.chmod(0o777)
    why = foreign_within(path)
    assert why is not None
    assert str(shared) in why


@AS_ANOTHER
def test_a_link_of_a_stranger_leads_nowhere_that_is_trusted(shared: Path) -> None:
    place = shared / "place"
    as_stranger((shared / "his").mkdir)
    as_stranger(lambda: place.symlink_to(shared / "his"))
    assert foreign(place) is not None
    assert foreign(Path(os.path.realpath(place))) is not None
