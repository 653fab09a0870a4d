"""The verdicts of pages without a finding: the bytes are those of their records."""

from __future__ import annotations

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.stages.labeled import NOT_JUDGED, Labeled
from reusewatch.streams.stages.reports import verdict
from reusewatch.streams.stages.verdicts import PlainPages, PlainVerdicts
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
said = st.just(NOT_JUDGED) | st.builds(
    Labeled, contains=some.maybe(some.shares), labels=st.lists(some.text, max_size=2).map(tuple),
    labels_version=some.maybe(some.text), grams=some.maybe(some.shares),
)  # fmt: skip
pages = st.lists(st.tuples(subjects, said, some.maybe(some.counts)), max_size=3)


@given(pages)
def test_verdicts_without_a_finding_are_encoded_as_their_records_would_be(
    told: list[tuple[Subject, Labeled, int | None]],
) -> None:
    records = [
        verdict(subject, None, labeled, SCHEME, popular=popular)
        for subject, labeled, popular in told
    ]
    subjects = [subject for subject, _, _ in told]

    def column(name: str) -> list[object]:
        return [getattr(subject, name) for subject in subjects]

    columns = PlainPages(
        page=np.array(column("page"), np.uint64),
        labeled=[labeled for _, labeled, _ in told], popular=[popular for *_, popular in told],
        **{name: column(name) for name in PlainPages._fields
           if name not in ("page", "labeled", "popular")},
    )  # type: ignore[arg-type]  # fmt: skip
    found = PlainVerdicts(SCHEME).of(columns)
    assert found == list(map(verdict_message, records))
    for sent, record in zip(found, records, strict=True):
        assert msgspec.json.decode(sent.value or b"", type=type(record)) == record
