"""Archives of every kind and every damage: what is found, where, and where reading goes on."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from reusewatch.crawler.archives.reading import Limits, read_archived
from reusewatch.crawler.errors import REASONS, OriginLost
from reusewatch.crawler.pages.archive_events import SKIPPED
from reusewatch.streams.records import UNDATED, Origin, Sighting
from tests.crawler.archives import zoo
from tests.crawler.archives.zoo import DAMAGED, SOUND, ZOO, Specimen, read_all, seen


@pytest.fixture(params=sorted(ZOO))
def specimen(request: pytest.FixtureRequest) -> Specimen:
    return ZOO[request.param]


@pytest.fixture
def path(tmp_path: Path, specimen: Specimen) -> Path:
    """The specimen under a name that says nothing."""
    path = tmp_path / "specimen"
    path.write_bytes(specimen.data)
    return path


def test_what_is_found_is_what_is_there(specimen: Specimen, path: Path) -> None:
    found = seen(read_all(path, limits=specimen.limits))
    assert found == (specimen.pages, specimen.skipped, specimen.damages)


def test_every_event_is_one_thing_of_a_closed_set(specimen: Specimen, path: Path) -> None:
    for event in read_all(path, limits=specimen.limits):
        assert [event.page, event.skipped, event.damage].count(None) == 2
        assert event.skipped is None or event.skipped in SKIPPED
        assert event.damage is None or event.damage.reason in REASONS
        assert event.damage is None or event.damage.detail


def test_reading_goes_on_from_every_offset(specimen: Specimen, path: Path) -> None:
    events = read_all(path, limits=specimen.limits)
    for number, event in enumerate(events):
        rest = read_all(event.source, event.next_offset, specimen.limits, event.doubt)
        wanted = [later for later in events[number + 1 :] if later.source == event.source]
        assert [(e.page, e.skipped, e.damage) for e in rest] == [
            (e.page, e.skipped, e.damage) for e in wanted
        ]


def test_every_page_is_read_again_from_its_origin(specimen: Specimen, path: Path) -> None:
    for event in read_all(path, limits=specimen.limits):
        if event.page:
            again = read_archived(event.page.origin, scheme=zoo.SCHEME, limits=specimen.limits)
            # Whether a page was salvaged is known to who read the archive up to it.
            assert again == msgspec.structs.replace(event.page, salvaged=False)


def test_a_pipe_yields_what_the_file_does(
    specimen: Specimen, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if specimen.data.startswith(b"PK"):
        # A zip's directory is at its end: packages are files.
        specimen = Specimen(b"", damages=("not-an-archive",))
    with path.open("rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        piped = seen(read_all("-", limits=specimen.limits))
    # A pipe is not looked back into beyond a record: a length out of all bounds is not believed.
    wanted = [("too-large" if reason == "bad-length" else reason) for reason in specimen.damages]
    assert piped[:2] == (specimen.pages, specimen.skipped)
    assert piped[2] in (specimen.damages, tuple(wanted))


@pytest.mark.parametrize("name", sorted(SOUND))
def test_sound_archives_hold_no_damage(name: str) -> None:
    assert not SOUND[name].damages
    assert name not in DAMAGED


def test_a_page_is_all_that_its_record_says(tmp_path: Path) -> None:
    path = tmp_path / "x"
    body = zoo.html("words")
    block = zoo.http(body, "text/html; charset=ISO-8859-1")
    record = zoo.record(
        "response", "http://News.Example.co.uk/a", block, "WARC-IP-Address: 192.0.2.1"
    )
    path.write_bytes(zoo.member_each([zoo.info(), record]))
    page = read_all(path)[1].page
    assert page is not None
    assert (page.url, page.host, page.site) == (
        "http://News.Example.co.uk/a",
        "news.example.co.uk",
        "example.co.uk",
    )
    assert (page.status, page.content_type, page.ip) == (200, "text/html", "192.0.2.1")
    assert (page.charset, page.charset_from) == ("windows-1252", "header")
    assert (page.body, page.fetched_at, page.truncated) == (body, zoo.FETCHED, False)
    offset = len(zoo.member_each([zoo.info()]))
    assert page.origin == Origin(source=str(path), offset=offset, record_id="urn:uuid:0-0-0")


def test_a_revisit_is_a_page_without_body(tmp_path: Path) -> None:
    path = tmp_path / "x"
    fields = (
        "WARC-Refers-To-Target-URI: http://a.test/first",
        "WARC-Refers-To-Date: 2019-01-01T00:00:00Z",
        f"WARC-Payload-Digest: {zoo.sha1(b'elsewhere')}",
    )
    named = zoo.record("revisit", zoo.A, zoo.http(b""), *fields)
    bare = zoo.record("revisit", zoo.B, b"", date="nonsense")
    path.write_bytes(zoo.plain([named, bare]))
    first, second = (event.page for event in read_all(path))
    assert first is not None
    assert second is not None
    assert (first.body, first.status) == (b"", 200)
    assert first.revisit_of == Sighting(
        url="http://a.test/first", fetched_at=zoo.FETCHED.replace(2019, 1, 1, 0, 0, 0)
    )
    assert second.revisit_of == Sighting(url=zoo.B, fetched_at=None)
    assert second.fetched_at == UNDATED


def test_a_wet_record_is_utf8_because_it_is_a_wet_record(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(zoo.record("conversion", zoo.A, "ä".encode(), content_type="text/plain"))
    page = read_all(path)[0].page
    assert page is not None
    assert (page.charset, page.charset_from) == ("utf-8", "given")


def test_a_large_body_is_cut_and_marked(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(zoo.around(zoo.response(zoo.B, b"<p>" + b"x" * 5000)))
    page = read_all(path, limits=Limits(max_body_bytes=1000))[1].page
    assert page is not None
    assert (len(page.body), page.truncated) == (1000, True)


@pytest.mark.parametrize("pack", [zoo.plain, zoo.member_each, zoo.frame_each])
def test_a_record_over_the_limit_is_cut_and_the_next_one_read(tmp_path: Path, pack) -> None:
    path = tmp_path / "x"
    path.write_bytes(zoo.around(zoo.response(zoo.B, b"<p>" + b"x" * 90_000), pack))
    limits = Limits(max_body_bytes=1000, max_record_bytes=10_000, max_header_bytes=1000)
    pages = [event.page for event in read_all(path, limits=limits)]
    assert [page and page.truncated for page in pages] == [False, True, False]


def test_an_unknown_digest_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(SOUND["unknown digest"].data)
    assert [event.unverified for event in read_all(path)] == [False, True, False]


def test_a_file_that_is_gone_is_damage_and_not_an_exception(tmp_path: Path) -> None:
    assert seen(read_all(tmp_path / "gone"))[2] == ("unreadable",)


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (Origin(source="-"), "standard input"),
        (Origin(source="/nonexistent/x.warc.gz", offset=0), "No such file"),
    ],
)
def test_an_origin_that_is_gone_says_so(origin: Origin, words: str) -> None:
    with pytest.raises(OriginLost, match=words):
        read_archived(origin, scheme=zoo.SCHEME)


def test_an_origin_that_changed_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(zoo.member_each(zoo.crawl()))
    origin = next(event.page.origin for event in read_all(path) if event.page)
    path.write_bytes(zoo.member_each([zoo.request(zoo.A), *zoo.crawl()]))
    with pytest.raises(OriginLost, match=r"no (page|record) in"):
        read_archived(origin, scheme=zoo.SCHEME)


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_interim_answers_before_a_page_are_passed_over(tmp_path: Path, end: str) -> None:
    body = zoo.html("words")
    interim = f"HTTP/1.1 100 Continue{end}{end}HTTP/1.1 103 Early Hints{end}Link: </a>{end}{end}"
    records = [
        zoo.record("response", zoo.A, interim.encode() + zoo.http(body, end=end)),
        # Nothing comes behind it: it is the answer.
        zoo.record("response", zoo.B, f"HTTP/1.1 100 Continue{end}{end}".encode()),
    ]
    for name, data in (("plain", zoo.plain(records)), ("each", zoo.member_each(records))):
        (tmp_path / name).write_bytes(data)
        first, second = read_all(tmp_path / name)
        assert first.page is not None
        assert (first.page.status, first.page.body) == (200, body)
        assert (second.page, second.skipped) == (None, "content-type")


@pytest.mark.parametrize(
    ("more", "fields", "status", "truncated"),
    [
        (0, (), 200, False),
        (1, (), 200, True),
        (-1, (), 200, False),  # behind the end of the body something stands
        (1, (), 304, False),  # which has no body
        (1, ("Content-Encoding: gzip",), 200, False),  # stored decoded
        (1, ("Transfer-Encoding: chunked",), 200, False),  # its length is not looked at
    ],
)
def test_a_body_that_is_shorter_than_its_answer_says_is_truncated(
    tmp_path: Path, more: int, fields: tuple[str, ...], status: int, truncated: bool
) -> None:
    body = zoo.html("words")
    said = (f"Content-Length: {len(body) + more}", *fields)
    record = zoo.record("response", zoo.A, zoo.http(body, "text/html", *said, status=status))
    (tmp_path / "x").write_bytes(zoo.member_each([record, record]))
    assert [event.page and event.page.truncated for event in read_all(tmp_path / "x")] == [
        truncated, truncated,
    ]  # fmt: skip


@pytest.mark.parametrize("first", [zoo.plain, zoo.member_each])
@pytest.mark.parametrize("piped", [False, True])
def test_an_archive_of_members_and_of_records_as_they_are_is_read_to_its_end(
    tmp_path: Path,
    first: Callable[[list[bytes]], bytes],
    piped: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "x"
    records = [zoo.response(zoo.url(number)) for number in range(12)]
    second = zoo.plain if first is zoo.member_each else zoo.member_each
    parts = [first(records[:3]), second(records[3:6]), first(records[6:7]), second(records[7:])]
    path.write_bytes(b"".join(parts))
    wanted = [zoo.url(number) for number in range(12)]
    if piped:
        with path.open("rb") as file:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
            assert [event.page and event.page.url for event in read_all("-")] == wanted
        return
    events = read_all(path)
    assert [event.page and event.page.url for event in events] == wanted
    for number, event in enumerate(events):
        assert event.page is not None
        assert read_archived(event.page.origin, scheme=zoo.SCHEME) == event.page
        rest = read_all(path, event.next_offset, Limits(), event.doubt)
        assert [one.page and one.page.url for one in rest] == wanted[number + 1 :]
