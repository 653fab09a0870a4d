"""What the processes beside this one need, loaded once: each is forked from one that has it.

Imported for that alone, by the process that they are forked from. Where a kernel is not compiled
yet, it is compiled there, and not in each of them.
"""

from __future__ import annotations

import gc
from contextlib import suppress

from reusewatch.streams import kernels
from reusewatch.streams.running.allocation import keep_large_apart

# As in the process that starts it: loading makes many objects, and no garbage.
_NEW_OBJECTS = 50_000


def _load() -> None:
    # What goes wrong here goes wrong in each process again, and is told with what it had to do.
    with suppress(Exception):
        kernels.prepare(lambda text: None, pages=True)
        from reusewatch.detector.compiling.declaring import make_all
        from reusewatch.streams.stages import fingerprinting  # noqa: F401

        make_all()


keep_large_apart()
gc.set_threshold(_NEW_OBJECTS, 10, 10)
_load()
# What is loaded stays: a collection that looked through it would write to all of it, and what is
# written to after a fork is copied.
gc.freeze()
