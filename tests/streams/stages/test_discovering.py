"""Discovery over blocks of real pages, held to exact counts by sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import cycle, pairwise
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import hex_of
from reusewatch.streams import topics
from reusewatch.streams.blocks.columns import SCHEMA
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.records import Alert, Label, Origin, Page, Sighting
from reusewatch.streams.sites import Sites
from reusewatch.streams.stages.discovering import Discovering, Findings, Rules
from reusewatch.streams.stages.discovery_quota import ALERTS, ALERTS_OF_A_PAGE
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.reports import alert_id
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.urls import place
from reusewatch.streams.wire import Malformed, page_message, read_json
from tests.pages import SCHEME
from tests.streams.stages.making import as_message, zero

NOW = datetime(2026, 11, 1, tzinfo=UTC)
RULES = Rules(pages=4, file_pages=4, sites=3, length=100)
COMMON = "The quick brown fox jumps over the lazy dog, and <b>every</b>body who saw it&nbsp;was "
COMMON += "so surprised that they told the story to all their friends."


def page_of(number: int, *paragraphs: str, site: int | None = None, **facts: Any) -> Page:
    site = number if site is None else site
    url = f"http://www.site{site}.example/{number}"
    where = place(url, SCHEME)
    body = f"<title>page</title><p>only here: {number}</p>" + "".join(
        f"<p>{text}</p>" for text in paragraphs
    )
    known: dict[str, Any] = {
        "id": where.page_id, "url": url, "site": where.site, "host": where.host,
        "fetched_at": NOW + timedelta(seconds=number), "content_type": "text/html",
        "charset": "utf-8", "body": body.encode(), "status": 200,
        "origin": Origin(source="test", offset=number),
    }  # fmt: skip
    return Page(**(known | facts))


def block(pages: Iterable[Page], **columns: Sequence[Any]) -> pa.RecordBatch:
    """The block of these pages; `columns` instead of the stage's own."""
    messages = [as_message(page_message(page)) for page in pages]
    (sent,) = FingerprintStage(SCHEME, zero).process(messages).messages
    found = read_block(as_message(sent), SCHEME)
    for name, values in columns.items():
        at = SCHEMA.get_field_index(name)
        found = found.set_column(at, SCHEMA.field(at), pa.array(values, SCHEMA.field(at).type))
    return found


def discovering(rules: Rules = RULES, **options: Any) -> Discovering:
    return Discovering(SCHEME, rules, window_pages=10_000, **options)


def hash_of(text: str) -> int:
    return int(block([page_of(1, text)]).column("chunks")[0][2].as_py())


def added(stage: Discovering, pages: Iterable[Page], size: int = 1) -> list[Findings]:
    """What comes of pages of which so many are a step."""
    every, found = list(pages), []
    for at in range(0, len(every), size):
        found.append(stage.add(block(every[at : at + size]), NOW))
        found[-1].alerts.extend(stage.ended(NOW))
    return found


def alerts(found: Iterable[Findings]) -> list[Alert]:
    return [alert for one in found for alert in one.alerts]


def test_a_paragraph_on_many_sites_is_one_alert_with_its_text_and_sites() -> None:
    pages = {n: page_of(n, COMMON) for n in range(20)}
    stage = discovering(read_origin=lambda origin: pages[origin.offset or 0])
    alert, *again = alerts(added(stage, pages.values()))
    assert {one.id for one in (alert, *again)} == {
        alert_id("discovered-content", 0, hash_of(COMMON), SCHEME)
    }
    assert (alert.kind, alert.severity, alert.state) == ("discovered-content", "info", "open")
    assert (alert.figure, alert.threshold) == (5.0, 4.0)
    assert alert.url == pages[5].url  # the first page only passes the filter
    assert alert.sites == tuple(f"site{n}.example" for n in range(1, 6))
    assert alert.fetched_at == pages[5].fetched_at
    (evidence,) = alert.evidence
    assert evidence.text == (
        "The quick brown fox jumps over the lazy dog, and everybody who saw it was so surprised "
        "that they told the story to all their friends"
    )
    body = pages[5].body
    assert body[evidence.start : evidence.end].decode().startswith("The quick brown fox jumps")
    assert body[evidence.start : evidence.end].decode().endswith("friends")


