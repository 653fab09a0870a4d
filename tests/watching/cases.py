"""For each rule that tells somebody: series under which it fires, and some under which it must not.

In the notation of promtool: `a+bxn` begins at a and grows n times by b, a sample a minute.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Series = dict[str, str]
INDEX = 'stage="index",instance="b:1",job="reusewatch"'
PARTITION = f'{INDEX},topic="fingerprints",partition="0"'
CRAWL = 'stage="crawl",instance="c:1",job="reusewatch"'


@dataclass(frozen=True, slots=True)
class Case:
    """`fires` are the labels with which it does, those of the rule aside."""

    firing: Series
    silent: Series
    at: str
    fires: tuple[dict[str, str], ...]
    missing: Series = field(default_factory=dict)


def _index(name: str, values: str, more: str = "") -> Series:
    return {f"reusewatch_{name}{{{INDEX}{more}}}": values}


_WHOSE = {"stage": "index", "instance": "b:1", "job": "reusewatch"}
_CRAWLS = {"stage": "crawl", "instance": "c:1", "job": "reusewatch"}
_WHERE = {"stage": "index", "instance": "b:1", "topic": "fingerprints", "partition": "0"}
_BOUNDS = {
    **_index("state_rows", "1000x60"),
    **_index("state_limit_rows", "1000x60"),
}
_NEWEST = f'reusewatch_window_timestamp_seconds{{{INDEX},end="newest"}}'
_OLDEST = f'reusewatch_window_timestamp_seconds{{{INDEX},end="oldest"}}'
_NEAR = f'reusewatch_findings_total{{{INDEX},finding="near-duplicate"}}'
_PAGES = f"reusewatch_pages_total{{{INDEX}}}"
_DEAD = f'reusewatch_dead_letters_total{{{INDEX},reason="malformed-message"}}'
_HOODS = 'reusewatch_alerts_total{stage="neighborhoods",kind="bad-neighborhood"}'
_KAFKA = 'reusewatch_build_info{stage="index"}'
_PREFIXES = 'stage="neighborhoods",instance="d:1"'
_LAST = "reusewatch_crawl_last_response_timestamp_seconds"
# A standing index beside a fingerprint worker: the stages that there must be.
_THERE = {
    'reusewatch_ready{stage="fingerprint"}': "1x60",
    'reusewatch_ready{stage="index",instance="b:1"}': "1x60",
    'reusewatch_ready{stage="index",instance="b:2"}': "0x60",
    _KAFKA: "1x60",
}

CASES = {
    "ReusewatchDown": Case(
        {'up{job="reusewatch",instance="a:1"}': "1x5 0x20"},
        {'up{job="reusewatch",instance="a:1"}': "1x40", 'up{job="other"}': "0x40"},
        "20m", ({"job": "reusewatch", "instance": "a:1"},),
    ),
    "ReusewatchNobodyJudges": Case(
        # One index stands by, and the neighborhoods that were there have ended.
        _THERE | {
            'reusewatch_ready{stage="index",instance="b:1"}': "0x60",
            'reusewatch_ready{stage="neighborhoods"}': "1x10 stale",
        },
        # Nobody judges while the index recovers, and a replay on a local bus has no such worker.
        _THERE | {
            'reusewatch_ready{stage="index",instance="b:1"}': "0x60",
            "reusewatch_recovery_records{stage=\"index\"}": "900-10x60",
        },
        "40m", ({"stage": "index"}, {"stage": "neighborhoods"}),
    ),
    "ReusewatchWorkerStalled": Case(
        {f"reusewatch_last_progress_timestamp_seconds{{{PARTITION}}}": "60x60",
         f"reusewatch_lag_records{{{PARTITION}}}": "7x60"},
        {f"reusewatch_last_progress_timestamp_seconds{{{PARTITION}}}": "60x60",
         f"reusewatch_lag_records{{{PARTITION}}}": "0x60"},
        "20m", (_WHERE,),
    ),
    "ReusewatchLag": Case(
        {f"reusewatch_lag_seconds{{{PARTITION}}}": "900x60"},
        # High now and then, and never for ten minutes on end.
        {f"reusewatch_lag_seconds{{{PARTITION}}}": "900x5 0x5 900x5 0x5 900x5 0x5 900x5 0x5"},
        "40m", ({"stage": "index"},),
    ),
    "ReusewatchDeadLetters": Case(
        {_PAGES: "0+100x60", _DEAD: "0+10x60"},
        # A third of very little, and a hundredth of much.
        {_PAGES: "0x60", _DEAD: "0x50 0+1x10"},
        "40m", ({"stage": "index"},), {_PAGES: "0+1000x60", _DEAD: "0+10x60"},
    ),
    "ReusewatchSnapshotOld": Case(
        _index("snapshot_timestamp_seconds", "60x60") | {_PAGES: "0+10x60"},
        # Nothing comes: there is nothing to save.
        _index("snapshot_timestamp_seconds", "60x60") | {_PAGES: "10x60"},
        "40m", ({"stage": "index", "instance": "b:1"},),
    ),
    "ReusewatchRecoveryLong": Case(
        _index("recovery_records", "90000-10x60"),
        _index("recovery_records", "900-60x15 0x60"), "45m", (_WHOSE,),
    ),
    "ReusewatchLabelsDiffer": Case(
        {'reusewatch_labels_version_info{stage="fingerprint",instance="a:1",version="1"}': "1x60",
         'reusewatch_labels_version_info{stage="fingerprint",instance="a:2",version="2"}': "1x60"},
        # One takes it up ten minutes after the other.
        {'reusewatch_labels_version_info{stage="fingerprint",instance="a:1",version="2"}': "1x60",
         'reusewatch_labels_version_info{stage="fingerprint",instance="a:2",version="1"}':
             "1x10 stale",
         'reusewatch_labels_version_info{stage="fingerprint",instance="a:3",version="2"}':
             "_x10 1x50"},
        "30m", ({},),
    ),
    "ReusewatchLabelsRefused": Case(
        _index("events_total", "0x20 1x60", ',event="labels-refused"'),
        _index("events_total", "1x90", ',event="labels-refused"'),
        "40m", (_WHOSE | {"event": "labels-refused"},),
    ),
    "ReusewatchStateFull": Case(
        {f"reusewatch_state_rows{{{_PREFIXES}}}": "960x90",
         f"reusewatch_state_limit_rows{{{_PREFIXES}}}": "1000x90"},
        # The window is full for good.
        {f"reusewatch_state_rows{{{_PREFIXES}}}": "900x90",
         f"reusewatch_state_limit_rows{{{_PREFIXES}}}": "1000x90"} | _BOUNDS,
        "60m", ({"stage": "neighborhoods", "instance": "d:1"},),
    ),
    "ReusewatchWindowYoung": Case(
        _BOUNDS | {_NEWEST: "100000x60", _OLDEST: "50000x60"},
        # Young since it has only begun.
        {_NEWEST: "100000x60", _OLDEST: "50000x60", **_index("state_rows", "10x60"),
         **_index("state_limit_rows", "1000x60")},
        "60m", (_WHOSE,), _BOUNDS | {_NEWEST: "100000x60", _OLDEST: "1000x60"},
    ),
    "ReusewatchBusTroubles": Case(
        _index("bus_troubles_total", "0+1x60"),
        _index("bus_troubles_total", "0x10 1x60"), "20m", (_WHOSE,),
    ),
    "ReusewatchRebalancing": Case(
        _index("rebalances_total", "0+2x60", ',reason="assigned"'),
        _index("rebalances_total", "0x10 6x60", ',reason="assigned"'),
        "40m", ({"stage": "index"},),
    ),
    "ReusewatchCrawlStuck": Case(
        {f"{_LAST}{{{CRAWL}}}": "60x60", f"reusewatch_crawl_scheduled{{{CRAWL}}}": "5x60",
         f"reusewatch_crawl_waiting{{{CRAWL}}}": "0x60"},
        # Done, and not stuck.
        {f"{_LAST}{{{CRAWL}}}": "60x60", f"reusewatch_crawl_scheduled{{{CRAWL}}}": "0x60",
         f"reusewatch_crawl_waiting{{{CRAWL}}}": "0x60"},
        "40m", (_CRAWLS,),
    ),
    "ReusewatchCrawlLosesPages": Case(
        {f"reusewatch_crawl_lost_total{{{CRAWL}}}": "0x10 4x60"},
        {f"reusewatch_crawl_lost_total{{{CRAWL}}}": "4x60"}, "15m", (_CRAWLS,),
    ),
}  # fmt: skip
"""By the rule's name. `missing`: a second way to be silent."""

LONG = {
    "ReusewatchNearDuplicatesJump": Case(
        {_PAGES: "0+1000x150", _NEAR: "0+20x144 2900+500x6"},
        # As much of little: a page a minute says nothing.
        {_PAGES: "0+10x150", _NEAR: "0x144 0+10x6"},
        "1480m", ({"finding": "near-duplicate"},),
        {_PAGES: "0+1000x150", _NEAR: "0+500x150"},
    ),
    "ReusewatchNeighborhoodsSurge": Case(
        {_HOODS: "0x140 0+10x6"},
        # As many all day long.
        {_HOODS: "0+10x150"}, "1460m", ({},), {_HOODS: "0x144 10x5"},
    ),
}  # fmt: skip
"""Those that look at a whole day, with a sample every ten minutes."""
