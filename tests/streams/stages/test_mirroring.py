"""A host whose pages are another site's is told as its mirror, and nobody else is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

import msgspec
import pytest

from reusewatch.detector.neighborhoods.mirrors import MOST_SITES, Place, Twins
from reusewatch.streams import topics
from reusewatch.streams.records import Alert, Direction, Page
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
    # Who was seen first is not who wrote: it accuses no host.
    assert (alert.severity, alert.files) == ("info", 20)
    assert alert.direction == Direction(
        original="there", by="first-seen", gap_seconds=5 * 24 * 60 * 60
    )
    assert (alert.donors[0].fetched_at, alert.fetched_at) == (
        ORIGINAL[0].fetched_at, late[19].fetched_at,
    )  # fmt: skip


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
        one, other = Place(number, number, "h", 1, 0), Place(100 + number, number, "o", 2, 0)
        twins.note(one, other)
    assert len(twins.known) <= 10
    assert sum(counts.total() for counts in twins._counts.values()) == len(twins.known)


def test_a_site_that_moves_its_pages_is_no_mirror_of_its_mirror() -> None:
    late = site("mirror", TEXTS, day=3)
    moved = site("author", TEXTS, day=6, under="new/")
    (alert,) = alerts_of([*ORIGINAL, *late, *moved])
    assert (alert.prefix, alert.severity) == ("http://mirror.example/", "info")


OWN = [words(120) for _ in range(90)]
# Of three sites 13 texts are the same, and twice as many pages each has for itself; of three others
# all pages are one text.
FEW = [
    [*site(name, [*TEXTS[:13], *OWN[at : at + 13]], day=0)]
    for name, at in (("one", 0), ("two", 30), ("three", 60))
]
ONE_TEXT = [site(name, [TEXTS[0]] * 25, day=0) for name in ("one", "two", "three")]


@pytest.mark.parametrize("seed", range(6))
def test_of_three_hosts_with_the_same_pages_two_are_told(seed: int) -> None:
    third = site("third", TEXTS, day=2 * MINUTE, under="third/")
    pages = [*ORIGINAL, *MIRROR, *third]
    Random(seed).shuffle(pages)
    found = alerts_of(pages)
    assert [one.prefix for one in found] == ["http://mirror.example/", "http://third.example/"]
    for alert in found:
        assert alert.donors[0].url == "http://author.example/"
        assert (alert.severity, alert.figure) == ("info", 1.0)
        assert alert.direction is not None
        assert alert.direction.original == "unknown"
        assert alert.mapping is not None
        assert alert.mapping.there == "http://author.example/"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sites", [FEW, ONE_TEXT])
def test_three_sites_that_share_a_few_texts_are_no_mirrors(
    sites: Sequence[Sequence[Page]], seed: int
) -> None:
    pages = [one for pages in sites for one in pages]
    Random(seed).shuffle(pages)
    assert alerts_of(pages) == []


@pytest.mark.parametrize("seed", range(2))
def test_an_owned_site_is_no_mirror_of_those_that_came_before_it(seed: int) -> None:
    late = site("author", TEXTS, day=1)
    first, second = site("one", TEXTS, day=0), site("two", TEXTS, day=MINUTE)
    pages = [*first, *second, *late]
    if seed:
        Random(seed).shuffle(pages)
    found = alerts_of(pages, owned=UrlSet(("author.example",)))
    assert [one.prefix for one in found] == ["http://one.example/", "http://two.example/"]
    for alert in found:
        assert alert.donors[0].url == "http://author.example/"
        assert alert.direction is not None
        assert (alert.severity, alert.direction.by) == ("warning", "owned")


class Plain:
    """Twins from their definition: a page counts for each site that has a page in its group."""

    def __init__(self) -> None:
        self.groups: list[set[int]] = []
        self.places: dict[int, Place] = {}

    def note(self, one: Place, other: Place) -> None:
        self.places |= {one.page: one, other.page: other}
        joined = {one.page, other.page}
        for group in [each for each in self.groups if each & joined]:
            self.groups.remove(group)
            joined |= group
        self.groups.append(joined)

    def forget(self, page: int) -> None:
        self.places.pop(page, None)
        self.groups = [group - {page} for group in self.groups]

    def counts(self) -> dict[tuple[str, int], int]:
        found: dict[tuple[str, int], int] = {}
        for group in self.groups:
            places = [self.places[number] for number in group]
            for place in places:
                for site in {each.site for each in places} - {place.site}:
                    pair = place.host, site
                    found[pair] = found.get(pair, 0) + 1
        return found


@pytest.mark.parametrize("seed", range(20))
def test_twins_are_counted_as_defined_whatever_is_noted_forgotten_and_restored(seed: int) -> None:
    rng = Random(seed)
    twins, plain = Twins(least=2), Plain()
    places = [Place(n, n % 9, f"h{n % 7}", n % 5, n) for n in range(40)]
    for _ in range(80):
        one, other = rng.sample(places, 2)
        if rng.random() < 0.3:
            twins.forget(one.page)
            plain.forget(one.page)
        elif one.site != other.site:
            twins.note(one, other, by=rng.choice([None, "first-seen", "declared", "owned"]))
            plain.note(one, other)
        if rng.random() < 0.1:
            saved = twins.save()
            twins = Twins(least=2)
            twins.restore(saved)
            assert twins.save() == saved
        counted = {
            (host, site): count
            for host, counts in twins._counts.items() for site, count in counts.items() if count
        }  # fmt: skip
        assert counted == plain.counts()


def test_a_text_that_stands_everywhere_costs_no_more_with_each_site() -> None:
    twins = Twins(least=2)
    first = Place(0, 1, "h0", 0, 0)
    for number in range(1, 500):
        twins.note(Place(number, 1, f"h{number}", number, number), first)
    (group,) = {id(twin.group): twin.group for twin in twins.known.values()}.values()
    assert (len(group.pages), len(group.sites)) == (500, MOST_SITES)


def test_a_host_of_many_pages_is_not_gone_through_again_with_each_twin() -> None:
    more = site("author", [words(120) for _ in range(50)], day=0, under="more/")
    twins = site("mirror", TEXTS[:22], day=MINUTE)
    fingerprint = FingerprintStage(SCHEME, zero, grams="sampled")
    mirroring = Mirroring(SCHEME, least_pages=20, least_share=0.8)
    index = IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=1000, rules=Rules(policy="across"),
        mirroring=mirroring,
    )  # fmt: skip
    asked = list[list[str]]()
    pages_on = index._index.pages_on

    def counted(
        hosts: Mapping[str, int], host_of: Callable[[str], str]
    ) -> dict[str, dict[int, int]]:
        asked.append(sorted(hosts))
        return pages_on(hosts, host_of)

    index._index.pages_on = counted  # type: ignore[method-assign]
    # The mirror's own pages are as many: neither host has enough of the other.
    own = site("mirror", [words(120) for _ in range(50)], day=0, under="own/")
    for some in ([*more, *own, *ORIGINAL], *([one] for one in twins)):
        for block in fingerprint.process([as_message(page_message(one)) for one in some]).messages:
            index.process([as_message(block)])
    assert asked == [["http://author.example/", "http://mirror.example/"]], "with the 16th twin"


@pytest.mark.parametrize("mirror_first", [False, True])
def test_a_few_old_texts_on_many_sites_hide_no_original(mirror_first: bool) -> None:
    # In one crawl, so that nobody knows of a page whose it is.
    late = site("mirror", TEXTS_OF_ITS_OWN, day=5 + MINUTE)
    both = [*site("author", TEXTS_OF_ITS_OWN, day=5), *late]
    old = [one for n in range(3) for one in site(f"old{n}", TEXTS_OF_ITS_OWN[:16], day=n)]
    (alert,) = alerts_of([*both, *old] if mirror_first else [*old, *both])
    assert (alert.prefix, alert.figure) == ("http://mirror.example/", 1.0)
    assert alert.donors[0].url == "http://author.example/"


def test_pages_that_change_use_up_no_group() -> None:
    twins = Twins(least=1)
    a, b, c = (Place(n, 0, f"https://{n}/", n, n) for n in range(3))
    twins.note(a, c)
    for text in range(1, 2 * MOST_SITES):
        twins.note(b._replace(text=text), a)
    twins.note(a._replace(text=1), c)
    assert [one.site for one in twins.held(c.host)] == [a.site, b.site]
