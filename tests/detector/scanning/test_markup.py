"""Markup, against the HTML standard's tokenizer and what a browser shows."""

from __future__ import annotations

import pytest

from tests.detector.helpers import blocks, words

_SAME_WORD = [
    "a<b>b</b>c", "a<!-- x -->bc", "a<wbr>bc", "a</i>bc", "a<span class='x > y'>bc</span>",
    "a<unknown-thing>bc", "a<script>x</script>bc", "a<style>x</style>bc", "a<b\n>bc",
    "a&shy;b&zwj;c", "a\u200bbc", "a\0bc", "a</>bc", "a</3 x>bc", "a<?php x ?>bc", "a<!x>bc",
    "a<sub>b</sub>c", "a<template>x</template>bc", "a<link rel=x>bc", "a<ins>b</ins>c",
    "a<font color=\">\">bc",
]  # fmt: skip
_TWO_WORDS = [
    "a<br>bc", "a<p>bc", "a<td>bc", "a<img>bc", "a<hr>bc", "a<input>bc", "a</div>bc", "a<li>bc",
    "a<button>bc</button>", "a<q>bc</q>", "a<iframe>x</iframe>bc", "a<textarea>bc</textarea>",
    "a<option>bc", "a < bc", "a<3 bc", "a<>bc", "a</br>bc", "a<BR/>bc", "a<h1>bc</h1>",
    "a<xmp>bc</xmp>", "a<svg></svg>bc", "a<rt>bc", "a_bc", "a'bc", "a/bc", "a\u00a0bc",
    "a<video>bc</video>", "a<dd>bc", "a<summary>bc", "a<caption>bc",
]  # fmt: skip


@pytest.mark.parametrize("page", _SAME_WORD)
def test_what_does_not_end_a_word(page: str) -> None:
    assert words(page) == ["abc"]


