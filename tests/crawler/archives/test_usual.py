"""What a page is said to be in one go is what the close look says of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reusewatch.crawler.archives import usual
from reusewatch.crawler.archives.framing import Record
from reusewatch.crawler.archives.judging import judge
from reusewatch.crawler.archives.usual import found_in, usual_in
from reusewatch.crawler.archives.whole import Ways
from reusewatch.crawler.compression.views import InMemory
from reusewatch.crawler.pages.archive_events import Found, Limits, Reading
from tests.crawler.archives import zoo

_TYPE = "Content-Type: text/html; charset=utf-8"
_HEADS = st.lists(
    st.sampled_from(
        [_TYPE, "content-type:text/plain", "Content-Type: image/png", "Content-Type:", "Date: now",
         "Content-Type : text/html", " folded: on", "\tfolded", "", "é: è", "no field", "\r",
         "X-Content-Encoding: gzip", "Content-Encoding: gzip", "Transfer-Encoding: chunked",
         "Content-Length: 3", "Content-Length: 9999", "Content-Length: x", "\x00: \x1c",
         "Content-Type: text/html\r; charset=utf-16le",
         "Content-Type: text/html;\nX-A: charset=shift_jis"]
    ),
    max_size=4,
)  # fmt: skip
_STATUS = st.sampled_from(
    ["HTTP/1.1 200 OK", "HTTP/1.0 206", "http/2 404 x", "HTTP/1.1  200\tOK", "HTTP/1.1 20",
     "HTTP/1.1 2000 OK", "HTTP/1.1 200 O\rK", "ICY 200 OK", "HTTP/1.1 100 Continue",
     "HTTP/1.1 304", ""]
)  # fmt: skip
_BODIES = st.sampled_from(
    [b"", zoo.PAGE, b"\r\n\r\n", b"\n\nx", b"\x1f\x8b\x08nothing", b"\xef\xbb\xbf<p>mark",
     b"<p>\xff", b"3\r\nabc\r\n0\r\n\r\n", zoo.PAGE + zoo.response(zoo.B), b"x" * 300]
)  # fmt: skip
_LIMITS = Limits(max_body_bytes=256)


@st.composite
def _blocks(draw: st.DrawFn) -> bytes:
    end = draw(st.sampled_from(["\r\n", "\r\n", "\n"]))
    last = draw(st.sampled_from([end + end, end + end, end, "\n\r\n", ""]))
    lines = [draw(_STATUS), *draw(_HEADS)]
    # Some line in the midst may end otherwise, and so be part of another for who asks for CR.
    ends = draw(st.lists(st.sampled_from([end, end, "\n", "\r"]), min_size=len(lines) - 1,
                         max_size=len(lines) - 1))  # fmt: skip
    head = "".join(line + ended for line, ended in zip(lines, [*ends, last], strict=True))
    return head.encode() + draw(_BODIES)


_URLS = st.sampled_from(
    [zoo.A, f"<{zoo.A}>", f"{zoo.A}>", f" {zoo.A} ", zoo.A.upper(), "http://a.test", "http://[/",
     "dns:a.test", "https://a.test:443/x?y#z", "", "/x"]
)  # fmt: skip
_FIELDS = st.fixed_dictionaries(
    {"WARC-Target-URI": _URLS},
    optional={
        "WARC-Type": st.sampled_from(["response", "Response", "resource", "revisit", "request"]),
        "Content-Type": st.sampled_from(["application/http; msgtype=response", "text/html"]),
        "WARC-Date": st.sampled_from([zoo.DATE, "2026-11-01T00:00:00.000Z", "2026", "yesterday"]),
        "warc-record-id": st.sampled_from(["<urn:uuid:1>", "", "<>", "x" * 300]),
        "WARC-IP-Address": st.sampled_from(["127.0.0.1", " ::1 ", "x", ""]),
        "WARC-Truncated": st.just("length"),
        "X-Other": st.text(max_size=3),
    },
)
_DIGESTS = st.lists(
    st.tuples(
        st.sampled_from(["WARC-Block-Digest", "WARC-Payload-Digest"]),
        st.sampled_from(["right", "payload", "wrong", "md7:00", ""]),
    ),
    max_size=2,
    unique_by=lambda pair: pair[0],
)


def _label(said: str, block: bytes) -> str:
    made = {"right": block, "payload": block.partition(b"\r\n\r\n")[2], "wrong": b"else"}
    return zoo.sha1(made[said]) if said in made else said


def _both(fields: dict[str, str], block: bytes) -> tuple[Found | None, Found]:
    """What is said in one go, if it is, and what the close look says."""
    reading = Reading("x.warc.gz", zoo.SCHEME, _LIMITS, lambda: zoo.NOW)
    fields = {**fields, "Content-Length": str(len(block))}
    lowered = {name.lower(): value.strip() for name, value in fields.items()}
    close = judge(Record(lowered, 5, 9, InMemory(block), 0, len(block)), reading)
    lines = (f"{name}: {value}\r\n" for name, value in fields.items())
    head = f"WARC/1.1\r\n{''.join(lines)}\r\n".encode()
    whole = Ways().whole(head + block + b"\r\n\r\n")
    if whole is None:
        assert "X-Other" in fields
        return None, close
    assert found_in(whole, 5, 9, reading) == close
    return usual_in(whole, 5, 9, reading), close


_USUAL = {
    "WARC-Type": "response",
    "WARC-Target-URI": zoo.A,
    "Content-Type": "application/http",
    "WARC-Date": zoo.DATE,
}


@given(_FIELDS, _DIGESTS, _blocks())
def test_it_says_what_the_close_look_says_or_nothing(
    fields: dict[str, str], digests: list[tuple[str, str]], block: bytes
) -> None:
    fields |= {name: _label(said, block) for name, said in digests}
    usual, close = _both(fields, block)
    assert usual is None or usual == close


@given(
    st.sampled_from(["HTTP/1.1 200 OK", "HTTP/1.0 206", "HTTP/2 404 x"]),
    st.lists(st.sampled_from(["Date: now", _TYPE, "Content-Type: image/png", "X:"]), max_size=3),
    _BODIES,
    st.sampled_from(["WARC-Block-Digest", "WARC-Payload-Digest"]),
)
def test_of_what_is_plain_it_says_it(
    status: str, head: list[str], body: bytes, digest: str
) -> None:
    block = "\r\n".join([status, _TYPE, *head]).encode() + b"\r\n\r\n" + body
    said = "right" if digest == "WARC-Block-Digest" else "payload"
    usual, close = _both({**_USUAL, digest: _label(said, block)}, block)
    if body.startswith(b"\x1f\x8b") or len(body) > _LIMITS.max_body_bytes:
        assert usual is None
    else:
        assert usual == close
        assert usual.page is not None


@given(st.sampled_from(["Content-Encoding: gzip", "Content-Length: 9999", "X:"]), _BODIES)
def test_of_what_is_no_page_nothing_else_is_looked_at(line: str, body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n{line}\r\n\r\n"
    usual, close = _both({**_USUAL, "WARC-Block-Digest": zoo.sha1(b"else")}, head.encode() + body)
    assert usual is not None
    assert usual == close
    for kind in ("request", "metadata", "Warcinfo", "nothing"):
        usual, close = _both({**_USUAL, "WARC-Type": kind}, body)
        assert usual is not None
        assert usual == close


def test_long_types_are_not_remembered() -> None:
    said = b"text/html; x=" + b"y" * usual._LONGEST
    before = usual._type_of.cache_info().currsize
    assert usual._known(usual._type_of, said).media == "text/html"
    assert usual._type_of.cache_info().currsize == before
    assert usual._known(usual._type_of, said[:20]).media == "text/html"
    assert usual._type_of.cache_info().currsize == before + 1
