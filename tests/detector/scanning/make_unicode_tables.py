"""Writes detector/scanning/unicode_tables.py, and which code points these tables know, from the
running Python's Unicode database.

    folder=tests/detector/scanning
    python -m tests.detector.scanning.make_unicode_tables > detector/scanning/unicode_tables.py
    python -m tests.detector.scanning.make_unicode_tables assigned > $folder/assigned.py

A new Unicode version changes what a word is, hence hashes: change the hash scheme's version too.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from reusewatch.detector.scanning import confusables

# Scripts written without spaces, by the names of their characters.
_UNSPACED = (
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC ", "VERTICAL IDEOGRAPHIC ",
    "HANGZHOU NUMERAL ", "HIRAGANA ", "KATAKANA", "HALFWIDTH KATAKANA", "HENTAIGANA ",
    "SMALL KATAKANA ", "SMALL HIRAGANA ", "THAI ", "LAO ", "KHMER ", "MYANMAR ", "TAI LE ",
    "NEW TAI LUE ", "TAI THAM ", "TAI VIET ", "AHOM ",
)  # fmt: skip
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x1810))


_ALIKE = {
    chr(int(code, 16)): like
    for code, like in (item.split(":") for item in confusables.CONFUSABLES.split())
}
# Of these alphabets a letter is the same letter with and without its marks.
_MARKLESS = ("LATIN ", "GREEK ", "CYRILLIC ", "COPTIC ", "DIGIT ", "KELVIN ", "ANGSTROM ", "OHM ")
_LONGEST, _LONGEST_ASCII = 3, 7
# Of letters that are dressed up: by which tag Unicode takes them apart.
_DRESSED = {"<font>": "dressed", "<circle>": "dressed", "<square>": "dressed", "<wide>": "wide",
            "<super>": "raised", "<sub>": "raised"}  # fmt: skip
_STRANGE = (
    range(0x300, 0x370), range(0x1AB0, 0x1B00), range(0x1DC0, 0x1E00), range(0x20D0, 0x2100),
)  # fmt: skip


def kind_of(character: str) -> str:
    """What a character is to the tokenizer: `word`, `single`, `mark`, `ignored` or `apart`."""
    category = unicodedata.category(character)
    if category == "Cf" or any(ord(character) in selectors for selectors in _SELECTORS):
        return "ignored"
    plain = unicodedata.normalize("NFKD", character)
    if len(plain) == 1 and plain != character:
        # A letter in a circle is a letter, a halfwidth voiced mark is a mark.
        return kind_of(plain)
    if character.isalnum():
        unspaced = unicodedata.name(character, "").startswith(_UNSPACED)
        return "single" if unspaced else "word"
    return "mark" if category.startswith("M") else "apart"


def markless(character: str) -> bool:
    """Whether marks on a letter or digit do not count."""
    base = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.name(base, "").startswith(_MARKLESS) or base.casefold() in _ALIKE


def _unmarked(text: str) -> str:
    return "".join(x for x in text if not unicodedata.category(x).startswith("M"))


def folded_of(character: str) -> str:
    """What a character is hashed as: taken apart, without marks, case-folded, in look-alikes."""
    plain = unicodedata.normalize("NFKD", character)
    if kind_of(character) == "mark":
        return plain
    folded = _folded(plain, without_marks=markless(character))
    held = all(kind_of(x) not in ("apart", "ignored") for x in folded)
    short = len(folded) <= (_LONGEST_ASCII if folded.isascii() else _LONGEST)
    if not held or not short or kind_of(folded[0]) == "mark":
        # Half a fraction, or a mark in front of its base: the character stays whole.
        folded = "".join(_ALIKE.get(x, x) for x in character.casefold())
    return folded


def _folded(plain: str, *, without_marks: bool) -> str:
    # What is folded may have to be taken apart again.
    for folds in (False, True):
        plain = unicodedata.normalize("NFKD", plain.casefold() if folds else plain)
        plain = _unmarked(plain) if without_marks else plain
    return "".join(_ALIKE.get(x, x) for x in plain)


@cache
def _ordinary_marks() -> frozenset[str]:
    """Marks that some letter has that Unicode also holds whole."""
    held: set[str] = set()
    for code in range(0x110000):
        plain = unicodedata.normalize("NFD", chr(code))
        if len(plain) > 1 and markless(plain[0]):
            held.update(plain[1:])
    return frozenset(held)


def class_of(character: str) -> str:
    """What a character says of the word that it is in; see `detector.scanning.dodges`."""
    kind = kind_of(character)
    if kind == "mark":
        strange = any(ord(character) in some for some in _STRANGE)
        return "strange" if strange and character not in _ordinary_marks() else ""
    plain = unicodedata.normalize("NFKD", character)
    if kind != "word" or not plain[0].isalpha():
        return ""
    if plain.isascii():
        tag = unicodedata.decomposition(character).split(" ")[0]
        return _DRESSED.get(tag, "latin")
    name = unicodedata.name(plain[0], "")
    if name.startswith("LATIN "):
        return "raised" if name.startswith("LATIN LETTER SMALL CAPITAL") else "latin"
    if plain[0].casefold() in _ALIKE:
        return "greek" if name.startswith("GREEK") else "alike"
    return "other"


def ranges(holds: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
    """The runs of code points for which it holds, ends included."""
    start = -1
    for code in range(0x110001):
        inside = code < 0x110000 and holds(code)
        if inside and start < 0:
            start = code
        elif not inside and start >= 0:
            yield start, code - 1
            start = -1


def folding(codes: list[int]) -> tuple[dict[int, int], dict[int, str]]:
    """What code points fold to: to one, and to several."""
    one, several = {}, {}
    for code in codes:
        if 0xAC00 <= code < 0xD7A4:
            continue  # the kernel takes Hangul syllables apart by the standard's formula
        folded = folded_of(chr(code))
        if len(folded) > 1:
            several[code] = folded
        elif ord(folded) != code:
            one[code] = ord(folded)
    return one, several


def _runs(one: dict[int, int]) -> Iterator[tuple[int, int, int, int]]:
    """(first, last, step, distance) of foldings that are regular."""
    left = dict(sorted(one.items()))
    while left:
        first = next(iter(left))
        distance = left[first] - first
        best = [first]
        for step in (1, 2):
            run = [first]
            while left.get(run[-1] + step, -1) == run[-1] + step + distance:
                run.append(run[-1] + step)
            best = max(best, run, key=len)
        yield first, best[-1], best[1] - first if len(best) > 1 else 1, distance
        for code in best:
            del left[code]


def _items(names: list[str], wanted: str) -> list[str]:
    found = ranges(lambda code: names[code] == wanted)
    return [f"{a:x}-{b:x}" if a != b else f"{a:x}" for a, b in found]


def _wrapped(name: str, items: list[str]) -> str:
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) > 98:
            lines.append(line)
            line = "   "
        line += " " + item
    return f'{name} = """\n' + "\n".join([*lines, line]).replace("    ", "") + '\n"""\n'


def assigned_here() -> list[bool]:
    """Of each code point: whether this Python's Unicode version has a character there."""
    return [unicodedata.category(chr(code)) not in ("Cn", "Co", "Cs") for code in range(0x110000)]


