"""What a process has free goes back to the system."""

from __future__ import annotations

import subprocess
import sys

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
