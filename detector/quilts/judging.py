"""Patch grams, sources and donors of pages, found in who holds their grams (Najork 2012, §2).

Donors are pages that were there earlier (ties go by id), or owned ones: the paper's definition is
symmetric, and would make quilts of the pages that were copied. What is a template of the page's
site, or of a donor's, is no patch (`site_peers`).

Figures are shares of all grams of a page, also where only a sample of them is posted: a document
with all of its grams posted is compared gram by gram, and one with a sample stands for the grams
that no sample has (`_share`). An estimate by a share s of n grams is low by a factor of
1 − (1 − s)^n, which is nothing at the sizes that are sampled.

Sees the grams of pages and who holds them; never the pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    COUNTS,
    OFFSETS,
    WORDS,
    kernel,
    part,
    records,
    tuple_of,
    types,
)
from reusewatch.detector.quilts.adding import earlier
from reusewatch.detector.quilts.cover import SOURCE, SOURCES, cover, rank_donors
from reusewatch.detector.quilts.holders import Holders
from reusewatch.detector.quilts.postings import GramPages
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.detector.quilts.scratch import (
    DONORS,
    INSIDE,
    ONLY_SAMPLED,
    OUTSIDE,
    PAIRS,
    PATCHES,
    RANGED,
    SCRATCH,
    new_scratch,
)
from reusewatch.detector.quilts.site_peers import LEAST, many, popular
from reusewatch.detector.quilts.store import DOCUMENTS, OWNED
from reusewatch.detector.sketching.grams import find, table_bits

JUDGED = np.dtype(
    [
        # Of the page: its posted grams, the patch grams among them, the patch fraction.
        ("kept", "i4"), ("patches", "i4"), ("fraction", "f8"),
        # Of the cover: its sources, and where the first of them stands in the list.
        ("sources", "i4"), ("first", "i4"),
        # The donor that has the largest share of the page, or the largest of its own in it: its
        # number among the documents, −1 where there is none; and both shares.
        ("donor", "i4"), ("here", "f8"), ("there", "f8"),
    ]
)  # fmt: skip

ANY, BY_DOMAIN, BY_IP = 0, 1, 2
FOREIGN = {"none": ANY, "domain": BY_DOMAIN, "ip": BY_IP}
_UNSAMPLED_BITS = np.uint64(11)
"""As `detector.sketching.grams` samples: by the 53 highest bits of a gram."""

_NUMBERS = types.Array(types.int32, 1, "C", readonly=True)
_JUDGED = records(JUDGED)
_ASKED = tuple_of(DOCUMENTS, OFFSETS, WORDS, types.int64)
_ANSWER = tuple_of(COUNTS, OFFSETS, _NUMBERS, DOCUMENTS)
_RULES = tuple_of(types.int64, types.int64, types.int64, types.int64, types.float64)


@part(types.boolean(DOCUMENTS, types.int64, DOCUMENTS, types.int64, types.int64))
def _is_donor(subjects: Any, row: Any, documents: Any, at: Any, foreign: Any) -> Any:
    subject, other = subjects[row], documents[at]
    if other.text == subject.text or other.page == subject.page:
        return False
    if foreign == BY_DOMAIN and other.site == subject.site:
        return False
    if foreign == BY_IP and other.ip == subject.ip and other.ip != 0:
        return False
    if types.int64(other.flags) & OWNED:
        return True
    return earlier(other.at, other.page, subject.at, subject.page)


@part(types.void(SCRATCH, DOCUMENTS, DOCUMENTS), allocates=True)
def _number_sites(scratch: Any, subjects: Any, documents: Any) -> None:
    """Number the sites of subjects and documents: it is counted which sites hold a gram."""
    size, salt = subjects.size + documents.size, np.uint64(0)
    table, known = np.full(1 << table_bits(size), -1, np.int64), np.empty(size, np.uint64)
    for at in range(documents.size):
        salt ^= documents[at].text
    count = 0
    for at in range(size):
        row = at - documents.size
        site = documents[at].site if row < 0 else subjects[row].site
        slot = find(table, table.size - 1, known, site, salt)
        if table[slot] < 0:
            table[slot], known[count] = count, site
            count += 1
        scratch.site[at] = table[slot]


@part(types.boolean(SCRATCH, DOCUMENTS, types.int64, _ANSWER, types.int64, types.int64,
                    types.int64, types.int64))  # fmt: skip
def _note_donors(
    scratch: Any, subjects: Any, row: Any, answer: Any, begin: Any, end: Any, rules_foreign: Any,
    template: Any,
) -> Any:  # fmt: skip
    """Note the donors of one gram, by who holds it; whether one of them is posted whole.

    `holding` has how many documents of a site hold the gram: but for one, which on the page's own
    site is the page itself.
    """
    _, _, held_by, documents = answer
    holding, mine = scratch.holding, scratch.site[documents.size + row]
    of_here: Any = types.int64(1)
    for at in range(begin, end):
        site = scratch.site[held_by[at]]
        holding[site] += 1
        if site == mine:
            of_here = types.int64(documents[held_by[at]].peers)
    here, of_here = max(types.int64(holding[mine]) - 1, 0), max(of_here - 1, 0)
    whole = False
    is_template, few = here >= template or many(here, of_here), end - begin <= LEAST
    for at in range(begin, end):
        which = types.int64(held_by[at])
        if is_template or not _is_donor(subjects, row, documents, which, rules_foreign):
            continue
        if not few:
            there: Any = types.int64(0)
            of_there: Any = types.int64(0)
            if scratch.site[which] != mine:
                there = types.int64(holding[scratch.site[which]]) - 1
                of_there = max(types.int64(documents[which].peers) - 1, 0)
            if popular(here, of_here, there, of_there):
                continue
        donor = types.int64(scratch.number[which])
        if donor < 0:
            donor = scratch.tallies[DONORS]
            scratch.tallies[DONORS] += 1
            scratch.number[which], scratch.donors[donor] = donor, which
            scratch.shared[donor] = scratch.shared_in[donor] = 0
        whole = whole or documents[which].kept == documents[which].grams
        scratch.pair_donor[scratch.tallies[PAIRS]] = donor
        scratch.tallies[PAIRS] += 1
    for at in range(begin, end):
        holding[scratch.site[held_by[at]]] = 0
    return whole


@part(types.void(SCRATCH, _ASKED, types.int64, _ANSWER, _RULES))
def _collect(scratch: Any, asked: Any, row: Any, answer: Any, rules: Any) -> None:
    """The patch grams of a page, and who has them."""
    subjects, offsets, grams, sampled_below = asked
    m, foreign, template = rules[0], rules[1], rules[2]
    tallies = scratch.tallies
    tallies[:] = 0
    for gram in range(offsets[row], offsets[row + 1]):
        here, first = gram - offsets[row], tallies[PAIRS]
        scratch.gram_begin[here] = first
        in_range = types.int64(grams[gram] >> _UNSAMPLED_BITS) < sampled_below
        tallies[RANGED] += in_range
        if answer[0][gram] > m or answer[1][gram] == answer[1][gram + 1]:
            continue
        begin, end = answer[1][gram], answer[1][gram + 1]
        whole = _note_donors(scratch, subjects, row, answer, begin, end, foreign, template)
        for pair in range(first, tallies[PAIRS]):
            scratch.pair_gram[pair] = here
            scratch.shared[scratch.pair_donor[pair]] += 1
            scratch.shared_in[scratch.pair_donor[pair]] += in_range
        if tallies[PAIRS] > first:
            tallies[PATCHES] += 1
            tallies[INSIDE] += in_range
            tallies[OUTSIDE] += not in_range
            tallies[ONLY_SAMPLED] += in_range and not whole
    scratch.gram_begin[offsets[row + 1] - offsets[row]] = tallies[PAIRS]


@part(types.float64(SCRATCH, types.int64, types.int64))
def _share(scratch: Any, kept: Any, least: Any) -> Any:
    """The share of a page's grams that are patches; estimated from no fewer than `least` grams.

    Of a page that is posted whole, the grams outside of the sample are looked for in documents
    posted whole only. Those within that only sampled documents have say how many of the others
    such documents have.
    """
    tallies = scratch.tallies
    found = types.float64(tallies[INSIDE] + tallies[OUTSIDE])
    if tallies[RANGED] >= least:
        unseen = kept - tallies[RANGED] - tallies[OUTSIDE]
        found += types.float64(unseen) * tallies[ONLY_SAMPLED] / tallies[RANGED]
    return min(found / max(kept, 1), 1.0)


# A copy with fewer links beside the text has more of its words in common than its original; and
# shares of samples are estimates.
_CLEARLY = 1.15


@part(types.void(SCRATCH, DOCUMENTS, types.int64, DOCUMENTS, _JUDGED, types.int64, types.int64))
def _note_closest(
    scratch: Any, subjects: Any, row: Any, documents: Any, judged: Any, kept: Any, least: Any
) -> None:
    """The one donor that has most in common with the page; of several that have about as much, who
    was there first.

    Of fewer than `least` grams no share is estimated: what is known to be shared is.
    """
    best, subject = 0.0, subjects[row]
    for rank in range(scratch.tallies[DONORS]):
        donor = scratch.order[rank]
        document = documents[scratch.donors[donor]]
        shared, sampled = scratch.shared[donor], scratch.shared_in[donor]
        whole = document.kept == document.grams
        here, there = shared / max(kept, 1), 0.0
        if not whole and scratch.tallies[RANGED] >= least:
            here = sampled / scratch.tallies[RANGED]
        if whole and subject.kept == subject.grams and types.int64(document.grams) >= least:
            there = shared / types.int64(document.grams)
        elif types.int64(document.ranged) >= least:
            there = sampled / types.int64(document.ranged)
        if max(here, there) > best * _CLEARLY:
            best = max(here, there)
            judged[row].donor = scratch.donors[donor]
            judged[row].here, judged[row].there = min(here, 1.0), min(there, 1.0)


@kernel(types.int64(_ASKED, _ANSWER, _RULES, SCRATCH, _JUDGED, SOURCES))
def _judge(asked: Any, answer: Any, rules: Any, scratch: Any, judged: Any, sources: Any) -> Any:
    """A record for each page; returns how many sources were listed."""
    subjects, offsets = asked[0], asked[1]
    documents, listed = answer[3], 0
    _number_sites(scratch, subjects, documents)
    for row in range(subjects.size):
        kept = offsets[row + 1] - offsets[row]
        _collect(scratch, asked, row, answer, rules)
        rank_donors(scratch, documents)
        judged[row].kept, judged[row].patches = kept, scratch.tallies[PATCHES]
        judged[row].fraction = _share(scratch, kept, rules[3])
        judged[row].donor = -1
        _note_closest(scratch, subjects, row, documents, judged, kept, rules[3])
        judged[row].first = listed
        listed = cover(scratch, kept, rules[4], sources, listed)
        judged[row].sources = listed - judged[row].first
        for donor in range(scratch.tallies[DONORS]):
            scratch.number[scratch.donors[donor]] = -1
    return listed


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What was found of pages: a record each, the sources of all, and who holds their grams."""

    pages: NDArray[Any]
    sources: NDArray[Any]
    holders: Holders

    def sources_of(self, page: int) -> NDArray[Any]:
        """The sources of a page, the one that brings most first."""
        first = int(self.pages[page]["first"])
        return self.sources[first : first + int(self.pages[page]["sources"])]


