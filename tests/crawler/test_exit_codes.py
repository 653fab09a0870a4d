"""Every error that is not our own mistake ends a command with a code of the contract."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reusewatch.crawler.errors import CrawlerError, SourceError
from reusewatch.crawler.exit_codes import code_of
from reusewatch.detector.errors import DetectorError, SchemeMismatch
from reusewatch.streams.bus import BusError, BusMisnamed, PastRetention, Unreachable
from reusewatch.streams.dead_letter_limit import WorkerStopped
from reusewatch.streams.extras import NotInstalled
from reusewatch.streams.questions import BadQuestion, QuestionError, Unanswered
from reusewatch.streams.settings import SettingsError
from reusewatch.streams.stages.errors import Damaged, Incompatible, SnapshotError
from reusewatch.streams.wire import Malformed, WireError

TREES: tuple[type[Exception], ...] = (
    BusError, CrawlerError, DetectorError, NotInstalled, SettingsError, SnapshotError, WireError,
    WorkerStopped, *QuestionError.__subclasses__(),
)  # fmt: skip


def tree(root: type[Exception]) -> Iterator[type[Exception]]:
    """An error and all that are one."""
    yield root
    for below in root.__subclasses__():
        yield from tree(below)


@pytest.mark.parametrize("root", TREES, ids=lambda root: root.__name__)
def test_every_error_of_a_tree_has_a_code(root: type[Exception]) -> None:
    codes = {kind.__name__: code_of(kind.__new__(kind)) for kind in tree(root)}
    assert set(codes.values()) <= {1, 2, 3}, codes


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        # Of a tree whose other errors end otherwise.
        (SourceError, 2), (CrawlerError, 1), (SchemeMismatch, 2), (DetectorError, 1),
        (Incompatible, 2), (Damaged, 1), (Unreachable, 3), (BusMisnamed, 2), (PastRetention, 1),
        (BadQuestion, 2), (Unanswered, 3), (Malformed, 1),
    ],
)  # fmt: skip
def test_the_nearest_kind_decides(kind: type[Exception], code: int) -> None:
    assert code_of(kind.__new__(kind)) == code


@pytest.mark.parametrize("mistake", [KeyError("x"), ValueError("x"), OSError(28, "full")])
def test_our_own_mistake_has_none(mistake: Exception) -> None:
    assert code_of(mistake) is None
