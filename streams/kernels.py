"""The detector's kernels: compiled once for a machine, kept in the user's cache directory.

Their machine code is kept under digests of the sources that it stands on (`detector.compiling`), in
a directory for what compiles them: an upgrade never runs what an older version left, and compiles
what has changed. The installation itself may be read-only, and is never written to.

The file that says that all of some kernels are compiled is their image, which a start loads without
numba; it is empty on processors for which no images are made.
"""

from __future__ import annotations

import gc
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import xxhash

from reusewatch import detector
from reusewatch.detector.compiling.sources import digest_of_sources
from reusewatch.streams.disk import replace_file

_ABOUT_PROCESSOR = Path("/proc/cpuinfo")
_LASTING = ("vendor_id", "cpu family", "model", "stepping", "flags", "CPU ", "Features")
_VARIABLE = "NUMBA_CACHE_DIR"
_PLACES = "NUMBA_CACHE_LOCATOR_CLASSES"
_NAMED_ONLY = "UserProvidedCacheLocator"
_MARK = "compiled"
_PAGES = "compiled-pages"
_ASKED = "compiled-questions"
# A compiler makes many objects and few cycles: looking for these is a tenth of its time.
_GARBAGE = 100_000
# Bytes of an image, which has one megabyte: what is larger is none.
_LARGEST = 64 << 20
_BEFORE = (
    f"import gc; gc.set_threshold({_GARBAGE}); "
    "from reusewatch.detector.compiling.calling import make_all"
)
_SCAN = "from reusewatch.detector.scanning.scan import scan; scan(b'', key=0)"
# The first three take as long to compile as the others and the scan.
_HERE = (
    "reusewatch.detector.window.index",
    "reusewatch.detector.window.settled",
    "reusewatch.detector.similar.one_pass",
    "reusewatch.detector.labels.dataset",
    "reusewatch.detector.window.owning",
)
_BESIDE = (
    "reusewatch.detector.sketching.sketches",
    "reusewatch.detector.discovery.online",
    "reusewatch.detector.evidence.many_pairs",
    "reusewatch.detector.quilts.judging",
    "reusewatch.detector.quilts.own",
    "reusewatch.detector.phrases.places",
)
MODULES = (*_HERE, *_BESIDE)
"""Of a replay and of every worker, without the scan."""
QUESTIONS = "reusewatch.detector.similar.index"
_TWO = 2
_COVERAGE = "coverage"


@cache
def directory() -> Path | None:
    """Where the machine code is kept: below NUMBA_CACHE_DIR, or the user's cache directory.

    None where nothing can be written: each start compiles.
    """
    below = f"kernels-{_digest()}"
    given = os.environ.get(_VARIABLE)
    if given:
        place = Path(given)  # as a process that started this one has named it
        return _writable(place if place.name == below else place / below)
    home = _home()
    kept = home / "reusewatch" / below if home else None
    if kept and (found := _writable(kept)):
        return found
    mark = mark_of(_MARK)
    with suppress(OSError):  # no directory for temporary files can be written
        shared = Path(tempfile.gettempdir(), f"reusewatch-{os.getuid()}")
        shared.mkdir(exist_ok=True, mode=0o700)
        if _is_ours_alone(shared) and (found := _writable(shared / below)):
            with suppress(OSError):  # what cannot be read either is compiled anew, and kept here
                if kept and (kept / mark).exists() and not (found / mark).exists():
                    _take_over(kept, found)
            return found
    return None


def _take_over(warm: Path, place: Path) -> None:
    """What was compiled where nothing can be written any more, as in an image: numba writes."""
    marks = [mark_of(name) for name in (_MARK, _PAGES, _ASKED)]
    shutil.copytree(warm, place, ignore=shutil.ignore_patterns(*marks), dirs_exist_ok=True)
    for mark in marks:
        if (warm / mark).exists() and (data := _read(warm / mark)) is not None:
            replace_file(place / mark, data)


