"""Text to words to hashes, against the definition by Python's own Unicode database."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reusewatch.detector.hashing import PUBLIC_KEY, HashScheme
from reusewatch.detector.scanning import unicode_tables
from reusewatch.detector.scanning.mixing import word_hash
from reusewatch.detector.scanning.scan import ScanLimits, Source, scan, scan_batch
from reusewatch.detector.scanning.tables import tables
from tests.detector.helpers import hashed, scanned
from tests.detector.scanning.make_unicode_tables import source
from tests.detector.scanning.twins import words_of

_TEXT = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from(
            "aAzZ09_ \n\t-'.ßİıſKÅ漢字かなカナーไทยລາວခមែ"
            "\u00ad\u200b\u200c\u200d\u0301\u0345\ufeff٣½²Ⅷ"
        ),
    )
)


@given(_TEXT)
@example("Stra\u00adße STRASSE")
@example("a\u0301bc \u0301 d\u0301\u0301")
@example("Ꮔ aꮔᏔ")
@example("ภาษาไทย กำลัง 漢字kana漢 ｶﾞ 한국어 नमस्ते")
def test_words_of_plain_text_are_those_of_the_definition(text: str) -> None:
    assert hashed(text, html=False) == words_of(text.removeprefix("\ufeff"))


_MANY_WORDS = st.lists(
    st.tuples(
        st.text("aZ5", min_size=1, max_size=18) | st.integers(60, 70).map("q".__mul__),
        st.sampled_from((" ", " ", "  ", ", ", "\n", "-", "\0", "é", "́ ", "<b>", "&amp;")),
    ).map("".join),
    max_size=80,
).map("".join)


@given(_MANY_WORDS)
def test_words_are_the_same_wherever_a_block_of_bytes_ends(text: str) -> None:
    shown = text.replace("<b>", "").replace("&amp;", "&")
    assert hashed(f" {text}") == words_of(shown)
    assert hashed(text, html=False) == words_of(text)


@pytest.mark.parametrize("word", ["a", "Ab3", "a" * 8, "a" * 15, "a" * 16, "a" * 64])
def test_a_word_is_cut_where_a_page_is(word: str) -> None:
    text = f" {word}" * (200 // len(word))
    for size in range(1, 140):
        found = scan(text.encode(), key=PUBLIC_KEY, html=False, limits=ScanLimits(bytes=size))
        expected = [match.span() for match in re.finditer(r"\w+", text[:size])]
        assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == expected
        assert found.lengths.tolist() == [end - start for start, end in expected]


@given(st.binary(max_size=200))
@example(b"a\xc0\xafb a\xed\xa0\x80b a\xf4\x90\x80\x80b a\xe2\x82b a\xf0\x9f\x98")
def test_what_is_no_utf8_is_replaced_as_a_decoder_does(data: bytes) -> None:
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    assert hashed(data, html=False) == words_of(text)


def test_every_code_point_alone_and_in_a_word() -> None:
    codes = (*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200), 0x2A6DF, 0x10FFFF)
    every = [chr(code) for code in codes]
    text = "".join(f"a{character}B {character}\n" for character in every)
    hashes = scan(text.encode(), key=PUBLIC_KEY, html=False).hashes
    expected = [
        word_hash(word.encode(), PUBLIC_KEY)
        for character in every
        for word in words_of(f"a{character}B {character}\n")
    ]
    assert len(hashes) == len(expected)
    assert np.array_equal(hashes, np.array(expected, dtype=np.uint64))


@pytest.mark.skipif(
    unicodedata.unidata_version != unicode_tables.UNICODE_VERSION,
    reason="the tables are of another Unicode version than this Python; CI has one with theirs",
)
def test_the_unicode_tables_are_what_their_script_writes() -> None:
    with open(unicode_tables.__file__, encoding="utf-8") as file:
        assert file.read() == source()


def test_offsets_are_those_of_the_word_in_the_source() -> None:
    page = "<p>Der <b>S</b>traße &Aacute;b. c</p>"
    result = scanned(page)
    spans = [
        page.encode()[start:end].decode()
        for start, end in zip(result.starts, result.ends, strict=True)
    ]
    assert spans == ["Der", "S</b>traße", "&Aacute;b", "c"]


@given(st.binary(max_size=40).filter(lambda word: 0 not in word), st.integers(0, 2**64 - 1))
def test_the_kernels_hash_is_the_definitions(data: bytes, key: int) -> None:
    text = "".join(f"{byte:02x}" for byte in data) or "0"
    assert scan(text.encode(), key=key).hashes.tolist() == [word_hash(text.encode(), key)]


def test_short_words_do_not_collide() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    many = [a + b + c + d for a in letters for b in letters for c in letters for d in letters[:12]]
    many += [f"word{number}longer{number * 7919}" for number in range(400_000)]
    hashes = scan(" ".join(many).encode(), key=PUBLIC_KEY).hashes
    assert len(hashes) == len(many) == len(np.unique(hashes))
    # Each bit is set in half of them: the simhash and the min-values live on that.
    bits = np.unpackbits(hashes.view(np.uint8)).reshape(len(hashes), 64).mean(axis=0)
    assert np.all(np.abs(bits - 0.5) < 0.005)


def test_another_key_gives_other_hashes() -> None:
    one, two = (scan(b"the same text", key=key).hashes for key in (HashScheme().key, 1))
    assert not set(one.tolist()) & set(two.tolist())


@given(st.lists(st.binary(max_size=60), max_size=6))
def test_a_batch_is_its_pages(bodies: list[bytes]) -> None:
    sources = [
        Source(body, "www.alpha.test", "alpha.test", "http://www.alpha.test/x") for body in bodies
    ]
    batch = scan_batch(sources, key=7)
    assert len(batch) == len(bodies)
    for index, one in enumerate(sources):
        alone = scan_batch([one], key=7)[0]
        for name in ("hashes", "starts", "ends", "blocks", "fields", "block_starts", "block_ends"):
            assert np.array_equal(getattr(batch[index], name), getattr(alone, name))
        assert batch[index].links.tolist() == alone.links.tolist()
        assert batch[index].images.tolist() == alone.images.tolist()
        assert (batch[index].title, batch[index].lost) == (alone.title, alone.lost)


def test_tables_have_room() -> None:
    look = tables()[0]
    assert len(look["kinds"]) <= 256 * 256
    assert len(look["folds"]) <= 256 * 256
    assert look["fold_page"].dtype == look["kind_page"].dtype == np.uint8
    # Linear probing needs empty slots to end.
    assert np.count_nonzero(look["tag_first"]) < len(look["tag_first"]) // 2
    assert np.count_nonzero(look["reference_length"]) < len(look["reference_length"]) // 2