@pytest.mark.parametrize("page", _TWO_WORDS)
def test_what_ends_a_word(page: str) -> None:
    assert [word for word in words(page) if word != "3"] == ["a", "bc"]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        # Comments (13.2.5.43 to 13.2.5.52).
        ("<!---->a", "a"), ("<!-->a", "a"), ("<!--->a", "a"), ("<!-- x --!>a", "a"),
        ("<!-- x -- >a-->b", "b"), ("<!-- x ->a-->b", "b"), ("<!--x--->a", "a"),
        ("<!-- <!-- x -->a-->b", "a b"), ("<!--x--!x-->a", "a"), ("<!-- x", ""), ("<!--", ""),
        ("<!---!>a-->b", "b"), ("<!--x--!-->a", "a"), ("<!-x>a", "a"), ("<!>a", "a"), ("<!", ""),
        ("<!-- x --", ""), ("<!-- x --!", ""), ("a<!", "a"),
        # Bogus comments, instructions, doctypes.
        ("<?x?>a", "a"), ("<?x", ""), ("</ x>a", "a"), ("</>a", "a"), ("</#x>a", "a"), ("</", ""),
        ('<!DOCTYPE html PUBLIC "x>y">a', "y a"), ("<!doctype>a", "a"), ("<![CDATA[x]]>a", "a"),
        ("<![CDATA[x>y]]>a", "y a"),
        # Tags and attributes (13.2.5.6 to 13.2.5.40).
        ("<b x=y>a", "a"), ("<b x='>'>a", "a"), ('<b x=">">a', "a"), ("<b x=>a", "a"),
        ("<b x= >a", "a"), ("<b x = y >a", "a"), ("<b x='y'z=\">\">a", "a"), ("<b/>a", "a"),
        ("<b =x>a", "a"), ("<b ='>a", "a"), ("<b x'>a", "a"), ('<b x">a', "a"), ("<b x=y'>a", "a"),
        ("<b x=\"y'>\">a", "a"), ("<b / x / >a", "a"), ("<b\tx\n=\f'>'\r>a", "a"), ("<b<c>a", "a"),
        ("</b x='>'>a", "a"), ("<b x", ""), ("a<b x='", "a"), ("a<b x=\"y>b", "a"), ("a<b", "a"),
        ("a</b", "a"), ("<b x='y' '>a", "a"), ("<b x=/>a", "a"), ("<b\0c>a", "a"),
        ("a<é>b", "a é b"),
        ("<B X=Y>a</B>", "a"), ("<a/b/c>d", "d"),
        # Raw text and RCDATA (13.2.5.2 to 13.2.5.14).
        ("<style><b>x</style>a", "a"), ("<style></styles>x</style>a", "a"),
        ("<STYLE>x</sTyLe>a", "a"),
        ("<style>x</style >a", "a"), ("<style>x</style/>a", "a"), ("<style>x</style", ""),
        ("<style>x</style x='>'>a", "a"), ("<style>x", ""), ("<style></style", ""),
        ("<style>x</ style>y</style>a", "a"), ("<style/>x</style>a", "a"),
        ("<textarea>a<b>c</textarea>d", "a b c d"),
        ("<textarea>&eacute;</textareas>", "é textareas"),
        ("<textarea>a", "a"), ("<xmp>a<b>&eacute;</xmp>c", "a b eacute c"),
        ("<xmp><!--a--></xmp>b", "a b"),
        ("<plaintext>a</plaintext>&eacute;<b>", "a plaintext eacute b"),
        ("<noembed>x</noembed>a", "a"), ("<noframes>x<b></noframes>a", "a"),
        ("<iframe>x</iframe>a", "a"), ("<noscript>a<b>b</b></noscript>", "ab"),
        ("<script\0>a</script>", "a"), ("<scripts>a</scripts>", "a"),
        # Script data (13.2.5.15 to 13.2.5.31).
        ("<script>x</script>a", "a"), ("<script><!--x</script>a", "a"),
        ("<script><!--<script>x</script>y--></script>a", "a"),
        ("<script><!--<script>x</script>y</script>a", "a"),
        ("<script><!--<script>x--></script>a", "a"), ("<script><!--<script>x</script>a", ""),
        ("<script><!-->x</script>a", "a"), ("<script><!--<scripts>x</script>a", "a"),
        ("<script><!--<script x</script>y</script>a", "a"), ("<script>'<b>'</script>a", "a"),
        ("<script><!--<script/</script>y-->x</script>a", "a"), ("<script></scrip</script>a", "a"),
        ("<script><!--<SCRIPT>x</ScRiPt>y</script>a", "a"),
        ("<script><!--->x<script></script>a", "a"),
        ("<script src=x>", ""), ("<script>x</script", ""),
        # Hidden text.
        ("<template>x<template>y</template>z</template>a", "a"), ("<template>x", ""),
        ("<template><script></template></script>x</template>a", "a"), ("</template>a", "a"),
        ("<template><title></template></title>x</template>a", "a"),
        ("<title>a</title><title>x</title>b", "a b"),
        # Foreign content (13.2.6.5).
        ("<svg><![CDATA[a<b>&amp;]]]>c</svg>", "a b amp c"),
        ("<svg><title>x</title></svg>b", "b"),
        ("<svg><![CDATA[a", "a"), ("<svg><script/>a</svg>", "a"), ("<svg><style/>a</svg>", "a"),
        ("<svg/><![CDATA[x]]>a", "a"), ("<math><mi>a</mi><mi>b</mi></math>", "ab"),
        ("<svg><desc><![CDATA[x]]>x</desc><![CDATA[b]]></svg>", "b"),
        ("<svg><foreignObject><![CDATA[x]]>a</foreignObject><![CDATA[b]]></svg>", "ab"),
        ("<svg><p><![CDATA[x]]>a", "a"), ("</svg><![CDATA[x]]>a", "a"),
        ("<svg a=b/><![CDATA[a]]>", "a"), ("<svg a/><![CDATA[x]]>a", "a"),
        ("<svg a='b'/><![CDATA[x]]>a", "a"), ("<svg a=b /><![CDATA[x]]>a", "a"),
        ("<svg a= /><![CDATA[a]]>", "a"), ("<svg><style a=b/>x</style></svg>a", "a"),
        ("<svg><svg><p>a</svg><template>x</template>b", "a b"),
        ("<svg><svg></svg><![CDATA[a]]></svg><![CDATA[x]]>", "a"),
        ("<svg><foreignObject><svg><p>a</p></foreignObject><![CDATA[b]]></svg>", "a b"),
        ("<svg></br><![CDATA[x]]>a", "a"), ("<svg></p><![CDATA[x]]>a", "a"),
        ("<math><mi><p>a</p></mi><![CDATA[b]]>", "a b"), ("<svg><mi><p><![CDATA[x]]>a", "a"),
        ("<math><desc><p>a", "a"), ("<svg><math><mi><p><![CDATA[x]]>a", "a"),
        # Hidden in foreign content, where nothing is raw.
        ("<svg><style>x<b>a", "a"), ("<svg><style><g>x</g></style>a</svg>", "a"),
        ("<svg><style><!--</style>-->x</style>a", "a"), ("<svg><style>&lt;</style>a", "a"),
        ("<svg><script><style>x</script>a", "a"), ("<svg><style><style>x</style>x</style>a", "a"),
        ("<svg><style><script>x</style>a", "a"),
        ("<svg><style><![CDATA[x</style>]]></style>a", "a"),
        ("<svg><style>x</div>a", "a"),
        ("<svg><style><svg></svg>x</style>a", "a"), ("<svg></style>a<style>x</style>b", "ab"),
        ("<svg><title>x<p>x</p>x</title>a", "a"), ("<svg><title>x</svg>a", "a"),
        ("<svg><title><style></title></style>x</title>a", "a"),
        ("<svg><title><svg><style></title>a", "a"), ("<svg><title/>a</svg>", "a"),
        ("<svg><metadata>x<title>x</title>x</metadata>a", "a"), ("<svg><text>a</text></svg>", "a"),
        ("<svg><textarea>a<g>b</textarea></svg>", "ab"), ("<svg><xmp>a<g>b</xmp></svg>", "ab"),
        ("<svg><template>x</template>a</svg>", "a"), ("<svg><template>x</svg>a", "a"),
        ("<svg><foreignObject>a<style><g></style><svg><desc>x</svg>b", "a b"),
        ("<math><annotation>x</annotation><mi>a</mi></math>", "a"),
        ("<math><annotation-xml><mi>x</mi></annotation-xml><mi>a</mi></math>", "a"),
        ("<template><svg><style></template>a", "a"), ("<template><svg></template>a", "a"),
        ("<template><svg><template></template>x</svg></template>a", "a"),
        ("<template><svg><script></svg>x</template>a", "a"),
        ("<template><svg><template></svg></template>a", "a"),
        ("<template></svg></title></style>x</template>a", "a"),
        ("<metadata>a</metadata><annotation>b</annotation>", "ab"), ("<desc>a</desc>", "a"),
        # A datalist is not shown. No block stands in one.
        ("<datalist><option>x</datalist>a", "a"), ("<datalist><option>x<p>a", "a"),
        ("<datalist><option>x</div>a", "a"), ("<datalist>x<script><p></script>x</datalist>a", "a"),
    ],
)  # fmt: skip
def test_markup(page: str, expected: str) -> None:
    assert " ".join(words(page)) == expected


