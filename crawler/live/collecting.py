"""Python's collector of cycles leaves alone what a crawl begins with.

A crawl makes cycles with each response, and the collector goes over all that the process holds
again and again: the modules of Scrapy, of the project, of the Kafka client. These stay until the
end, so they are set apart once the crawl is ready (`gc.freeze`), and given back when the last crawl
of the process is over. Frees nothing and keeps nothing alive; a process that has set things apart
itself is left as it is.
"""

from __future__ import annotations

import gc

# Python 3.12 has some hundred things set apart when it starts.
_OF_PYTHON = 1000
_crawls: set[int] = set()


class LeftAlone:
    """What one crawl found at its beginning."""

    def begin(self) -> None:
        """Set apart what is there, unless another crawl has done so."""
        if not _crawls:
            if gc.get_freeze_count() > _OF_PYTHON:
                return
            # What is no longer used would be set apart with the rest.
            gc.collect()
            gc.freeze()
        _crawls.add(id(self))

    def end(self) -> None:
        """Give it back, unless another crawl still runs; nothing where it was not set apart."""
        if id(self) in _crawls:
            _crawls.discard(id(self))
            if not _crawls:
                gc.unfreeze()
