"""Where labeled content stood: the same whatever way a pack was made, and nothing without it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.labels.building import LabelBuilder
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.labeled_page import LabeledPage
from reusewatch.detector.labels.merging import changed, merge
from reusewatch.detector.labels.pack import KINDS, Kind, LabelPack, open_pack, verify
from reusewatch.detector.labels.stood import PLACE
from tests.detector.labels.strategies import NAMES, SCHEME, chunks_of, words

# PackLabel, hashes: a page each. Of few hashes, so that many pages have the same.
Pages = list[tuple[str, list[int]]]
pages = st.lists(
    st.tuples(st.sampled_from(NAMES), st.lists(st.integers(1, 30), max_size=8)), max_size=12
)


def place_of(value: int) -> tuple[int, int]:
    return value * 10, 7


def build(path: Path, given: Pages, *, first: int = 0, places: bool = True) -> LabelPack:
    """A pack of pages called by their number, each hash of which stands at ten times its value."""
    with (
        TemporaryDirectory(dir=path.parent) as spill,
        closing(LabelBuilder(Path(spill), SCHEME, run_pairs=5, places=places)) as builder,
    ):
        numbers = {name: builder.label(PackLabel(name=name)) for name in NAMES}
        for at, (name, values) in enumerate(given, first):
            page = builder.page(numbers[name], LabeledPage(f"http://a.example/{at}", "x", at, at))
            stood = np.array([(page, *place_of(value)) for value in values], PLACE)
            builder.add_chunks(numbers[name], chunks_of(values), stood)
            builder.add_files(numbers[name], words(values), stood)
            builder.add_grams(numbers[name], words(values), stood, share=1.0)
        builder.build(path)
        builder.close()
        assert not list(Path(spill).iterdir())
    assert verify(path) == ()
    return open_pack(path, SCHEME)


def twin(given: Pages, kept: tuple[str, ...] = NAMES) -> dict[int, set[int]]:
    """Of each hash the pages that it may be said to stand on."""
    found: dict[int, set[int]] = {}
    for at, (name, values) in enumerate(given):
        for value in values if name in kept else ():
            found.setdefault(value, set()).add(at)
    return found


def check(
    pack: LabelPack, wanted: dict[int, set[int]], given: Pages, lost: frozenset[int] = frozenset()
) -> None:
    """Of what is `lost` nothing need be known: it stood on pages that are not in the pack."""
    for kind in KINDS:
        for value, one in zip(range(1, 31), pack.stood_at(kind, words(range(1, 31))), strict=True):
            if one is None:
                assert value not in wanted or value in lost
                continue
            assert value in wanted
            start, length = place_of(value)
            assert (one.start, one.end) == (start, start + length)
            assert one.page.file_hash in wanted[value]
            assert one.page.url == f"http://a.example/{one.page.file_hash}"
            assert one.label == given[one.page.file_hash][0]


@given(pages)
def test_every_hash_stands_on_a_page_that_has_it_under_its_label(given: Pages) -> None:
    with TemporaryDirectory() as folder:
        check(build(Path(folder) / "pack", given), twin(given), given)


@settings(max_examples=30)
@given(pages, pages)
def test_merged_packs_say_where_and_what_is_dropped_takes_its_pages_with_it(
    one: Pages, other: Pages
) -> None:
    with TemporaryDirectory() as folder:
        packs = [build(Path(folder) / "a", one), build(Path(folder) / "b", other, first=len(one))]
        both = [*one, *other]
        merge(packs, Path(folder) / "c")
        check(open_pack(Path(folder) / "c", SCHEME), twin(both), both)
        merge(packs, Path(folder) / "d", drop=frozenset({"bank"}))
        kept = open_pack(Path(folder) / "d", SCHEME)
        lost = frozenset(twin(both, ("bank",)))
        check(kept, twin(both, ("wikipedia", "leak")), both, lost)
        assert verify(Path(folder) / "d") == ()
        assert len(kept.pages) == sum(name != "bank" for name, _ in both)


@settings(max_examples=30)
@given(pages, pages)
def test_a_difference_says_where_what_it_brings_stood(one: Pages, other: Pages) -> None:
    with TemporaryDirectory() as folder:
        old, new = build(Path(folder) / "a", one), build(Path(folder) / "b", other)
        found = changed(old, new, 10_000)
        assert found is not None
        for kind, value, _, stood in found:
            assert [stood] == new.stood_at(kind, words([value]))


def test_a_pack_may_be_put_under_another_name_with_its_places(tmp_path: Path) -> None:
    given: Pages = [("bank", [1, 2]), ("leak", [3])]
    pack = build(tmp_path / "a", given)
    with closing(LabelBuilder(tmp_path, SCHEME, places=True)) as builder:
        builder.add_pack(builder.label(PackLabel(name="all")), pack)
        builder.build(tmp_path / "b")
    found = open_pack(tmp_path / "b", SCHEME).stood_at("chunks", words([1, 3]))
    assert [(one.page.url, one.label) for one in found if one] == [
        ("http://a.example/0", "all"),
        ("http://a.example/1", "all"),
    ]


def test_without_places_a_pack_names_no_page(tmp_path: Path) -> None:
    pack = build(tmp_path / "a", [("bank", [1, 2])], places=False)
    kind: Kind
    for kind in KINDS:
        assert pack.stood_at(kind, words([1])) == [None]
    assert b"a.example" not in (tmp_path / "a").read_bytes()