@pytest.mark.parametrize("outer", ["svg", "math"])
@pytest.mark.parametrize(
    "inner",
    ["script", "style", "iframe", "noembed", "noframes", "xmp", "textarea", "title", "plaintext"],
)
def test_nothing_is_raw_in_foreign_content(outer: str, inner: str) -> None:
    start = f"<{outer}><{inner}>"
    assert words(f"<p>a{start}</{outer}><p>b<i>c</i>") == ["a", "bc"]
    assert words(f"<p>a{start}</{inner}></{outer}><p>b<i>c</i>") == ["a", "bc"]
    assert words(f"<template>{start}</template>b<i>c</i>") == ["bc"]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>a b<p>c", "a b|c"), ("<div>a<p>b</p>c</div>", "a|b|c"), ("a<br>b", "a b"),
        ("a<br><br>b", "a|b"), ("a<br> <b> <br></b>b", "a|b"), ("a<br>b<br>c", "a b c"),
        ("<ul><li>a<li>b</ul>", "a|b"), ("<tr><td>a</td><td>b</td></tr>", "a|b"),
        ("<p>a <b>b</b> <img src=x>", "a b x"), ("<p></p><p>  </p><p>***</p>", ""),
        ("<pre>a\nb\n\nc</pre>d", "a b|c|d"), ("<pre>a\n .\n<i>.</i>\nb</pre>", "a|b"),
        ("<pre>a\n<b>b</b>\n&nbsp;&amp;\nc", "a b|c"), ("<p>a\n\nb", "a b"), ("a<hr>b", "a|b"),
        ("<textarea>a\n\nb</textarea>", "a|b"), ("<title>a</title>b", "a|b"),
        ("a<select><option>b<option>c</select>d", "a b c d"), ("<dl><dt>a<dd>b</dl>", "a|b"),
        ("<plaintext>a\n \t\nb", "a|b"), ("a<br>&nbsp;<br>b", "a|b"),
        ("<p>a <a>b<svg><title>x</title></svg></a> c", "a b c"), ("a<svg><title/></svg>b", "a b"),
        ("a<svg><desc><p>x</desc><text>b</text></svg>c", "a b c"), ("a<svg><style><p>b", "a|b"),
        ("a<datalist><option>x</datalist> b", "a b"), ("a<template><p>x</template> b", "a b"),
    ],
)  # fmt: skip
def test_blocks(page: str, expected: str) -> None:
    assert "|".join(" ".join(block) for block in blocks(page)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\n\nc", "a b|c"), ("a\r\nb\r\n\r\nc", "a b|c"), ("a\rb\r\rc", "a b|c"),
        ("a\n \t\nb", "a|b"), ("a\n--\nb", "a|b"), ("a\n—\nb", "a|b"), ("a\fb", "a|b"),
        ("a.\n b\n .\n c", "a b|c"), (" * a\n * b\n *\n * c", "a b|c"), ("a\n.b\n.\r\n.c", "a b|c"),
        ("<b>a</b> &amp;", "b a b amp"), ("\n\n\na\n\n", "a"), ("", ""),
    ],
)  # fmt: skip
def test_blocks_of_plain_text(text: str, expected: str) -> None:
    assert "|".join(" ".join(block) for block in blocks(text, html=False)) == expected


def test_depth_changes_nothing() -> None:
    flat = words("<div>a</div>b<i>c</i>")
    for tag in ("div", "b", "table", "svg", "font", "a href=x", "template></template"):
        deep = f"<{tag}>" * 5000
        assert words(f"{deep}<div>a</div>b<i>c</i>") == flat


@pytest.mark.parametrize("tag", ["svg", "math", "template", "svg><desc", "svg><foreignObject"])
def test_depth_that_ends_changes_nothing(tag: str) -> None:
    ends = "".join(f"</{name}>" for name in reversed(tag.split("><")))
    for depth in (1, 9, 11, 5000):
        page = f"<{tag}>" * depth + "<g>" + ends * depth + "<style><b></style>a<i>b</i>"
        assert words(page) == ["ab"], depth


def test_svg_left_open_in_the_deepest_template_ends_with_it() -> None:
    for depth in (1, 8):
        assert words("<template>" * depth + "<svg><style>" + "</template>" * depth + "a") == ["a"]
    for depth in (1, 8, 12, 5000):
        assert words("<template>" * depth + "<svg>" + "</template>" * depth + "a") == ["a"]
