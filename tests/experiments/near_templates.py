"""Pages as the paper found them to be wrong, and right, most often, made of real pages' words.

Two databases made a quarter of what B returned, and were always wrong: records of 200–400 words
that differ in 10–30 consecutive ones, and of 1000–2000 that differ in about 20 (§3.2). A directory
did so to C: 1–5 words apart from each other among a thousand (§3.3). Parked domains, right, are
most of what differs in the URL only (§3.1).

A record is of names and numbers, and its frame of labels, hardly any word twice. In prose, where a
few words are a third of all, C hardly sees twenty others.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence

_NOT_TEXT = re.compile(rb"(?is)<(script|style|head)\b.*?</\1>|<[^>]*>|&\w+;|[<>&]")
_PER_TEMPLATE = 12
_DATABASES = (("nucleotide", (200, 400), 40), ("historic", (1000, 2000), 12))
"""Name, words and pages: of what B returned, 19% were pairs of the first and 9% of the second."""
_DRAWN, _FEW = 40, 2
Words = list[str]


def words_of(html: bytes) -> Words:
    """A page's words, without markup."""
    return _NOT_TEXT.sub(b" ", html).decode("utf-8", "replace").split()


def _page(words: Sequence[str]) -> bytes:
    """In paragraphs of thirty words."""
    parts = (" ".join(words[at : at + 30]) for at in range(0, len(words), 30))
    return f"<body>{''.join(f'<p>{part}</p>' for part in parts)}</body>".encode()


def _long(texts: Sequence[Words], least: int, rng: random.Random) -> Words:
    """A text of at least so many words, of which a part may be taken."""
    fits = [text for text in texts if len(text) >= least]
    return rng.choice(fits)


def diverse(texts: Sequence[Words], length: int, rng: random.Random) -> Words:
    """Of some passages of the length, the one whose words repeat least."""
    passages = []
    for _ in range(_DRAWN):
        text = _long(texts, length, rng)
        at = rng.randint(0, len(text) - length)
        passages.append(text[at : at + length])
    return min(passages, key=lambda words: sum(n * n for n in Counter(words).values()))


def rare(texts: Sequence[Words]) -> Words:
    """Words that few of the pages have, in their order."""
    pages = Counter(word.lower() for text in texts for word in {*text})
    return [word for text in texts for word in text
            if pages[word.lower()] <= _FEW and any(map(str.isalnum, word))]  # fmt: skip


def records(
    texts: Sequence[Words], names: Words, size: tuple[int, int], count: int, seed: int
) -> list[bytes]:
    """A database's pages: one frame, and in its midst another record each, of rare words."""
    rng = random.Random(seed)
    length = rng.randint(*size)
    frame = diverse(texts, length, rng)
    differ = rng.randint(10, 30) if length <= 400 else rng.randint(18, 24)
    made = []
    for _ in range(count):
        at = rng.randrange(len(names) - differ)
        item = names[at : at + differ]
        made.append(_page([*frame[: length // 2], *item, *frame[length // 2 :]]))
    return made


def entries(texts: Sequence[Words], count: int, seed: int) -> list[bytes]:
    """A directory's pages: a thousand words of which 1–5, apart from each other, are numbers."""
    rng = random.Random(seed)
    frame = diverse(texts, 1000, rng)
    places = sorted(rng.sample(range(100, 900, 12), rng.randint(1, 5)))
    made = []
    for _ in range(count):
        words = frame.copy()
        for place in places:
            words[place] = str(rng.randrange(10**5, 10**7))
        made.append(_page(words))
    return made


def families(
    texts: Sequence[Words], *, databases: int = 30, directories: int = 20
) -> dict[str, list[bytes]]:
    """A site each, by its name."""
    found, names = {}, rare(texts)
    for number in range(databases):
        for name, size, count in _DATABASES:
            found[f"{name}{number}-"] = records(texts, names, size, count, number)
    for number in range(directories):
        found[f"directory{number}-"] = entries(texts, _PER_TEMPLATE, number)
    return found


def parked(texts: Sequence[Words], templates: int = 15, domains: int = 8) -> list[list[bytes]]:
    """For each template the pages of its domains, which name nothing but themselves."""
    rng = random.Random(len(texts))
    made = []
    for _ in range(templates):
        length = rng.randint(60, 300)
        frame, named = _long(texts, length, rng)[:length], rng.randint(1, 3)
        places = [rng.randrange(length) for _ in range(named)]
        pages = []
        for number in range(domains):
            words = frame.copy()
            for place in places:
                words[place] += f" www.{frame[0].lower()}-{rng.randrange(1000)}{number}.example"
            pages.append(_page(words))
        made.append(pages)
    return made
