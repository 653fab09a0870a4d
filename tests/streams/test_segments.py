"""A partition as files: what was synced is there, torn ends are cut, damage is loud."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reusewatch.streams.bus import BusBroken, Parted, PastRetention
from reusewatch.streams.segments import Entry, LogReader, LogWriter, bases

SMALL = 400


def entry(number: int, size: int = 40) -> Entry:
    return Entry(f"k{number}", bytes([number % 256]) * size, (("pages", b"%d" % number),), number)


def write(directory: Path, count: int, *, start: int = 0, segment: int = SMALL) -> None:
    writer = LogWriter(directory, segment)
    for number in range(start, start + count):
        assert writer.append(entry(number)) == number
    writer.close()


def everything(directory: Path, offset: int | None = None) -> list[tuple[int, Entry]]:
    reader = LogReader(directory, offset)
    try:
        return reader.read(10_000)
    finally:
        reader.close()


def last_segment(directory: Path) -> Path:
    return sorted(directory.glob("*.log"))[-1]


@given(
    st.lists(st.binary(max_size=200) | st.none(), max_size=30),
    st.integers(1, 500),
    st.integers(0, 40),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_appended_is_read_from_any_offset(
    tmp_path_factory: pytest.TempPathFactory, values: list[bytes | None], segment: int, offset: int
) -> None:
    directory = tmp_path_factory.mktemp("log")
    writer = LogWriter(directory, segment)
    sent = [Entry(f"ключ{n}", value, (), n) for n, value in enumerate(values)]
    for one in sent:
        writer.append(one)
    writer.close()
    assert everything(directory) == list(enumerate(sent))
    assert everything(directory, offset) == list(enumerate(sent))[offset:]
    writer = LogWriter(directory, segment)
    writer.close()
    assert writer.end == len(sent)


def test_a_torn_end_of_any_length_is_cut_and_written_over(tmp_path: Path) -> None:
    write(tmp_path, 3, segment=10**6)
    path = last_segment(tmp_path)
    sound = path.read_bytes()
    frame = len(sound) // 3
    for torn in range(1, frame):
        path.write_bytes(sound[:-torn])
        assert len(everything(tmp_path)) == 2
        write(tmp_path, 1, start=2, segment=10**6)
        assert path.read_bytes() == sound


@pytest.mark.parametrize("zeros", [1, 8, 4096])
def test_zeros_that_a_power_cut_left_are_no_frames(tmp_path: Path, zeros: int) -> None:
    write(tmp_path, 3, segment=10**6)
    path = last_segment(tmp_path)
    sound = path.read_bytes()
    path.write_bytes(sound + bytes(zeros))
    assert len(everything(tmp_path)) == 3
    write(tmp_path, 1, start=3, segment=10**6)
    assert [offset for offset, _ in everything(tmp_path)] == [0, 1, 2, 3]


def test_one_changed_byte_before_the_last_frame_is_loud(tmp_path: Path) -> None:
    write(tmp_path, 4, segment=10**6)
    path = last_segment(tmp_path)
    sound = path.read_bytes()
    for position in range(len(sound) * 3 // 4):
        damaged = bytearray(sound)
        damaged[position] ^= 0x80
        path.write_bytes(damaged)
        with pytest.raises(BusBroken, match=r"damaged at offset \d"):
            LogWriter(tmp_path)
        assert path.read_bytes() == damaged  # nothing was cut off
        entry = position // (len(sound) // 4)
        with pytest.raises(BusBroken, match=f"damaged at offset {entry} "):
            everything(tmp_path)


def test_damage_in_an_earlier_segment_is_loud_for_who_reads(tmp_path: Path) -> None:
    write(tmp_path, 30)
    first = sorted(tmp_path.glob("*.log"))[1]
    data = bytearray(first.read_bytes())
    data[20] ^= 1
    first.write_bytes(data)
    with pytest.raises(BusBroken, match=rf"{first}.*the log goes on at"):
        everything(tmp_path)


def test_an_offset_that_retention_took_is_loud(tmp_path: Path) -> None:
    write(tmp_path, 30)
    sorted(tmp_path.glob("*.log"))[0].unlink()
    begin = bases(tmp_path)[0]
    with pytest.raises(PastRetention, match=f"offset {begin - 1} is gone.*begins at {begin}"):
        LogReader(tmp_path, begin - 1)
    assert everything(tmp_path)[0][0] == begin


@pytest.mark.parametrize("wanted", [0, 1, 100, 300, 435, 10_000])
def test_retention_keeps_what_is_wanted_and_no_segment_more(tmp_path: Path, wanted: int) -> None:
    write(tmp_path, 30)
    before = bases(tmp_path)
    weights = [sum(range(a, b)) for a, b in zip(before, [*before[1:], 30], strict=True)]
    writer = LogWriter(tmp_path, SMALL)
    for _ in range(2):  # the second time by the weights that were noted
        writer.retain(wanted, lambda one: int(dict(one.headers)["pages"]))
    writer.close()
    kept = weights[len(before) - len(bases(tmp_path)) : -1]
    assert sum(kept) >= min(wanted, sum(weights[:-1]))
    assert not kept or sum(kept[1:]) < wanted
    assert everything(tmp_path)[-1][0] == 29


def test_a_full_disk_leaves_whole_frames(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path)
    writer.append(entry(0))
    file = writer._file

    class Full:
        def __getattr__(self, name: str) -> object:
            return getattr(file, name)

        def write(self, data: memoryview) -> int:
            if len(data) < 50:
                raise OSError(28, "No space left on device")
            return file.write(data[:20])

    writer._file = Full()  # type: ignore[assignment]
    with pytest.raises(OSError, match="No space left"):
        writer.append(entry(1))
    writer._file = file
    assert writer.append(entry(2)) == 1
    writer.close()
    assert [one.key for _, one in everything(tmp_path)] == ["k0", "k2"]


def test_a_log_that_was_removed_says_so_to_who_syncs_and_to_who_cuts_it(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path)
    writer.append(entry(0))
    last_segment(tmp_path).unlink()
    with pytest.raises(Parted, match="was removed"):
        writer.sync()
    with pytest.raises(Parted, match="was removed"):
        writer.cut(0)
    with pytest.raises(Parted, match="was removed"):
        writer.close()


def test_a_reader_beside_a_writer_sees_every_entry_once(tmp_path: Path) -> None:
    count = 3000
    random = Random(3)
    sizes = [random.randrange(1, 300) for _ in range(count)]

    def append() -> None:
        writer = LogWriter(tmp_path, 2000)
        for number in range(count):
            writer.append(entry(number, sizes[number]))
        writer.close()

    thread = threading.Thread(target=append)
    thread.start()
    reader = LogReader(tmp_path, 0)
    seen: list[int] = []
    while len(seen) < count and (thread.is_alive() or len(seen) < count):
        seen += [one.timestamp_ms for _, one in reader.read(7)]
    thread.join()
    reader.close()
    assert seen == list(range(count))
