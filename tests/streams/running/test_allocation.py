"""What a process has free goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reusewatch.streams.running.allocation import _unchanged

_ASKED = """
import numpy as np
from reusewatch.streams.running.allocation import LARGE, give_back, keep_large_apart

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

keep_large_apart()
# The first that is freed raises glibc's own bound: the second would come from the heap, and stay.
for _ in range(2):
    large = np.ones(4 * LARGE, np.uint8)
    kept = [bytes(1000) for _ in range(100)]
    del large
small = [bytes(100_000) for _ in range(300)]
before = resident()
last = small.pop()
small.clear()
give_back()
print(before - resident())
"""


def test_what_is_free_goes_back_though_something_stands_behind_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ASKED], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 20_000_000


_CODE = """
import re
import numpy as np
import pyarrow.compute as pc
from reusewatch.streams.running.allocation import give_back

def of_files():
    with open("/proc/self/smaps_rollup") as file:
        found = dict(re.findall(r"^(Rss|Anonymous): +([0-9]+)", file.read(), re.MULTILINE))
    return int(found["Rss"]) - int(found["Anonymous"])

def worked():
    return int(np.linalg.inv(np.eye(40) * 2).sum()) + pc.sum(pc.unique([1, 1, 2])).as_py()

first, before = worked(), of_files()
give_back()
print(before - of_files(), worked() == first)
"""


def test_code_that_was_loaded_goes_back_and_works_when_it_is_needed_again() -> None:
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=True)
    freed, works = done.stdout.split()
    assert int(freed) > 10_000
    assert works == "True"


def _mapped(can: str, *, rss: int, anonymous: int, inode: int = 7, swapped: int = 0) -> str:
    return (
        f"1000-2000 {can} 00000000 fe:00 {inode} /lib/x.so\nSize: 4096 kB\nRss: {rss} kB\n"
        f"Anonymous: {anonymous} kB\nSwap: {swapped} kB\n"
    )


@pytest.mark.parametrize(
    ("mapped", "goes"),
    [
        (_mapped("r-xp", rss=3000, anonymous=0), True),
        (_mapped("r--p", rss=3000, anonymous=0), True),
        # Addresses that were written when it was loaded, and what is written to all the time.
        (_mapped("r--p", rss=3000, anonymous=4), False),
        (_mapped("r--p", rss=3000, anonymous=0, swapped=4), False),
        (_mapped("rw-p", rss=3000, anonymous=0), False),
        (_mapped("r--p", rss=3000, anonymous=0, inode=0), False),
        (_mapped("r-xp", rss=4, anonymous=0), False),
    ],
)
def test_nothing_is_given_back_that_cannot_be_read_again(mapped: str, goes: bool) -> None:
    assert list(_unchanged(mapped)) == ([(0x1000, 0x2000)] if goes else [])


_JUST_BEGUN = """
from reusewatch.streams.running import allocation

gone = []
allocation._give_back_files = lambda: gone.append(1)
said = [allocation.give_back_much()]
allocation._BEGUN_SECONDS = 0
said.append(allocation.give_back_much())
allocation._WORTH = 1
said.append(allocation.give_back_much())
print(said, len(gone))
"""


def test_a_process_that_has_just_begun_keeps_all_and_little_of_files_is_kept() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _JUST_BEGUN], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[False, True, True] 1"


_POOL = """
import sys
sys.argv = ["reusewatch", "--version"]
from reusewatch.crawler.cli import main
try:
    main()
except SystemExit:
    import pyarrow
    print(pyarrow.default_memory_pool().backend_name)
"""


def test_arrow_takes_its_memory_where_all_else_does() -> None:
    done = subprocess.run([sys.executable, "-c", _POOL], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "system"
