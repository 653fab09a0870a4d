"""What the processes beside this one need, loaded once: each is forked from one that has it.

Imported for that alone, by the process that they are forked from. Where a kernel is not compiled
yet, it is compiled there, and not in each of them.
"""

from __future__ import annotations

import gc
from contextlib import suppress

from reusewatch.streams import kernels
from reusewatch.streams.running.forks import NEW_OBJECTS, load_all


def _load() -> None:
    # What goes wrong here goes wrong in each process again, and is told with what it had to do.
    with suppress(Exception):
        kernels.prepare(lambda text: None, pages=True)
        load_all()


# As in the process that starts it: loading makes many objects, and no garbage.
gc.set_threshold(NEW_OBJECTS, 10, 10)
_load()
