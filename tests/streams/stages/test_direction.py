"""Who has it from whom: owned sites, gaps between fetches, and who cannot be accused by them."""

from __future__ import annotations

import itertools
from itertools import permutations

import msgspec
import numpy as np
import pytest

from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.blocks.label_columns import Marks
from reusewatch.streams.records import Alert, Direction, Page
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.labeled import LabeledPages
from reusewatch.streams.stages.neighboring import NeighborhoodStage
from reusewatch.streams.url_sets import UrlSet
from tests.pages import SCHEME
from tests.streams.stages.hoods import BEGIN, Copied
from tests.streams.stages.hoods import blocks_of as hood_blocks
from tests.streams.stages.making import as_message
from tests.streams.stages.test_labeled import NOW, row, with_chunks
from tests.streams.stages.test_near_order import alerts_of, page, said, stage_of

DAY = 86_400
# The original is a large site: its small mirrors are crawled a minute before it.
OWN = page(0, 60, 0)
MIRRORS = [page(1, 0, 0), page(2, 5, 1)]


def found(pages: list[Page], rules: Rules | None = None) -> dict[str, Alert]:
    """The alerts that stand, by the URL of their subject."""
    return {str(a.url): a for a in alerts_of(said(stage_of(rules or Rules()), pages, 1))}


def test_mirrors_that_were_crawled_first_accuse_nobody() -> None:
    alerts = found([*MIRRORS, OWN])
    assert alerts.keys() == {MIRRORS[1].url, OWN.url}
    for alert in alerts.values():
        assert alert.severity == "info"
        assert alert.direction is not None
        assert (alert.direction.original, alert.direction.by) == ("unknown", None)
    assert alerts[OWN.url].direction == Direction(original="unknown", gap_seconds=60)


@pytest.mark.parametrize("order", [*permutations([OWN, *MIRRORS])])
def test_with_the_site_owned_the_mirrors_are_the_subjects_in_any_order(
    order: tuple[Page, ...],
) -> None:
    alerts = found([*order], Rules(owned=UrlSet([OWN.site])))
    assert alerts.keys() == {mirror.url for mirror in MIRRORS}
    for alert, gap in zip([alerts[one.url] for one in MIRRORS], (-60, -55), strict=True):
        assert alert.donors[0].url == OWN.url
        assert alert.direction == Direction(original="there", by="owned", gap_seconds=gap)
        assert alert.severity == "warning"


@pytest.mark.parametrize(("gap", "by"), [(DAY - 1, None), (DAY, "first-seen")])
def test_being_seen_first_says_something_from_a_gap_on(gap: int, by: str | None) -> None:
    (alert,) = found([page(0, 0, 0), page(1, gap, 0)]).values()
    assert alert.direction is not None
    assert (alert.direction.by, alert.direction.gap_seconds) == (by, gap)
    assert alert.severity == ("warning" if by else "info")
    (alert,) = found([page(0, 0, 0), page(1, 9, 1)], Rules(precedence_us=9_000_000)).values()
    assert alert.direction == Direction(original="there", by="first-seen", gap_seconds=9)


def test_a_page_without_a_date_is_the_copy_of_none_for_certain() -> None:
    nameless = msgspec.structs.replace(page(1, 0, 0), fetched_at=BEGIN.replace(year=1970))
    (alert,) = found([page(0, 0, 0), nameless]).values()
    assert (alert.url, alert.severity) == (nameless.url, "info")
    assert alert.direction == Direction(original="unknown")


def test_what_anybody_may_have_a_site_below_is_owned_by_nobody() -> None:
    for name in ("com", "co.uk"):
        with pytest.raises(ValueError, match="anybody may have a site"):
            UrlSet([name])


def test_who_is_allowed_to_copy_is_found_and_not_accused() -> None:
    partner = page(1, DAY, 0)
    (alert,) = found([page(0, 0, 0), partner], Rules(allowed=UrlSet([partner.host]))).values()
    assert (alert.severity, alert.direction and alert.direction.by) == ("info", "first-seen")


