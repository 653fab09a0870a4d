"""Kernels are kept in the user's cache directory alone: an installation is never written to."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import run

import pytest
from numba.core.caching import UserProvidedCacheLocator

from reusewatch.detector.compiling import image
from reusewatch.streams import kernel_places, kernels
from reusewatch.streams.disk import replace_file
from tests.command import COMMAND, ROOT, Done, environment

PACKAGES = ("crawler", "detector", "streams")
PAGE = "<title>Lamps</title><p>Caf&eacute; time<p>A lamp"
UNWANTED = ("NUMBA_", "XDG_CACHE_HOME", "TMPDIR", "TEMP", "TMP")


class Installation:
    """The packages in a tree of their own, which nobody may write to, and a page beside it."""

    def __init__(self, directory: Path) -> None:
        self.root, self._beside = directory / "installed", directory / "page"
        self._beside.mkdir()
        (self._beside / "page.html").write_text(PAGE)
        for name in PACKAGES:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, self.root / "reusewatch" / name, ignore=ignored)
        self._allow(0o555)

    def _allow(self, mode: int) -> None:
        for path in (self.root, *self.root.rglob("*")):
            if path.is_dir():
                path.chmod(mode)

    def let_go(self) -> None:
        """It may be deleted."""
        self._allow(0o755)

    def python(self, *arguments: str, **extra: str) -> Done:
        """The interpreter with these packages."""
        inherited = environment()
        clean = {name: inherited[name] for name in inherited if not name.startswith(UNWANTED)}
        ours = {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        done = run(
            [sys.executable, *arguments], cwd=self._beside, env=clean | ours | extra, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    def fingerprint(self, **extra: str) -> Done:
        """`reusewatch fingerprint page.html`."""
        return self.python(*COMMAND[1:], "fingerprint", "page.html", "--words", "--json", **extra)

    def kept_in(self, **extra: str) -> Path:
        """Where its kernels are kept."""
        told = "from reusewatch.streams import kernels; print(kernels.directory())"
        return Path(self.python("-c", told, **extra).out.strip())

    def warm(self, where: Path) -> None:
        """Put there what was compiled for these tests: the sources are the same."""
        kept = kernels.directory()
        assert kept is not None
        for source in {path.parent for path in (ROOT / "detector").rglob("*.py")}:
            target = self.root / "reusewatch" / source.relative_to(ROOT)
            if (compiled := kept / _subpath(source)).exists():
                shutil.copytree(compiled, where / _subpath(target))
        (where / kernels.mark_of("compiled")).touch()


def _subpath(package: Path) -> str:
    """numba keeps machine code under the path of its source."""
    return str(UserProvidedCacheLocator.get_suitable_cache_subpath(str(package / "any.py")))


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    made = Installation(tmp_path)
    yield made
    made.let_go()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A regular file: nobody, root neither, can write below it."""
    path = tmp_path / "file"
    path.touch()
    return path


def state(root: Path) -> dict[Path, tuple[int, int]]:
    """Every file and directory of a tree, and when and how it was last changed."""
    found = {}
    for path in (root, *root.rglob("*")):
        about = path.stat()
        found[path] = about.st_mtime_ns, about.st_size
    return found


def machine_code(found: dict[Path, tuple[int, int]]) -> dict[Path, tuple[int, int]]:
    """What numba keeps, of the state of a tree."""
    return {path: about for path, about in found.items() if path.suffix in (".nbc", ".nbi")}


def check(done: Done) -> None:
    """The page's fingerprint was shown, and is right."""
    assert done.code == 0, done.err
    (view,) = done.objects
    assert view["title"] == "Lamps"
    assert view["words"] == ["lamps", "café", "time", "a", "lamp"]


