"""The process that worker processes are forked from where they cannot be forked from this one
(`forks`): it has no threads, and has loaded what they need (`warm`), which takes as long as two
thousand pages.

It listens at a socket in a directory. Where there can be none, or where it is gone, processes are
started without it, and load everything themselves: slower, and nothing else is different.
"""

from __future__ import annotations

import multiprocessing
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reusewatch.streams import kernels
from reusewatch.streams.running.forks import can_fork, load_all, undisturbed

if TYPE_CHECKING:
    from reusewatch.streams.page_text import ReadOrigin

DIRECTORY = "processes"
_WARM = "reusewatch.streams.running.warm"
# Of the 108 bytes of a socket's name what its directory may have, its own and that of a temporary
# one apart.
_LONGEST = 75
_forked = multiprocessing.get_context("forkserver")
_spawned = multiprocessing.get_context("spawn")


def prepare_processes(
    bus: Path, read_origin: ReadOrigin | None, say: Callable[[str], None]
) -> None:
    """Have the kernels ready, and what the processes of a replay need: here, where they can be
    forked from this one; else beside it, as they have work before it has."""
    socket_in(bus)
    if can_fork():
        kernels.prepare(say)
        load_all()
        return
    # Not where the kernels would be compiled in both.
    if kernels.are_compiled():
        load_ahead(read_origin)
    # Pages are scanned in the other processes.
    kernels.prepare_stored(say)


def socket_in(bus: Path) -> None:
    """Have the socket in the directory of a bus, which is locked by this process: what another left
    there when it was killed is removed. Where the name would be too long, it is made in TMPDIR."""
    directory = (bus / DIRECTORY).absolute()
    with suppress(OSError):
        mine = _temporary_in(directory) if len(bytes(directory)) <= _LONGEST else None
        for left in directory.iterdir():
            if left != mine:
                shutil.rmtree(left, ignore_errors=True)


def _temporary_in(directory: Path) -> Path:
    """The directory of this process for such things: in this one, where it has none yet."""
    directory.mkdir(parents=True, exist_ok=True)
    before, tempfile.tempdir = tempfile.tempdir, str(directory)
    try:
        return Path(util.get_temp_dir())
    finally:
        tempfile.tempdir = before


def load_ahead(read_origin: ReadOrigin | None = None) -> None:
    """Begin to load what the processes need, beside what this one loads, and do not wait for it:
    what makes fingerprints, and what reads pages."""
    reads = getattr(getattr(read_origin, "func", read_origin), "__module__", None)
    _forked.set_forkserver_preload([_WARM, reads] if reads else [_WARM])
    with _undisturbed(), suppress(OSError):
        forkserver.ensure_running()


def started(target: Callable[..., None], arguments: tuple[Any, ...]) -> BaseProcess:
    """A process that runs this and ends with its parent. Raises OSError where there can be none."""
    with _undisturbed():
        try:
            return _started(_forked.Process(target=target, args=arguments, daemon=True))
        except (OSError, EOFError):
            return _started(_spawned.Process(target=target, args=arguments, daemon=True))


def _started(process: BaseProcess) -> BaseProcess:
    process.start()
    return process


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C is not for them. The tracker, which a first start starts too, would let it through."""
    resource_tracker.ensure_running()
    with undisturbed():
        yield
