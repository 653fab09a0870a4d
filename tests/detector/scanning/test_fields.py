"""Fields, links, images, title: what the scan says beside the words."""

from __future__ import annotations

import pytest

from reusewatch.detector.scanning.mixing import word_hash
from reusewatch.detector.scanning.readable import Link, Readable, image_term
from reusewatch.detector.scanning.scan import ScanLimits, scan
from tests.detector.helpers import blocks, fields, scanned, words

_URL = "https://www.alpha.test/dir/page.html"


def test_every_field() -> None:
    page = """<title>t</title><meta name=Keywords content="k1, k&eacute;2">
        <meta content=d name=description><h2>h <a href=x>hl</a></h2>
        <a href="/y">s</a> <a href="http://beta.test/">o</a> <a name=z>n</a> b"""
    assert fields(page, "https://u.test/") == [
        ("t", "TITLE"), ("h", "HEADING"), ("hl", "HEADING"), ("s", "ANCHOR_SAME"),
        ("o", "ANCHOR_OTHER"), ("n", "BODY"), ("b", "BODY"), ("k1", "KEYWORDS"),
        ("ké2", "KEYWORDS"),
        ("d", "DESCRIPTION"), ("https", "URL"), ("u", "URL"), ("test", "URL"),
    ]  # fmt: skip


def test_words_join_across_fields_of_inline_markup() -> None:
    # The word belongs where it starts.
    assert fields("a<a href=x>b</a>c") == [("abc", "BODY")]


@pytest.mark.parametrize(
    ("href", "where"),
    [
        ("page.html", "SAME"), ("/a", "SAME"), ("?q", "SAME"), ("#f", "SAME"), ("", "SAME"),
        ("a:b/c", None), ("./a:b", "SAME"), ("//alpha.test", "SAME"), ("//beta.test", "OTHER"),
        ("http://alpha.test/x", "SAME"), ("HTTP://WWW.ALPHA.TEST:80/", "SAME"),
        ("https://x.y.alpha.test.", "SAME"), ("http://notalpha.test", "OTHER"),
        ("http://alpha.test.beta.test", "OTHER"), ("http://alpha.test@beta.test/", "OTHER"),
        ("http://u:p@alpha.test/", "SAME"), ("http:\\\\beta.test", "OTHER"),
        ("/\\beta.test", "OTHER"),
        ("  http://beta.test", "OTHER"), ("ht\ntp://beta.test", "OTHER"), ("http:page", "SAME"),
        ("&#104;ttp://beta.test", "OTHER"), ("http&colon;//beta.test", "OTHER"),
        ("mailto:x@alpha.test", None), ("javascript:x()", None), ("data:,x", None),
        ("http://[::1]:80/", "OTHER"), ("http://", "OTHER"), ("https:///beta.test", "OTHER"),
        ("1http://alpha.test", "SAME"), ("page.html?u=http://beta.test", "SAME"),
        ("http:/page", "SAME"), ("HTTP:/page", "SAME"), ("http:", "SAME"), ("https:/page", "OTHER"),
        ("https:beta.test", "OTHER"), ("https:alpha.test", "SAME"), ("http:/\\beta.test", "OTHER"),
        ("../a:b", "SAME"), ("&#47;/beta.test", "OTHER"), ("https://alpha.te\nst/x", "SAME"),
        ("https://beta.test&period;alpha.test/", "SAME"), ("https://alpha.test&period;b", "OTHER"),
        ("https://alpha.test./x", "SAME"), ("https://alpha.test:443", "SAME"), ("http:/", "SAME"),
    ],
)  # fmt: skip
def test_where_a_link_leads(href: str, where: str | None) -> None:
    page = f'<a href="{href}">x</a>'
    links = Readable(scanned(page)).links()
    if where is None:
        assert (fields(page), links) == ([("x", "BODY")], [])
    else:
        assert fields(page) == [("x", f"ANCHOR_{where}")]
        assert [link.same_site for link in links] == [where == "SAME"]


def test_a_nul_is_a_part_of_an_attributes_name() -> None:
    page = "<a \0href=x>a</a> <a href\0=x>b</a> <a href=x>c</a>"
    assert [link.anchor for link in Readable(scanned(page)).links()] == ["c"]


def test_a_scheme_that_is_the_pages_own_says_nothing() -> None:
    # URL standard, "special relative or authority state".
    page = "<a href=http:/x>a</a> <a href=https:/x>b</a> <a href=https:x>c</a>"
    assert [field for _, field in fields(page, "http://u/")][:3] == [
        "ANCHOR_SAME", "ANCHOR_OTHER", "ANCHOR_OTHER",
    ]  # fmt: skip
    assert [field for _, field in fields(page, "https://u/")][:3] == [
        "ANCHOR_OTHER", "ANCHOR_SAME", "ANCHOR_SAME",
    ]  # fmt: skip


def test_links_with_their_text() -> None:
    page = """<base href="/deep/x"><a href="a?b=1&amp;c&copy=2">one <b>two</b> <a href=#f>three</a>
        <map><area href=m></map><a href=http://beta.test>open"""
    assert Readable(scanned(page, url=_URL)).links() == [
        Link("https://www.alpha.test/deep/a?b=1&c&copy=2", "one two", True),
        Link("https://www.alpha.test/deep/x#f", "three", True),
        Link("https://www.alpha.test/deep/m", "", True),
        Link("http://beta.test", "open", False),
    ]


def test_a_foreign_base_makes_links_foreign() -> None:
    assert fields("<base href=//beta.test/><base href=/><a href=x>y</a>") == [("y", "ANCHOR_OTHER")]


