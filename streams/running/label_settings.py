"""What the settings say of labels: where this machine keeps them, and which chunks are none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reusewatch.streams.labels.store import LabelStore
from reusewatch.streams.opening import state_directory
from reusewatch.streams.settings import Settings, SettingsError

if TYPE_CHECKING:
    from reusewatch.detector.labels.stop_chunks import StopList


def label_store(settings: Settings) -> LabelStore:
    """Where this machine keeps the labeled dataset."""
    return LabelStore(state_directory(settings) / "labels")


def stop_list(settings: Settings) -> StopList | None:
    """The user's own stop chunks, beside the shipped ones."""
    if settings.stop_chunks is None:
        return None
    from reusewatch.detector.labels.stop_chunks import StopList

    try:
        return StopList.parse(Path(settings.stop_chunks).read_text("utf-8"))
    except OSError as error:
        raise SettingsError(
            f"stop_chunks: {settings.stop_chunks} cannot be read: {error.strerror}"
        ) from error
    except ValueError as error:
        raise SettingsError(f"stop_chunks: {settings.stop_chunks}: {error}") from error
