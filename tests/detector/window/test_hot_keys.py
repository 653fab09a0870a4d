"""A million pages of one template, a million copies: work a page is bounded, cuts are counted.

Steps are counted, not seconds.
"""

from __future__ import annotations

import numpy as np

from reusewatch.detector.compiling.lines import LINE
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.window.buckets import (
    empty_tables,
    home,
    number_bits,
    put,
    seek,
    take,
)
from reusewatch.detector.window.candidates import CANDIDATES, POSTINGS
from reusewatch.detector.window.identity_sets import TOLD_AGAIN
from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.near_rules import Policy
from reusewatch.detector.window.sightings import Sightings
from tests.detector.window.window_pages import NOW, Page, Text, base_text, columns, varied

TEMPLATE = base_text(1)


def template_page(number: int) -> Text:
    """Shares every key with all others of the template."""
    return Text(number + 1, TEMPLATE.super8, TEMPLATE.super5, TEMPLATE.simhash, TEMPLATE.sample)


def of(count: int, text: object, *, reverse: bool = False) -> Sightings:
    ats = range(count, 0, -1) if reverse else range(count)
    return columns([
        Page(i + 1, i % 2, at, template_page(i) if text is None else TEMPLATE, i + 1)
        for i, at in enumerate(ats)
    ])  # fmt: skip


def test_a_template_fills_no_key_beyond_its_bound() -> None:
    index = NearDuplicateIndex(max_pages=20_000, policy=Policy("b"))
    found = index.add(of(5_000, None), now=NOW)
    tables = index.save()["entry_tables"][:24].reshape(24, -1, LINE)
    held = np.count_nonzero(tables[:, :, 1:], axis=(1, 2))
    assert held.max() <= POSTINGS
    assert index.cut >= 24 * (5_000 - POSTINGS)
    # All but the first are reported all the same, and none is compared with more than the bound.
    assert sum(found.change(i).near_alert for i in range(5_000)) == 4_999
    assert POSTINGS * 18 >= CANDIDATES > POSTINGS


def test_a_template_in_any_order_is_reported() -> None:
    index = NearDuplicateIndex(max_pages=20_000)
    found = index.add(of(2_000, None, reverse=True), now=NOW)
    alerts = {i for i in range(2_000) if found.change(i).near_alert}
    alerts |= {turned.seen.page - 1 for turned in found.turns() if turned.near_alert}
    assert len(alerts) >= 1_990
    assert index.cut > 0


def test_a_template_leaves_the_window_without_a_trace() -> None:
    index = NearDuplicateIndex(max_pages=500)
    index.add(of(3_000, None), now=NOW)
    others = [base_text(number + 10) for number in range(500)]
    index.add(
        columns([Page(9_000 + i, i, 9_000 + i, t, i + 9_000) for i, t in enumerate(others)]),
        now=NOW,
    )
    tables = index.save()["entry_tables"].reshape(25, -1, LINE)
    assert set(np.count_nonzero(tables[:, :, 1:], axis=(1, 2)).tolist()) == {500}
    assert index.sets == 500


def test_copies_turn_once_whatever_their_order() -> None:
    """Each arrival is earlier than all before it: what it turns is the one that led them."""
    index = NearDuplicateIndex(max_pages=50_000)
    found = index.add(of(20_000, "copies", reverse=True), now=NOW)
    assert found.pages["turned"].max() == 1
    assert len(found.turned) == 19_999
    assert index.sets == 1
    assert index.match(of(1, "copies"), now=NOW).match(0).copies == 20_000


def test_no_more_copies_are_told_again_than_a_bound_allows() -> None:
    index = NearDuplicateIndex(max_pages=50_000)
    index.add(of(3_000, "copies", reverse=True), now=NOW)
    # Each once, though all of these stand before them.
    found, cut = index.overtaken([(page, TEMPLATE.text) for page in (3_000, 2_999, 1_500)])
    pages = found.found["page"][found.pages["seen"]].tolist()
    assert (len(set(pages)), len(pages), cut) == (TOLD_AGAIN, TOLD_AGAIN, 1)
    found, cut = index.overtaken([(5, TEMPLATE.text)])
    assert found.found["page"][found.pages["seen"]].tolist() == [4, 3, 2, 1]
    assert cut == 0


def test_copies_that_slide_keep_the_set_in_order() -> None:
    index = NearDuplicateIndex(max_pages=1_000)
    found = index.add(of(5_000, "copies"), now=NOW)
    assert found.match(4_999).copies == 1_001
    donors = [donor.page for donor in found.match(4_999).donors]
    assert donors == [4_001, 4_003, 4_005, 4_007, 4_009]


def test_a_table_keeps_what_was_put_and_nothing_else() -> None:
    """Lines that overflow, and numbers taken out of their midst, against a dictionary."""
    (table,) = empty_tables(1, 200)
    bits = number_bits(table)
    draw = np.random.default_rng(3)
    hashes = np.array([mix(np.uint64(i // 20)) for i in range(200)], np.uint64)
    held: set[int] = set()
    for _ in range(3_000):
        row = int(draw.integers(200))
        if row in held:
            assert take(table, bits, hashes[row], row)
            held.remove(row)
        else:
            assert not take(table, bits, hashes[row], row)
            put(table, bits, hashes[row], row)
            held.add(row)
    mask = (1 << bits) - 1
    for row in range(200):
        found, at = set(), seek(table, bits, hashes[row], home(table, hashes[row]))
        while at >= 0:
            found.add((int(table[at]) & mask) - 1)
            at = seek(table, bits, hashes[row], at)
        assert {other for other in held if hashes[other] == hashes[row]} <= found <= held
    for row in held:
        take(table, bits, hashes[row], row)
    assert not table.any()


def test_near_pages_of_other_templates_are_still_found() -> None:
    index = NearDuplicateIndex(max_pages=20_000)
    index.add(of(3_000, None), now=NOW)
    base = base_text(77)
    pair = [Page(8_001, 5, 8_001, base, 1), Page(8_002, 6, 8_002, varied(base, 3, 4, 4, 2, 16), 2)]
    match = index.add(columns(pair), now=NOW).match(1).near
    assert match is not None
    assert match.seen.page == 8_001
