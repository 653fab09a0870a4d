"""A page is read again from its archive or its tree; one that is gone is said to be gone."""

from __future__ import annotations

import pickle

import pytest

from reusewatch.crawler.errors import OriginLost
from reusewatch.crawler.replaying.origins import origin_reader, read_origin
from reusewatch.detector.errors import BadPage
from reusewatch.streams.records import Origin
from tests.crawler.archives import zoo

GONE = [
    (Origin(source="/nonexistent/x.warc.gz", offset=0), "No such file"),
    (Origin(source="tree:http://a.test/#/nonexistent/a.html"), "cannot be read again"),
    (Origin(source="-", offset=0), "standard input"),
]


@pytest.mark.parametrize(("origin", "words"), GONE)
def test_an_origin_that_is_gone_says_so(origin: Origin, words: str) -> None:
    with pytest.raises(OriginLost, match=words):
        read_origin(origin, scheme=zoo.SCHEME)


@pytest.mark.parametrize(("origin", "words"), GONE)
def test_a_stage_takes_it_as_a_bad_page_in_other_processes_too(origin: Origin, words: str) -> None:
    # It is sent to worker processes.
    read = pickle.loads(pickle.dumps(origin_reader(zoo.SCHEME, 1 << 20)))  # noqa: S301 - ours
    with pytest.raises(BadPage, match=words) as bad:
        read(origin)
    assert bad.value.reason == "too-large"
