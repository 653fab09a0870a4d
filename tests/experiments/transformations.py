"""Which sketches still find a page that was copied and transformed, thirty ways.

The page is one of a real manual, its words as prose. Per transformation: whether the token sequence
is the same (`identity`), how many of six supershingles and of 384 bits agree (B and C), which share
of the page's 5-grams the copy has, and how much of the copy counts as disguised or hidden.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.scanning.confusables import CONFUSABLES
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.scanning.scan import scan
from reusewatch.detector.sketching.fingerprint import Document, Fingerprints, fingerprints
from tests.experiments.report import Experiment, Row
from tests.real_pages import real_pages

_SCHEME = HashScheme()
_WORDS, _PARAGRAPH = 1500, 60
_CYRILLIC = {
    like: chr(int(code, 16))
    for code, like in (item.split(":") for item in CONFUSABLES.split())
    if 0x430 <= int(code, 16) < 0x460
}
_OWN = "our own words of welcome to all readers of this place " * 12


def _words() -> list[str]:
    page = max((page for _, page in real_pages()), key=len)
    found = Readable(scan(page, key=1)).words()
    return [word for word in found if word.isascii()][:_WORDS]


def _page(words: list[str], tag: str = "p") -> str:
    parts = (words[at : at + _PARAGRAPH] for at in range(0, len(words), _PARAGRAPH))
    return "".join(f"<{tag}>{' '.join(part)}</{tag}>" for part in parts)


def _each(change: Callable[[str], str], share: float = 1.0) -> Callable[[list[str]], str]:
    def made(words: list[str]) -> str:
        rng = random.Random(1)
        return _page([change(word) if rng.random() < share else word for word in words])

    return made


def _shifted(base: int) -> Callable[[str], str]:
    return lambda word: "".join(chr(base + ord(c) - 97) if c.isalpha() else c for c in word)


def _alike(word: str) -> str:
    return "".join(_CYRILLIC.get(c, c) for c in word)


def _split(inner: str) -> Callable[[str], str]:
    return lambda word: word[:1] + inner + word[1:]


def _reordered(words: list[str]) -> str:
    parts = re.findall("<p>.*?</p>", _page(words))
    random.Random(1).shuffle(parts)
    return "".join(parts)


TRANSFORMATIONS: dict[str, Callable[[list[str]], str]] = {
    "fullwidth letters": _each(_shifted(0xFF41)),
    "mathematical letters": _each(_shifted(0x1D41A)),
    "circled letters": _each(_shifted(0x24D0)),
    "one mark on each letter": _each(lambda word: "".join(c + "\u0336" for c in word)),
    "stacked marks": _each(lambda word: "".join(c + "\u0336\u0301\u0359" * 5 for c in word)),
    "accents": _each(lambda word: word.replace("e", "é").replace("a", "ä")),
    "homoglyphs in 3 % of words": _each(_alike, 0.03),
    "homoglyphs in 30 % of words": _each(_alike, 0.3),
    "homoglyphs in every word": _each(_alike),
    "empty inline div in words": _each(_split('<div style="display:inline"></div>')),
    "hidden inline words in words": _each(_split('<i style="display:none">no</i>'), 0.3),
    "hidden words between words": _each(lambda word: word + " <b hidden>no</b>", 0.3),
    "a hidden block between": lambda words: _page(words) + f"<div hidden>{_OWN}</div>",
    "zero-width spaces": _each(_split("\u200b")),
    "soft hyphens": _each(_split("&shy;")),
    "entities": _each(lambda word: "".join(f"&#{ord(c)};" for c in word)),
    "spans": _each(lambda word: f"<span>{word[:1]}</span>{word[1:]}"),
    "capitals": _each(str.upper),
    "comments in words": _each(_split("<!-- no -->")),
    "words in attributes": _each(lambda word: f'<b title="no">{word}</b>'),
    "other quotes and dashes": _each(lambda word: f"«{word}» —", 0.1),
    "as lists": lambda words: _page(words, "li"),
    "as tables": lambda words: f"<table><tr>{_page(words, 'td')}</table>",
    "as pre": lambda words: _page(words, "pre"),
    "paragraphs reordered": _reordered,
    "one word in ten replaced": _each(lambda word: word + "x", 0.1),
    "numbers changed": _each(lambda word: re.sub("[0-9]", "7", word)),
    "own text before": lambda words: f"<p>{_OWN}</p>" + _page(words),
    "own text after": lambda words: _page(words) + f"<p>{_OWN}</p>",
    "a sentence cut": lambda words: _page(words[:400] + words[415:]),
    "half of it": lambda words: _page(words[: len(words) // 2]),
}


def run(output: Path, quick: bool) -> list[Row]:
    """A row a transformation."""
    words = _words()[: 300 if quick else _WORDS]
    bodies = [_page(words), *(change(words) for change in TRANSFORMATIONS.values())]
    made = fingerprints([Document(body.encode()) for body in bodies], _SCHEME)
    return [_row(name, made, at) for at, name in enumerate(TRANSFORMATIONS, 1)]


def _row(name: str, made: Fingerprints, at: int) -> Row:
    of = made.sketches
    bits = np.unpackbits((of.simhash[0] ^ of.simhash[at]).view(np.uint8)).sum()
    offsets, values = of.grams.hashes.offsets, of.grams.hashes.values
    whole, own = (set(values[offsets[i] : offsets[i + 1]].tolist()) for i in (0, at))
    chunks = of.chunks.hashes
    begins = chunks.offsets
    known, own_chunks = (chunks.values[begins[i] : begins[i + 1]] for i in (0, at))
    contains = float(np.isin(own_chunks, known).mean())
    found = {
        "duplicate": bool(of.identity[0] == of.identity[at]),
        "near-duplicate": 384 - int(bits) >= 372
        or int((of.supershingles8[0] == of.supershingles8[at]).sum()) >= 2,
        "partial-copy": len(whole & own) >= 0.3 * len(whole),
        "labeled-content": contains >= 0.144 or len(whole & own) >= 0.05 * len(own),
    }
    return {
        "transformation": name,
        "identity": bool(of.identity[0] == of.identity[at]),
        "b": int((of.supershingles8[0] == of.supershingles8[at]).sum()),
        "c": 384 - int(bits),
        "grams": round(len(whole & own) / len(whole), 3),
        "obfuscated": round(made.facts[at].obfuscated, 3),
        "found as": ", ".join(kind for kind, is_found in found.items() if is_found) or "nothing",
    }


EXPERIMENT = Experiment("transformations", run)
