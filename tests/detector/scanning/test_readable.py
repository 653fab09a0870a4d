"""Text for people from the offsets of a scan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.scanning.readable import Readable
from tests.detector.helpers import scanned


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>a  b\n c</p>", "a b c"), ("<p>a</p><p>b</p>", "a\n\nb"), ("a<br>b", "a\nb"),
        ("a<td>b<td>c", "a\n\nb\n\nc"), ("<b>a </b> b", "a b"), ("<b>W</b>ord", "Word"),
        ("a<img src=x>b", "a b"), ("caf&eacute; &lt;b&gt; &copy", "café <b> ©"),
        ("<pre>a\n  b\n\n\nc</pre>", "a\nb\n\nc"), ("<script>x</script>a<style>y</style>", "a"),
        ("<title>t</title>a", "a"), ("a<!-- x -->b", "ab"), ("1 < 2 & 3", "1 < 2 & 3"),
        ("<template>x</template>a", "a"), ("<xmp><b>&amp;</xmp>", "<b>&amp;"), ("", ""),
        ("<textarea>a &amp; b</textarea>", "a & b"), ("a<b", "a"),
        ("<svg><![CDATA[<x>]]></svg>", "<x>"),
    ],
)  # fmt: skip
def test_text(page: str, text: str) -> None:
    assert Readable(scanned(page)).text == text


def test_plain_text_stays() -> None:
    page = "a <b> &amp;\n\nb"
    assert Readable(scanned(page, html=False)).text == page


def test_a_span_is_the_text_between_its_words() -> None:
    page = "<title>The &amp; title</title><p>One <b>t</b>wo, three.</p><p>Four</p>"
    result = scanned(page)
    readable = Readable(result)
    starts, ends = result.starts.tolist(), result.ends.tolist()
    assert readable.text_of(starts[0], ends[1]) == "The & title"
    assert readable.text_of(starts[2], ends[4]) == "One two, three"
    assert readable.text_of(starts[4], ends[5]) == "three.\n\nFour"
    assert readable.title == "The & title"


def test_blocks_have_their_punctuation() -> None:
    result = scanned("<p>“One”, two…</p>")
    (start,), (end,) = result.block_starts.tolist(), result.block_ends.tolist()
    assert Readable(result).text_of(start, end) == "“One”, two…"


@given(
    st.text(st.sampled_from("ab \n<>&;/p!-'=x"), max_size=60),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_any_span_of_any_page_has_a_text(page: str, start: int, end: int) -> None:
    Readable(scanned(page)).text_of(start, end)