def test_links_and_headings_do_not_leave_their_cell() -> None:
    page = "<table><tr><td><h1><a href=x>a<td>b</table>c<a href=x><table><td>d</td><td>e</table>f"
    assert fields(page) == [
        ("a", "HEADING"), ("b", "BODY"), ("c", "BODY"), ("d", "ANCHOR_SAME"), ("e", "ANCHOR_SAME"),
        ("f", "ANCHOR_SAME"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("src", "term"),
    [
        ("a.png", "a.png"), ("/img/a.png?v=1#x", "a.png"),
        ("http://www.alpha.test/i/a.png", "a.png"),
        ("//www.alpha.test/a.png", "a.png"), ("http://img.alpha.test/A.png", "http://img.alpha.test/A.png"),
        ("HTTP://CDN.Test/A.png?x=1&amp;y", "http://cdn.test/A.png?x=1&y"), ("img\\a.png", "a.png"),
        ("//cdn.test/a.png", "https://cdn.test/a.png"),
        ("data:image/gif;base64,R0", "data:image/gif;base64,R0"),
        ("http://u@cdn.test:80/a.png", "http://u@cdn.test:80/a.png"), (" a\n.png ", "a.png"),
        ("", None), ("/", None), ("?x", None), ("é.png", "é.png"), ("https:/i/a.png", "a.png"),
        ("https:a.png", "a.png"), ("http:/Cdn.test/a", "http:/cdn.test/a"), ("https:", None),
    ],
)  # fmt: skip
def test_an_image_is_one_term(src: str, term: str | None) -> None:
    result = scanned(f'a<img alt=x src="{src}">b', url=_URL)
    found = Readable(result).words()[: result.text_tokens]
    assert found == (["a", term, "b"] if term is not None else ["a", "b"])
    if term is not None:
        assert result.images.tolist() == [1]
        assert result.hashes[1] == word_hash(term.encode(), 0x9E3779B97F4A7C15)


@pytest.mark.parametrize(
    "base", ["http://cdn.test", "//CDN.test/x/y?a/b", "https://cdn.test:8/x/", "/z/"]
)
@pytest.mark.parametrize("src", ["a.png", "/a.png", "../a.png?b", "https:a.png", "https:/a.png"])
def test_images_below_a_base(base: str, src: str) -> None:
    result = scanned(f'<base href="{base}"><img src="{src}">', url=_URL)
    term = image_term(src, "www.alpha.test", _URL, base)
    assert result.hashes[0] == word_hash(term.encode(), 0x9E3779B97F4A7C15)
    assert term.startswith(
        ("http://cdn.test/", "https://cdn.test/", "https://cdn.test:8/", "a.png")
    )


def test_a_base_counts_for_the_images_below_it() -> None:
    page = "<img src=x><base href=//cdn.test/><img src=x>"
    assert words(page) == ["x", "http://cdn.test/x"]


@pytest.mark.parametrize("base", ["http://cdn.test", "//", "/z/", "data:x"])
@pytest.mark.parametrize("src", ["", "src", "src=''", "src=' \n'"])
def test_an_image_without_an_address_is_none_below_any_base(base: str, src: str) -> None:
    assert words(f'<base href="{base}">a<img {src}>b') == ["a", "b"]
    assert image_term("", "www.alpha.test", _URL, base) == ""


def test_a_page_and_its_mirror_have_the_same_image_terms() -> None:
    own = scan(b"<img src=http://a.test/x/p.png>", key=1, host="a.test")
    mirror = scan(b"<img src=/y/p.png>", key=1, host="b.test")
    assert own.hashes.tolist() == mirror.hashes.tolist()


def test_the_title_comes_first_wherever_it_stands() -> None:
    late = "<p>a <img src=i.png></p><p>b</p><title>t &amp; u</title><p>c</p>"
    assert words(late) == ["t", "u", "a", "i.png", "b", "c"]
    assert blocks(late) == [["t", "u"], ["a", "i.png"], ["b"], ["c"]]
    result = scanned(late)
    assert result.images.tolist() == [3]
    text = Readable(result)
    assert (text.title, text.text) == ("t & u", "a\n\nb\n\nc")
    spans = zip(result.block_starts.tolist(), result.block_ends.tolist(), strict=True)
    assert [text.text_of(*span) for span in spans] == ["t & u", "a", "b", "c"]


def test_canonical() -> None:
    page = "<link rel=icon href=x><link rel='x CANONICAL' href=/c><link rel=canonical href=d>"
    assert Readable(scanned(page, url=_URL)).canonical == "https://www.alpha.test/c"


def test_limits_count_what_they_cut() -> None:
    page = b"<p>a b<p>c d<p>e f <a href=x>g</a> <a href=y>h</a><title>late</title>"
    result = scan(page, key=1, limits=ScanLimits(tokens=5, blocks=2, links=1))
    assert (len(result.hashes), len(result.block_starts), len(result.links)) == (5, 2, 1)
    assert result.truncated
    assert (result.lost.tokens, result.lost.blocks, result.lost.links) == (4, 1, 1)
    assert result.blocks.tolist() == [0, 0, 1, 1, 1]
    cut = scan(page, key=1, limits=ScanLimits(bytes=5))
    assert (len(cut.hashes), cut.lost.bytes) == (1, len(page) - 5)
    assert not scan(page, key=1).truncated


def test_limits_are_checked() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ScanLimits(tokens=0)
    with pytest.raises(ValueError, match="31 bits"):
        ScanLimits(bytes=1 << 31)
