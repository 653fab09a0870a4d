"""Writes detector/scanning/unicode_tables.py from the running Python's Unicode database.

    python tests/detector/scanning/make_unicode_tables.py > detector/scanning/unicode_tables.py

A new Unicode version changes what a word is, hence hashes: change the hash scheme's version too.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator

# Scripts written without spaces, by the names of their characters.
_UNSPACED = (
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC ", "VERTICAL IDEOGRAPHIC ",
    "HANGZHOU NUMERAL ", "HIRAGANA ", "KATAKANA", "HALFWIDTH KATAKANA", "HENTAIGANA ",
    "SMALL KATAKANA ", "SMALL HIRAGANA ", "THAI ", "LAO ", "KHMER ", "MYANMAR ", "TAI LE ",
    "NEW TAI LUE ", "TAI THAM ", "TAI VIET ", "AHOM ",
)  # fmt: skip
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x1810))


def kind_of(character: str) -> str:
    """What a character is to the tokenizer: `word`, `single`, `mark`, `ignored` or `apart`."""
    category = unicodedata.category(character)
    if category == "Cf" or any(ord(character) in selectors for selectors in _SELECTORS):
        return "ignored"
    if character.isalnum():
        unspaced = unicodedata.name(character, "").startswith(_UNSPACED)
        return "single" if unspaced else "word"
    return "mark" if category.startswith("M") else "apart"


def ranges(holds: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """The runs of code points for which it holds, ends included."""
    start = -1
    for code in range(0x110001):
        inside = code < 0x110000 and holds(chr(code))
        if inside and start < 0:
            start = code
        elif not inside and start >= 0:
            yield start, code - 1
            start = -1


def folding() -> tuple[dict[int, int], dict[int, str]]:
    """Full case folding: to one code point, and to several."""
    one, several = {}, {}
    for code in range(0x110000):
        folded = chr(code).casefold()
        if len(folded) > 1:
            several[code] = folded
        elif ord(folded) != code:
            one[code] = ord(folded)
    return one, several


def _runs(one: dict[int, int]) -> Iterator[tuple[int, int, int, int]]:
    """(first, last, step, distance) of foldings that are regular."""
    left = sorted(one)
    while left:
        first = left[0]
        distance = one[first] - first
        best = [first]
        for step in (1, 2):
            run = [first]
            while one.get(run[-1] + step, -1) == run[-1] + step + distance:
                run.append(run[-1] + step)
            best = max(best, run, key=len)
        yield first, best[-1], best[1] - first if len(best) > 1 else 1, distance
        gone = set(best)
        left = [code for code in left if code not in gone]


def _wrapped(name: str, items: list[str]) -> str:
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) > 98:
            lines.append(line)
            line = "   "
        line += " " + item
    return f'{name} = """\n' + "\n".join([*lines, line]).replace("    ", "") + '\n"""\n'


def source() -> str:
    """The module's text."""
    parts = [
        '"""What each code point is to the tokenizer, and its full case folding: data, no code.\n\n'
        "Pinned to one Unicode version, so that the same page has the same tokens under every\n"
        "Python. Written by tests/detector/scanning/make_unicode_tables.py; never edited by hand.\n"
        '"""\n\n'
        f'UNICODE_VERSION = "{unicodedata.unidata_version}"\n'
    ]
    for name in ("word", "single", "mark", "ignored"):
        found = ranges(lambda character, name=name: kind_of(character) == name)  # type: ignore[misc]
        items = [f"{a:x}-{b:x}" if a != b else f"{a:x}" for a, b in found]
        parts.append(f"\n# Code points, first to last.\n{_wrapped(name.upper(), items)}")
    one, several = folding()
    runs = [f"{a:x}:{b:x}:{step}:{distance}" for a, b, step, distance in _runs(one)]
    parts.append(f"\n# First, last, step, distance to the folded.\n{_wrapped('FOLD', runs)}")
    long = [f"{code:x}:{'+'.join(f'{ord(c):x}' for c in to)}" for code, to in several.items()]
    parts.append(f"\n# A code point and the several it folds to.\n{_wrapped('FOLD_LONG', long)}")
    return "".join(parts)


if __name__ == "__main__":
    sys.stdout.write(source())
