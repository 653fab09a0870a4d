"""Who reads what: the stages, and the workers that run them.

The only place that turns Settings into plain values for the stages; `opening` does so for the bus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING

from reusewatch.detector.mean_and_deviation import MATCHABLE_NEIGHBORHOODS
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams import kernels, topics
from reusewatch.streams.blocks.occurrences import IsStopFile
from reusewatch.streams.bus import Bus
from reusewatch.streams.console import say
from reusewatch.streams.labels.follower import Followed
from reusewatch.streams.opening import kafka_config, state_directory
from reusewatch.streams.running.allocation import keep_large_apart
from reusewatch.streams.running.changelog import Changelog, Following, require_room
from reusewatch.streams.running.fingerprinters import fingerprint_stage, labeler_of
from reusewatch.streams.running.label_settings import label_store, stop_list
from reusewatch.streams.running.news import News, WorkerLog
from reusewatch.streams.running.stage_names import CHANGELOGS
from reusewatch.streams.running.worker import Pace, Worker
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.discovering import Discovering
from reusewatch.streams.stages.discovering import Rules as WorthDiscovering
from reusewatch.streams.stages.evidencing import Elsewhere
from reusewatch.streams.stages.fingerprinting import GRAM_SAMPLES, ReadOrigin
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.judging_rules import Rules
from reusewatch.streams.stages.labeled import LabeledPages
from reusewatch.streams.stages.mirroring import Mirroring
from reusewatch.streams.stages.neighboring import NeighborhoodStage
from reusewatch.streams.stages.phrasing import Phrasing
from reusewatch.streams.stages.quilting import Quilting
from reusewatch.streams.stages.reusing import Reusing
from reusewatch.streams.stages.similarity import Similarity
from reusewatch.streams.stages.snapshot import Snapshots
from reusewatch.streams.stages.stage import Stage
from reusewatch.streams.url_sets import UrlSet

if TYPE_CHECKING:
    from reusewatch.detector.labels.stop_chunks import StopChunks
    from reusewatch.streams.running.metrics import Meters


def worker(
    stage: str,
    settings: Settings,
    bus: Bus,
    meters: Meters,
    log: WorkerLog,
    *,
    read_origin: ReadOrigin | None = None,
) -> Worker:
    """The worker of a stage on Kafka."""
    if stage in CHANGELOGS:
        return _neighborhoods_worker(settings, bus, meters, log)
    kernels.prepare(log.note)
    if stage in STATEFUL:
        return stateful_worker(stage, settings, bus, meters, log, read_origin=read_origin)
    outlet = bus.outlet()
    partition_for = partial(outlet.partition_for, topics.FINGERPRINTS)
    labeler = labeler_of(settings)
    made = fingerprint_stage(
        settings, partition_for, read_origin=read_origin, labeler=labeler,
        topic=kafka_config(settings).topic(topics.PAGES),
    )  # fmt: skip
    followed = Followed(
        bus, labeler, label_store(settings), settings.scheme, say=log.trouble,
        show=partial(meters.show_labels, stage),
        refuse=meters.events.labels(stage, "labels-refused").inc,
    )  # fmt: skip
    return Worker(
        made, bus, outlet, meters, pace=_pace(settings), companion=followed, news=log
    )  # fmt: skip


def stateful_worker(
    name: str,
    settings: Settings,
    bus: Bus,
    meters: Meters,
    news: News,
    *,
    read_origin: ReadOrigin | None = None,
    elsewhere: Elsewhere | None = None,
) -> Worker:
    """The worker of a stage that keeps a state. `elsewhere`: other processes make evidence."""
    keep_large_apart()
    stage = stateful(name, settings, read_origin, elsewhere)
    snapshots = Snapshots(state_directory(settings) / "snapshots", name, settings.scheme, bus)
    outlet = bus.outlet()
    return Worker(stage, bus, outlet, meters, pace=_pace(settings), snapshots=snapshots, news=news)


def _neighborhoods_worker(settings: Settings, bus: Bus, meters: Meters, news: News) -> Worker:
    outlet = bus.outlet()
    count = require_room(outlet, topics.NEIGHBORHOODS, topics.FINGERPRINTS)
    stage = neighborhoods(settings, partitions=count, logged=True)
    moments = Following(bus, topics.MOMENTS)
    changelog = Changelog(stage, bus, topics.NEIGHBORHOODS, news=moments, close=moments.close)
    return Worker(stage, bus, outlet, meters, pace=_pace(settings), changelog=changelog, news=news)


def partitions_of(bus: Bus) -> int:
    """How many partitions the fingerprints have."""
    outlet = bus.outlet()
    try:
        return outlet.partitions(topics.FINGERPRINTS)
    finally:
        outlet.close()


def stateful(
    name: str,
    settings: Settings,
    read_origin: ReadOrigin | None = None,
    elsewhere: Elsewhere | None = None,
) -> Stage:
    """A stage that keeps a state, as at first."""
    return STATEFUL[name](settings, read_origin, elsewhere)


def labeled_pages(settings: Settings) -> LabeledPages:
    """What says which pages are labeled, as the settings have it."""
    return LabeledPages(
        settings.scheme,
        fixed=settings.contains_threshold,
        grams=settings.labeled_grams,
        rule=settings.contains,
        allowed=UrlSet(settings.allowed),
    )


def _index(
    settings: Settings, read_origin: ReadOrigin | None, elsewhere: Elsewhere | None
) -> IndexStage:
    seconds = settings.window_seconds
    rules = Rules(
        policy=settings.policy,
        thresholds={
            "b_similar": settings.b_similar,
            "t": settings.c_similar,
            "least_shared": settings.c_shared,
            "combined_t": settings.combined_c,
        },
        near_same_site=settings.alert_near_same_site,
        near_other_site=settings.alert_near_other_site,
        site=settings.site,
        max_cluster=settings.max_cluster,
        evidence_pairs=settings.evidence_pairs,
        least_mwo=settings.near_mwo,
        near_own=settings.near_own,
        owned=UrlSet(settings.owned),
        allowed=UrlSet(settings.allowed),
        precedence_us=settings.precedence_seconds * 1_000_000,
    )
    max_age_us = None if seconds is None else round(seconds * 1_000_000)
    scheme = settings.scheme
    return IndexStage(
        scheme,
        clock=lambda: datetime.now(UTC),
        max_pages=settings.window_pages,
        max_age_us=max_age_us,
        site_share=settings.window_site_share,
        same_site=settings.alert_same_site,
        rules=rules,
        read_origin=read_origin,
        labeled=labeled_pages(settings),
        similarity=_similarity(settings, max_age_us) if settings.similar_pages else None,
        discovering=_discovering(settings, read_origin),
        quilting=_quilting(settings, max_age_us) if settings.grams != "none" else None,
        phrasing=_phrasing(settings) if settings.phrase_pages else None,
        reusing=Reusing(
            scheme,
            min_files=settings.neighborhood_files,
            threshold=settings.badness_threshold or MATCHABLE_NEIGHBORHOODS,
            least_new=settings.settle_pages,
        ),
        mirroring=Mirroring(
            scheme, least_pages=settings.mirror_pages, least_share=settings.mirror_share
        ),
        settle_pages=settings.settle_pages,
        elsewhere=elsewhere,
    )


def _quilting(settings: Settings, max_age_us: int | None) -> Quilting:
    rules = QuiltRules(
        m=settings.quilt_m,
        c=settings.quilt_c,
        theta=settings.quilt_theta,
        phi=settings.quilt_phi,
        foreign=settings.quilt_foreign,
        partial_share=settings.partial_share,
    )
    return Quilting(
        settings.scheme,
        rules,
        sample=GRAM_SAMPLES[settings.grams],
        max_bytes=settings.gram_bytes,
        max_age_us=max_age_us,
    )


def _phrasing(settings: Settings) -> Phrasing:
    return Phrasing(
        settings.scheme, most=settings.phrase_pages, least_new=settings.settle_pages,
        directory=state_directory(settings),
    )  # fmt: skip


def _similarity(settings: Settings, max_age_us: int | None) -> Similarity:
    return Similarity(
        settings.scheme, max_pages=settings.similar_pages, max_age_us=max_age_us,
        directory=state_directory(settings),
        prepare=partial(kernels.prepare_questions, say),
    )  # fmt: skip


def _discovering(settings: Settings, read_origin: ReadOrigin | None) -> Discovering | None:
    if settings.discover == "off":
        return None
    rules = WorthDiscovering(
        pages=settings.discover_pages,
        file_pages=settings.discover_file_pages,
        sites=settings.discover_sites,
        length=settings.discover_length,
        label=settings.discover == "label",
        label_sites=max(settings.discover_label_sites, settings.discover_sites),
    )
    return Discovering(
        settings.scheme, rules, window_pages=settings.window_pages, read_origin=read_origin,
        is_stop_file=_is_stop_file(settings),
    )  # fmt: skip


def _is_stop_file(settings: Settings) -> IsStopFile:
    """Made when it is first asked: most of what makes hashes is compiled."""
    listed = stop_list(settings)

    @cache
    def stops() -> StopChunks:
        from reusewatch.streams.labels.matching import all_stop_chunks

        return all_stop_chunks(settings.scheme, listed)

    return lambda hashes: stops().has_files(hashes)


def neighborhoods(
    settings: Settings, *, partitions: int = 1, logged: bool = False
) -> NeighborhoodStage:
    """The stage `neighborhoods`, as at first."""
    return NeighborhoodStage(
        settings.scheme,
        clock=lambda: datetime.now(UTC),
        max_prefixes=settings.neighborhood_prefixes,
        max_pages=settings.window_pages,
        min_files=settings.neighborhood_files,
        threshold=settings.badness_threshold,
        partitions=partitions,
        logged=logged,
        owned=UrlSet(settings.owned),
        rule=settings.contains,
    )


def _pace(settings: Settings) -> Pace:
    return Pace(
        settings.commit_seconds, settings.snapshot_seconds, settings.dead_letter_limit,
        settings.settle_seconds,
    )  # fmt: skip


# Those that read fingerprints and remember; on a local bus all of them run in one process.
STATEFUL: Mapping[str, Callable[[Settings, ReadOrigin | None, Elsewhere | None], Stage]] = {
    "index": _index,
    "neighborhoods": lambda settings, *_: neighborhoods(settings),
}
