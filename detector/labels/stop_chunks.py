"""Stop chunks: common, benign paragraphs and files that say nothing of copying (Ardi, Heidemann
2014, §3.4.2), as stop words say nothing of a subject.

A list is text with reasons; it becomes hashes under the scheme and by the tokenizer of those who
ask, so that "READ MORE »" and "Read more" are one stop chunk. Stop chunks are taken out before
badness is computed, and never become labels. Never decides what is one: `proposals` ranks what an
operator should look at, as the paper's authors looked at the 500 most frequent chunks (§5.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.building import NO_FILE
from reusewatch.detector.labels.hash_table import HashTable
from reusewatch.detector.labels.places import ABSENT
from reusewatch.detector.sketching.chunks import text_of
from reusewatch.detector.sketching.grams import GRAM_K
from reusewatch.detector.sketching.raw_chunks import raw_chunks
from reusewatch.detector.sketching.shingles import phrases
from reusewatch.detector.sketching.tokens import TokenBatch

_NO_GRAMS = np.empty(0, np.uint64)
Tokenize = Callable[[Sequence[str]], TokenBatch]
"""The tokenizer that scans pages, for plain texts: one page for each."""


class _Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reason: str
    texts: tuple[str, ...]


class _Markup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reason: str
    markup: tuple[str, ...]


class _Files(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reason: str
    texts: tuple[str, ...]
    any_newline: bool = False

    def contents(self) -> Iterator[bytes]:
        """The files' bytes."""
        for text in self.texts:
            yield text.encode()
            if self.any_newline:
                yield text.removesuffix("\n").encode()
                yield text.replace("\n", "\r\n").encode()
                yield text.removesuffix("\n").replace("\n", "\r\n").encode()


class StopList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A list of stop chunks as people write it: see `data/stop_chunks.toml`."""

    chunks: tuple[_Texts, ...] = ()
    raw: tuple[_Markup, ...] = ()
    files: tuple[_Files, ...] = ()

    @classmethod
    def parse(cls, toml: str) -> StopList:
        """A list from its TOML. ValueError says what is wrong with it.

        >>> StopList.parse('[[chunks]]\\nreason = "ours"\\ntexts = ["Ahoy"]').chunks[0].texts
        ('Ahoy',)
        """
        try:
            return msgspec.toml.decode(toml, type=cls)
        except msgspec.DecodeError as error:
            raise ValueError(f"a list of stop chunks cannot be read: {error}") from error

    def __add__(self, other: StopList) -> StopList:
        return StopList(self.chunks + other.chunks, self.raw + other.raw, self.files + other.files)


def shipped() -> StopList:
    """The project's own list."""
    found = files("reusewatch.detector").joinpath("data/stop_chunks.toml")
    return StopList.parse(found.read_text(encoding="utf-8"))


class StopChunks:
    """Hashes of stop chunks and stop files under one scheme, and why each is one; and the grams of
    stop chunks, which say as little."""

    def __init__(
        self, chunks: dict[int, str], files: dict[int, str], grams: NDArray[np.uint64] = _NO_GRAMS
    ) -> None:
        self._reasons = {"chunks": chunks, "files": files}
        self._chunks = _table(chunks)
        self._files = _table(files)
        self._grams = HashTable.of(grams)

    @classmethod
    def of(cls, listed: StopList, scheme: HashScheme, tokenize: Tokenize) -> StopChunks:
        """The hashes of a list, of text chunks and of raw ones: no hash of one kind is the other's.

        A text of several paragraphs is several stop chunks; one without words is none.
        """
        texts, grams = _of_texts(listed.chunks, scheme, tokenize)
        chunks = {
            **texts,
            **{
                value: group.reason
                for group in listed.raw
                for markup in group.markup
                for value in raw_chunks(markup.encode(), scheme).hashes.values.tolist()
            },
        }
        contents = {
            scheme.of_bytes(content): group.reason
            for group in listed.files
            for content in group.contents()
        }
        return cls(chunks, {NO_FILE: "the empty file", **contents}, grams)

    def __len__(self) -> int:
        return len(self._chunks) + len(self._files)

    def has_chunks(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of these are stop chunks."""
        return _is_in(self._chunks, hashes)

    def has_files(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of these are stop files."""
        return _is_in(self._files, hashes)

    def has_grams(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of these stand within a stop chunk."""
        return _is_in(self._grams, hashes)

    def reason(self, kind: str, value: int) -> str | None:
        """Why a hash is one of a stop chunk, or of a stop file."""
        return self._reasons[kind].get(value)


def _is_in(table: HashTable, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = table.find(hashes) != ABSENT
    return found


def _table(reasons: dict[int, str]) -> HashTable:
    return HashTable.of(np.array(sorted(reasons), np.uint64))


def _of_texts(
    groups: Sequence[_Texts], scheme: HashScheme, tokenize: Tokenize
) -> tuple[dict[int, str], NDArray[np.uint64]]:
    """The chunks of texts with their reasons, and their grams."""
    texts = [text for group in groups for text in group.texts]
    reasons = [group.reason for group in groups for _ in group.texts]
    text = text_of(tokenize(texts), scheme)
    grams = phrases(text.tokens, GRAM_K, scheme, circular=False)
    found = {
        value: reason
        for reason, mine in zip(reasons, text.chunks.hashes, strict=True)
        for value in mine.tolist()
    }
    rising = np.sort(grams.values)
    # As `np.unique`, which loads numpy's masked arrays: each start is here.
    is_new = np.ones(len(rising), np.bool_)
    is_new[1:] = rising[1:] != rising[:-1]
    return found, rising[is_new]


@dataclass(frozen=True, slots=True)
class Counted:
    """How often a chunk or a file was found: on so many pages, of so many sites."""

    hash: int
    pages: int
    sites: int
    length: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that may be a stop chunk, for people to judge; `score` ranks it."""

    counted: Counted
    score: float


def proposals(
    counts: Iterable[Counted],
    known: StopChunks,
    *,
    min_sites: int = 100,
    max_length: int = 200,
    limit: int = 500,
) -> list[Proposal]:
    """What is short and on many sites, best first: spread × shortness.

    One site's template is on many pages of one site; what all the web says is on many sites. What
    people take the trouble to copy is long. `known` ones are not proposed again.
    """
    found = [
        Proposal(counted, counted.sites * (1 - counted.length / (max_length + 1)))
        for counted in counts
        if counted.sites >= min_sites and counted.length <= max_length
    ]
    fresh = ~known.has_chunks(_hashes(found)) & ~known.has_files(_hashes(found))
    kept = [proposal for proposal, new in zip(found, fresh.tolist(), strict=True) if new]
    return sorted(kept, key=lambda proposal: (-proposal.score, proposal.counted.hash))[:limit]


def _hashes(found: list[Proposal]) -> NDArray[Any]:
    return np.array([proposal.counted.hash for proposal in found], np.uint64)
