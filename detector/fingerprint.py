"""A page's fingerprint: all of its sketches, from one reading of its bytes."""

from __future__ import annotations

from dataclasses import dataclass

from detector.hashing import HashScheme
from detector.identity_sets import NONE
from detector.words import read

MAX_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is computed of one page. `NONE` stands for no hash: no bytes, no words."""

    file_hash: int
    identity_hash: int
    tokens: int
    truncated: bool
    title: str
    excerpt: str
    start: int
    end: int


def fingerprint(
    body: bytes,
    *,
    charset: str | None,
    html: bool,
    scheme: HashScheme,
    max_tokens: int = MAX_TOKENS,
) -> Fingerprint:
    """The fingerprint of one page."""
    text = read(body, charset, html=html)
    words = text.words[:max_tokens]
    return Fingerprint(
        file_hash=scheme.of_bytes(body) if body else NONE,
        identity_hash=scheme.of_text("\n".join(words)) if words else NONE,
        tokens=len(words),
        truncated=len(words) < len(text.words),
        title=text.title,
        excerpt=text.excerpt,
        start=0,
        end=len(body),
    )