def test_a_long_text_is_cut() -> None:
    text = "word " * 400
    pages = {n: page_of(n, text) for n in range(9)}
    stage = discovering(read_origin=lambda origin: pages[origin.offset or 0])
    (alert,) = alerts(added(stage, pages.values()))
    assert len(alert.evidence[0].text or "") <= 300
    assert (alert.evidence[0].text or "").startswith("word word")


def _gone(origin: Origin) -> Page:
    raise BadPage("too-large", "gone")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"read_origin": _gone},
        {"read_origin": lambda origin: page_of(origin.offset, COMMON, "changed since")},
    ],
)
def test_without_the_page_there_is_a_span_and_no_text(options: dict[str, Any]) -> None:
    (alert,) = alerts(added(discovering(**options), (page_of(n, COMMON) for n in range(9))))
    (evidence,) = alert.evidence
    assert evidence.text is None
    assert evidence.start is not None


def test_a_page_of_a_live_crawl_is_not_read_again() -> None:
    crawl = Origin(source="crawl")
    stage = discovering(read_origin=_never)
    (alert,) = alerts(added(stage, (page_of(n, COMMON, origin=crawl) for n in range(9))))
    assert alert.evidence[0].text is None


def _never(origin: Origin) -> Page:
    raise AssertionError(origin)


def test_a_charset_is_read_as_the_page_was() -> None:
    text = (
        "Überall steht derselbe Absatz über ungewöhnliche Änderungen, größer als hundert Zeichen, "
    )
    text += "in einer Kodierung von früher, und niemand weiß, wer ihn schrieb."
    pages = {n: page_of(n) for n in range(9)}
    for n, page in pages.items():
        body = f"<p>{n}</p><p>{text}</p>".encode("cp1252")
        pages[n] = msgspec.structs.replace(page, body=body, charset="windows-1252")
    stage = discovering(read_origin=lambda origin: pages[origin.offset or 0])
    (alert,) = alerts(added(stage, pages.values()))
    assert alert.evidence[0].text == text.rstrip(".")
    start, end = alert.evidence[0].start, alert.evidence[0].end
    assert pages[5].body[start:end].decode("cp1252") == text.rstrip(".")


def test_the_same_file_everywhere_is_discovered_as_one() -> None:
    body = b"<p>A whole page, of short paragraphs<p>that nobody would look at"
    pages = [page_of(n, body=body) for n in range(9)]
    (alert,) = alerts(added(discovering(), pages))
    assert alert.id == alert_id("discovered-content", 0, SCHEME.of_bytes(body), SCHEME)
    assert alert.sites == tuple(f"site{n}.example" for n in range(1, 6))


@pytest.mark.parametrize(
    "pages",
    [
        [page_of(n, COMMON, site=n % 2) for n in range(40)],
        [page_of(n, "Read more") for n in range(40)],
        [page_of(n, body=b"") for n in range(40)],
        [page_of(n, COMMON, status=404) for n in range(40)],
        [page_of(3, COMMON)] * 40,
        [
            page_of(n, body=b"", revisit_of=Sighting(url="http://a.example/", fetched_at=NOW))
            for n in range(40)
        ],
    ],
    ids=["two-sites", "short", "empty", "not-found", "one-page", "revisits"],
)
def test_what_is_not_discovered(pages: list[Page]) -> None:
    assert not alerts(added(discovering(), pages, size=7))


def test_stop_chunks_and_what_is_labeled_do_not_count() -> None:
    pages = [page_of(n, COMMON, COMMON + " Again.") for n in range(40)]
    stopped = block(pages, stopped=[[2, 3]] * 40)
    labeled = block(pages, labeled=[[2]] * 40, stopped=[[3]] * 40)
    assert not discovering().add(stopped, NOW).alerts
    assert not discovering().add(labeled, NOW).alerts
    assert len(discovering().add(block(pages, stopped=[[2]] * 40), NOW).alerts) == 1


