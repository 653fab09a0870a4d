"""A page that links to what it copies says where it has it from: that frees it, and nobody else."""

from __future__ import annotations

from itertools import permutations

import msgspec
import pyarrow as pa
import pytest

from reusewatch.streams.blocks.for_links import check_links
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.records import Alert, Page
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.linking import BESIDE, Linking
from reusewatch.streams.wire import Malformed, page_message
from tests.pages import SCHEME
from tests.streams.stages.making import as_message, zero
from tests.streams.stages.test_near_order import alerts_of, page, said, stage_of
from tests.streams.stages.test_quilting import OWN_WORDS, PAGES, QUILT, TEXTS, run, told
from tests.streams.stages.test_quilting import page as page_with

DAY = 86_400
COMMENT = '<p><a rel="ugc nofollow" href="{}">w0x1</a>'


def linking(one: Page, *others: Page, tag: str = '<p><a href="{}">w0x1</a>') -> Page:
    """A page with links to these below its text; their words are of its text."""
    links = "".join(tag.format(other.url) for other in others)
    return msgspec.structs.replace(one, body=one.body + links.encode())


def found(pages: list[Page], batch: int = 1) -> dict[str, Alert]:
    """The alerts that stand, by the URL of their subject."""
    return {str(a.url): a for a in alerts_of(said(stage_of(Rules()), pages, batch))}


@pytest.mark.parametrize("order", [*permutations(range(2))])
@pytest.mark.parametrize("gap", [30, DAY])
def test_a_copy_that_links_to_its_source_says_so_in_any_order(
    gap: int, order: tuple[int, ...]
) -> None:
    source = page(0, 0, 0)
    pages = [source, linking(page(1, gap, 1), source)]
    (alert,) = found([pages[at] for at in order]).values()
    assert alert.url == pages[1].url
    assert alert.direction is not None
    assert (alert.direction.original, alert.direction.by) == ("there", "declared")
    assert alert.severity == "info"
    assert [donor.linked for donor in alert.donors] == [True]


def test_a_link_that_somebody_else_put_there_frees_and_accuses_nobody() -> None:
    """In a comment on the original, the thief links to his copy of it."""
    thief = page(0, 0, 0)
    for tag, by in ((COMMENT, "first-seen"), ('<p><a href="{}" hidden>w0x1</a>', "first-seen")):
        original = linking(page(1, DAY, 0), thief, tag=tag)
        (alert,) = found([thief, original]).values()
        assert alert.direction is not None
        assert alert.direction.by == by
        assert not alert.donors[0].linked


def test_a_link_to_a_page_makes_it_no_source_of_others_and_no_subject() -> None:
    """What a donor links to says nothing of the subject: it may be a comment there."""
    subject, innocent = page(1, DAY, 0), page(5, 0, 9)
    before = found([page(0, 0, 0), subject])[subject.url]
    for target in (subject, innocent):
        alerts = found([innocent, linking(page(0, 0, 0), target), subject])
        assert alerts.keys() == {subject.url}
        assert alerts[subject.url].direction == before.direction
        assert alerts[subject.url].severity == before.severity == "warning"


def test_a_link_raises_no_severity() -> None:
    source, copy = page(0, 0, 0), page(1, 30, 1)
    unsaid = found([source, copy])[copy.url]
    assert unsaid.severity == "info"
    assert found([source, linking(copy, source)])[copy.url].severity == "info"


def test_a_salvaged_page_says_nothing_of_the_page_it_claims_to_be() -> None:
    source, victim = page(0, 0, 0), page(1, DAY, 0)
    forged = msgspec.structs.replace(linking(victim, source), salvaged=True)
    for pages in ([source, forged, victim], [forged, source, victim]):
        alert = found(pages)[victim.url]
        assert alert.direction is not None
        assert alert.direction.by == "first-seen"


HTML = '<a href="{}">source</a>'


def stitched(words: list[str], links: list[str], *, apart: int = 0) -> Page:
    made = page_with("lender", "part", words, day=3)
    tags = " ".join(HTML.format(link) for link in links)
    gap = f"<i {'x' * apart}></i>" if apart else ""
    return msgspec.structs.replace(made, body=made.body + gap.encode() + f"<p>{tags}".encode())


