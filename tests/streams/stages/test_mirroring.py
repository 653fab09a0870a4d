"""A host whose pages are another site's is told as its mirror, and nobody else is."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec
import pytest

from reusewatch.detector.neighborhoods.mirrors import Place, Twins
from reusewatch.streams import topics
from reusewatch.streams.records import Alert, Page
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.mirroring import Mirroring
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.wire import page_message, read_json
from tests.pages import SCHEME
from tests.streams.stages.making import NOW, as_message, zero
from tests.streams.stages.test_reusing import page, words

TEXTS = [words(120) for _ in range(30)]
TEXTS_OF_ITS_OWN = [words(120) for _ in range(40)]
MINUTE = 1 / 1440


def site(name: str, texts: Sequence[Sequence[str]], *, day: float, under: str = "") -> list[Page]:
    return [
        page(name, f"{under}{at}.html", text, day=day + at * MINUTE)
        for at, text in enumerate(texts)
    ]


ORIGINAL = site("author", TEXTS, day=0)
# Begun a minute later, in the same crawl.
MIRROR = site("mirror", TEXTS, day=MINUTE, under="copy/")


def told_of(
    pages: Sequence[Page], *, together: int, restarts: bool, rests: bool, **rules: object
) -> list[Alert]:
    """What is told of mirrors, in order. `rests`: the stream stands still at its end."""
    fingerprint = FingerprintStage(SCHEME, zero, grams="sampled")
    index = IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=1000,
        rules=Rules(policy="across", **rules),  # type: ignore[arg-type]
        mirroring=Mirroring(SCHEME, least_pages=20, least_share=0.8),
    )  # fmt: skip
    sent = []
    for at in range(0, len(pages), together):
        messages = [as_message(page_message(one)) for one in pages[at : at + together]]
        for block in fingerprint.process(messages).messages:
            sent += index.process([as_message(block)]).messages
            if restarts:
                index.restore(index.save())
    if rests:
        sent += index.settle().messages
    alerts = [
        read_json(as_message(message), Alert)
        for message in sent if message.topic == topics.ALERTS and message.value is not None
    ]  # fmt: skip
    return [one for one in alerts if one.kind == "mirror-host"]


def alerts_of(pages: Sequence[Page], **rules: object) -> list[Alert]:
    """The mirrors that are open at the end, by prefix."""
    told = told_of(pages, together=7, restarts=True, rests=True, **rules)
    last = {one.id: one for one in told}
    found = [one for one in last.values() if one.state == "open"]
    return sorted(found, key=lambda one: one.prefix or "")


def test_a_mirror_is_told_with_its_twentieth_page() -> None:
    late = site("mirror", TEXTS, day=5)
    (alert,) = told_of([*ORIGINAL, *late[:25]], together=64, restarts=False, rests=False)
    assert (alert.files, alert.figure) == (20, 1.0), "as if nothing had come after"
    own = site("mirror", TEXTS_OF_ITS_OWN[:10], day=4)
    (alert,) = told_of([*ORIGINAL, *own[:4], *late[4:20]], together=64, restarts=False, rests=False)
    assert (alert.files, alert.figure) == (20, 0.8)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_told_of_mirrors_and_when_hangs_on_the_order_of_pages_alone(seed: int) -> None:
    rng = Random(seed)
    # Both sites, a scraper of half of each, pages that are fetched again, and what is nobody's.
    other = site("other", TEXTS_OF_ITS_OWN, day=seed % 2)
    scraper = site("scraper", [*TEXTS[:15], *TEXTS_OF_ITS_OWN[:25]], day=3 * (seed % 2))
    again = [msgspec.structs.replace(one, fetched_at=NOW) for one in rng.sample(MIRROR, 12)]
    pages = [*ORIGINAL, *other, *MIRROR, *scraper, *again]
    if seed:
        rng.shuffle(pages)
    plain = told_of(pages, together=1, restarts=False, rests=True)
    assert plain or seed
    for together in (5, 33, len(pages)):
        assert told_of(pages, together=together, restarts=seed % 2 == 0, rests=True) == plain


@pytest.mark.parametrize("seed", range(3))
def test_of_two_hosts_in_one_crawl_the_later_is_the_mirror_as_information(seed: int) -> None:
    pages = [*ORIGINAL, *MIRROR]
    Random(seed).shuffle(pages)
    (alert,) = alerts_of(pages)
    assert (alert.prefix, alert.severity) == ("http://mirror.example/", "info")
    assert alert.direction is not None
    assert alert.direction.original == "unknown"
    assert alert.donors[0].url == "http://author.example/"
    assert alert.mapping is not None
    assert alert.mapping.here == "http://mirror.example/copy/"
    assert alert.mapping.there == "http://author.example/"
    assert {(one.url or "").rpartition("/")[2] for one in alert.evidence} <= {
        f"{at}.html" for at in range(30)
    }
    assert alert.figure == 1.0
    assert 20 <= (alert.files or 0) <= 30


def test_days_later_it_is_known_to_be_the_copy_and_told_after_few_pages() -> None:
    late = site("mirror", TEXTS, day=5)
    (alert,) = alerts_of([*ORIGINAL, *late[:20]])
    assert (alert.severity, alert.files) == ("warning", 20)
    assert alert.direction is not None
    assert alert.direction.original == "there"


def test_a_mirror_that_gets_pages_of_its_own_is_none_any_more() -> None:
    own = site("mirror", TEXTS_OF_ITS_OWN, day=6, under="own/")
    late = site("mirror", TEXTS, day=5)
    assert len(alerts_of([*ORIGINAL, *late])) == 1
    assert alerts_of([*ORIGINAL, *late, *own]) == []


@pytest.mark.parametrize(
    "pages",
    [
        [*ORIGINAL, *MIRROR[:19]],
        [
            *ORIGINAL,
            *site("mirror", [words(120) for _ in range(8)], day=0, under="o/"),
            *MIRROR[:20],
        ],
        [*ORIGINAL, *site("other", [*TEXTS[:15], *TEXTS_OF_ITS_OWN[:15]], day=0)],
    ],
)
def test_what_is_too_little_or_too_few_is_no_mirror(pages: Sequence[Page]) -> None:
    assert alerts_of(pages) == []


def test_who_may_copy_is_no_mirror() -> None:
    assert alerts_of([*ORIGINAL, *MIRROR], allowed=UrlSet(("mirror.example",))) == []


def test_a_part_of_a_larger_site_mirrors_it_and_not_the_other_way() -> None:
    more = site("author", TEXTS_OF_ITS_OWN, day=0, under="more/")
    (alert,) = alerts_of([*more, *ORIGINAL, *MIRROR])
    assert alert.prefix == "http://mirror.example/"


def test_twins_are_bounded_and_counted_as_they_leave() -> None:
    twins = Twins(least=1, most=10)
    for number in range(50):
        twins.note(Place(number, "h", 1, 0), Place(100 + number, "o", 2, 0), is_copy=False)
    assert len(twins.known) <= 10
    assert sum(twins._counts.values()) == len(twins.known)


def test_a_site_that_moves_its_pages_is_no_mirror_of_its_mirror() -> None:
    late = site("mirror", TEXTS, day=3)
    moved = site("author", TEXTS, day=6, under="new/")
    (alert,) = alerts_of([*ORIGINAL, *late, *moved])
    assert (alert.prefix, alert.severity) == ("http://mirror.example/", "warning")
