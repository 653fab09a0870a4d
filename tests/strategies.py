"""Hypothesis strategies of what travels: pages, fingerprint rows, findings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.alert_kinds import KINDS, SEVERITIES
from reusewatch.streams.records import (
    Alert,
    DeadLetter,
    Donor,
    Evidence,
    Exact,
    Label,
    NearDuplicate,
    Origin,
    Page,
    Quilt,
    Sighting,
    Verdict,
)
from reusewatch.streams.urls import place

# Everything that strangers may write, but lone surrogates: those are replaced on the way in.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
urls = st.builds(
    "{}://{}{}.example/{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "www.", "xn--bcher-kva."]),
    st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True),
    st.from_regex(r"([a-z0-9%._-]{1,6}/){0,3}[a-z0-9]{0,6}", fullmatch=True),
)
times = st.datetimes(
    datetime(1970, 1, 1), datetime(2099, 12, 31), timezones=st.just(UTC)
)  # fmt: skip
hash64 = st.integers(0, 2**64 - 1)
hex64 = hash64.map("{:016x}".format)
hex128 = st.integers(0, 2**128 - 1).map("{:032x}".format)
shares = st.floats(0, 1)
counts = st.integers(0, 2**31)
offsets = st.integers(0, 2**62)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value or nothing."""
    return st.none() | strategy


origins = st.builds(Origin, source=text, offset=maybe(offsets))
pages = st.builds(
    Page,
    id=hex64,
    url=urls,
    site=text,
    host=text,
    fetched_at=times,
    content_type=st.sampled_from(["text/html", "application/xhtml+xml", "text/plain", ""]),
    body=st.binary(max_size=400),
    origin=origins,
    ip=maybe(st.ip_addresses().map(str)),
    status=maybe(st.integers(100, 599)),
    charset=maybe(text),
    charset_from=st.sampled_from([None, "bom", "header", "meta", "detected", "given"]),
    truncated=st.booleans(),
    revisit_of=maybe(st.builds(Sighting, url=urls, fetched_at=maybe(times))),
    by_reference=st.booleans(),
)
verdicts = st.builds(
    Verdict,
    id=hex64,
    url=urls,
    site=text,
    fetched_at=times,
    exact=st.builds(Exact, file=maybe(urls), text=maybe(urls)),
    contains=maybe(shares),
    labels=st.lists(text, max_size=3).map(tuple),
    near_duplicate=maybe(
        st.builds(
            NearDuplicate,
            url=urls,
            b=st.integers(0, 6),
            c=st.integers(0, 384),
            relation=st.sampled_from(["same-site", "other-site"]),
            cluster=maybe(hex64),
        )
    ),
    quilt=maybe(
        st.builds(
            Quilt,
            patch_fraction=shares,
            cover=counts,
            sources=counts,
            foreign=shares,
            attributed=shares,
        )
    ),
    popular_shingles=maybe(counts),
    truncated=st.booleans(),
    detector=text,
    labels_version=maybe(text),
    scheme=text,
)
evidence = st.builds(
    Evidence,
    start=maybe(offsets),
    end=maybe(offsets),
    text=maybe(text),
    donor=maybe(urls),
    donor_start=maybe(offsets),
    donor_end=maybe(offsets),
    label=maybe(text),
)
alerts = st.builds(
    Alert,
    id=hex128,
    kind=st.sampled_from(sorted(KINDS)),
    state=st.sampled_from(["open", "closed"]),
    severity=st.sampled_from(SEVERITIES),
    url=maybe(urls),
    prefix=maybe(urls),
    site=text,
    figure=st.floats(0, 1e9),
    threshold=st.floats(0, 1e9),
    labels=st.lists(text, max_size=3).map(tuple),
    donors=st.lists(
        st.builds(Donor, url=urls, share=shares, fetched_at=times), max_size=3
    ).map(tuple),
    evidence=st.lists(evidence, max_size=3).map(tuple),
    fetched_at=times,
    detected_at=times,
    detector=text,
    labels_version=maybe(text),
    scheme=text,
    page_id=maybe(hex64),
    ip=maybe(text),
)  # fmt: skip
labels = st.builds(
    Label,
    hash=hex64,
    unit=st.sampled_from(["file", "chunk"]),
    name=text,
    removed=st.booleans(),
    version=text,
)
dead_letters = st.builds(
    DeadLetter,
    reason=text,
    source=text,
    offset=maybe(offsets),
    url=maybe(text),
    detail=text,
    at=times,
)


def placed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose page, host and site are those of its URL."""
    found = place(row["url"], HashScheme())
    where = {"page": int(found.page_id, 16), "host": found.host, "site": found.site}
    return {**row, **where}


rows: st.SearchStrategy[Mapping[str, Any]] = st.fixed_dictionaries(
    {
        "page": st.none(),
        "url": urls,
        "site": st.none(),
        "host": st.none(),
        "ip": maybe(text),
        "fetched_at": times,
        "status": maybe(st.integers(100, 599)),
        "content_type": text,
        "charset": maybe(text),
        "source": text,
        "offset": maybe(offsets),
        "title": text,
        "excerpt": text,
        "text_start": st.integers(0, 1000),
        "text_end": st.integers(1000, 1 << 40),
        "truncated": st.booleans(),
        "overlong": st.booleans(),
        "salvaged": st.booleans(),
        "file_hash": hash64,
        "revisit_of": maybe(hash64),
        "revisit_at": maybe(times),
    }
).map(placed)
