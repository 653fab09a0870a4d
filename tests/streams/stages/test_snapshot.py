"""Snapshots: what is read is what was written, and anything else is found before it is used."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.bus import Partition, Unreachable
from reusewatch.streams.stages.errors import Incompatible
from reusewatch.streams.stages.index_answers import is_needed
from reusewatch.streams.stages.snapshot import KEEP, VERSION, Snapshots, State
from tests.pages import SCHEME, Fetch, crawls
from tests.streams.stages.making import as_message, blocks_of, index_stage

ONE_DIRECTORY = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60
)
arrays = hnp.arrays(
    st.sampled_from([np.uint64, np.int64, np.uint8, np.int8, np.float64]),
    hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=9),
)
facts = st.dictionaries(
    st.text(max_size=5),
    st.recursive(st.integers(-(2**53), 2**53) | st.text(), st.lists),
    max_size=3,
)
offsets = st.dictionaries(
    st.builds(Partition, st.sampled_from(sorted(topics.TOPICS)), st.integers(0, 9)),
    st.integers(0, 2**62),
    max_size=4,
)


def at(directory: Path, scheme: HashScheme = SCHEME) -> Snapshots:
    return Snapshots(directory, "index", scheme)


@given(st.dictionaries(st.text(max_size=5), arrays, max_size=4), facts, offsets)
@ONE_DIRECTORY
def test_what_was_saved_is_loaded(
    tmp_path: Path,
    some: dict[str, np.ndarray],
    told: dict[str, object],
    where: dict[Partition, int],
) -> None:
    path = at(tmp_path).save(State(some, told), where)
    loaded = at(tmp_path).load()
    assert loaded.state is not None
    assert loaded.rejected == ()
    assert loaded.written_at == path.stat().st_mtime
    assert dict(loaded.offsets) == where
    assert dict(loaded.state.facts) == told
    assert list(loaded.state.arrays) == list(some)
    for name, array in some.items():
        np.testing.assert_array_equal(loaded.state.arrays[name], array)
        assert loaded.state.arrays[name].dtype == array.dtype


def two(directory: Path) -> tuple[Path, Path]:
    """An older snapshot and a newer one."""
    kept = at(directory)
    state = State({"page": np.arange(20, dtype=np.uint64)}, {"number": 1})
    older = kept.save(state, {Partition("fingerprints", 0): 1})
    newer = kept.save(State(state.arrays, {"number": 2}), {Partition("fingerprints", 0): 2})
    return older, newer


def test_one_changed_byte_anywhere_is_found(tmp_path: Path) -> None:
    older, newer = two(tmp_path)
    sound = newer.read_bytes()
    for position in range(len(sound)):
        damaged = bytearray(sound)
        damaged[position] ^= 1 << position % 8
        newer.write_bytes(damaged)
        loaded = at(tmp_path).load()
        assert loaded.state is not None
        assert loaded.state.facts == {"number": 1}, position
        assert str(newer) in loaded.rejected[0]
    older.unlink()
    loaded = at(tmp_path).load()
    assert (loaded.state, dict(loaded.offsets)) == (None, {})


def test_what_a_question_needs_not_is_not_read(tmp_path: Path) -> None:
    kept = at(tmp_path)
    path = kept.save(State({"one": np.arange(5), "other": np.arange(70, 80)}, {}), {})
    sound = path.read_bytes()
    damaged = sound.replace(np.arange(70, 80).tobytes(), bytes(80))
    path.write_bytes(damaged)
    assert kept.load().state is None
    assert kept.load(lambda name: name == "other").state is None
    found = kept.load(lambda name: name == "one").state
    assert found is not None
    assert list(found.arrays) == ["one"]
    found.arrays["one"][:] = 9
    assert path.read_bytes() == damaged, "what is written to an array stays in this process"


def test_one_of_an_older_version_is_said_to_be_one(tmp_path: Path) -> None:
    _, newer = two(tmp_path)
    header = msgspec.json.encode({"version": VERSION - 1}).ljust(64)
    body = b"reusewatch snapshot\n" + len(header).to_bytes(8, "little") + header
    newer.write_bytes(body + xxhash.xxh3_128_digest(body + b"arrays"))
    assert "older reusewatch" in at(tmp_path).load().rejected[0]


def test_a_snapshot_cut_at_any_length_is_found(tmp_path: Path) -> None:
    _, newer = two(tmp_path)
    sound = newer.read_bytes()
    for length in range(len(sound)):
        newer.write_bytes(sound[:length])
        loaded = at(tmp_path).load()
        assert loaded.state is not None
        assert loaded.state.facts == {"number": 1}, length
    newer.write_bytes(sound + b"\0")
    assert at(tmp_path).load().rejected


def test_another_scheme_is_refused_with_both_names(tmp_path: Path) -> None:
    two(tmp_path)
    other = HashScheme(42)
    with pytest.raises(Incompatible, match=rf"{SCHEME.name}.*{other.name}"):
        at(tmp_path, other).load()


def test_a_newer_version_is_refused_whatever_else_it_says(tmp_path: Path) -> None:
    _, newer = two(tmp_path)
    header = msgspec.json.encode({"version": VERSION + 1, "offsets": "elsewhere"}).ljust(64)
    body = b"reusewatch snapshot\n" + len(header).to_bytes(8, "little") + header
    newer.write_bytes(body + xxhash.xxh3_128_digest(body))
    with pytest.raises(
        Incompatible, match=rf"newer reusewatch \(snapshot version {VERSION + 1}.*reads {VERSION}"
    ):
        at(tmp_path).load()


def test_a_newer_version_in_another_layout_is_not_said_to_be_mere_damage(tmp_path: Path) -> None:
    _, newer = two(tmp_path)
    header = msgspec.json.encode({"version": VERSION + 1}).ljust(64)
    body = b"reusewatch snapshot\n" + len(header).to_bytes(8, "little") + header
    newer.write_bytes(body + bytes(16))  # what its checksum is of, only those know that wrote it
    loaded = at(tmp_path).load()
    assert loaded.state is not None
    assert f"newer reusewatch wrote it (snapshot version {VERSION + 1}" in loaded.rejected[0]


def test_the_newest_are_kept_and_no_half_written_one_is_read(tmp_path: Path) -> None:
    for number in range(5):
        at(tmp_path).save(State(facts={"number": number}), {})
    (tmp_path / ".index-000000000009.snapshot.5.partial").write_bytes(b"half")
    at(tmp_path).save(State(facts={"number": 5}), {})
    assert not list(tmp_path.glob("*.partial")), "left by a process that was killed"
    assert len(at(tmp_path).paths()) == KEEP
    loaded = at(tmp_path).load()
    assert loaded.state is not None
    assert loaded.state.facts == {"number": 5}


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failing_disk_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    _, newer = two(tmp_path)

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fails)
    with pytest.raises(Unreachable, match="No space left on device: free some space"):
        at(tmp_path).save(State(facts={"number": 3}), {})
    assert at(tmp_path).paths()[0] == newer
    assert list(tmp_path.glob("*.partial")) == []


@given(crawls(), st.integers(0, 30), st.integers(1, 6))
@ONE_DIRECTORY
def test_a_stage_restored_anywhere_says_what_it_would_have_said(
    tmp_path: Path, fetches: list[Fetch], cut: int, pages: int
) -> None:
    blocks = [as_message(block) for block in blocks_of(fetches, 2)]
    before, after = blocks[:cut], blocks[cut:]
    straight = index_stage(max_pages=pages)
    straight.process(before)
    at(tmp_path).save(straight.save(), {})
    restored = index_stage(max_pages=pages)
    restored.process(blocks[::-1])  # what it held before is forgotten
    restored.restore(at(tmp_path).load().state)
    assert restored.rows() == straight.rows()
    assert restored.process(after).messages == straight.process(after).messages


@given(crawls())
@ONE_DIRECTORY
def test_a_question_is_answered_where_the_window_is_mapped(
    tmp_path: Path, fetches: list[Fetch]
) -> None:
    stage = index_stage()
    stage.process([as_message(block) for block in blocks_of(fetches, 2)])
    at(tmp_path).save(stage.save(), {})
    asked, loaded = index_stage(), at(tmp_path).load(partial(is_needed, "clusters")).state
    assert loaded is not None
    assert {name.partition("/")[0] for name in loaded.arrays} == {"window"}
    asked.restore(loaded, question="clusters")
    assert asked.answer("clusters", {}) == stage.answer("clusters", {})


def test_restored_from_nothing_it_is_as_at_first() -> None:
    fetches = [Fetch(0, 0, 1, 7), Fetch(1, 1, 2, 7)]
    stage = index_stage()
    first = stage.process([as_message(block) for block in blocks_of(fetches)])
    assert any(m.topic == topics.ALERTS for m in first.messages)
    stage.restore(None)
    assert stage.rows() == 0
    again = stage.process([as_message(block) for block in blocks_of(fetches)])
    assert again.messages == first.messages


def in_memory(path: Path) -> int:
    """Bytes of a file that this process has mapped and in memory."""
    inside, found = False, 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.partition(" ")[0]:
            inside = line.endswith(str(path))
        elif inside and line.startswith("Rss:"):
            found += int(line.split()[1]) << 10
    return found


def test_what_was_restored_is_in_memory_no_longer_once_it_was_saved_again(tmp_path: Path) -> None:
    rows = np.arange(1 << 19).reshape(-1, 2)
    path = at(tmp_path).save(State({"one": rows, "other": rows[::-1]}, {}), {})
    loaded = at(tmp_path).load().state
    assert loaded is not None
    assert all(array.sum() for array in loaded.arrays.values())
    assert in_memory(path) >= 2 * rows.nbytes
    at(tmp_path).save(loaded, {})
    assert in_memory(path) < 1 << 16
    assert (loaded.arrays["one"] == rows).all()
    # What is looked at beside it stays.
    assert loaded.arrays["other"].sum()
    at(tmp_path / "elsewhere").save(State({"one": loaded.arrays["one"]}, {}), {})
    assert rows.nbytes <= in_memory(path) < rows.nbytes + (1 << 16)
