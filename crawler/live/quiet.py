"""What others say at length while a crawl runs, on one line or not at all.

Of a broker or a start URL that is away our own lines say it. A page that cannot be had is a line
with its reason: Scrapy adds how it came to know that, forty lines of its own code. Mistakes in code
keep their traceback.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial

from scrapy.exceptions import DownloadCancelledError
from scrapy.logformatter import DOWNLOADERRORMSG_LONG, DOWNLOADERRORMSG_SHORT

from reusewatch.crawler.live.fetched import is_robots

_OF_DOWNLOADS = frozenset({DOWNLOADERRORMSG_LONG, DOWNLOADERRORMSG_SHORT})


def spare() -> None:
    """Have nothing of the Kafka client told below a warning, unless the project wants it.

    Scrapy lets its loggers hand on everything: in a project as it is begun each message would stand
    in the log several times over, with the pages in it, and were it dropped there, it would still
    be made. It warns when a step of its loop takes a tenth of a second, as one does on a machine
    with much to do: that is no trouble of the crawl's.
    """
    for name, level in (("kafka", logging.WARNING), ("kafka.net.selector", logging.ERROR)):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(level)


def hush(start_urls: tuple[str, ...]) -> None:
    """Let others say what is news, each on one line."""
    logging.getLogger("scrapy.downloadermiddlewares.robotstxt").setLevel(logging.CRITICAL)
    logging.getLogger("scrapy.downloadermiddlewares.retry").addFilter(partial(_is_news, start_urls))
    logging.getLogger("scrapy.core.scraper").addFilter(on_one_line)
    kafka = logging.getLogger("kafka")
    kafka.addHandler(logging.NullHandler())
    kafka.propagate = False


def _is_news(start_urls: tuple[str, ...], record: logging.LogRecord) -> bool:
    """Whether no line of ours says what a record of the retries does."""
    said = record.args if isinstance(record.args, Mapping) else {}
    url = getattr(said.get("request"), "url", "")
    return url not in start_urls and not is_robots(url)


def on_one_line(record: logging.LogRecord) -> bool:
    """Give a download that failed its reason instead of its traceback. Whether it is news: that a
    page was too large was said before it was cut off."""
    if record.msg not in _OF_DOWNLOADS or record.exc_info is None or record.exc_info[1] is None:
        return True
    error = record.exc_info[1]
    record.msg = f"{record.getMessage()}: {reason_of(error)}"
    record.args, record.exc_info, record.exc_text = (), None, None
    return not isinstance(error, DownloadCancelledError)


def reason_of(error: BaseException) -> str:
    """Why a download failed, in words."""
    reasons = getattr(error, "reasons", None)
    if isinstance(reasons, list) and reasons:
        return reason_of(reasons[-1].value)
    return str(error) or type(error).__name__
