"""Text to words to hashes, against the definition by Python's own Unicode database."""

from __future__ import annotations

import html.entities
import re
import unicodedata

import numpy as np
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from reusewatch.detector.hashing import PUBLIC_KEY, HashScheme
from reusewatch.detector.scanning import unicode_tables
from reusewatch.detector.scanning.decoding import codec_of, decode
from reusewatch.detector.scanning.mixing import word_hash
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.scanning.scan import ScanLimits, Source, scan, scan_batch
from reusewatch.detector.scanning.tables import tables
from reusewatch.streams.charset_labels import LABELS
from tests.detector.helpers import hashed, scanned
from tests.detector.scanning.make_unicode_tables import assigned_here, source
from tests.detector.scanning.twins import assigned, words_of

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


def test_the_unicode_tables_are_what_their_script_writes() -> None:
    with open(unicode_tables.__file__, encoding="utf-8") as file:
        assert file.read() == source(assigned(), unicode_tables.UNICODE_VERSION)


def test_every_python_knows_the_characters_of_the_tables() -> None:
    here = assigned_here()
    assert all(here[code] for code, known in enumerate(assigned()) if known)
    assert here == assigned() or unicodedata.unidata_version != unicode_tables.UNICODE_VERSION


# Of `everything`, under Python 3.11. Another Python that makes other words of a page cannot compare
# them with what is stored. If words change on purpose, the hash scheme's version changes as well.
_EVERYTHING = "9fc3c949754696d3fbe9c5a751b82ace"


def test_every_python_makes_the_same_of_every_character() -> None:
    assert xxhash.xxh3_128_hexdigest(everything()) == _EVERYTHING


def everything() -> bytes:
    """What a scan makes of every character: in words, titles, addresses, and as it is shown."""
    codes = (*range(0x20), *range(0x20, 0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200))
    every = [chr(code) for code in codes]
    names = "".join(f"a&{name}b " for name in html.entities.html5)
    links = "".join(
        f"<a href='http://{x}.org/{x}'>{x}</a><img src='/{x}.png'>" for x in every[::64]
    )
    words = "".join(f"a{x}B {x}\n" for x in every)
    pages = [(words, False), (f"<title>{words}</title>{words}", True), (names + links, True)]
    made = []
    for text, is_html in pages:
        found = scan(text.encode(), key=PUBLIC_KEY, html=is_html)
        columns = (found.hashes, found.starts, found.ends, found.lengths, found.fields, found.links)
        made += [np.ascontiguousarray(column).tobytes() for column in columns]
        made.append("\n".join(Readable(found).words()).encode())
    for charset in sorted(set(map(codec_of, LABELS))):
        pairs = b"".join(bytes([a, b, 10]) for a in range(128, 256) for b in range(32, 256))
        made.append(decode(bytes(range(256)) + pairs, charset).utf8)
    return b"\0".join(made)


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
