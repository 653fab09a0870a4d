"""Near-duplicates on the stream: their alerts are those of the definition, in any order."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from random import Random

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.hashing import hex_of
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from reusewatch.detector.sketching.simhash import pieces
from reusewatch.detector.window.near_rules import Policy, sample_of
from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.questions import BadQuestion
from reusewatch.streams.records import Alert, Origin, Page, Verdict
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.reports import alert_id
from reusewatch.streams.wire import page_message
from tests.pages import BEGIN, SCHEME, site_of, url_of
from tests.streams.stages.making import NOW, as_message, page_with, standing, zero

WORDS = 400
_DRAWN = Random(11)
_BASES = [[f"w{base}x{_DRAWN.randrange(10_000)}" for _ in range(WORDS)] for base in range(2)]


def words_of(text: int) -> list[str]:
    """Text 10·b + n: base b with n words at its end replaced; 8 and 9 with far more."""
    base, changed = divmod(text, 10)
    count = changed if changed < 8 else 40 * changed
    kept = _BASES[base][: WORDS - count]
    return kept + [f"other{text}x{n}" for n in range(count)]


def body_of(text: int) -> bytes:
    return f"<p>{' '.join(words_of(text))}</p>".encode()


def page(number: int, at: int, text: int) -> Page:
    url, fetched = url_of(number, site_of(number)), BEGIN + timedelta(seconds=at)
    made = page_with(url, words_of(text), fetched)
    return msgspec.structs.replace(made, origin=Origin(source="near", offset=text))


TEXTS = [0, 1, 2, 4, 7, 8, 9, 10, 11, 13, 19]
_MADE = fingerprints([Document(body_of(text)) for text in TEXTS], SCHEME).sketches
_AT = {text: at for at, text in enumerate(TEXTS)}
_SAMPLES = sample_of(_MADE.min_values5)
_PIECES = pieces(_MADE.simhash)


def near(one: int, other: int, policy: Policy, *, same_site: bool) -> bool:
    """By the sketches of both texts, and nothing else."""
    a, b = _AT[one], _AT[other]
    agree = int((_MADE.supershingles8[a] == _MADE.supershingles8[b]).sum())
    if one == other or not (agree or (_PIECES[a] == _PIECES[b]).any()):
        return False
    return near_words(one, other, policy, same_site=same_site)


def near_words(one: int, other: int, policy: Policy, *, same_site: bool) -> bool:
    """Of two versions of one page, whether or not the index would find them by a key."""
    a, b = _AT[one], _AT[other]
    agree = int((_MADE.supershingles8[a] == _MADE.supershingles8[b]).sum())
    bits = np.bitwise_count(_MADE.simhash[a] ^ _MADE.simhash[b]).sum()
    shared = int((_SAMPLES[a] == _SAMPLES[b]).sum())
    return policy.near(agree, 384 - int(bits), shared, same_site=same_site)


Fetched = tuple[int, int, int]


def wanted(fetched: Iterable[Fetched], rules: Rules) -> set[str]:
    """Ids of all alerts by definition: a copy is one of a page of another site seen before it;
    what is no copy, and near to a page before it in a relation that alerts, is a near-copy."""
    policy = Policy(rules.policy)
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for number, at, text in fetched:
        order = at, int(page(number, at, text).id, 16)
        first[number, text] = min(first.get((number, text), order), order)
    own = dict(first)
    for number, text in own:
        for (other, words), before in own.items():
            # A version counts as seen since the earliest one of its page that is near to it.
            if other == number and any(
                near_words(text, words, policy, same_site=same) for same in (False, True)
            ):
                first[number, text] = min(first[number, text], before)
    ids = set()
    for (number, text), order in first.items():
        before = [key for key, other in first.items() if other < order and key[0] != number]
        kind = None
        for other, words in before:
            same = site_of(other) == site_of(number)
            alerts = rules.near_same_site if same else rules.near_other_site
            if alerts and near(text, words, policy, same_site=same):
                kind = kind or "near-duplicate"
            if words == text and not same:
                kind = "duplicate"
        if kind is not None:
            identity = int(_MADE.identity[_AT[text]])
            ids.add(alert_id(kind, order[1], identity, SCHEME))  # type: ignore[arg-type]
    return ids


def stage_of(rules: Rules, read_origin: object = None) -> IndexStage:
    return IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=10_000, rules=rules,
        read_origin=read_origin,  # type: ignore[arg-type]
    )  # fmt: skip


def blocks(pages: list[Page], size: int) -> list[Outgoing]:
    stage = FingerprintStage(SCHEME, zero)
    messages = [as_message(page_message(one), n) for n, one in enumerate(pages)]
    cuts = range(0, len(messages), size)
    return [sent for at in cuts for sent in stage.process(messages[at : at + size]).messages]


def said(stage: IndexStage, pages: list[Page], size: int = 8) -> list[Outgoing]:
    return stage.process([as_message(block) for block in blocks(pages, size)]).messages


def alerts_of(messages: Iterable[Outgoing]) -> list[Alert]:
    found = [m.value for m in messages if m.topic == topics.ALERTS and m.value is not None]
    return [msgspec.json.decode(value, type=Alert) for value in found]


def verdicts_of(messages: Iterable[Outgoing]) -> dict[str, Verdict]:
    found = [m.value for m in messages if m.topic == topics.VERDICTS]
    return {v.url: v for v in (msgspec.json.decode(value or b"", type=Verdict) for value in found)}


_rules = st.builds(
    Rules,
    policy=st.sampled_from(["henzinger", "b", "c", "combined", "either"]),
    near_same_site=st.booleans(),
    near_other_site=st.booleans(),
)
_crawls = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 30), st.sampled_from(TEXTS)), max_size=14
)


@given(_crawls, _rules, st.integers(1, 5), st.integers(0, 20))
@settings(max_examples=80)
def test_alerts_of_both_kinds_are_those_of_the_definition_in_any_order(
    fetched: list[Fetched], rules: Rules, size: int, restart: int
) -> None:
    # A page does not change back to what it was before.
    fetched = list({(number, text): (number, at, text) for number, at, text in fetched}.values())
    stage, sent = stage_of(rules), []
    for n, block in enumerate(blocks([page(*one) for one in fetched], size)):
        if n == restart:
            saved = stage.save()
            stage = stage_of(rules)
            stage.restore(saved)
        sent += stage.process([as_message(block)]).messages
    assert standing(m for m in sent if m.topic == topics.ALERTS) == wanted(fetched, rules)


def test_the_worlds_texts_are_near_and_far() -> None:
    policy = Policy("either")
    pairs = [near(a, b, policy, same_site=False) for a in TEXTS for b in TEXTS if a < b]
    assert 5 < sum(pairs) < len(pairs) - 20


def test_an_alert_says_what_it_stands_on_and_what_differs() -> None:
    pages = {text: page(text, text, text) for text in (0, 1)}
    stage = stage_of(Rules(), lambda origin: pages[origin.offset])
    sent = said(stage, list(pages.values()))
    (alert,) = alerts_of(sent)
    assert (alert.kind, alert.severity, alert.relation) == (
        "near-duplicate",
        "info",
        "other-site",
    )
    assert alert.figure == alert.c
    assert alert.threshold == 372
    assert alert.b is not None
    (donor,) = alert.donors
    assert (donor.url, donor.fetched_at) == (pages[0].url, pages[0].fetched_at)
    assert 0.99 < donor.share < 1
    assert alert.differs is not None
    assert alert.differs.only_here == ("other1x0",)
    assert alert.differs.only_there == (words_of(0)[-1],)
    ((row,), within) = alert.evidence, alert.within
    body, other = pages[1].body, pages[0].body
    assert row.donor == pages[0].url
    assert row.start is not None
    assert body[row.start : row.end].split() == b" ".join(body[3:-4].split()[:-1]).split()
    assert body[row.start : row.end] == other[row.donor_start : row.donor_end]
    assert alert.evidence_missing is None
    assert within is not None
    assert (within.url, within.here) == (pages[0].url, round((WORDS - 1) / WORDS, 3))
    found = verdicts_of(sent)[pages[1].url].near_duplicate
    assert found is not None
    assert (found.url, found.b, found.c) == (pages[0].url, alert.b, alert.c)
    (cluster,) = stage.answer("clusters", {})
    assert cluster["cluster"] == found.cluster
    assert cluster["urls"] == [pages[0].url, pages[1].url]
    assert stage.answer("clusters", {"url": pages[1].url}) == [cluster]
    with pytest.raises(BadQuestion, match="no such page"):
        stage.answer("clusters", {"url": "http://nobody.example/"})


def test_within_a_site_near_duplicates_are_in_the_verdict_only() -> None:
    pages = [page(0, 0, 0), page(3, 1, 1)]
    sent = said(stage_of(Rules()), pages)
    assert alerts_of(sent) == []
    found = verdicts_of(sent)[pages[1].url].near_duplicate
    assert found is not None
    assert found.relation == "same-site"
    (alert,) = alerts_of(said(stage_of(Rules(near_same_site=True)), pages))
    assert (alert.severity, alert.threshold, alert.relation) == ("info", 355, "same-site")


def test_by_the_simple_rule_two_hosts_of_a_domain_are_two_sites() -> None:
    pages = [page(0, 0, 0), page(1, 1, 1)]
    hosts = ["a.b.example.org", "a.c.example.org"]
    moved = [
        msgspec.structs.replace(one, url=f"http://{host}/", host=host, site="example.org")
        for one, host in zip(pages, hosts, strict=True)
    ]
    assert alerts_of(said(stage_of(Rules()), moved)) == []
    (alert,) = alerts_of(said(stage_of(Rules(site="simple")), moved))
    assert alert.relation == "other-site"


def test_another_policy_takes_up_the_window() -> None:
    before = stage_of(Rules(policy="c"))
    said(before, [page(0, 0, 0)])
    after = stage_of(Rules(policy="b"))
    after.restore(before.save())
    (alert,) = alerts_of(said(after, [page(1, 1, 1)]))
    assert (alert.figure, alert.threshold) == (alert.b, 2)
    assert before.save().facts["judged_by"] == {"policy": "c", "thresholds": {}}
    assert alert.id == alert_id(
        "near-duplicate", int(page(1, 1, 1).id, 16), int(_MADE.identity[_AT[1]]), SCHEME
    )
    assert len(hex_of(1)) == 16