def test_a_window_that_was_saved_takes_up_another_owner() -> None:
    before = stage_of(Rules())
    said(before, MIRRORS[:1])
    after = stage_of(Rules(owned=UrlSet([MIRRORS[0].site])))
    after.restore(before.save())
    early = msgspec.structs.replace(OWN, fetched_at=BEGIN)
    (alert,) = alerts_of(said(after, [early]))
    assert (alert.url, alert.direction and alert.direction.by) == (OWN.url, "owned")


def test_owned_pages_are_no_subjects_of_labels_and_raise_no_threshold() -> None:
    pages = LabeledPages(SCHEME, allowed=UrlSet(["a.test"]))
    threshold = pages.threshold
    mine = pages.judge(row(1, 2, with_chunks(0, 1)), 2, NOW, owned=True)
    assert (mine.alerts, mine.contains, mine.labels) == ((), 1.0, ("sea",))
    assert pages.save() == LabeledPages(SCHEME).save()
    assert pages.threshold == threshold
    marks = Marks("v1", "critical", ("sea",))
    (alert,) = pages.judge(row(2, 2, marks), 2, NOW).alerts
    assert (alert.severity, alert.direction) == ("info", None)


def test_owned_prefixes_are_no_bad_neighborhoods() -> None:
    pages = [Copied(f"http://h.example/own/{n}", 2, 2, at=n) for n in range(3)]
    pages += [Copied(f"http://h.example/other/{n}", 2, 2, at=n) for n in range(3)]
    stage = NeighborhoodStage(
        SCHEME, clock=lambda: NOW, min_files=2, threshold=0.5,
        owned=UrlSet(["h.example/own/"]),
    )  # fmt: skip
    sent = stage.process([as_message(block) for block in hood_blocks(pages)]).messages
    assert {alert.prefix for alert in alerts_of(sent)} == {"http://h.example/other/"}
    rows = {one["prefix"]: one["badness"] for one in stage.answer("neighborhoods", {})}
    assert rows["http://h.example/own/"] == 0


def naming(one: Page, *others: Page) -> Page:
    """A page that names these as its source; only the first counts."""
    head = "".join(f'<link rel="canonical" href="{other.url}">' for other in others)
    return msgspec.structs.replace(one, body=head.encode() + one.body)


def test_a_page_that_names_its_source_is_a_copy_and_hides_nothing() -> None:
    for text, gap in itertools.product((0, 1), (30, DAY)):
        copy = naming(page(1, gap, text), page(0, 0, 0), page(2, 0, 0))
        (alert,) = found([page(0, 0, 0), copy]).values()
        assert alert.direction == Direction(original="there", by="declared", gap_seconds=gap)
        assert (alert.url, alert.severity) == (copy.url, "info")


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_the_page_that_is_named_comes_first_behind_those_that_are_owned(
    order: tuple[int, ...],
) -> None:
    early, source = page(0, 0, 0), page(1, 5, 0)
    pages = [early, source, naming(page(2, 9, 0), source)]
    shuffled = [pages[at] for at in order]
    alert = found(shuffled)[pages[2].url]
    if order[-1] == 2:  # the donors are those that were known when it was judged
        assert [donor.url for donor in alert.donors] == [source.url, early.url]
        assert alert.direction == Direction(original="there", by="declared", gap_seconds=4)
    owned = found([early, source, pages[2]], Rules(owned=UrlSet([early.site])))[pages[2].url]
    assert [donor.url for donor in owned.donors] == [early.url, source.url]
    assert owned.direction is not None
    assert owned.direction.by == "owned"


def test_who_names_an_accomplice_is_the_copy_of_who_was_there_long_before_him() -> None:
    original, accomplice = page(0, 0, 0), page(1, DAY, 0)
    thief = naming(page(2, 3 * DAY, 0), accomplice)
    alert = found([original, accomplice, thief])[thief.url]
    assert alert.donors[0].url == original.url
    assert alert.severity == "warning"
    assert alert.direction == Direction(original="there", by="first-seen", gap_seconds=3 * DAY)


def test_a_donor_that_names_the_subject_says_that_the_original_is_here() -> None:
    for gap in (30, DAY):
        mirror, original = naming(page(0, 0, 0), page(1, gap, 0)), page(1, gap, 0)
        for order in ([mirror, original], [original, mirror]):
            (alert,) = found(order).values()
            assert alert.url == original.url
            assert alert.direction == Direction(original="here", by="declared", gap_seconds=gap)
            assert alert.severity == "info"


