"""Words in disguise are the words that they are taken for, and counted; ordinary ones are not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.scanning import confusables, state
from reusewatch.detector.scanning.readable import folded, shown
from reusewatch.detector.scanning.scan import Source, scan_batch
from tests.detector.helpers import hashed, words
from tests.detector.scanning.make_unicode_tables import class_of, folded_of, markless

_TEXT = "a copy of this page: once upon a time there was a fox in the wood of words"
_ALIKE = {
    chr(int(code, 16)): like
    for code, like in (item.split(":") for item in confusables.CONFUSABLES.split())
}
_CYRILLIC = {like: letter for letter, like in _ALIKE.items() if "а" <= letter <= "џ"}


def counted(page: str) -> tuple[int, int]:
    """Words that had to be unfolded, and words hidden in lines."""
    facts = scan_batch([Source(page.encode())], key=1).facts[0]
    return int(facts[state.FOLDED]), int(facts[state.HIDDEN])


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in text)


def mathematical(text: str) -> str:
    return "".join(chr(ord(c) - 97 + 0x1D41A) if c.isalpha() else c for c in text)


def homoglyphs(text: str) -> str:
    return "".join(_CYRILLIC.get(c, c) for c in text)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (wide(_TEXT), 0.7),
        (mathematical(_TEXT), 0.6),
        (homoglyphs(_TEXT), 0.8),
        (homoglyphs(_TEXT).upper(), 0.8),
        ("".join(c + "\u0336" * c.isalpha() for c in _TEXT), 1.0),
        ("".join(c + "\u0336\u034a\u0359" * 9 * c.isalpha() for c in _TEXT), 1.0),
        ("".join(chr(0x24D0 + ord(c) - 97) if c.isalpha() else c for c in _TEXT), 0.6),
        (_TEXT.replace("copy", homoglyphs("copy")), 0.05),
    ],
)
def test_disguised_words_are_the_words(text: str, share: float) -> None:
    assert hashed(f"<p>{text}") == _TEXT.replace(":", "").split()
    assert counted(f"<p>{text}")[0] >= share * len(_TEXT.split())


@pytest.mark.parametrize(
    "text",
    [
        _TEXT,
        "Noël où déjà garçon élève Straße Äpfel Tiếng Việt đã được naïve Łódź",
        unicodedata.normalize("NFD", "Noël où déjà garçon Tiếng Việt đã được"),
        unicodedata.normalize("NFD", "Это Москва и ёлка, а вот и мой чай"),
        "Все счастливые семьи похожи друг на друга, а мы с вами — нет; сорок раз. Ёлка й",
        "Ο άνθρωπος είναι το μέτρο όλων των πραγμάτων, και ο νους",
        "μm µs α-helix β ΔT 5Ω kΩ Ωm",
        "Ｗｅｂ サイトの ＡＢＣ を 漢字 で",
        "한국어 문장은 이렇게",
        "नमस्ते दुनिया",
        "שָׁלוֹם עֲלֵיכֶם",
        "مَرْحَبًا بِكُم",
        "if 𝑥 and 𝑦 are 2² then footᵃ Mª kɪt x½ ﬁne ﬂow №5 ™",
        "3D-модель и IT-отдел для iPhone",
    ],
)
def test_ordinary_text_is_not_counted(text: str) -> None:
    assert counted(f"<p>{text}") == (0, 0)


@given(st.text(st.sampled_from("éÉàçñöüßÅøйёїΆώϊがパ각한ệấÇşığ abc1"), max_size=30))
def test_a_letter_is_one_letter_however_its_marks_are_stored(text: str) -> None:
    whole, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert hashed(whole, html=False) == hashed(apart, html=False)


def test_marks_count_where_a_script_needs_them() -> None:
    for some, other in (
        ("כָּר", "כר"),
        ("کِتَاب", "کتاب"),
        ("नमस्ते", "नमसत"),
        ("ก่า", "กา"),
        ("か\u3099", "か"),
    ):
        assert hashed(some) != hashed(other)
    assert hashed("ガ ギ") == hashed("ｶﾞ ｷﾞ") == hashed("カ\u3099 キ\u3099")
    assert hashed("été") == hashed("ete") == ["ete"]


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_what_is_shown_is_the_word_that_was_hashed(text: str) -> None:
    for word in words(text, html=False):
        assert folded(shown(word)) == folded(word)
        assert folded(folded(word)) == folded(word)


def test_words_are_shown_as_people_write_them() -> None:
    page = "<p>Été Straße Москва сору сopy ｃｏｐｙ 𝐜𝐨𝐩𝐲 c̶o̶p̶y̶ co<b></b>py</p>"
    assert words(page) == ["été", "strasse", "москва", "сору", *["copy"] * 5]


def test_the_look_alikes_are_letters_of_ascii() -> None:
    assert all(len(like) == 1 and "a" <= like <= "z" for like in _ALIKE.values())
    assert all(not letter.isascii() and letter.isalpha() for letter in _ALIKE)
    # Both cases are the same word, or text in capitals were another.
    assert all(
        folded_of(letter.upper()) in (like, folded_of(letter.upper().lower()))
        for letter, like in _ALIKE.items()
        if len(letter.upper()) == 1
    )
    assert all(markless(letter) for letter in _ALIKE)
    assert class_of("с") == "alike"
    assert class_of("ж") == "other"


def test_a_block_decides_about_words_of_nothing_but_look_alikes() -> None:
    assert counted("<p>the copy of the сору is a copy") == (1, 0)
    assert counted("<p>сору<p>the copy of the page is a copy") == (0, 0)
    assert counted("<p>Это сору и это вот жук, а также the copy") == (0, 0)
