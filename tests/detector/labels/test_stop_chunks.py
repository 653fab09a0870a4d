"""The list that is shipped, lists of users, and what is proposed."""

from __future__ import annotations

import numpy as np
import pytest

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.stop_chunks import (
    Counted,
    StopChunks,
    StopList,
    proposals,
    shipped,
)
from reusewatch.detector.sketching.chunks import text_of
from reusewatch.detector.sketching.raw_chunks import raw_chunks
from tests.detector.scanning.plain_words import SCHEME, tokenize


@pytest.fixture(scope="module")
def stops() -> StopChunks:
    return StopChunks.of(shipped(), SCHEME, tokenize)


def is_stop(stops: StopChunks, text: str) -> list[bool]:
    """Whether each line is a stop chunk."""
    chunks = text_of(tokenize([text]), SCHEME).chunks
    return stops.has_chunks(chunks.hashes.values).tolist()


@pytest.mark.parametrize("text", ["READ MORE »", "[read more]", "Alle Rechte vorbehalten", "首页"])
def test_case_and_punctuation_do_not_matter(stops: StopChunks, text: str) -> None:
    assert is_stop(stops, text) == [True]


def test_a_paragraph_that_holds_one_is_none(stops: StopChunks) -> None:
    assert is_stop(stops, "Home\nHome is where the heart is.\nNext") == [True, False, True]


@pytest.mark.parametrize("page", [b"<p></p>", b"<P class=x> </p>", b"<p>&nbsp;</p><p><br></p>"])
def test_empty_paragraphs_in_raw_mode(stops: StopChunks, page: bytes) -> None:
    assert stops.has_chunks(raw_chunks(page, SCHEME).hashes.values).all()


@pytest.mark.parametrize(
    "data", [b"", b"User-agent: *\r\nDisallow: /", b"User-agent: *\nDisallow: /\n", b"{}"]
)
def test_stop_files(stops: StopChunks, data: bytes) -> None:
    value = SCHEME.of_bytes(data)
    assert stops.has_files(np.array([value], np.uint64)).all()
    assert stops.reason("files", value)


def test_a_file_without_bytes_has_no_hash_and_is_one(stops: StopChunks) -> None:
    assert stops.has_files(np.zeros(1, np.uint64)).all()


def test_every_entry_says_why_and_has_words(stops: StopChunks) -> None:
    listed = shipped()
    assert all(group.reason for group in (*listed.chunks, *listed.raw, *listed.files))
    assert len(stops) > 226  # the paper's list
    for group in listed.chunks:
        without = [t for t in group.texts if not is_stop(stops, t) and t not in ("...", "©")]
        assert not without


def test_another_scheme_gives_other_hashes(stops: StopChunks) -> None:
    other = StopChunks.of(shipped(), HashScheme(5), tokenize)
    chunk = raw_chunks(b"<p></p>", SCHEME).hashes.values
    assert stops.has_chunks(chunk).all()
    assert not other.has_chunks(chunk).any()


def test_a_list_of_ones_own_is_added() -> None:
    own = StopList.parse('[[chunks]]\nreason = "our footer"\ntexts = ["Ahoy, sailor"]')
    stops = StopChunks.of(shipped() + own, SCHEME, tokenize)
    assert is_stop(stops, "ahoy sailor\nHome\nAhoy") == [True, True, False]


@pytest.mark.parametrize(
    "toml", ["[[chunks]]", "[[chunks]]\nreason = 1\ntexts = []", "[[pages]]\nreason = 'a'", "["]
)
def test_a_list_with_a_mistake_is_refused(toml: str) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        StopList.parse(toml)


def test_proposals_are_short_and_widespread(stops: StopChunks) -> None:
    known = raw_chunks(b"<p></p>", SCHEME).hashes.values.tolist()[0]
    counts = [
        Counted(1, pages=9000, sites=3, length=10),  # one template
        Counted(2, pages=500, sites=400, length=20),
        Counted(3, pages=5000, sites=400, length=900),  # copied text
        Counted(4, pages=400, sites=300, length=150),
        Counted(known, pages=10**6, sites=10**5, length=0),
    ]
    found = proposals(counts, stops, min_sites=100, max_length=200)
    assert [proposal.counted.hash for proposal in found] == [2, 4]
    assert [p.counted.hash for p in proposals(counts, stops, limit=1)] == [2]
