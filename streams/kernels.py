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
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

from reusewatch.detector.compiling.sources import digest_of_sources
from reusewatch.streams.disk import replace_file
from reusewatch.streams.kernel_places import VARIABLE, place, read

_PLACES = "NUMBA_CACHE_LOCATOR_CLASSES"
_NAMED_ONLY = "UserProvidedCacheLocator"
_MARK = "compiled"
_PAGES = "compiled-pages"
_ASKED = "compiled-questions"
# A compiler makes many objects and few cycles: looking for these is a tenth of its time.
_GARBAGE = 100_000
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
    "reusewatch.detector.similar.auditing",
)
MODULES = (*_HERE, *_BESIDE)
"""Of a replay and of every worker, without the scan."""
QUESTIONS = "reusewatch.detector.similar.index"
_TWO = 2
_COVERAGE = "coverage"


def directory() -> Path | None:
    """Where the machine code is kept; None where nothing can be: each start compiles."""
    return place().path


def mark_of(name: str) -> str:
    """The file that says that all of these kernels are compiled, from these sources."""
    return f"{name}-{digest_of_sources()}"


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
    where, mark = _chosen(tell), _PAGES if pages else _MARK
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
    if not _loaded(_chosen(tell), _MARK) and not are_compiled():
        prepare(tell)


@cache
def prepare_questions(tell: Callable[[str], None]) -> None:
    """The same of what nobody needs who does not ask: the first run does not wait for it."""
    where = _chosen(tell)
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
        if (data := read(path)) is None:
            raise image.Damaged("it is no file, too large, or another user could have written it")
        if data:
            image.load(data)
        return bool(data)
    except image.Damaged:
        with suppress(OSError):  # made anew, from what numba has kept
            path.unlink()
        return False
    except (OSError, image.BadImage):
        return False  # other processes may well load it


@cache
def _chosen(tell: Callable[[str], None]) -> Path | None:
    """The place, told to numba; without one it would write beside the sources."""
    where, remarks = place()
    for remark in remarks:
        tell(remark)
    if where is None:
        _tell_numba(_PLACES, _NAMED_ONLY)
    else:
        _tell_numba(VARIABLE, str(where))
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
