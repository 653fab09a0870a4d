"""How a process ends whose crawl had trouble: with a last line, and not with 0.

`scrapy crawl` ends with 1 only where a spider could not be made, what a handler of a signal raises
is swallowed, and a second Ctrl-C asks nobody. So what a crawl has to say is asked when Python
leaves, and said after Scrapy's own last words and after everything else that runs then; a code that
is not 0 goes before the one that the process would have ended with.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

LOST = 1


@dataclass(frozen=True, slots=True)
class LastWords:
    """A line, and the code to end with; 0 leaves the code as it is."""

    line: str
    code: int = 0


Asked = Callable[[], list[LastWords]]
_asked: list[Asked] = []


def at_end(ask: Asked) -> None:
    """Ask this when the process ends. Called again, it is asked before what was added since.

    Several crawls of one process say each their lines; the first code that is not 0 holds.
    """
    if ask not in _asked:
        _asked.append(ask)
    # Registered last, it is called first.
    atexit.unregister(_end)
    atexit.register(_end)


def _end() -> None:
    atexit.unregister(_end)
    words = [word for ask in _asked for word in ask()]
    code = next((word.code for word in words if word.code), 0)
    if code:
        # Ending by force leaves out what others want done at the end: it is done first.
        atexit._run_exitfuncs()
    for word in words:
        with suppress(OSError, ValueError):  # nobody reads it any more
            print(word.line, file=sys.stderr, flush=True)  # noqa: T201 - the log is closed by now
    if code:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code)