def judge(pages: GramPages, holders: Holders, rules: QuiltRules, *, sample: float) -> Judged:
    """What there is to say of pages, by who holds their grams, one answer for all of them."""
    offsets, pairs = pages.grams.offsets, np.diff(holders.offsets[pages.grams.offsets])
    scratch = new_scratch(
        len(pages),
        len(holders.documents),
        int(pages.grams.counts.max(initial=0)) + 1,
        int(pairs.max(initial=0)),
    )
    judged = np.zeros(len(pages), JUDGED)
    sources = np.zeros(int(np.minimum(pairs, pages.grams.counts).sum()) + 1, SOURCE)
    listed = _judge(
        (pages.documents, offsets, pages.grams.values, int(sample * (1 << 53))),
        (holders.counts, holders.offsets, holders.held_by, holders.documents),
        (rules.m, FOREIGN[rules.foreign], rules.template, rules.least, rules.phi),
        scratch, judged, sources,
    )  # fmt: skip
    return Judged(judged, sources[:listed], holders)


def quilted(judged: NDArray[Any], rules: QuiltRules) -> NDArray[np.bool_]:
    """Which pages are quilts."""
    enough = judged["kept"] >= rules.least
    found: NDArray[np.bool_] = (
        enough & (judged["fraction"] >= rules.theta) & (judged["sources"] >= rules.c)
    )
    return found


def partial_copies(judged: NDArray[Any], rules: QuiltRules) -> NDArray[np.bool_]:
    """Which pages share as much with one donor as makes a partial copy."""
    shared = np.maximum(judged["here"], judged["there"])
    found: NDArray[np.bool_] = (
        (judged["kept"] >= rules.least) & (judged["donor"] >= 0) & (shared >= rules.partial_share)
    )
    return found
