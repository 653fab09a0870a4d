"""What adding pages changes, a batch in one call; rows of a batch see the rows before them.

What is reported is a function of the window's pages alone, not of the order in which they
arrived: of a pair the later one is the copy, whichever came first, ties go by page id; which is
the later one, `inheriting` says, and `owned` of pages that are always the original. An earlier
page that arrives late turns those after it into copies; an earlier sighting of a copy may withdraw
it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import (
    BYTES,
    OFFSETS,
    OUT_OFFSETS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.window.buckets import number_bits
from reusewatch.detector.window.candidates import enter, entry_of
from reusewatch.detector.window.clusters import join_classes, lead
from reusewatch.detector.window.identity_sets import (
    is_copy,
    overtakes,
    place_file,
    place_text,
    remove_file,
    remove_text,
)
from reusewatch.detector.window.inheriting import bequeath, since_of
from reusewatch.detector.window.judging import (
    ALERT,
    BITS,
    FOUND_AT_MOST,
    JUDGED,
    JUDGED_TYPE,
    LATE,
    MISDATED,
    NEAR_ALERT,
    NEAR_WITHDRAWN,
    OVERTAKES,
    SCRATCH,
    SUPERSEDED,
    TOLD,
    WITHDRAWN,
    judge,
    new_scratch,
    tell,
)
from reusewatch.detector.window.neighbors import ALERTS, list_near_copies
from reusewatch.detector.window.owned import NEVER, owned
from reusewatch.detector.window.prefetch import AHEAD, warm, warm_leaving
from reusewatch.detector.window.store import (
    ALERTED,
    BY_PAGE,
    BY_TEXT,
    CUT,
    ENTRIES_TYPE,
    LEFT,
    LISTED,
    LIVE,
    NEAR,
    NEAR_ALERTED,
    NEWEST,
    REDATED,
    ROWS_TYPE,
    SEEN,
    SEEN_TYPE,
    STORE,
    TOLD_OWNED,
)
from reusewatch.detector.window.versions import (
    let_leave,
    new_entry,
    new_row,
    superseded,
    version,
)

HOUR_US = 3_600_000_000
# Before the web: a date that an archive invented, or did not have.
WEB_BEGINS_US = 631_152_000_000_000


@part(types.boolean(types.int64, types.int64))
def misdated(at: Any, now: Any) -> Any:
    """A date before the web, or more than an hour past the machine's clock."""
    return at < WEB_BEGINS_US or at > now + HOUR_US


@part(types.int64(STORE, ENTRIES_TYPE, types.int64))
def _own_set(store: Any, probes: Any, i: Any) -> Any:
    """A new identity set for a token sequence that the window does not hold."""
    entry = new_entry(store)
    store.entries[entry] = probes[i]
    store.entries[entry].root = store.entries[entry].second = store.entries[entry].cluster = -1
    store.entries[entry].count = 0
    return entry


@part(types.int64(STORE, BITS, OUT_OFFSETS, ROWS_TYPE, ENTRIES_TYPE, types.int64, BYTES,
                  types.int64, types.int64, SCRATCH, types.int64))  # fmt: skip
def _enter(
    store: Any, bits: Any, policy: Any, arrivals: Any, probes: Any, i: Any, url: Any, entry: Any,
    since: Any, scratch: Any, near: Any,
) -> Any:  # fmt: skip
    """A version that the window does not hold yet; rows that it turns are listed."""
    candidates, marks, near_sets = scratch
    row = new_row(store, bits[0], arrivals, i, url, probes[i].text == 0)
    store.rows[row].since = since
    store.rows[row].state |= REDATED
    new = entry < 0 and probes[i].text != 0
    if new:
        entry = _own_set(store, probes, i)
    store.rows[row].entry = entry
    if entry >= 0:
        place_text(store, entry, row)
    if new:
        enter(store, bits[1], entry)
        join_classes(store, bits[1], entry, candidates, marks)
    elif entry >= 0:
        lead(store, entry)
    place_file(store, bits[0], row)
    list_near_copies(store, near_sets, near, row, policy[ALERTS])
    bequeath(store, bits, policy, row, scratch)
    return row


@part(types.boolean(STORE, BITS, OUT_OFFSETS, ROWS_TYPE, types.int64, types.int64, SCRATCH,
                    types.int64))  # fmt: skip
def _see_again(
    store: Any, bits: Any, policy: Any, arrivals: Any, i: Any, row: Any, scratch: Any, near: Any
) -> Any:
    """A version that the window holds; whether that changed anything but its last sighting."""
    rows, at, file = store.rows, arrivals[i].first, arrivals[i].file
    if at >= rows[row].first and file == rows[row].file:
        rows[row].last = max(rows[row].last, at)
        return False
    entry = types.int64(rows[row].entry)
    if entry >= 0:
        remove_text(store, entry, row)
    remove_file(store, bits[0], row)
    sooner = at < rows[row].first
    rows[row].state |= REDATED if sooner else 0
    rows[row].first = min(rows[row].first, at)
    rows[row].since = min(rows[row].since, arrivals[i].since)
    if at >= rows[row].last:
        rows[row].last, rows[row].file, rows[row].origin = at, file, arrivals[i].origin
        rows[row].canonical = arrivals[i].canonical
    if entry >= 0:
        place_text(store, entry, row)
        lead(store, entry)
    place_file(store, bits[0], row)
    if sooner:
        list_near_copies(store, scratch[2], near, row, policy[ALERTS])
        bequeath(store, bits, policy, row, scratch)
    return True


