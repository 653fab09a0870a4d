"""What makes fingerprints as the settings have it, wherever it runs.

Apart from `topology`: a process that is forked to make fingerprints need not wait until all is
loaded that judges.
"""

from __future__ import annotations

from collections.abc import Callable

from reusewatch.streams.labels.marking import Labeler
from reusewatch.streams.running.label_settings import label_store, stop_list
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.fingerprinting import FingerprintStage, ReadOrigin


def fingerprint_stage(
    settings: Settings,
    partition_for: Callable[[str], int],
    *,
    read_origin: ReadOrigin | None = None,
    labeler: Labeler | None = None,
    topic: str | None = None,
) -> FingerprintStage:
    """The stage `fingerprint` as the settings have it; without a labeler it marks no content."""
    return FingerprintStage(
        settings.scheme,
        partition_for,
        read_origin=read_origin,
        grams=settings.grams,
        chunks=settings.chunks,
        labeler=labeler,
        topic=topic,
    )


def only_partition(site: str) -> int:
    """Where pages go on a bus of one machine: it has one partition."""
    return 0


def labeler_of(settings: Settings) -> Labeler:
    """What matches pages with the labeled dataset; travels to worker processes."""
    return Labeler(label_store(settings).directory, settings.scheme, stop_list(settings))
