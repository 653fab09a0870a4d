"""`reusewatch doctor`: what on this machine, or on the bus, would make a crawl go wrong.

Looks, and says what to do; mends nothing. Each thing is one Check, as in `topics check`.
"""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from reusewatch.detector.errors import SchemeMismatch
from reusewatch.streams import kernels
from reusewatch.streams.bus import BusError
from reusewatch.streams.checks import Check
from reusewatch.streams.extras import HOW, missing
from reusewatch.streams.kernel_places import place
from reusewatch.streams.local.database import told
from reusewatch.streams.local.generation import DATABASE
from reusewatch.streams.local.reading import Reading, require_sound
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs.doctor_consumers import consumers, label_versions

_LEAST_FREE = 1 << 30
_CLOCK_SECONDS = 60
_EXTENSIONS = {"crc32c": "crc32c", "lz4.frame": "lz4", "zstandard": "zstandard", "brotli": "brotli"}


def examine(settings: Settings) -> Iterator[Check]:
    """Everything, the machine first."""
    yield _python()
    yield from _extensions()
    local = settings.bus.startswith("local:")
    yield _installation(stages=local)
    if not missing():
        yield _kernels()
        if kernels.have_no_image():
            yield _no_image()
    state = Path(settings.bus.removeprefix("local:")) if local else Path(settings.state)
    yield _writable(state)
    yield _room(state)
    yield from _local(state) if local else _kafka(settings)


def _python() -> Check:
    ok = sys.version_info >= (3, 11)
    do = "" if ok else "install Python 3.11 or newer"
    return Check("python", ok, platform.python_version(), "3.11 or newer", do)


def _extensions() -> Iterator[Check]:
    for module, package in _EXTENSIONS.items():
        try:
            importlib.import_module(module)
            yield Check(f"extension {package}", True, "there", "there")
        except ImportError as error:
            yield Check(
                f"extension {package}", False, str(error), "there", f"pip install {package}"
            )


def _installation(*, stages: bool) -> Check:
    """`stages`: whether this machine runs them, as on a local bus; a crawl host need not."""
    if not (gone := missing()):
        return Check("installation", True, "everything", "everything")
    found = f"what a crawl host needs; not {', '.join(gone)}"
    wanted = "everything" if stages else "what a crawl host needs"
    return Check("installation", not stages, found, wanted, f"where stages run: {HOW}")


def _kernels() -> Check:
    where, remarks = place()
    if remarks:
        do = "have it belong to this user, and be written by no other; or name another place"
        return Check("kernels", True, "; ".join(remarks), "kept where only this user writes", do)
    if where is None:
        do = "name a directory that can be written with XDG_CACHE_HOME"
        return Check("kernels", True, "compiled by each start: nowhere to keep them", "kept", do)
    compiled = kernels.are_compiled()
    found, do = "compiled", ""
    if not compiled:
        found, do = "not compiled yet", "the first run does"
    elif not kernels.are_compiled(questions=True):
        found, do = "compiled, but those of `similar`", "the first question does"
    do = do and f"`reusewatch doctor --warm` compiles them now; else {do}"
    return Check("kernels", True, f"{found}, kept in {where}", "compiled", do)


def _no_image() -> Check:
    cost = "each process takes a sixth of a second of CPU and 90 MB more to start"
    do = "where that counts, run it on Linux on x86-64"
    found = f"none can be made on this machine: {cost}; {do}"
    return Check("image of the kernels", True, found, "one", do)


def _writable(directory: Path) -> Check:
    """Asked, not tried: what only looks leaves no file, and makes no directory."""
    name = f"state directory {directory}"
    there = next(p for p in (directory, *directory.resolve().parents) if p.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return Check(name, True, "writable", "writable")
    do = f"make {directory} writable for this user, or name another directory"
    why = "not writable" if there.is_dir() else f"{there} is no directory"
    return Check(name, False, why, "writable", do)


def _room(directory: Path) -> Check:
    there = next(p for p in (directory, *directory.resolve().parents) if p.exists())
    free = shutil.disk_usage(there).free
    ok = free >= _LEAST_FREE
    do = "" if ok else "free some space: blocks, snapshots and findings are kept there"
    return Check(f"disk of {directory}", ok, f"{free >> 20} MiB free", "1024 MiB free", do)


def _local(directory: Path) -> Iterator[Check]:
    if not (directory / DATABASE).exists():
        yield Check("bus", True, "none there yet: whoever brings pages makes it", "sound")
        return
    try:
        require_sound(directory)
        with told(directory), closing(Reading(directory)) as reading:
            rows = reading.rows("SELECT MAX(at) FROM verdicts")
    except BusError as error:
        yield Check("bus", False, str(error), "sound", "see above")
        return
    yield Check("bus", True, f"local:{directory}", "sound")
    # Without rows: a process is just making the tables.
    newest = rows[0][0] if rows else None
    yield _clock("what is on the bus", None if newest is None else newest / 1000 - time.time())


def _clock(against: str, ahead: float | None) -> Check:
    """`ahead`: by how much the other clock is ahead of this machine's, if it is known."""
    if ahead is None or (against != "the broker" and ahead < 0):
        return Check("clock", True, f"not behind {against}", f"not behind {against}")
    ok = abs(ahead) <= _CLOCK_SECONDS
    where = "behind" if ahead > 0 else "ahead of"
    found = f"{abs(ahead):.0f} s {where} {against}"
    do = "" if ok else "set this machine's clock (timedatectl set-ntp true), or the broker's"
    return Check("clock", ok, found, f"within {_CLOCK_SECONDS} s", do)


def _broker_clock(at: float | None) -> Check:
    if at is None:
        found = "not known: the cluster has no quorum of controllers that this login may DESCRIBE"
        return Check("clock", True, found, "known, where it may")
    return _clock("the broker", at - time.time())


def _kafka(settings: Settings) -> Iterator[Check]:
    from reusewatch.streams.kafka import check_topics
    from reusewatch.streams.kafka.clock import broker_clock
    from reusewatch.streams.opening import kafka_config

    try:
        config = kafka_config(settings)
        topics = check_topics(config)
    except BusError as error:
        yield Check("broker", False, str(error), f"{settings.bus} answers", "as said")
        return
    yield Check("broker", True, f"{settings.bus} answers", f"{settings.bus} answers")
    yield from topics
    if all(check.ok for check in topics if check.check.endswith(": exists")):
        try:
            yield _broker_clock(broker_clock(config))
            yield from consumers(config)
            yield from label_versions(config, settings)
        except (BusError, SchemeMismatch) as error:
            yield Check("consumers", False, str(error), "known", "as said")