@part(types.void(STORE, types.int64, JUDGED_TYPE, types.int64))
def _withdraw_near(store: Any, row: Any, out: Any, k: Any) -> None:
    if store.rows[row].state & NEAR_ALERTED:
        store.rows[row].state &= ~NEAR_ALERTED
        out[k].flags |= NEAR_WITHDRAWN


@part(types.void(STORE, types.int64, JUDGED_TYPE, types.int64))
def _withdraw(store: Any, row: Any, out: Any, k: Any) -> None:
    """A row that was reported, and is no copy any more, or no near-copy."""
    if store.rows[row].state & ALERTED and not is_copy(store, row):
        store.rows[row].state &= ~ALERTED
        out[k].flags |= WITHDRAWN
    if out[k].near < 0:
        store.rows[row].state &= ~NEAR
    if out[k].alert < 0:
        _withdraw_near(store, row, out, k)


@part(types.boolean(STORE, types.int64, types.boolean))
def _owned_is_news(store: Any, row: Any, mine: Any) -> Any:
    """Whether a row that is reported now was never reported with an owned original, and has one."""
    if not mine or store.rows[row].state & TOLD_OWNED:
        return False
    store.rows[row].state |= TOLD_OWNED
    return True


@part(types.void(STORE, types.int64, types.int64, SEEN_TYPE, JUDGED_TYPE, types.int64))
def _report(store: Any, bits: Any, row: Any, found: Any, out: Any, k: Any) -> None:
    """Alerts that a row must raise, each once, and once more where it counts as seen sooner; a copy
    is reported as that alone."""
    rows = store.rows
    redated = rows[row].state & REDATED != 0
    rows[row].state &= ~REDATED
    rows[row].state |= NEAR if out[k].near >= 0 else 0
    if is_copy(store, row):
        _withdraw_near(store, row, out, k)
        donor = out[k].donors
        mine = out[k].donor_count > 0 and owned(found[donor].since)
        news = _owned_is_news(store, row, mine)
        out[k].flags |= ALERT if news or redated or not rows[row].state & ALERTED else 0
        rows[row].state |= ALERTED
    elif out[k].alert >= 0 and not rows[row].state & ALERTED:
        news = _owned_is_news(store, row, owned(found[out[k].alert].since))
        if news or redated or not rows[row].state & NEAR_ALERTED:
            out[k].flags |= NEAR_ALERT
            rows[row].state |= NEAR_ALERTED
    out[k].flags |= SUPERSEDED if superseded(store, bits, row) else 0


@part(SEEN_TYPE(SEEN_TYPE, types.int64))
def room(found: Any, size: Any) -> Any:
    """The same array, or a larger one when it is about to be full."""
    if size + FOUND_AT_MOST <= found.size:
        return found
    larger = np.empty(2 * found.size, SEEN)
    for i in range(size):  # not by slices: see `tokens`
        larger[i] = found[i]
    return larger


@part(JUDGED_TYPE(JUDGED_TYPE, types.int64))
def _judgements(turned: Any, size: Any) -> Any:
    if size < turned.size:
        return turned
    larger = np.empty(2 * turned.size, JUDGED)
    for i in range(size):
        larger[i] = turned[i]
    return larger


ARRIVING = tuple_of(ROWS_TYPE, ENTRIES_TYPE, types.int64, types.int64)
"""A batch's rows, its sets, the page of it that is meant, and what time it is now."""
ARRIVALS = (STORE, ROWS_TYPE, ENTRIES_TYPE, OUT_OFFSETS, types.int64)


@part(types.int64(STORE, BITS, OUT_OFFSETS, ARRIVING, types.int64))
def _since(store: Any, bits: Any, policy: Any, arriving: Any, row: Any) -> Any:
    """Since when a page counts as seen, whose row is this one if the window has it."""
    arrivals, probes, i, now = arriving
    at, since = arrivals[i].first, arrivals[i].since
    if row >= 0:
        return min(since, store.rows[row].since)
    dated = NEVER + since - at if misdated(at, now) else since
    return since_of(store, bits[0], policy, probes, i, arrivals[i].page, dated)


