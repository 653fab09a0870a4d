"""The verdict of a page without a finding: the bytes are those of its record."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.stages.labeled import Labeled
from reusewatch.streams.stages.reports import verdict
from reusewatch.streams.stages.verdicts import PlainVerdicts
from reusewatch.streams.times import at_us
from reusewatch.streams.wire import verdict_message
from tests import strategies as some

SCHEME = HashScheme()
subjects = st.builds(
    Subject, page=some.hash64, url=some.urls, site=some.text, host=some.text, text=some.hash64,
    file=some.hash64, start=some.counts, end=some.counts, truncated=st.booleans(),
    overlong=st.booleans(), ip=st.none(), excerpt=st.none(), fetched_us=some.times.map(at_us),
    salvaged=st.booleans(), obfuscated=some.shares, came_from=some.maybe(some.origins),
)  # fmt: skip
said = st.builds(
    Labeled, contains=some.maybe(some.shares), labels=st.lists(some.text, max_size=2).map(tuple),
    labels_version=some.maybe(some.text), grams=some.maybe(some.shares),
)  # fmt: skip


@given(subjects, said, some.maybe(some.counts))
def test_a_verdict_without_a_finding_is_encoded_as_its_record_would_be(
    subject: Subject, labeled: Labeled, popular: int | None
) -> None:
    record = verdict(subject, None, labeled, SCHEME, popular=popular)
    found = PlainVerdicts(SCHEME).of(subject, labeled, popular)
    assert found == verdict_message(record)
    assert msgspec.json.decode(found.value or b"", type=type(record)) == record
