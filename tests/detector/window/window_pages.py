"""Pages for the window's tests: columns of small worlds where much is alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from reusewatch.detector.window.adding import HOUR_US, WEB_BEGINS_US
from reusewatch.detector.window.index import Judgements, NearDuplicateIndex
from reusewatch.detector.window.near_rules import Policy
from reusewatch.detector.window.sightings import Sightings
from reusewatch.detector.window.store import SAMPLE

T0 = WEB_BEGINS_US + 1_000 * HOUR_US
NOW = T0 + 1_000 * HOUR_US


@dataclass(frozen=True)
class Text:
    """The sketches of a token sequence."""

    text: int
    super8: tuple[int, ...] = (0,) * 6
    super5: tuple[int, ...] = (0,) * 6
    simhash: tuple[int, ...] = (0,) * 6
    sample: tuple[int, ...] = (0,) * SAMPLE


@dataclass(frozen=True)
class Page:
    """A page as it was seen once."""

    page: int
    site: int
    at: int
    text: Text
    file: int
    path: str = ""
    owned: bool = False

    @property
    def url(self) -> str:
        return f"http://s{self.site}.test/{self.page}{self.path}"


def columns(pages: list[Page]) -> Sightings:
    """A batch of these pages."""
    urls = [page.url.encode() for page in pages]
    count = len(pages)

    def column(name: str, kind: type, width: int) -> np.ndarray:
        return np.array([getattr(p.text, name) for p in pages], kind).reshape(count, width)

    return Sightings(
        page=np.array([p.page for p in pages], np.uint64),
        site=np.array([p.site for p in pages], np.uint64),
        at=np.array([T0 + p.at for p in pages], np.int64),
        text=np.array([p.text.text for p in pages], np.uint64),
        file=np.array([p.file for p in pages], np.uint64),
        origin=np.array([p.page * 10 for p in pages], np.uint64),
        start=np.zeros(count, np.uint32),
        end=np.full(count, 9, np.uint32),
        super8=column("super8", np.uint64, 6),
        super5=column("super5", np.uint64, 6),
        simhash=column("simhash", np.uint64, 6),
        sample=column("sample", np.uint8, SAMPLE),
        urls=np.frombuffer(b"".join(urls), np.uint8),
        url_offsets=np.cumsum([0, *map(len, urls)]),
        owned=np.array([p.owned for p in pages], np.bool_),
    )


def base_text(seed: int) -> Text:
    """Sketches of an arbitrary token sequence."""
    draw = np.random.default_rng(seed)

    def words(count: int) -> tuple[int, ...]:
        return tuple(map(int, draw.integers(1, 1 << 63, count)))

    sample = tuple(map(int, draw.integers(0, 256, SAMPLE)))
    return Text(int(draw.integers(1, 1 << 63)), words(6), words(6), words(6), sample)


def varied(base: Text, seed: int, agree8: int, agree5: int, flips: int, shared: int) -> Text:
    """Sketches that agree with these in so many places, at random."""
    draw, other = np.random.default_rng(seed), base_text(seed ^ 0xABCDEF)

    def mixed(one: tuple[int, ...], two: tuple[int, ...], agree: int) -> tuple[int, ...]:
        keep = set(draw.permutation(len(one))[:agree].tolist())
        return tuple(one[i] if i in keep else two[i] for i in range(len(one)))

    simhash = list(base.simhash)
    for bit in draw.permutation(384)[:flips].tolist():
        simhash[bit // 64] ^= 1 << bit % 64
    return Text(
        other.text, mixed(base.super8, other.super8, agree8),
        mixed(base.super5, other.super5, agree5), tuple(simhash),
        mixed(base.sample, other.sample, shared),
    )  # fmt: skip


# A few families of texts that are near to their base by more or less, and one without words.
_BASES = [base_text(seed) for seed in range(3)]
_FIGURES = [
    (6, 6, 0, 16), (2, 2, 29, 9), (2, 2, 30, 9), (1, 1, 11, 3), (0, 3, 11, 3), (0, 2, 11, 2),
    (0, 0, 12, 3), (0, 0, 3, 2), (5, 6, 40, 12), (1, 1, 5, 0), (3, 0, 20, 8),
]  # fmt: skip
TEXTS = [Text(0), *_BASES] + [
    varied(base, 100 * i + j, *figures)
    for i, base in enumerate(_BASES)
    for j, figures in enumerate(_FIGURES)
]

policies = st.sampled_from(["henzinger", "b", "c", "combined", "either"]).map(Policy)


def _page(number: int, at: int, text: Text) -> Page:
    """Pages 1–12 stand on sites 0–2: a page belongs to one site for good."""
    return Page(number + 1, number % 3, at, text, (text.text or number) % 1000)


pages = st.lists(
    st.builds(_page, st.integers(0, 11), st.integers(0, 50), st.sampled_from(TEXTS)), max_size=30
)


def judged(index: NearDuplicateIndex, page: Page) -> Judgements:
    """Add one page."""
    return index.add(columns([page]), now=NOW)