def source_of_assigned() -> str:
    """The text of the module that holds them."""
    known = assigned_here()
    items = _items(["known" if one else "" for one in known], "known")
    return (
        '"""Characters of the Unicode version of the tables. Written by their script."""\n\n'
        f"# Code points, first to last.\n{_wrapped('ASSIGNED', items)}"
    )


def source(known: Sequence[bool], version: str) -> str:
    """The module's text, from the characters that a Unicode version knows."""
    parts = [
        '"""What each code point is to the tokenizer, what it says of its word, and what it is\n'
        "folded to: data, no code.\n\n"
        "Pinned to one Unicode version, so that the same page has the same tokens under every\n"
        "Python. Written by tests/detector/scanning/make_unicode_tables.py; never edited by hand.\n"
        '"""\n\n'
        f'UNICODE_VERSION = "{version}"\n'
    ]
    kinds = [kind_of(chr(code)) if known[code] else "" for code in range(0x110000)]
    for name in ("word", "single", "mark", "ignored"):
        items = _wrapped(name.upper(), _items(kinds, name))
        parts.append(f"\n# Code points, first to last.\n{items}")
    held = [kind not in ("", "apart", "ignored") for kind in kinds]
    classes = [class_of(chr(code)) if held[code] else "" for code in range(0x110000)]
    for name in ("latin", "other", "alike", "greek", "dressed", "wide", "strange", "raised"):
        items = _wrapped(name.upper(), _items(classes, name))
        parts.append(f"\n# What they say of their word.\n{items}")
    marked = [
        "marked" if kind in ("word", "single") and not markless(chr(code)) else ""
        for code, kind in enumerate(kinds)
    ]
    items = _wrapped("MARKED", _items(marked, "marked"))
    parts.append(f"\n# Letters and digits whose marks count.\n{items}")
    one, several = folding([code for code in range(0x110000) if held[code]])
    runs = [
        f"{a:x}:{b:x}:{step}:{distance}" if a != b else f"{a:x}:{a + distance:x}"
        for a, b, step, distance in _runs(one)
    ]
    items = _wrapped("FOLD", runs)
    parts.append(f"\n# First, last, step, distance to the folded; or one and what it is.\n{items}")
    long = [f"{code:x}:{'+'.join(f'{ord(c):x}' for c in to)}" for code, to in several.items()]
    parts.append(f"\n# A code point and the several it folds to.\n{_wrapped('FOLD_LONG', long)}")
    return "".join(parts)


if __name__ == "__main__":
    if sys.argv[1:] == ["assigned"]:
        sys.stdout.write(source_of_assigned())
    else:
        sys.stdout.write(source(assigned_here(), unicodedata.unidata_version))
