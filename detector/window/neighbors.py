"""Near pages: candidates judged by both pages' sketches, and the rows behind them.

Identity sets are compared once, whatever their size; sites and times decide which of their rows
a page is near to. At most `LOOK` rows of a set are looked at, in order of time; what was cut
is counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OUT_OFFSETS, part, tuple_of, types
from reusewatch.detector.window.candidates import CANDIDATES, collect, projected
from reusewatch.detector.window.identity_sets import listed
from reusewatch.detector.window.owned import owned
from reusewatch.detector.window.store import (
    ALERTED,
    ENTRIES_TYPE,
    LINKS,
    NEAR,
    NEAR_ALERTED,
    SAMPLE,
    STORE,
    SUPER5,
    TEXT_LINKS,
    TOLD_OWNED,
)
from reusewatch.detector.window.treap import after, before, earlier, first_of, following

LOOK = 64
_BITS = 384

NEAR_ROWS = types.Array(types.int32, 2, "C")
THREE = tuple_of(types.int64, types.int64, types.int64)
ENTRY, B, C, RULES = range(4)
SAME_SITE_RULE, OTHER_SITE_RULE, B_SIMILAR, T, COMBINED_T, LEAST_SHARED, ALERTS = range(7)
"""Where the numbers of a policy stand (`Policy.numbers`), and behind them which relations alert:
1 one site, 2 two sites."""
CUT_ROW = CANDIDATES
"""The last row of the scratch counts what was cut: candidates, then rows."""

_M1 = np.uint64(0x5555555555555555)
_M2 = np.uint64(0x3333333333333333)
_M4 = np.uint64(0x0F0F0F0F0F0F0F0F)
_SUM = np.uint64(0x0101010101010101)
_S1, _S2, _S4, _TOP = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@part(types.int64(types.uint64))
def _ones(x: Any) -> Any:
    x -= (x >> _S1) & _M1
    x = (x & _M2) + ((x >> _S2) & _M2)
    x = (x + (x >> _S4)) & _M4
    return types.int64((x * _SUM) >> _TOP)


@part(types.int64(ENTRIES_TYPE, types.int64, ENTRIES_TYPE, types.int64))
def _b(these: Any, one: Any, those: Any, other: Any) -> Any:
    """Agreeing supershingles, k = 8."""
    agree = 0
    for i in range(6):
        value = these[one].super8[i]
        agree += value != 0 and value == those[other].super8[i]
    return agree


@part(types.int64(ENTRIES_TYPE, types.int64, ENTRIES_TYPE, types.int64))
def _c(these: Any, one: Any, those: Any, other: Any) -> Any:
    """Agreeing bits of the simhashes."""
    if not (projected(these, one) and projected(those, other)):
        return 0
    differ = 0
    for i in range(6):
        differ += _ones(these[one].simhash[i] ^ those[other].simhash[i])
    return _BITS - differ


@part(types.int64(ENTRIES_TYPE, types.int64, ENTRIES_TYPE, types.int64))
def shared_phrases(these: Any, one: Any, those: Any, other: Any) -> Any:
    """Agreeing sampled min-values, k = 5."""
    agree = 0
    for i in range(SAMPLE):
        agree += these[one].sample[i] == those[other].sample[i]
    return agree


@part(types.boolean(types.int64, types.boolean, types.boolean, types.boolean))
def _holds(rule: Any, b_similar: Any, c_similar: Any, combined: Any) -> Any:
    if rule == 0:
        return b_similar
    if rule == 1:
        return c_similar
    if rule == 2:
        return combined
    return b_similar or c_similar


@part(types.int64(OUT_OFFSETS, types.int64, types.int64, types.int64))
def _rules(policy: Any, b: Any, c: Any, shared: Any) -> Any:
    """1: near on one site, 2: near on different sites."""
    b_similar = b >= policy[B_SIMILAR]
    c_similar = c >= policy[T] and (shared >= policy[LEAST_SHARED] or b > 0)
    combined = b_similar and c >= policy[COMBINED_T]
    same = _holds(policy[SAME_SITE_RULE], b_similar, c_similar, combined)
    other = _holds(policy[OTHER_SITE_RULE], b_similar, c_similar, combined)
    return (1 if same else 0) + (2 if other else 0)


@part(types.boolean(OUT_OFFSETS, ENTRIES_TYPE, types.int64, ENTRIES_TYPE, types.int64))
def near_by(policy: Any, these: Any, one: Any, those: Any, other: Any) -> Any:
    """Whether two sets are near by the policy, on one site or on two."""
    b, c = _b(these, one, those, other), _c(these, one, those, other)
    return _rules(policy, b, c, shared_phrases(these, one, those, other)) != 0


@part(types.int64(STORE, types.int64, OUT_OFFSETS, ENTRIES_TYPE, types.int64, types.int64,
                    LINKS, LINKS, NEAR_ROWS))  # fmt: skip
def neighbors(
    store: Any, bits: Any, policy: Any, entries: Any, entry: Any, itself: Any,
    found: Any, marks: Any, near: Any,
) -> Any:  # fmt: skip
    """The identity sets near to this one by the policy, on one site or on two."""
    count = collect(store, bits, entries, entry, 0, SUPER5, found, marks)
    near[CUT_ROW, 0], near[CUT_ROW, 1] = max(count - CANDIDATES, 0), 0
    size = 0
    for i in range(min(count, CANDIDATES)):
        other = types.int64(found[i])
        if other == itself:
            continue
        b = _b(entries, entry, store.entries, other)
        c = _c(entries, entry, store.entries, other)
        if b < policy[B_SIMILAR] and c < min(policy[T], policy[COMBINED_T]):
            continue
        rules = _rules(policy, b, c, shared_phrases(entries, entry, store.entries, other))
        if rules:
            near[size, ENTRY], near[size, B], near[size, C], near[size, RULES] = other, b, c, rules
            size += 1
    return size


@part(types.uint64(STORE, types.int64))
def _words_of(store: Any, row: Any) -> Any:
    """The words of a row in a set."""
    return store.entries[store.rows[row].entry].text


@part(types.int64(STORE, NEAR_ROWS, types.int64, types.int64, types.uint64, types.uint64,
                    types.int64))  # fmt: skip
def _donor_of(
    store: Any, near: Any, i: Any, first: Any, page: Any, site: Any, relations: Any
) -> Any:
    """The first row of a near set that was seen before a page and is near to it by its site."""
    links, rows = store.links[TEXT_LINKS], store.rows
    root = types.int64(store.entries[near[i, ENTRY]].root)
    row = first_of(links, root)
    for _ in range(LOOK):
        if row < 0 or not before(rows, row, first, page):
            return -1
        relation = 1 if rows[row].site == site else 2
        if near[i, RULES] & relation & relations and rows[row].page != page:
            return row
        row = following(links, rows, root, row)
    near[CUT_ROW, 1] += 1
    return -1


@part(types.boolean(STORE, types.int64, types.int64))
def _ahead(store: Any, one: Any, other: Any) -> Any:
    """Of two rows that are equally near, whether the first is told; never by who came first."""
    if earlier(store.rows, one, other) or earlier(store.rows, other, one):
        return earlier(store.rows, one, other)
    return _words_of(store, one) < _words_of(store, other)


@part(types.boolean(STORE, NEAR_ROWS, types.int64))
def _has_owned(store: Any, near: Any, i: Any) -> Any:
    """Whether an owned page is in a near set: it is the first there."""
    first = first_of(store.links[TEXT_LINKS], types.int64(store.entries[near[i, ENTRY]].root))
    return owned(store.rows[first].since)


@part(THREE(STORE, NEAR_ROWS, types.int64, types.int64, types.uint64, types.uint64,
              types.int64))  # fmt: skip
def best_donor(
    store: Any, near: Any, size: Any, first: Any, page: Any, site: Any, relations: Any
) -> Any:
    """The nearest row seen before a page: by C, then B, then the earliest; and its B and C. An
    owned one goes before all others, however near they are.

    Of those that stand in one of the relations to it: 1 one site, 2 two.
    """
    best, best_b, best_c, best_mine = -1, 0, 0, False
    for i in range(size):
        b, c = types.int64(near[i, B]), types.int64(near[i, C])
        farther = best >= 0 and (c < best_c or (c == best_c and b < best_b))
        if farther and (best_mine or not _has_owned(store, near, i)):
            continue
        row = _donor_of(store, near, i, first, page, site, relations)
        if row < 0:
            continue
        mine = owned(store.rows[row].since)
        if best >= 0 and mine == best_mine:
            if farther or (c == best_c and b == best_b and not _ahead(store, row, best)):
                continue
        elif best_mine:
            continue
        best, best_b, best_c, best_mine = row, b, c, mine
    return best, best_b, best_c


@part(types.void(STORE, NEAR_ROWS, types.int64, types.int64, types.int64))
def list_near_copies(store: Any, near: Any, size: Any, row: Any, alerts: Any) -> None:
    """List the rows of near sets seen after this one that were not known to be near-copies, or
    must be reported as such now: as near to this one, in a relation that alerts. Of an owned page
    those too that were reported with another original."""
    links, rows = store.links[TEXT_LINKS], store.rows
    mine = owned(rows[row].since)
    for i in range(size):
        root = types.int64(store.entries[near[i, ENTRY]].root)
        other = after(links, rows, root, rows[row].since, rows[row].page)
        for _ in range(LOOK):
            if other < 0:
                break
            relation = 1 if rows[other].site == rows[row].site else 2
            state = rows[other].state
            new = not state & NEAR
            unreported = not state & (NEAR_ALERTED | ALERTED)
            unreported = unreported or (
                mine and state & (NEAR_ALERTED | TOLD_OWNED) == NEAR_ALERTED
            )
            if relation & alerts and unreported and not owned(rows[other].since):
                new = True
            if new and near[i, RULES] & relation and rows[other].page != rows[row].page:
                listed(store, other)
            other = following(links, rows, root, other)
        if other >= 0:
            near[CUT_ROW, 1] += 1