@part(tuple_of(types.int64, types.int64, types.int64, types.int64, types.int64)(
    STORE, BITS, OUT_OFFSETS, ARRIVING, SCRATCH, TOLD,
))  # fmt: skip
def judge_arriving(
    store: Any, bits: Any, policy: Any, arriving: Any, scratch: Any, told: Any
) -> Any:
    """Judge a page of a batch: its row and its set, if the window has them; since when it counts
    as seen; how many pages are told now, and how many near sets stand in the scratch."""
    arrivals, probes, i, _ = arriving
    page, site, file, text = arrivals[i].page, arrivals[i].site, arrivals[i].file, probes[i].text
    row = version(store, bits[0], page, text, file)
    entry = entry_of(store, bits[1], text)
    since = _since(store, bits, policy, arriving, row)
    subject = (probes, i, entry, since, page, site, file)
    size, near = judge(store, bits, policy, subject, scratch, told)
    if row < 0 and text != 0:  # it is in no set yet, and one of the pages with its words
        told[2][i].copies += 1
    return row, entry, since, size, near


@part(tuple_of(SEEN_TYPE, types.int64, JUDGED_TYPE, types.int64)(
    STORE, BITS, OUT_OFFSETS, types.int64, SCRATCH, SEEN_TYPE, types.int64, JUDGED_TYPE,
    types.int64,
))  # fmt: skip
def _judge_listed(
    store: Any, bits: Any, policy: Any, itself: Any, scratch: Any, found: Any, size: Any,
    turned: Any, again: Any,
) -> Any:  # fmt: skip
    """Judge again what a page turned; what is told grows with it."""
    row = store.numbers[LEFT]
    while row >= 0:
        then = types.int64(store.rows[row].next)
        store.rows[row].state &= ~LISTED
        if row != itself:  # it is reported as itself
            found, turned = room(found, size), _judgements(turned, again)
            entry = types.int64(store.rows[row].entry)
            subject = (
                store.entries, entry, entry, store.rows[row].since, store.rows[row].page,
                store.rows[row].site, store.rows[row].file,
            )  # fmt: skip
            told = found, size, turned, again
            size, _ = judge(store, bits, policy, subject, scratch, told)
            tell(store, row, found, size)
            turned[again].seen = size
            size += 1
            if store.rows[row].state & REDATED:
                turned[again].flags |= OVERTAKES if overtakes(store, row) else 0
                _withdraw(store, row, turned, again)
            _report(store, bits[0], row, found, turned, again)
            again += 1
        row = then
    return found, size, turned, again


@kernel(tuple_of(SEEN_TYPE, JUDGED_TYPE)(*ARRIVALS, BYTES, OFFSETS, JUDGED_TYPE))
def add_pages(
    store: Any, arrivals: Any, probes: Any, policy: Any, now: Any, urls: Any, ends: Any, out: Any
) -> Any:
    """Judge each page, then add it. Returns the pages that are named, and rows that turned."""
    bits = number_bits(store.row_tables[BY_PAGE]), number_bits(store.entry_tables[BY_TEXT])
    scratch = new_scratch()
    found, size = np.empty(16 + 2 * arrivals.size, SEEN), 0
    turned, again = np.empty(16, JUDGED), 0
    for i in range(arrivals.size):
        if i % AHEAD == 0:
            warm(store, arrivals[i : i + AHEAD], probes[i : i + AHEAD])
            warm_leaving(store, min(AHEAD, arrivals.size - i))
        found = room(found, size)
        told = found, size, out, i
        row, entry, since, size, near = judge_arriving(
            store, bits, policy, (arrivals, probes, i, now), scratch, told
        )
        if misdated(arrivals[i].first, now):
            out[i].flags |= MISDATED
            if row < 0:
                out[i].flags |= ALERT if out[i].donor_count else 0
                copy = out[i].donor_count > 0
                out[i].flags |= NEAR_ALERT if out[i].alert >= 0 and not copy else 0
            continue
        store.numbers[NEWEST] = max(store.numbers[NEWEST], arrivals[i].first)
        store.numbers[LEFT] = -1
        known = row >= 0
        changed = True
        if known:
            changed = _see_again(store, bits, policy, arrivals, i, row, scratch, near)
        else:
            url = urls[ends[i] : ends[i + 1]]
            row = _enter(store, bits, policy, arrivals, probes, i, url, entry, since, scratch, near)
        store.numbers[CUT] += out[i].cut
        # Before those are reported that are copies by this page: they are told with all donors.
        if store.rows[row].state & REDATED and overtakes(store, row):
            out[i].flags |= OVERTAKES
        begin = again
        found, size, turned, again = _judge_listed(
            store, bits, policy, row, scratch, found, size, turned, again
        )
        for turn in range(begin, again):
            turned[turn].by = i
        out[i].turned = again - begin
        if changed:
            if known:
                _withdraw(store, row, out, i)
            _report(store, bits[0], row, found, out, i)
        elif superseded(store, bits[0], row):
            # Or an old archive, replayed again, would put back what was said of it then.
            out[i].flags |= SUPERSEDED
        out[i].evicted = let_leave(store, bits[0], bits[1], arrivals[i].page)
        if not store.rows[row].state & LIVE:
            out[i].flags |= SUPERSEDED if known and not changed else 0
            out[i].flags |= LATE if not known else 0
    return found[:size], turned[:again]