@pytest.mark.parametrize(("apart", "by"), [(0, "declared"), (2 * BESIDE, "first-seen")])
def test_a_part_is_declared_by_a_link_beside_it(apart: int, by: str) -> None:
    """The copied part stands at the end, so that the link below it is near, or is not."""
    words = OWN_WORDS[1][:360] + TEXTS[5][200:440]
    part = stitched(words, [PAGES[5].url], apart=apart)
    ((alert,),) = [told(run([*PAGES[:6], part], "all"))[0].values()]
    assert alert.kind == "partial-copy"
    assert alert.direction is not None
    assert (alert.direction.original, alert.direction.by) == ("there", by)
    assert alert.severity == ("info" if by == "declared" else "warning")
    assert alert.donors[0].linked


def test_a_digest_that_links_to_its_sources_is_attributed() -> None:
    others = ["http://www.source0.example/else", *(PAGES[at].url for at in range(1, 5))]
    for links, attributed, severity in (
        ([], 0.0, "warning"), (others[:2], 0.35, "warning"), (others, 0.86, "info"),
    ):  # fmt: skip
        quilt = msgspec.structs.replace(stitched(QUILT, links), url="http://lender.example/part")
        alerts, verdicts = told(run([*PAGES[:6], quilt], "all"))
        (alert,) = alerts.values()
        assert (alert.kind, alert.severity) == ("quilt", severity)
        assert sum(donor.linked for donor in alert.donors) == len(links)
        said = verdicts[quilt.url].quilt
        assert said is not None
        assert said.attributed == pytest.approx(attributed, abs=0.05)


def block(*pages: Page) -> pa.RecordBatch:
    messages = [as_message(page_message(one)) for one in pages]
    (sent,) = FingerprintStage(SCHEME, zero).process(messages).messages
    return read_block(as_message(sent), SCHEME)


def test_links_are_those_that_a_page_has_now_bounded_and_saved() -> None:
    source, copy = page(0, 0, 0), page(1, 30, 1)
    kept, number = Linking(SCHEME, most=2), int(source.id, 16)
    kept.add(block(linking(copy, source)))
    again = Linking(SCHEME)
    again.restore(kept.save())
    for one in (kept, again):
        assert one.of(int(copy.id, 16)).names(number)
    kept.add(block(copy))
    assert not kept.of(int(copy.id, 16)).names(number)
    for n in range(2, 9):
        kept.add(block(linking(page(n, 0, 0), source)))
    kept.ended()
    held = [n for n in range(2, 9) if kept.of(int(page(n, 0, 0).id, 16)).names(number)]
    assert held == [n for n in range(2, 9) if n % 3][-2:]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_which_links_are_kept_hangs_on_no_block_and_no_restart(size: int) -> None:
    """Of pages that come again, without links by then, the links are gone for good."""
    source = page(0, 0, 0)
    pages = [linking(page(n, 0, 0), source) for n in range(1, 12)]
    pages[8], kept = page(7, 0, 0), Linking(SCHEME, most=4)
    number = int(source.id, 16)
    for at in range(0, len(pages), size):
        kept.add(block(*pages[at : at + size]))
        again = Linking(SCHEME, most=4)
        again.restore(kept.save())
        kept = again
    kept.ended()
    held = [n for n in range(1, 12) if kept.of(int(page(n, 0, 0).id, 16)).names(number)]
    assert held == [8, 10, 11]


@pytest.mark.parametrize("name", ["links", "link_sites", "link_starts"])
def test_links_without_their_places_are_malformed(name: str) -> None:
    one = block(linking(page(1, 0, 0), page(0, 0, 0)))
    at = one.schema.get_field_index(name)
    spoilt = one.set_column(at, one.schema.field(at), pa.nulls(1, one.schema.types[at]))
    check_links(one)
    with pytest.raises(Malformed, match="links"):
        check_links(spoilt)