def test_no_claim_of_a_page_accuses_another() -> None:
    """What a mirror says changes nothing for the page that it copies, but to free it."""
    original = page(1, 60, 0)
    unsaid = found([page(0, 0, 0), original])[original.url]
    for claim in (page(0, 0, 0), page(5, 0, 9)):  # itself, and a page of nobody's
        said_of = found([naming(page(0, 0, 0), claim), original])[original.url]
        assert (said_of.direction, said_of.severity) == (unsaid.direction, unsaid.severity)
    innocent = page(5, 0, 9)
    assert innocent.url not in found([innocent, naming(page(0, 9, 0), innocent), original])


def test_that_a_page_names_itself_frees_it_of_nothing_and_neither_do_two_that_name_each_other() -> (
    None
):
    for first, second in [
        (page(0, 0, 0), naming(page(1, DAY, 0), page(1, 0, 0))),
        (naming(page(0, 0, 0), page(1, 0, 0)), naming(page(1, DAY, 0), page(0, 0, 0))),
    ]:
        (alert,) = found([first, second]).values()
        assert alert.direction == Direction(original="there", by="first-seen", gap_seconds=DAY)
        assert alert.severity == "warning"


HEADS = {
    '<link rel=canonical href="/a?b&amp;c">': "http://www.one.example/a?b&c",
    '<base href="http://two.example/x/"><link rel="nofollow Canonical" href=y>': "http://two.example/x/y",
    "<link rel=canonical href='//three.example'>": "http://three.example",
    "<link rel=stylesheet href=/a><link rel=canonical>": "",
    "<link rel=canonical href=http://[>": "http://[",
    f"<link rel=canonical href=/{'a' * 5000}>": "",
}


def test_what_a_page_names_is_resolved_as_a_browser_does() -> None:
    made = fingerprints(
        [Document(head.encode(), url="http://www.one.example/d/e") for head in HEADS], SCHEME
    )
    assert [facts.canonical for facts in made.facts] == list(HEADS.values())


NAMES = {
    "example.org": ["http://example.org/", "https://a.b.example.org:8080/x"],
    "www.example.org": ["http://www.example.org:81/"],
    "www.example.org:8080": ["https://www.example.org:8080/a"],
    "example.org/docs": ["http://example.org/docs", "https://example.org/docs/a?b"],
    "https://example.org/docs/": ["https://example.org/docs/a"],
    "Bücher.example": ["http://xn--bcher-kva.example/"],
    "127.0.0.1": ["http://127.0.0.1:8000/"],
}
OTHERS = [
    "http://example.org.evil.example/", "http://notexample.org/",
    "http://example.org@evil.example/docs/", "http://[", "",
]  # fmt: skip


def test_pages_are_named_by_domain_host_or_prefix() -> None:
    for name, urls in NAMES.items():
        places = UrlSet([name])
        assert all(map(places.has, urls)), name
        assert not any(map(places.has, OTHERS)), name
    assert not UrlSet(["www.example.org"]).has("http://example.org/")
    assert not UrlSet(["https://example.org/docs/"]).has("http://example.org/docs/a")
    assert not UrlSet(["example.org/docs"]).has("https://example.org/docsearch")
    assert not UrlSet().has("http://example.org/")


def test_a_block_is_asked_as_its_pages_are() -> None:
    urls = [
        "http://a.example/x/1",
        "http://a.example/y/1",
        "http://b.c.example/",
        "http://d.example/",
    ]
    blocks = [
        read_block(as_message(one), SCHEME) for one in hood_blocks([Copied(u, 0, 1) for u in urls])
    ]
    for names in ([], ["a.example/x/", "c.example"], ["a.example"]):
        places = UrlSet(names)
        got = np.concatenate([places.of(block) for block in blocks]).tolist()
        assert got == [places.has(url) for url in urls]


@pytest.mark.parametrize(
    "name", ["", "*.example.org", "ftp://a.example/", "a b", "http://", "[::1"]
)
def test_what_names_no_page_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="neither a domain or host"):
        UrlSet([name])