def test_an_installation_that_is_read_only(installation: Installation, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    where = installation.kept_in(XDG_CACHE_HOME=str(cache))
    assert where.is_relative_to(cache)
    installation.warm(where)
    installed, kept = state(installation.root), state(where)
    done = installation.fingerprint(XDG_CACHE_HOME=str(cache))
    check(done)
    assert done.err == ""
    assert state(installation.root) == installed
    assert machine_code(state(where)) == machine_code(kept) != {}  # loaded, and not compiled


def test_the_first_fingerprint_compiles_what_fingerprints_need(
    installation: Installation, tmp_path: Path
) -> None:
    quickly = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "NUMBA_OPT": "1"}
    first = installation.fingerprint(**quickly)
    check(first)
    assert first.err == "compiling the kernels, once for this machine: about 15 seconds\n"
    kept = installation.kept_in(**quickly)
    modules = {path.name.partition(".")[0] for path in machine_code(state(kept))}
    assert {"kernel", "shingles", "simhash", "weighted_terms"} <= modules
    assert not {"adding", "counters", "hash_table"} & modules
    assert not (kept / kernels.mark_of("compiled")).exists()  # a replay compiles the rest
    second = installation.fingerprint(**quickly)
    check(second)
    assert second.err == ""


def test_no_cache_directory_that_can_be_written(installation: Installation, file: Path) -> None:
    below = str(file / "below")
    installed = state(installation.root)
    done = installation.fingerprint(
        HOME=below, XDG_CACHE_HOME=below, NUMBA_CACHE_DIR=below, NUMBA_OPT="0"
    )
    check(done)
    assert "the kernels are compiled for this run only" in done.err
    assert state(installation.root) == installed


