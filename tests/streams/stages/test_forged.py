"""A snapshot that somebody forged, checksums and all, is refused or harmless.

It never ends a process, and never makes one run for ever."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from reusewatch.detector.quilts.store import DOCUMENT, POSTING
from reusewatch.detector.similar.store import TERM
from reusewatch.detector.window.store import CLUSTER, ENTRY, ROW
from reusewatch.streams.bus import Message
from reusewatch.streams.running import topology
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.similarity import PASSES
from reusewatch.streams.stages.snapshot import Snapshots, State
from reusewatch.streams.stages.stage import Stage
from reusewatch.streams.wire import page_message
from tests.pages import BEGIN, SCHEME
from tests.streams.stages.making import as_message, page_with, zero

RECORDS: Mapping[str, np.dtype[Any]] = {
    "window/rows": ROW, "window/entries": ENTRY, "window/clusters": CLUSTER,
    "terms/filed/rows": ROW, "terms/filed/entries": ENTRY, "terms/filed/clusters": CLUSTER,
    "terms/filed/mwo_terms": TERM, "quilts/postings/documents": DOCUMENT,
    "quilts/postings/postings": POSTING,
}  # fmt: skip
PATIENCE = 60
FORGINGS = int(os.environ.get("FORGINGS", "50"))
"""How many forgings are tried, drawn by a fixed seed. The variable may ask for all of them."""
VALUES = (-2, -1, 0, 1, 1 << 30, 1 << 62)


class Forged(NamedTuple):
    """An array in the place of one that was saved, and what was done to it."""

    name: str
    how: str
    array: NDArray[Any]


def index() -> Stage:
    return topology.stateful("index", Settings(discover="alert", window_pages=100))


def words(draw: random.Random) -> list[str]:
    """A page's words: a text that others have, of which some are changed, and a link."""
    text = random.Random(draw.randrange(12))
    kept = [f"word{text.randrange(400)}" for _ in range(70)]
    for _ in range(draw.randrange(4)):
        kept[draw.randrange(70)] = f"other{draw.randrange(400)}"
    linked = f"http://www.site{draw.randrange(30)}.example/page/{draw.randrange(90)}"
    return [*kept, f'<a href="{linked}">there</a>']


@cache
def blocks(count: int, seed: int) -> list[Message]:
    """Pages that are copies, near copies, quilts and versions of each other."""
    draw, stage = random.Random(seed), FingerprintStage(SCHEME, zero, grams="all")
    pages = [
        page_with(
            f"http://www.site{draw.randrange(30)}.example/page/{draw.randrange(90)}", words(draw),
            BEGIN + timedelta(minutes=seed * 1000 + at),
        ) for at in range(count)
    ]  # fmt: skip
    messages = [as_message(page_message(page), at) for at, page in enumerate(pages)]
    return [
        as_message(sent)
        for at in range(0, count, 20)
        for sent in stage.process(messages[at : at + 20]).messages
    ]


def forgings(name: str, array: NDArray[Any], draw: random.Random) -> Iterator[Forged]:
    """What may be written in the place of an array."""
    yield Forged(name, "of another type", array.astype(np.float32))
    yield Forged(name, "one shorter", array[:-1])
    yield Forged(name, "twice as long", np.concatenate((array, array)))
    yield Forged(name, "empty", array[:0])
    yield Forged(name, "of more dimensions", array[None])
    kind = RECORDS.get(name)
    fields: Sequence[str] = (kind.names or ()) if kind is not None else ("",)
    whole = array if kind is None else np.ascontiguousarray(array).view(kind)
    for field in fields:
        column = whole[field] if field else whole
        yield from _numbers(name, field, whole, column, draw)


def _numbers(
    name: str, field: str, whole: NDArray[Any], column: NDArray[Any], draw: random.Random
) -> Iterator[Forged]:
    def put(how: str, numbers: NDArray[Any]) -> Forged:
        changed = whole.copy()
        changed[field or ...] = numbers
        return Forged(name, f"{field} {how}", changed.view(np.uint8) if field else changed)

    for value in VALUES:
        forged = np.array([value]).astype(column.dtype)[0]
        yield put(f"all {value}", np.full_like(column, forged))
        one = column.copy()
        one.reshape(-1)[draw.randrange(one.size)] = forged
        yield put(f"once {value}", one)
    # What leads from one to another leads to itself, round, or twice to the same.
    yield put("each leads to itself", np.resize(np.arange(column.size), column.shape))
    yield put("turned by one", np.roll(column.reshape(-1), 1).reshape(column.shape))
    yield put("from behind", column.reshape(-1)[::-1].reshape(column.shape))
    twice = column.copy().reshape(-1)
    twice[draw.randrange(twice.size)] = twice[draw.randrange(twice.size)]
    yield put("one twice", twice.reshape(column.shape))


def outcome(directory: Path, state: State) -> str:
    """What comes of a stage that takes this up and goes on."""
    snapshots = Snapshots(directory, "index", SCHEME)
    snapshots.save(state, {})
    stage = index()
    loaded = snapshots.load(take_up=stage.restore)
    if loaded.state is None:
        assert loaded.rejected
        stage.restore(None)
    for block in blocks(200, 3):
        stage.process([block])
    stage.settle()
    stage.save()
    return "".join(loaded.rejected)


def ends(directory: Path, state: State) -> str:
    """How a process of its own ends that does this; nothing where it goes on."""
    directory.mkdir()
    if not (child := os.fork()):
        signal.alarm(PATIENCE)
        try:
            (directory / "reason").write_text(outcome(directory, state))
        except BaseException as error:  # the parent says it
            (directory / "reason").write_text(f"{type(error).__name__}: {error}")
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return (
        f"{status}: {(directory / 'reason').read_text() if status == 256 else ''}" if status else ""
    )


@pytest.fixture(scope="module")
def state() -> State:
    stage = index()
    for block in blocks(160, 1):
        stage.process([block])
    stage.settle()
    blocks(200, 3)  # made here, and not by each process that goes on with them
    for _ in range(PASSES + 1):  # more questions than that, and pages are filed by their terms
        stage.answer("similar", {"terms": "1", "weights": "1"})
    for block in blocks(40, 2):
        stage.process([block])
    saved = stage.save()
    assert saved is not None
    return saved


def drawn(state: State) -> list[Forged]:
    """Forgings of all arrays, so many of them: of each array one at least."""
    draw = random.Random(1)
    every = {
        name: list(forgings(name, array, draw))
        for name, array in state.arrays.items() if array.size
    }  # fmt: skip
    first = [draw.choice(of_one) for of_one in every.values()]
    others = [one for of_one in every.values() for one in of_one]
    draw.shuffle(others)
    return first + list(islice(others, max(0, FORGINGS - len(first))))


def test_a_forged_array_ends_no_process(state: State, tmp_path: Path) -> None:
    wrong = []
    for number, forged in enumerate(drawn(state)):
        changed = State({**state.arrays, forged.name: forged.array}, state.facts)
        if status := ends(tmp_path / str(number), changed):
            wrong.append(f"{forged.name} {forged.how}: {status}")
    assert not wrong, "\n".join(wrong)


def test_what_was_saved_is_taken_up(state: State, tmp_path: Path) -> None:
    assert not outcome(tmp_path, state)


def test_a_forged_array_is_refused_with_its_name(state: State, tmp_path: Path) -> None:
    links = np.full_like(state.arrays["window/links"], 1 << 30)
    changed = State({**state.arrays, "window/links": links}, state.facts)
    assert "links has 1073741824" in outcome(tmp_path, changed)
