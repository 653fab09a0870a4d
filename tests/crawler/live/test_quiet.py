"""What is said of a download that failed: its reason, on one line."""

from __future__ import annotations

import logging
import sys

import pytest
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Request
from scrapy.logformatter import DOWNLOADERRORMSG_SHORT, SPIDERERRORMSG

from reusewatch.crawler.live.quiet import on_one_line, spare


def record(error: Exception, message: str = DOWNLOADERRORMSG_SHORT) -> logging.LogRecord:
    try:
        raise error
    except type(error):
        told = {"request": Request("http://h.example/"), "referer": None}
        return logging.LogRecord("x", 40, "x", 1, message, (told,), sys.exc_info())


@pytest.mark.parametrize(
    ("error", "reason"), [(OSError("no route"), "no route"), (TimeoutError(), "TimeoutError")]
)
def test_a_download_that_failed_is_a_line(error: Exception, reason: str) -> None:
    told = record(error)
    assert on_one_line(told)
    assert told.getMessage() == f"Error downloading <GET http://h.example/>: {reason}"
    assert told.exc_info is None


def test_what_was_told_before_is_not_told_again() -> None:
    assert not on_one_line(record(DownloadCancelledError("too large")))


def test_a_mistake_in_code_keeps_its_traceback() -> None:
    told = record(ZeroDivisionError(), SPIDERERRORMSG)
    assert on_one_line(told)
    assert told.exc_info is not None


@pytest.mark.parametrize(
    ("name", "given", "level"),
    [("kafka", logging.NOTSET, logging.WARNING), ("kafka", logging.DEBUG, logging.DEBUG),
     ("kafka.net.selector", logging.NOTSET, logging.ERROR),
     ("kafka.net.selector", logging.INFO, logging.INFO)],
)  # fmt: skip
def test_the_client_is_quiet_unless_a_project_wants_it(name: str, given: int, level: int) -> None:
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(given)
    try:
        spare()
        assert logger.level == level
    finally:
        logger.setLevel(before)
