"""Label packs: built larger than memory, mapped, looked up, damaged."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from reusewatch.detector.errors import (
    BadPack,
    DamagedPack,
    NewerPack,
    OlderPack,
    SchemeMismatch,
)
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.building import LabelBuilder, Progress
from reusewatch.detector.labels.format import (
    ALIGNMENT,
    PackLabel,
    Section,
    read_directory,
    write_directory,
)
from reusewatch.detector.labels.hash_table import HashTable
from reusewatch.detector.labels.label_sets import LabelSets, members
from reusewatch.detector.labels.merging import merge
from reusewatch.detector.labels.pack import open_pack, verify
from reusewatch.detector.labels.pairs import Pairs
from reusewatch.detector.labels.places import ABSENT
from reusewatch.detector.labels.writing import write_pack
from tests.detector.labels.strategies import (
    SCHEME,
    Entries,
    built,
    chunks_of,
    entries,
    hashes,
    matched,
    same,
    twin_of,
    words,
)


@given(st.sets(hashes, max_size=300), st.lists(hashes, max_size=300))
def test_a_table_is_a_set(known: set[int], wanted: list[int]) -> None:
    ordered = sorted(known)
    table = HashTable.of(words(ordered))
    found = table.find(words([*wanted, *ordered]))
    places = {value: place for place, value in enumerate(ordered)}
    assert found.tolist() == [places.get(value, ABSENT) for value in [*wanted, *ordered]]


@given(st.sets(hashes, min_size=1), st.data())
def test_a_forged_index_reads_nothing_beyond(known: set[int], data: st.DataObject) -> None:
    ordered = words(sorted(known))
    size = len(HashTable.of(ordered).buckets)
    forged = data.draw(st.lists(st.integers(0, (1 << 32) - 1), min_size=size, max_size=size))
    found = HashTable(ordered, np.array(forged, np.uint32)).find(ordered)
    for place, value in zip(found.tolist(), ordered.tolist(), strict=True):
        assert place == ABSENT or ordered[place] == value


def test_an_index_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="buckets"):
        HashTable(words(list(range(100))), np.zeros(3, np.uint32))


@given(st.lists(st.sets(st.integers(0, 5), min_size=1), max_size=40))
def test_sets_of_labels_come_back(groups: list[set[int]]) -> None:
    sets = LabelSets(6)
    flat = np.array([label for group in groups for label in sorted(group)], np.uint32)
    starts = np.cumsum([0, *map(len, groups)])[: len(groups)]
    numbers = sets.unions(flat, starts).tolist()
    assert [set(members(sets.rows(), number)) for number in numbers] == groups
    again = sets.unions(flat, starts).tolist()
    assert again == numbers


def test_a_ring_of_sets_is_refused() -> None:
    with pytest.raises(ValueError, match="out of order"):
        members(np.array([[1, 0], [0, 1]], np.uint32), 0)


@settings(max_examples=60)
@given(entries, st.integers(1, 200))
def test_twin(tmp_path_factory: pytest.TempPathFactory, entries: Entries, run_pairs: int) -> None:
    path = tmp_path_factory.mktemp("pack") / "a.pack"
    pack = built(path, entries, run_pairs=run_pairs)
    twin = twin_of(entries)
    same(pack, twin)
    assert verify(path) == ()
    for label in pack.labels:
        assert label.files == sum(k == "files" and label.name in n for (k, _), n in twin.items())
        assert label.chunks == sum(k == "chunks" and label.name in n for (k, _), n in twin.items())


def test_the_same_content_is_the_same_file(tmp_path: Path) -> None:
    entries: Entries = [("chunks", value % 997, "bank") for value in range(2000)]
    built(tmp_path / "a", entries, run_pairs=100)
    built(tmp_path / "b", entries[::-1], run_pairs=7000)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_report_accounts_for_every_chunk(tmp_path: Path) -> None:
    class Stops:
        def has_chunks(self, hashes: np.ndarray) -> np.ndarray:
            return hashes == 7

        def has_files(self, hashes: np.ndarray) -> np.ndarray:
            return hashes == 8

        def has_grams(self, hashes: np.ndarray) -> np.ndarray:
            return hashes == 9

    told: list[Progress] = []
    with closing(LabelBuilder(tmp_path, SCHEME, stops=Stops(), progress=told.append)) as builder:
        label = builder.label(PackLabel(name="a", source="here", note="why", severity="critical"))
        builder.add_chunks(label, chunks_of([1, 2, 2, 7], length=101))
        builder.add_chunks(label, chunks_of([3, 4], length=100))
        builder.add_files(label, words([0, 8, 9]))
        report = builder.build(tmp_path / "pack")
    assert (report.files, report.chunks) == (3, 6)
    assert (report.short, report.stopped, report.repeated) == (2, 3, 1)
    assert (report.pack.files, report.pack.chunks) == (1, 2)
    pack = open_pack(tmp_path / "pack", SCHEME)
    assert pack.labels == (
        PackLabel(name="a", source="here", note="why", severity="critical", files=1, chunks=2),
    )
    assert told[-1] == Progress(added=9, merged=3)


def test_many_labels_need_wider_numbers(tmp_path: Path) -> None:
    with closing(LabelBuilder(tmp_path, SCHEME)) as builder:
        for number in range(300):
            label = builder.label(PackLabel(name=f"label {number}"))
            builder.add_chunks(label, chunks_of([number, 1000 + number // 2]))
        builder.build(tmp_path / "pack")
    pack = open_pack(tmp_path / "pack", SCHEME)
    assert pack.chunks.sets.itemsize == 2
    assert matched(pack, "chunks", [299, 1000]) == [{"label 299"}, {"label 0", "label 1"}]
    assert verify(tmp_path / "pack") == ()


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()

    def stop(progress: Progress) -> None:
        if progress.merged:
            raise KeyboardInterrupt

    with closing(LabelBuilder(spill, SCHEME, progress=stop)) as builder:
        builder.add_chunks(builder.label(PackLabel(name="a")), chunks_of([1, 2, 3]))
        with pytest.raises(KeyboardInterrupt):
            builder.build(tmp_path / "pack")
    assert [path.name for path in tmp_path.rglob("*")] == ["spill"]


def test_another_scheme_is_refused_with_both_names(tmp_path: Path) -> None:
    built(tmp_path / "pack", [("files", 1, "bank")])
    other = HashScheme(1)
    with pytest.raises(SchemeMismatch) as caught:
        open_pack(tmp_path / "pack", other)
    assert (caught.value.found, caught.value.wanted) == (SCHEME.name, other.name)
    assert open_pack(tmp_path / "pack", None).scheme == SCHEME.name


def test_a_newer_format_is_refused_with_both(tmp_path: Path) -> None:
    path = tmp_path / "pack"
    built(path, [("files", 1, "bank")])
    data = bytearray(path.read_bytes())
    data[8] = 9
    path.write_bytes(data)
    with pytest.raises(NewerPack, match="with format 9, which this version does not know: update"):
        open_pack(path, SCHEME)


def test_an_older_format_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "pack"
    built(path, [("files", 1, "bank")])
    data = bytearray(path.read_bytes())
    data[8] = 1
    path.write_bytes(data)
    with pytest.raises(OlderPack, match=r"of format 1, .* format 2: build it anew .* labels build"):
        open_pack(path, SCHEME)
    assert "build it anew" in verify(path)[0]


def added(path: Path, name: str, version: int, *, needed: bool) -> None:
    """A pack with one section more, as a later version would write it; the label has more, too."""
    data = path.read_bytes()
    directory = read_directory(data, "")
    more = b"graft".ljust(ALIGNMENT, b"\0")
    at = max(section.offset + section.padded for section in directory.sections.values())
    section = Section(at, 5, xxhash.xxh3_128_hexdigest(more), version, needed)
    later = structs.replace(directory, sections=directory.sections | {name: section})
    with path.open("wb") as file:
        file.write(data[:at] + more)
        write_directory(file, later)


@pytest.mark.parametrize(("name", "version"), [("grafts.hashes", 1), ("sets", 7)])
def test_a_section_that_is_not_known_is_refused_where_it_is_needed(
    tmp_path: Path, name: str, version: int
) -> None:
    path = tmp_path / "pack"
    built(path, [("files", 1, "bank")])
    added(path, name, version, needed=True)
    with pytest.raises(NewerPack, match=f"section '{name}'/{version}, which .* update"):
        open_pack(path, SCHEME)


def test_a_section_that_is_not_known_is_skipped_and_its_bytes_are_verified(tmp_path: Path) -> None:
    path = tmp_path / "pack"
    entries: Entries = [("chunks", 3 * value, "bank") for value in range(1, 30)]
    built(path, entries)
    added(path, "grafts.hashes", 1, needed=False)
    pack = open_pack(path, SCHEME)
    assert pack.skipped == ("grafts.hashes",)
    same(pack, twin_of(entries))
    assert verify(path) == ()
    merge([pack], tmp_path / "merged")
    assert open_pack(tmp_path / "merged", SCHEME).skipped == ()
    data = bytearray(path.read_bytes())
    data[data.index(b"graft")] ^= 1
    path.write_bytes(data)
    assert "section grafts.hashes" in verify(path)[0]


@pytest.mark.parametrize("content", [b"", b"rwlabels", b"<html>", b"rwlabels" + bytes(100)])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pack"
    path.write_bytes(content)
    with pytest.raises(BadPack, match="pack"):
        open_pack(path, SCHEME)
    assert len(verify(path)) == 1


def test_any_flipped_byte_is_found(tmp_path: Path) -> None:
    path = tmp_path / "pack"
    built(path, [("chunks", 3 * value, "bank") for value in range(1, 30)])
    sound = path.read_bytes()
    for at in range(len(sound)):
        data = bytearray(sound)
        data[at] ^= 1 << at % 8
        path.write_bytes(data)
        assert verify(path), f"byte {at}"


def test_any_cut_is_found_at_opening(tmp_path: Path) -> None:
    path = tmp_path / "pack"
    built(path, [("chunks", value, "bank") for value in range(1, 30)])
    sound = path.read_bytes()
    for size in range(0, len(sound), 7):
        path.write_bytes(sound[:size])
        with pytest.raises(BadPack):
            open_pack(path, SCHEME)
    path.write_bytes(sound + b"\0")
    with pytest.raises(DamagedPack, match="should have"):
        open_pack(path, SCHEME)


def test_verify_names_the_section(tmp_path: Path) -> None:
    path = tmp_path / "pack"
    built(path, [("chunks", value, "bank") for value in range(1, 30)])
    data = bytearray(path.read_bytes())
    place = data.index((29).to_bytes(8, "little"))
    data[place] ^= 1
    path.write_bytes(data)
    (found,) = verify(path)
    assert found.startswith("section chunks.hashes")


def forged(path: Path, values: list[int]) -> None:
    """A pack with sound checksums and hashes in any order."""
    column = Pairs(words(values), np.zeros(len(values), np.uint32))
    pairs = {"files": iter(()), "chunks": iter([column])}
    write_pack(path, scheme=SCHEME.name, labels=[PackLabel(name="a")], pairs=pairs)


def test_a_forged_order_is_found_though_checksums_match(tmp_path: Path) -> None:
    forged(tmp_path / "pack", [1, 5, 3, 1 << 63, 2, *range(100, 200)])
    assert any("not in order" in found for found in verify(tmp_path / "pack"))
    open_pack(tmp_path / "pack", SCHEME).find("chunks", words(list(range(1000))))


def test_a_forged_set_is_not_taken_for_another(tmp_path: Path) -> None:
    pack = built(tmp_path / "pack", [("chunks", 5, "bank")])
    sets = np.array([200], np.uint8)
    bad = replace(pack, chunks=replace(pack.chunks, sets=sets))
    with pytest.raises(DamagedPack, match="name sets of labels that are not there"):
        bad.find("chunks", words([5]))


@pytest.mark.parametrize("name", ["", "a\nb", "\x1b[31m", "x" * 201])
def test_names_that_would_break_a_terminal_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="printable"):
        PackLabel(name=name)


_CHILD = """
import sys, re
from pathlib import Path
import numpy as np
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.merging import merge
from reusewatch.detector.labels.pack import open_pack
pack = open_pack(Path(sys.argv[1]), HashScheme())
int(pack.chunks.table.hashes.sum())
print(flush=True)
sys.stdin.readline()
inside, sizes = False, {"Rss": 0, "Pss": 0}
for line in Path("/proc/self/smaps").read_text().splitlines():
    if re.match("[0-9a-f]+-", line):
        inside = line.endswith(sys.argv[1])
    elif inside and line.split(":")[0] in sizes:
        sizes[line.split(":")[0]] += int(line.split()[1])
print(sizes["Rss"], sizes["Pss"], flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_two_processes_share_one_copy(tmp_path: Path) -> None:
    path = tmp_path / "pack"
    with closing(LabelBuilder(tmp_path, SCHEME)) as builder:
        label = builder.label(PackLabel(name="a"))
        builder.add_chunks(label, chunks_of(list(range(0, 200_000 << 40, 1 << 40))))
        builder.build(path)
    command = [sys.executable, "-c", _CHILD, str(path)]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for worker in workers:
        assert worker.stdout
        worker.stdout.readline()
    for worker in workers:
        assert worker.stdin
        assert worker.stdout
        worker.stdin.write("\n")
        worker.stdin.flush()
        resident, shared = map(int, worker.stdout.readline().split())
        assert resident >= 1500
        assert shared < 0.6 * resident
    for worker in workers:
        worker.communicate("\n")
