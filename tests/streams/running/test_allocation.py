"""What a process has free goes back to the system."""

from __future__ import annotations

import mmap
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from reusewatch.streams.running.allocation import _said_of, _unchanged

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


HERE, SWAPPED, OF_FILE, ALONE = 0x80, 0x40, 0x20, 0x01
CODE = [HERE | OF_FILE, HERE | OF_FILE | ALONE] * 40 + [0] * 20


@pytest.mark.parametrize(
    ("can", "inode", "pages", "goes"),
    [
        ("r-xp", 7, CODE, True),
        ("r--p", 7, CODE, True),
        # Addresses that were written when it was loaded, and what is written to all the time.
        ("r--p", 7, [*CODE, HERE | ALONE], False),
        ("r--p", 7, [*CODE, SWAPPED], False),
        ("rw-p", 7, CODE, False),
        ("r--p", 0, CODE, False),
        ("r-xp", 7, CODE[:1] + [0] * 100, False),
        ("r-xp", 7, CODE[:1], False),
    ],
)
def test_nothing_is_given_back_that_cannot_be_read_again(
    can: str, inode: int, pages: list[int], goes: bool
) -> None:
    begin, end = 1 << 20, (1 << 20) + len(pages) * mmap.PAGESIZE
    mapped = (
        "100-200 r-xp 00000000 00:00 0 [vdso]\n"
        f"{begin:x}-{end:x} {can} 00000000 fe:00 {inode} /lib/x 1-2.so\n"
    )
    asked = {(begin, end): bytes(pages)}
    found = list(_unchanged(mapped, lambda begin, end: asked[begin, end]))
    assert found == ([(begin, end)] if goes else [])


def test_what_the_system_says_of_pages_is_known(tmp_path: Path) -> None:
    """A page that was read is the file's, one that was written is not, and others are not here."""
    size = 3 * mmap.PAGESIZE
    (tmp_path / "x").write_bytes(b"x" * size)
    with (
        (tmp_path / "x").open("r+b") as file,
        mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY) as mapped,
    ):
        mapped.madvise(mmap.MADV_RANDOM)  # or what is read brings its neighbours
        mapped[0] = 1
        assert mapped[mmap.PAGESIZE] == ord("x")
        array = np.frombuffer(mapped, np.uint8)
        begin = array.__array_interface__["data"][0]
        del array
        with Path("/proc/self/pagemap").open("rb", buffering=0) as pages:
            said = _said_of(pages.fileno(), begin, begin + size)
    written, read, _ = said
    assert written & (HERE | OF_FILE) == HERE
    assert read & (HERE | OF_FILE) == HERE | OF_FILE


def test_of_pages_that_the_system_does_not_say_all_of_nothing_is_taken_as_known(
    tmp_path: Path,
) -> None:
    (tmp_path / "pagemap").write_bytes(b"x" * 12)
    with (tmp_path / "pagemap").open("rb") as cut, pytest.raises(OSError, match="12 came"):
        _said_of(cut.fileno(), 0, 2 * mmap.PAGESIZE)


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
