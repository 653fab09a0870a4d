"""Ranges of an archive, one behind the other, are the archive as one reader finds it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from reusewatch.crawler.pages.archive_events import Found, Limits
from reusewatch.crawler.replaying.ahead import Range
from tests.crawler.archives import zoo

RECORDS = [zoo.response(zoo.url(number), zoo.html(f"page {number} " * 9)) for number in range(9)]
SOUND = zoo.member_each(RECORDS)
TORN = SOUND[:300] + b"\x00" * 40 + SOUND[340:]
# Two records in the first member.
TWO_IN_ONE = zoo.one_member(RECORDS[:3]) + zoo.member_each(RECORDS[3:])


def facts(found: Found, url: str | None) -> tuple[Any, ...]:
    reason = found.damage.reason if found.damage else None
    return url, found.skipped, reason, found.offset, found.next_offset, found.doubt


@pytest.mark.parametrize("most", [1, 2, 5, 64])
@pytest.mark.parametrize("data", [SOUND, TORN, SOUND[:-50], TWO_IN_ONE, SOUND + b"garbage"])
def test_ranges_are_the_whole(data: bytes, most: int, tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(data)
    whole = zoo.read_all(path)
    task: Range | None = Range(str(path), zoo.SCHEME, Limits(), 0, 0, most)
    found, ranges = [], 0
    while task is not None:
        said, pages = task.read()
        # As it comes from another process.
        told = pickle.loads(pickle.dumps(said))  # noqa: S301
        assert told == said
        urls = iter([page.url for page in pages])
        found += [
            facts(one, None if one.skipped or one.damage else next(urls)) for one in told.events
        ]
        assert next(urls, None) is None
        assert all(one.page is None for one in told.events)
        task, ranges = task.following(told), ranges + 1
    assert found == [facts(one, one.page.url if one.page else None) for one in whole]
    assert (ranges > 1) == (most < len(RECORDS) - 1)