def _read(path: Path) -> bytes | None:
    """What an image may be in; None of a pipe or a device, which might never end, and of a file
    that is no image by its size."""
    with open(path, "rb", opener=_at_once) as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST:
            return None
        return file.read()


def _at_once(path: str, flags: int) -> int:
    # To open a pipe waits for who writes to it.
    return os.open(path, flags | os.O_NONBLOCK)


def mark_of(name: str) -> str:
    """The file that says that all of these kernels are compiled, from these sources."""
    return f"{name}-{digest_of_sources()}"


def _home() -> Path | None:
    given = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(given) if given else Path.home() / ".cache"
    except RuntimeError:  # a user without a home
        return None


def _writable(path: Path) -> Path | None:
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        return None


def _is_ours_alone(path: Path) -> bool:
    """Machine code from where anybody else can write is not run."""
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o22


def _digest() -> str:
    """Of where the sources stand (numba keeps code by its path), and of what compiles them."""
    root = Path(next(iter(detector.__path__)))
    digest = xxhash.xxh3_64(os.fsencode(root.absolute()))
    packages = (version(name) for name in ("numba", "llvmlite", "numpy"))
    digest.update(" ".join((platform.python_version(), *packages, *_processor())).encode())
    return digest.hexdigest()


def _processor() -> tuple[str, ...]:
    """What the machine code is for: an image may run elsewhere than where it was built, and says
    then for what it was."""
    given = tuple(os.environ.get(name, "") for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"))
    if all(given):
        return given
    with suppress(OSError):
        # Without what changes from one moment to the next.
        first = _ABOUT_PROCESSOR.read_text().partition("\n\n")[0].splitlines()
        if lasting := [line for line in first if line.startswith(_LASTING)]:
            return *given, *lasting
    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name  # slow to load

    return *given, get_host_cpu_name(), get_host_cpu_features().flatten()


def are_compiled(*, questions: bool = False) -> bool:
    """Whether the next start loads them in a moment; or those that only questions need."""
    where = directory()
    return where is not None and (where / mark_of(_ASKED if questions else _MARK)).exists()


def have_no_image() -> bool:
    """Whether they are compiled, and none could be made of them: each start loads numba."""
    where = directory()
    path = where and where / mark_of(_MARK)
    return path is not None and path.is_file() and not path.stat().st_size


@cache
def prepare(tell: Callable[[str], None], *, pages: bool = False) -> None:
    """Have the kernels ready: loaded, or compiled with a word about it. Before they are imported.

    With `pages`, those that make fingerprints, and no others. Processes that this one starts load
    what it compiled.
    """
    where, mark = _chosen(), _PAGES if pages else _MARK
    here, beside = (_BESIDE[:1], ()) if pages else (_HERE, _BESIDE)
    if _loaded(where, _MARK) or (pages and _loaded(where, _PAGES)):
        return
    if where is None:
        tell(
            "no cache directory can be written: the kernels are compiled for this run only, about "
            "half a minute; XDG_CACHE_HOME names a directory for them"
        )
    elif are_compiled() or (where / mark_of(mark)).exists():
        # No image for this processor: what was kept is loaded by numba when it is called.
        _load_numba()
        return
    else:
        seconds = 15 if pages else 20
        tell(f"compiling the kernels, once for this machine: about {seconds} seconds")
        _compile_together(here, beside)
    _make((*here, *beside))
    _keep(where, mark)


def _make(modules: Iterable[str]) -> None:
    """Have numba load their kernels and the scan, or compile what is missing: not to be found out
    by a page, half a minute into its batch."""
    _load_numba()
    from reusewatch.detector.compiling import image
    from reusewatch.detector.compiling.calling import make_all
    from reusewatch.detector.scanning.scan import scan

    image.forget()  # those that make fingerprints belong to this image, too
    for module in modules:
        import_module(module)
    make_all()
    scan(b"", key=0)


@cache
def prepare_stored(tell: Callable[[str], None]) -> None:
    """The same for whoever only looks at what was stored: what is compiled is loaded when it is
    needed, and most of it never is."""
    if not _loaded(_chosen(), _MARK) and not are_compiled():
        prepare(tell)


@cache
def prepare_questions(tell: Callable[[str], None]) -> None:
    """The same of what nobody needs who does not ask: the first run does not wait for it."""
    where = _chosen()
    if _loaded(where, _ASKED):
        return
    if not are_compiled(questions=True):
        from reusewatch.detector.compiling.calling import make_all

        tell("compiling the kernels of `similar`, once for this machine: about ten seconds")
        import_module(QUESTIONS)
        make_all()
    _keep(where, _ASKED)


@cache
def _loaded(where: Path | None, mark: str) -> bool:
    """Whether the kernels are there, out of an image."""
    if where is None or not (path := where / mark_of(mark)).exists():
        return False
    from reusewatch.detector.compiling import image  # numpy

    try:
        if (data := _read(path)) is None:
            raise image.Damaged("it is no file, or too large")
        if data:
            image.load(data)
        return bool(data)
    except image.Damaged:
        with suppress(OSError):  # made anew, from what numba has kept
            path.unlink()
        return False
    except (OSError, image.BadImage):
        return False  # other processes may well load it


def _chosen() -> Path | None:
    """The place, told to numba; without one it would write beside the sources."""
    where = directory()
    if where is None:
        _tell_numba(_PLACES, _NAMED_ONLY)
    else:
        _tell_numba(_VARIABLE, str(where))
    return where


def _tell_numba(variable: str, value: str) -> None:
    os.environ[variable] = value
    if "numba" in sys.modules:  # imported by somebody else: it has read its environment
        setattr(sys.modules["numba"].config, variable.removeprefix("NUMBA_"), value)


def _load_numba() -> None:
    """numba loads a coverage tool wherever one is installed, to tell it of lines that no tool can
    see run: a twentieth of a start. One that is at work is loaded before, and is told."""
    if "numba" in sys.modules or _COVERAGE in sys.modules:
        return
    sys.modules[_COVERAGE] = None  # type: ignore[assignment]
    try:
        import_module("numba")
    finally:
        del sys.modules[_COVERAGE]


def _keep(where: Path | None, mark: str) -> None:
    if where is None or (path := where / mark_of(mark)).exists():
        return
    with suppress(OSError):  # gone meanwhile: the next start compiles, and says so
        for old in where.glob(f"{mark}-{'?' * len(digest_of_sources())}"):
            old.unlink(missing_ok=True)
        # An empty one says that there is no image here: a power cut must not.
        replace_file(path, _image())


def _image() -> bytes:
    """Of all kernels that this process has made, and loaded, since what is made next needs none of
    them; empty where there can be none."""
    from reusewatch.detector.compiling import image
    from reusewatch.detector.compiling.calling import Kernel
    from reusewatch.detector.compiling.imaging import NoImage, image_of

    try:
        data = image.packed(image_of(one for one in Kernel.every if not image.holds(one.name)))
        image.load(data)
    except (NoImage, image.BadImage):
        return b""
    return data


def _compile_together(here: Iterable[str], beside: Iterable[str]) -> None:
    """numba compiles one kernel at a time in a process: the scan goes into one beside this one.

    So do the modules named for it; with more cores than two, into a third. If one fails, this
    process compiles what is missing, and says what is wrong.
    """
    commands = [_SCAN, *(f"import {module}; make_all()" for module in beside)]
    if len(os.sched_getaffinity(0)) <= _TWO:
        commands = ["; ".join(commands)]
    processes = [
        # -P: not what lies in the working directory. Ctrl-C is for this process, which ends them.
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-c", f"{_BEFORE}; {command}"], start_new_session=True
        )
        for command in commands
    ]
    from reusewatch.detector.compiling.calling import make_all

    usual = gc.get_threshold()
    gc.set_threshold(_GARBAGE)
    try:
        for module in here:
            import_module(module)
        make_all()
    except BaseException:
        for process in processes:
            process.kill()
        raise
    finally:
        gc.set_threshold(*usual)
        for process in processes:
            process.wait()
