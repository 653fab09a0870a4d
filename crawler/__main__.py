"""The command `reusewatch`, also `python -m reusewatch.crawler`.

Ctrl-C is no error, even while it loads.
"""

import gc
import os
import signal
import sys

from reusewatch.streams.environment import set_for_us

# Loading makes more than a hundred thousand objects, none of them garbage: to look through them at
# each seven hundred new ones is a tenth of a start, at each fifty thousand a twentieth.
_NEW_OBJECTS = 250_000
# Most large arrays are a batch's: pages of 2 MB for each cost more to clear, and the kernel more
# to find, than they gain. What stays asks for them by itself: `detector.large_arrays`.
_NO_HUGE_PAGES = ("NUMPY_MADVISE_HUGEPAGE", "0")
# Nothing here multiplies matrices, and its threads look for work for a while when they begin.
_NO_THREADS = ("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    """Load the verbs, and run one."""
    _open_what_is_closed()
    gc.set_threshold(_NEW_OBJECTS, 10, 10)
    # Before numpy is loaded, here or in a worker.
    set_for_us(*_NO_HUGE_PAGES)
    set_for_us(*_NO_THREADS)
    try:
        from reusewatch.crawler.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        # All is done. Ctrl-C while the process ends would end it by the signal, or with a traceback
        # of whatever is being released.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # What is left goes with the process: to look through it first is a fiftieth of a start.
        gc.freeze()


def _open_what_is_closed() -> None:
    """Or the first file that is opened would be standard input or output to all who write there."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


if __name__ == "__main__":
    main()
