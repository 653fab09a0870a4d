"""Counting occurrences of hashes in bounded memory: a filter for singletons, counters behind it.

About 40 % of the web's chunks occur once (Ardi, Heidemann 2014, §6.2). The first sighting of a hash
only leaves a fingerprint of 4 bytes; from the second on, it has a counter that holds fingerprints
of its pages, and its sites. Both are tables of small buckets: where one is full, the filter forgets
any entry, the counters forget the one on fewest sites, of these the one on fewest pages: else the
templates of a few large sites, each on thousands of their pages, would crowd out what goes around.

A table has stretches, each as long as those before it together, or several times as long, and an
entry stands in the first whose bucket has room: what few pages bring is a short stretch, and the
memory of the others is not touched before it is needed. The filter has more of them: soon it takes
most of the memory, and a look at it ends where there is room; a counter is looked for in all.

Each page comes with a number; the smallest number of a hash is its first. A filter may keep firsts
beside its marks, so that the sighting which only passed the filter can be the first one.

Time goes by periods. A page or site that was not seen in this period nor in the one before does not
count. Knows neither thresholds' meaning nor stop chunks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import (
    BYTES,
    COUNTS,
    OFFSETS,
    OUT_COUNTS,
    OUT_OFFSETS,
    OUT_WORD_ROWS,
    OUT_WORDS,
    PAIR,
    WORDS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.compiling.mixers import mix

FINGERPRINTS = 16  # in a bucket of the filter: a cache line
COUNTERS = 8  # in a bucket of counters
# Behind each count stands how many of these are old.
N_PAGES, OLD_PAGES, N_SITES, OLD_SITES, TOLD, START, END = range(7)
TALLIES = 7
_EARLIER = 2  # TOLD, and an earlier first came since
COUNTED, FORGOTTEN, EVICTED = range(3)
STATISTICS = 3
# Of a table, the first stretch is the 64th part, and with each further one it is two or four times
# that: by powers of two, since where a stretch begins is asked for with each look.
_FIRST = 6
_FILTER_GROWS, _COUNTERS_GROW = 1, 2
_IN_FILTER, _OF_COUNTERS = _FIRST // _FILTER_GROWS + 1, _FIRST // _COUNTERS_GROW + 1

OUT_COUNT_ROWS = types.Array(types.uint32, 2, "C")
TABLE = tuple_of(OUT_WORDS, OUT_COUNT_ROWS, OUT_WORD_ROWS, OUT_COUNT_ROWS, OUT_WORDS, OUT_WORDS)
FOUND = tuple_of(OUT_WORDS, OUT_COUNT_ROWS, OUT_WORD_ROWS, OUT_WORDS, OUT_WORDS, OUT_OFFSETS)
_PAGES = tuple_of(WORDS, WORDS, WORDS, COUNTS, COUNTS)
# Marks of this period and of the one before, then the firsts of each; these are empty, or as long.
_FILTERS = tuple_of(OUT_COUNTS, OUT_COUNTS, OUT_WORDS, OUT_WORDS)
_HALF = np.uint64(32)
_ONE32 = np.uint32(1)


@part(tuple_of(types.int64, types.int64)(types.int64, types.int64, types.int64, types.int64))
def _stretch(number: Any, grows: Any, size: Any, bucket: Any) -> Any:
    """Where a stretch of a table begins, and how many buckets it has; a small table has few."""
    end = (size >> (_FIRST - grows * number)) // bucket * bucket
    begin = types.int64(0)
    if number:
        begin = (size >> (_FIRST - grows * (number - 1))) // bucket * bucket
    return begin, (end - begin) // bucket


def filter_ends(size: int) -> list[int]:
    """Where the stretches of a filter end, as `_stretch` has them.

    >>> filter_ends(6400), filter_ends(64)
    ([96, 192, 400, 800, 1600, 3200, 6400], [0, 0, 0, 0, 16, 32, 64])
    """
    ends = [size >> (_FIRST - _FILTER_GROWS * one) for one in range(_IN_FILTER)]
    return [end // FINGERPRINTS * FINGERPRINTS for end in ends]


@part(tuple_of(types.boolean, types.int64, types.int64)(types.uint64, types.uint32, OUT_COUNTS))
def _look_up(key: Any, mark: Any, marks: Any) -> Any:
    """Whether a filter has a mark, its place or the one where it would come, -1 without one, and
    the last bucket that was looked at: behind one with room there is nothing."""
    start = types.int64(0)
    for number in range(_IN_FILTER):
        begin, buckets = _stretch(number, _FILTER_GROWS, marks.size, FINGERPRINTS)
        if not buckets:
            continue
        start = begin + types.int64((key >> _HALF) % types.uint64(buckets)) * FINGERPRINTS
        empty: Any = types.int64(-1)
        for at in range(start, start + FINGERPRINTS):
            if marks[at] == mark:
                return True, at, start
            if marks[at] == 0:
                empty = at
        if empty >= 0:
            return False, empty, start
    return False, types.int64(-1), start


@part(
    tuple_of(types.boolean, types.uint64)(types.uint64, types.uint64, _FILTERS, OUT_OFFSETS)
)  # fmt: skip
def _seen_before(key: Any, first: Any, filters: Any, statistics: Any) -> Any:
    """Whether a hash is in the filter, and its first; it is in there from now on."""
    current, previous, firsts, previous_firsts = filters
    mark = max(types.uint32(key), _ONE32)  # 0 is an empty place
    seen, at, last = _look_up(key, mark, current)
    if seen:
        if firsts.size:
            first = min(first, firsts[at])
    else:
        if at < 0:
            statistics[FORGOTTEN] += 1
            at = last + types.int64(mark % np.uint32(FINGERPRINTS))
        current[at] = mark
        seen, older, _ = _look_up(key, mark, previous)
        if seen and firsts.size:
            first = min(first, previous_firsts[older])
    if firsts.size:
        firsts[at] = first
    return seen, first


@part(types.int64(OUT_COUNT_ROWS, types.int64, types.int64))
def _worth(tallies: Any, row: Any, spread: Any) -> Any:
    """What would be lost with a row: sites, as far as `spread` of them count, before pages."""
    sites = min(types.int64(tallies[row, N_SITES]), spread)
    return (sites << 32) + types.int64(tallies[row, N_PAGES])


@kernel(types.int64(types.uint64, types.uint64, TABLE, types.int64))
def row_of(value: Any, key: Any, table: Any, spread: Any) -> Any:
    """The row of a hash. Without one, `spread` above 0 claims the first of least worth.

    -1 without a claim. A row that is claimed has to be cleared; its key tells what it was.
    """
    keys, _, _, tallies, _, _ = table
    for number in range(_OF_COUNTERS):
        begin, buckets = _stretch(number, _COUNTERS_GROW, keys.size, COUNTERS)
        if not buckets:
            continue
        start = begin + types.int64(key % types.uint64(buckets)) * COUNTERS
        for at in range(start, start + COUNTERS):
            if keys[at] == value and tallies[at, N_PAGES]:
                return at
    least: Any = types.int64(-1)
    for number in range(_OF_COUNTERS if spread else 0):
        begin, buckets = _stretch(number, _COUNTERS_GROW, keys.size, COUNTERS)
        if not buckets:
            continue
        start = begin + types.int64(key % types.uint64(buckets)) * COUNTERS
        for at in range(start, start + COUNTERS):
            if least < 0 or _worth(tallies, at, spread) < _worth(tallies, least, spread):
                least = at
        if not tallies[least, N_PAGES]:
            break
    return least


@part()
def _count(value: Any, values: Any, tallies: Any, row: Any, counted: Any) -> None:
    """Put a page, or a site, among a row's; those of the period before stand first.

    The tally at `counted` says how many there are, the one behind it how many of these are old.
    """
    count, old = types.int64(tallies[row, counted]), types.int64(tallies[row, counted + 1])
    for at in range(count):
        if values[row, at] == value:
            if at < old:  # seen again: no longer old
                values[row, at], values[row, old - 1] = values[row, old - 1], value
                tallies[row, counted + 1] = old - 1
            return
    if count < values.shape[1]:
        values[row, count] = value
        tallies[row, counted] = count + 1
    elif old:  # full: a newer one stands for an older one
        values[row, old - 1] = value
        tallies[row, counted + 1] = old - 1


@kernel(
    types.int64(
        WORDS, OFFSETS, BYTES, _PAGES, PAIR, _FILTERS, TABLE,
        tuple_of(types.int64, types.int64), FOUND, OUT_OFFSETS,
    )
)  # fmt: skip
def count_all(
    hashes: Any, offsets: Any, skipped: Any, columns: Any, salts: Any, filters: Any, table: Any,
    limits: Any, found: Any, statistics: Any,
) -> Any:  # fmt: skip
    """Count the hashes of many pages; how many rose above both limits and stand in `found`, or
    did so before and have an earlier first now."""
    page_ids, site_ids, page_firsts, starts, ends = columns
    keys, pages, sites, tallies, samples, firsts = table
    found_keys, found_tallies, found_sites, found_samples, found_firsts, found_at = found
    told = 0
    for page in range(offsets.size - 1):
        page_mark = types.uint32(mix(page_ids[page] ^ salts[1]))
        for at in range(offsets[page], offsets[page + 1]):
            value = hashes[at]
            key = mix(value ^ salts[0])
            if skipped[at]:
                continue
            row, first = row_of(value, key, table, 0), page_firsts[page]
            if row < 0:
                seen, first = _seen_before(key, first, filters, statistics)
                if not seen:
                    continue
                row = row_of(value, key, table, limits[1])
                statistics[EVICTED] += tallies[row, N_PAGES] > 0
                keys[row], samples[row], firsts[row] = value, page_ids[page], first
                for tally in range(TALLIES):  # not by slices: see `tokens`
                    tallies[row, tally] = 0
                tallies[row, START], tallies[row, END] = starts[at], ends[at]
            statistics[COUNTED] += 1
            _count(page_mark, pages, tallies, row, N_PAGES)
            _count(site_ids[page], sites, tallies, row, N_SITES)
            if first < firsts[row]:
                firsts[row] = first
                if tallies[row, TOLD]:
                    tallies[row, TOLD] = _EARLIER
            over = tallies[row, N_PAGES] > limits[0] and tallies[row, N_SITES] >= limits[1]
            new = tallies[row, TOLD] == _EARLIER or (over and not tallies[row, TOLD])
            if new and told < found_keys.size:
                tallies[row, TOLD] = 1
                found_keys[told], found_samples[told] = value, samples[row]
                found_firsts[told], found_at[told] = firsts[row], at
                for tally in range(TALLIES):
                    found_tallies[told, tally] = tallies[row, tally]
                for place in range(sites.shape[1]):
                    found_sites[told, place] = sites[row, place]
                told += 1
    return told


@part()
def _age(values: Any, tallies: Any, row: Any, counted: Any) -> None:
    """What was old of a row leaves, the rest is old."""
    count, old = types.int64(tallies[row, counted]), types.int64(tallies[row, counted + 1])
    for at in range(old, count):
        values[row, at - old] = values[row, at]
    tallies[row, counted] = tallies[row, counted + 1] = count - old


@kernel(types.void(TABLE))
def age(table: Any) -> None:
    """A period ends: what was old leaves, the rest is old."""
    _, pages, sites, tallies, _, _ = table
    for row in range(tallies.shape[0]):
        _age(pages, tallies, row, N_PAGES)
        _age(sites, tallies, row, N_SITES)