def test_without_a_home_they_are_kept_with_temporary_files(
    installation: Installation, file: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    below = str(file / "below")
    kept = {"HOME": below, "XDG_CACHE_HOME": below, "TMPDIR": str(temporary)}
    assert installation.kept_in(**kept).is_relative_to(temporary)
    (shared,) = temporary.iterdir()
    assert shared.stat().st_mode & 0o777 == 0o700
    shared.chmod(0o777)
    assert installation.kept_in(**kept) == Path("None")  # others could put code there
    shared.chmod(0o700)
    (place,) = shared.iterdir()
    (place / "kernel.nbi").touch()
    (place / "kernel.nbi").chmod(0o666)
    assert installation.kept_in(**kept) == Path("None")


def test_a_warm_cache_that_cannot_be_written_is_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = kernels.directory()
    assert ours is not None
    image, temporary = tmp_path / "image", tmp_path / "temporary"
    kept = image / "reusewatch" / ours.name
    shutil.copytree(ours, kept)
    temporary.mkdir()
    for name, value in {"XDG_CACHE_HOME": image, "TMPDIR": temporary}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(tempfile, "tempdir", None)
    writable = kernel_places._is_writable
    monkeypatch.setattr(
        kernel_places, "_is_writable", lambda path: image not in path.parents and writable(path)
    )
    found = kernel_places.place.__wrapped__().path
    assert found.is_relative_to(temporary)
    assert {path.name for path in found.rglob("*")} == {path.name for path in kept.rglob("*")}
    assert kernel_places.place.__wrapped__().path == found


def test_a_cache_that_cannot_even_be_read_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Root may read all that there is; there can be nothing of such a name.
    for name, value in {"XDG_CACHE_HOME": "/" + 300 * "x", "TMPDIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(tempfile, "tempdir", None)
    found = kernel_places.place.__wrapped__().path
    assert found is not None
    assert found.is_relative_to(tmp_path)


def test_a_given_directory_keeps_what_fits_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    ours = kernel_places.place.__wrapped__().path
    assert ours.parent == tmp_path
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(ours))  # as processes see it that this one starts
    assert kernel_places.place.__wrapped__().path == ours
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    elsewhere = kernel_places.place.__wrapped__().path
    assert elsewhere.name != ours.name


def test_no_command_loads_kernels_before_their_place_is_known(tmp_path: Path) -> None:
    modules = "reusewatch.crawler.cli, reusewatch.streams.running.topology"
    told = f"import sys; import {modules}; print('numba' in sys.modules)"
    loaded = [sys.executable, "-c", told]
    done = run(loaded, cwd=tmp_path, env=environment(), text=True, capture_output=True, check=True)
    assert done.stdout == "False\n"


def test_another_installation_is_not_taken_for_this_one(
    installation: Installation, tmp_path: Path
) -> None:
    where = installation.kept_in(XDG_CACHE_HOME=str(tmp_path))
    ours = kernels.directory()
    assert ours is not None
    assert where.name != ours.name


def test_another_processor_has_a_place_of_its_own_unless_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "cpuinfo"

    def place(flags: str) -> str:
        about.write_text(f"processor: 0\ncpu MHz: {flags}\nflags: {flags}\n\nprocessor: 1\n")
        return kernel_places.digest()

    monkeypatch.setattr(kernel_places, "_ABOUT_PROCESSOR", about)
    for name in kernel_places.NAMED:
        monkeypatch.delenv(name, raising=False)
    assert place("avx2") == place("avx2") != place("avx512f")
    level = " ".join(kernel_places._LEVELS[f"x86-64-v{number}"] for number in (2, 3))
    for name, features in (("x86-64-v3", "+avx2,+bmi"), ("x86-64-v3", ""), ("x86-64", "+avx2")):
        monkeypatch.setenv("NUMBA_CPU_NAME", name)
        monkeypatch.setenv("NUMBA_CPU_FEATURES", features)
        assert place(level) == place(f"{level} avx512f") != place("sse2")
    for name, features in (("skylake", "+avx2"), ("x86-64-v3", "+sha"), ("", "+avx2")):
        monkeypatch.setenv("NUMBA_CPU_NAME", name)
        monkeypatch.setenv("NUMBA_CPU_FEATURES", features)
        assert place(level) != place(f"{level} avx512f")
    about.unlink()
    monkeypatch.delenv("NUMBA_CPU_NAME")
    assert kernel_places.digest()


def test_a_level_that_this_processor_has_not_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "cpuinfo"
    about.write_text("processor: 0\nflags: sse2 ssse3\n")
    monkeypatch.setattr(kernel_places, "_ABOUT_PROCESSOR", about)
    monkeypatch.setenv("NUMBA_CPU_NAME", "x86-64-v3")
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+avx2")
    found = kernel_places.place.__wrapped__()
    assert "this processor lacks abm, avx, avx2" in found.remarks[0]
    assert not {*kernel_places.NAMED} & os.environ.keys()


def test_another_abi_has_a_place_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = kernel_places.digest()
    monkeypatch.setattr(kernel_places, "EXTENSION_SUFFIXES", [".cpython-313t-x86_64-linux-gnu.so"])
    assert kernel_places.digest() != ours


@pytest.mark.parametrize("put", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_not_read_as_an_image(
    put: Callable[[Path], None], tmp_path: Path
) -> None:
    warm, place, mark = tmp_path / "warm", tmp_path / "place", kernels.mark_of("compiled")
    for directory in (warm, place):
        directory.mkdir()
    put(warm / mark)
    kernel_places._take_over(warm, place, [])
    assert not list(place.iterdir())
    assert not kernels._loaded.__wrapped__(warm, "compiled")
    assert not list(warm.iterdir())  # it is made anew


def test_a_file_that_is_larger_than_any_image_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / kernels.mark_of("compiled")
    with path.open("wb") as file:
        file.truncate(1 << 40)  # takes no room
    assert not kernels._loaded.__wrapped__(tmp_path, "compiled")
    assert not path.exists()


def test_an_image_that_is_damaged_is_made_anew_and_one_that_cannot_be_loaded_here_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(data: bytes) -> None:
        raise image.BadImage("there is no memory for it")

    load = kernels._loaded.__wrapped__
    path = tmp_path / kernels.mark_of("compiled")
    replace_file(path, b"no image")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    with monkeypatch.context() as patch:
        patch.setattr(image, "load", refused)
        assert not load(tmp_path, "compiled")
    assert path.exists()
    assert not load(tmp_path, "compiled")
    assert not path.exists()
    replace_file(path, b"")  # of a processor for which there are no images
    assert not load(tmp_path, "compiled")
    assert path.exists()