def test_stop_files_and_labeled_files_do_not_count() -> None:
    pages = [page_of(n, body=b"<p>the same") for n in range(40)]
    known = SCHEME.of_bytes(b"<p>the same")
    assert not discovering(is_stop_file=lambda found: found == known).add(block(pages), NOW).alerts
    assert not discovering().add(block(pages, file_labels=[["L"]] * 40), NOW).alerts


def test_the_columns_of_a_slice_are_its_own() -> None:
    pages = [page_of(n, COMMON if n % 2 else COMMON + " Else.") for n in range(30)]
    marked = block(pages, stopped=[[2] if n % 2 else [] for n in range(30)])
    whole, parts = discovering(), discovering()
    found = [alert.id for alert in whole.add(marked, NOW).alerts]
    sliced = [a.id for n in range(0, 30, 7) for a in parts.add(marked.slice(n, 7), NOW).alerts]
    assert (
        set(found)
        == set(sliced)
        == {alert_id("discovered-content", 0, hash_of(COMMON + " Else."), SCHEME)}
    )


@pytest.mark.parametrize(
    "columns", [{"stopped": [[3]]}, {"labeled": [[99]]}, {"chunk_starts": [[0]]}]
)
def test_a_block_that_contradicts_itself_is_refused(columns: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        discovering().add(block([page_of(1, COMMON)], **columns), NOW)


def test_with_labels_it_goes_to_the_labeled_dataset_once() -> None:
    stage = discovering(replace(RULES, label=True))
    found = added(stage, (page_of(n, COMMON) for n in range(20)))
    (sent,) = [message for one in found for message in one.messages]
    assert (sent.topic, sent.key) == (topics.LABELS, hex_of(hash_of(COMMON)))
    label = read_json(as_message(sent), Label)
    assert (label.unit, label.name, label.removed) == ("chunk", "discovered", False)
    assert alerts(found)[0].labels == ("discovered",)


def test_what_a_few_domains_have_is_told_and_becomes_no_label() -> None:
    rules = replace(RULES, label=True, label_sites=20)
    few = [page_of(n, COMMON, site=n % 5) for n in range(130)]
    stage = discovering(rules)
    found = added(stage, few, 10)
    assert alerts(found)
    assert not [message for one in found for message in one.messages]
    # Names under one hosting domain are one site.
    names = (f"http://a{n}.blogspot.com/" for n in range(40))
    hosted = []
    for n, url in enumerate(names):
        where = place(url, SCHEME)
        known = {"url": url, "id": where.page_id, "host": where.host}
        hosted.append(msgspec.structs.replace(page_of(200 + n, COMMON, **known), site=where.site))
    assert not [message for one in added(stage, hosted, 10) for message in one.messages]
    stage.restore(stage.save())
    many = added(stage, [page_of(300 + n, COMMON, site=100 + n) for n in range(16)])
    (sent,) = [message for one in many for message in one.messages]
    label = read_json(as_message(sent), Label)
    assert (label.hash, label.severity) == (hex_of(hash_of(COMMON)), "info")


def test_without_labels_there_is_no_message() -> None:
    found = added(discovering(), (page_of(n, COMMON) for n in range(20)))
    assert not [message for one in found for message in one.messages]
    assert sum(one.events["discovered-chunk"] for one in found) == 1


TEXTS = [f"Paragraph {n} " + "is long enough to be somebody's own, " * 4 for n in range(4)]
crowds = st.lists(
    st.tuples(st.integers(0, 25), st.frozensets(st.integers(0, 3), max_size=3)), max_size=60
)


def crawled(crowd: list[tuple[int, frozenset[int]]]) -> list[Page]:
    return [
        page_of(number, *(TEXTS[n] for n in sorted(texts)), site=number % 6)
        for number, texts in crowd
    ]


def exact(pages: list[Page]) -> dict[int, tuple[int, int]]:
    """Of each text: distinct pages, distinct sites."""
    found: dict[int, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for page in pages:
        for n, text in enumerate(TEXTS):
            if text.encode() in page.body:
                found[n][0].add(page.url)
                found[n][1].add(page.site)
    return {n: (len(of), len(on)) for n, (of, on) in found.items()}


@settings(max_examples=40)
@given(crowds, st.integers(1, 9), st.randoms(use_true_random=False))
def test_in_any_order_and_batch_the_bounds_hold(
    crowd: list[tuple[int, frozenset[int]]], size: int, random: Any
) -> None:
    pages = crawled(crowd)
    random.shuffle(pages)
    found = alerts(added(discovering(), pages, size))
    known = exact(pages)
    ids = {n: alert_id("discovered-content", 0, hash_of(text), SCHEME)
           for n, text in enumerate(TEXTS)}  # fmt: skip
    may = {ids[n] for n, (of, on) in known.items() if of > RULES.pages and on >= RULES.sites}
    must = {ids[n] for n, (of, on) in known.items() if of > RULES.pages + 1 and on > RULES.sites}
    chunks = {alert.id for alert in found} & set(ids.values())
    assert must <= chunks <= may
    for one in {alert.id for alert in found}:
        figures = [alert.figure for alert in found if alert.id == one]
        assert all(after >= 2 * before for before, after in pairwise(figures))


def test_an_alert_is_sent_again_when_it_is_on_twice_as_many_pages_and_when_the_stream_ends() -> (
    None
):
    pages = [page_of(n, COMMON) for n in range(1, 51)]
    stage = discovering()
    found = alerts(added(stage, [*pages, *pages]))  # what comes again is the same page
    assert len({alert.id for alert in found}) == 1
    assert [alert.approximate for alert in found] == [False, True, True, True]
    # The first page passes the filter, and is seen when it comes again.
    for alert, pages_then in zip(found, [5, 10, 20, 40], strict=True):
        assert alert.figure == pytest.approx(pages_then, abs=1)
    (last,) = stage.settle(NOW)
    assert (last.id, last.url) == (found[0].id, found[0].url)
    assert last.figure == pytest.approx(50, abs=2)
    assert not stage.settle(NOW)


def test_what_is_spared_and_what_is_a_label_by_now() -> None:
    texts = [f"Paragraph {n}: " + "what everybody is to have copied, " * 5 for n in range(12)]
    stage = discovering(replace(RULES, label=True))
    told = alerts(added(stage, [page_of(n, *texts) for n in range(9)], 9))
    assert len(told) == ALERTS_OF_A_PAGE
    later = block([page_of(n, *texts) for n in range(9, 90)])
    marked = later.set_column(*_column("labeled", [list(range(2, 14))] * 81))
    marked = marked.set_column(*_column("labeled_by", [["discovered"] * 12] * 81))
    assert not stage.add(marked, NOW).alerts
    again = stage.ended(NOW)
    assert {alert.id for alert in again} == {alert.id for alert in told}
    assert all(alert.figure == pytest.approx(89, rel=0.05) for alert in again)


def _column(name: str, values: Sequence[Any]) -> tuple[int, Any, Any]:
    at = SCHEMA.get_field_index(name)
    return at, SCHEMA.field(at), pa.array(values, SCHEMA.field(at).type)


@settings(max_examples=6)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_what_a_quota_spares_hangs_on_no_blocks(sizes: list[int]) -> None:
    pages, (whole, parts) = _quota_pages(), (discovering(), discovering())
    wanted = {alert.id for n in range(60) for alert in whole.add(pages.slice(n, 1), NOW).alerts}
    assert 0 < len(wanted) < 40
    found, at, turn = [], 0, cycle(sizes)
    while at < len(pages):
        found.append(parts.add(pages.slice(at, size := next(turn)), NOW))
        at += size
    assert {alert.id for alert in alerts(found)} == wanted


@cache
def _quota_pages() -> pa.RecordBatch:
    texts = [f"Paragraph {n}: " + "what everybody is to have copied, " * 5 for n in range(40)]
    return block(page_of(n, *texts[n % 3 * 5 : n % 3 * 5 + 30]) for n in range(60))


@settings(max_examples=15)
@given(crowds, crowds)
def test_a_restored_one_goes_on_alike(
    before: list[tuple[int, frozenset[int]]], after: list[tuple[int, frozenset[int]]]
) -> None:
    one, other = discovering(), discovering()
    added(one, crawled(before), 5)
    saved = one.save()
    other.restore(State({name: array.copy() for name, array in saved.arrays.items()}, saved.facts))
    for page in crawled(after):
        assert one.add(block([page]), NOW) == other.add(block([page]), NOW)
    assert {n: a.tobytes() for n, a in one.save().arrays.items()} == {
        n: a.tobytes() for n, a in other.save().arrays.items()
    }


def test_another_threshold_counts_anew_and_says_so() -> None:
    one = discovering()
    added(one, (page_of(n, COMMON) for n in range(4)))
    other = discovering(replace(RULES, pages=9))
    other.restore(one.save())
    (found,) = added(other, [page_of(5, COMMON)])
    assert found.events["discovery-anew"] == 1
    assert not alerts(added(other, (page_of(n, COMMON) for n in range(6, 14))))
    assert len(alerts(added(other, [page_of(n, COMMON) for n in range(14, 18)]))) == 1


def test_memory_is_bounded_by_window_and_threshold() -> None:
    assert discovering(Rules()).nbytes() < 12_000_000
    default = Discovering(SCHEME, Rules(), window_pages=1_000_000)
    assert default.nbytes() < 240_000_000
    vast = Discovering(SCHEME, Rules(pages=10_000, sites=1000), window_pages=1 << 40)
    assert vast.nbytes() < 460_000_000
    assert sum(array.nbytes for array in default.save().arrays.values()) < 1000


def test_names_of_sites_are_kept_as_far_as_they_fit() -> None:
    sites = Sites(SCHEME, most=3)
    hashes = sites.hashes(["a", "b", "a", "c"]).tolist()
    assert hashes == [SCHEME.of_text(name) for name in "abac"]
    sites.hashes(["a", "d"])
    assert list(sites) == ["c", "a", "d"]
    assert sites.names(hashes) == ("a", "a", "c")
    assert sites.nbytes() == 600


def test_an_empty_block_is_nothing() -> None:
    assert discovering().add(block([page_of(1)]).slice(0, 0), NOW) == Findings()


def hosted(number: int, *paragraphs: str, names: int = 6) -> Page:
    """A page under one of six names of one hosting domain."""
    url = f"http://name{number % names}.blogspot.com/{number}"
    where = place(url, SCHEME)
    page = page_of(number, *paragraphs)
    return msgspec.structs.replace(
        page, id=where.page_id, url=url, site=where.site, host=where.host
    )


def test_names_of_one_hosting_domain_are_one_site() -> None:
    assert not alerts(added(discovering(), (hosted(n, COMMON) for n in range(40)), 5))
    others = [page_of(n, COMMON) for n in range(50, 53)]
    mixed = [hosted(n, COMMON) for n in range(9)] + others
    (alert,) = alerts(added(discovering(), mixed))
    assert alert.sites is not None
    assert "blogspot.com" in alert.sites


def test_a_page_of_many_paragraphs_makes_a_few_alerts_and_a_count() -> None:
    texts = [f"Paragraph {n}: " + "what everybody is to have copied, " * 5 for n in range(60)]
    found = added(discovering(replace(RULES, label=True)), (page_of(n, *texts) for n in range(20)))
    assert len({alert.id for alert in alerts(found)}) == ALERTS_OF_A_PAGE
    assert sum(one.events["discovery-untold"] for one in found) == 60 - ALERTS_OF_A_PAGE
    assert sum(one.events["discovered-chunk"] for one in found) == 60
    assert sum(len(one.messages) for one in found) == 60  # all are labeled


def test_many_pages_of_a_few_paragraphs_make_so_many_alerts_and_a_count() -> None:
    every = [
        page_of(10 * group + n, f"Group {group}: " + "what everybody is to have copied, " * 5)
        for group in range(150) for n in range(6)
    ]  # fmt: skip
    found = added(discovering(), every, 50)
    assert len(alerts(found)) == ALERTS
    assert sum(one.events["discovery-untold"] for one in found) == 150 - ALERTS
