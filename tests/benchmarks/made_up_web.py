"""A web of any size, made up: sites with templates, pages of words as frequent as in a language,
and duplication as crawls meet it. The same for the same seed, and made as it is read.

Of fifty pages three are near-copies of an earlier page of another site, one has its text as it is,
and one has a passage of it. A page is made of its number alone: what is copied is made again, and
nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.corpus import Response

_SEED = 2026
_WORDS = 60_000
_PER_PAGE = 420
_PARAGRAPH = 60
# Pages of a site, and links of its template.
_SITE, _LINKS = 400, 36
_EVERY = 50
_NEAR, _SAME, _QUOTES = (7, 23, 41), 13, 29
_CHANGED = 3
_SYLLABLES = ("ma", "lo", "tre", "sik", "ban", "dor", "fen", "wi", "hal", "sto", "pe", "gar",
              "rin", "tha", "co", "ley", "ost", "ver", "nan", "qui")  # fmt: skip


@dataclass(frozen=True)
class Web:
    """Its pages by number."""

    seed: int = _SEED

    @cached_property
    def _words(self) -> NDArray[Any]:
        made = []
        for number in range(_WORDS):
            left, word = number, ""
            while left or not word:
                left, at = divmod(left, len(_SYLLABLES))
                word += _SYLLABLES[at]
            made.append(word)
        return np.array(made, object)

    @cached_property
    def _frequencies(self) -> NDArray[np.float64]:
        weights = 1 / (np.arange(_WORDS) + 2.7)  # Zipf's law, as Mandelbrot has it
        return np.cumsum(weights / weights.sum())

    def _drawn(self, number: int) -> NDArray[np.int64]:
        rng = np.random.default_rng((self.seed, number))
        count = int(_PER_PAGE * (0.5 + rng.random()))
        return np.minimum(np.searchsorted(self._frequencies, rng.random(count)), _WORDS - 1)

    def words_of(self, number: int) -> NDArray[np.int64]:
        """The words of a page, its own or another's."""
        own, kind = self._drawn(number), number % _EVERY
        if number < _SITE or kind not in (*_NEAR, _SAME, _QUOTES):
            return own
        # Half the web ago, and at least on another site: an original that is no copy itself.
        source = number // 2 - number // 2 % _EVERY
        theirs = self._drawn(source)
        if kind == _SAME:
            return theirs
        if kind == _QUOTES:
            return np.concatenate((own[: len(own) // 2], theirs[: len(theirs) // 3]))
        theirs[len(theirs) // 2 : len(theirs) // 2 + _CHANGED] = own[:_CHANGED]
        return theirs

    def page(self, number: int) -> Response:
        """A page as it is served."""
        site = number // _SITE
        words = self._words[self.words_of(number)].tolist()
        text = "".join(
            f'<p class="text">{" ".join(words[at : at + _PARAGRAPH])}.</p>\n'
            for at in range(0, len(words), _PARAGRAPH)
        )
        title = " ".join(words[:5])
        html = (
            f"<!DOCTYPE html><html><head><title>{title}</title>{_STYLE}</head><body><nav><ul>\n"
            f"{self._links(site)}</ul></nav><main><h1>{title}</h1>\n{text}</main></body></html>"
        )
        url = f"https://www.site-{site}.example/part-{number % 7}/page-{number}.html"
        return Response(url, html.encode(), number >= _SITE and number % _EVERY in _NEAR)

    def _links(self, site: int) -> str:
        # Of sites beyond the two thousandth the words come round.
        names = (
            (self._words[(site * 31 + n) % _WORDS], self._words[(site * 17 + n) % _WORDS])
            for n in range(_LINKS)
        )
        return "".join(
            f'<li class="nav-item level-{n % 3}"><a href="/part-{n % 7}/page-{site * _SITE + n}'
            f'.html" title="{title}">{text}</a></li>\n'
            for n, (title, text) in enumerate(names)
        )

    def pages(self, count: int) -> Iterator[Response]:
        """The first so many."""
        return map(self.page, range(count))


_STYLE = (
    f"<style>{' '.join(f'.c{n} {{ margin: {n}px; padding: {n}px }}' for n in range(60))}</style>"
)
