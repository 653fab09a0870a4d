"""What a crawl keeps as WARC is read by others and by us, and is where its pages come from."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

from fastwarc.warc import ArchiveIterator as FastIterator
from msgspec.structs import replace
from warcio.archiveiterator import ArchiveIterator

from reusewatch.crawler.archives.reading import read_archive
from reusewatch.crawler.live.fetched import Fetched, maker
from reusewatch.crawler.live.warc import WarcFiles
from reusewatch.crawler.pages.archive_events import DEFAULT_LIMITS, Limits
from reusewatch.crawler.replaying.origins import read_origin
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Page
from reusewatch.streams.verbs import topic_views
from tests.crawler.live.crawls import crawl_arguments, run, summary_of
from tests.crawler.live.site import OTHER, demo_site, serving

AT = datetime(2026, 3, 1, 12, 30, 15, 250_000, tzinfo=UTC)
SCHEME = HashScheme()
PACKED = gzip.compress("<p>Käse und Brot".encode(), mtime=0)


def answer(number: int, body: bytes = b"", **given: object) -> Fetched:
    whole: dict[str, object] = {
        "url": f"http://a.example/{number}", "fetched_at": AT, "status": 200,
        "content_type": "text/html", "content_encoding": "",
        "body": body or f"<p>Words of {number}.".encode(), "ip": "192.0.2.7", "truncated": False,
        "headers": ((b"Content-Type", b"text/html"), (b"Transfer-Encoding", b"chunked"),
                    (b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2")),
    }  # fmt: skip
    return Fetched(**(whole | given))  # type: ignore[arg-type]


ANSWERS = [
    answer(1),
    answer(2, PACKED, content_encoding="gzip",
           headers=((b"Content-Type", b"text/html"), (b"Content-Encoding", b"gzip"))),
    answer(3, b"GIF89a", content_type="image/gif", skipped="content-type",
           headers=((b"Content-Type", b"image/gif"),)),
    answer(4, b"gone", status=404),
    answer(5, "<p>\udcff".encode("utf-8", "surrogateescape"), truncated=True),
]  # fmt: skip


def kept(directory: Path, answers: list[Fetched], **given: int) -> list[Page]:
    files = WarcFiles(directory, software="reusewatch/test", **given)
    make = maker("scrapy:test", SCHEME, Limits(), files.write)
    pages = [page for found in answers if isinstance(page := make(found), Page)]
    files.close()
    return pages


def test_each_page_is_read_again_from_where_it_says(tmp_path: Path) -> None:
    pages = kept(tmp_path, ANSWERS)
    assert len(pages) == 4
    for page in pages:
        again = read_origin(page.origin, scheme=SCHEME)
        assert replace(again, origin=page.origin) == page
        assert again.origin == page.origin


def test_a_replay_of_it_has_the_same_pages(tmp_path: Path) -> None:
    pages = kept(tmp_path, ANSWERS)
    (path,) = tmp_path.iterdir()
    events = read_archive(str(path), scheme=SCHEME, limits=DEFAULT_LIMITS, clock=lambda: AT)
    assert [found.page for found in events if found.page is not None] == pages


def test_others_read_it_and_its_digests_hold(tmp_path: Path) -> None:
    kept(tmp_path, ANSWERS)
    (path,) = tmp_path.iterdir()
    with path.open("rb") as file:
        records = [
            (record.rec_type, record.raw_stream.read())
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    assert [kind for kind, _ in records] == ["warcinfo", *["response"] * 5]
    assert [body for _, body in records[1:]] == [found.body for found in ANSWERS]
    with path.open("rb") as file:
        fast = [record.headers.get("WARC-Target-URI") for record in FastIterator(file)]
    assert fast[1:] == [found.url for found in ANSWERS]


def test_the_same_bytes_again_are_a_revisit_and_come_from_the_first(tmp_path: Path) -> None:
    later = AT.replace(year=2027)
    first, second, other = kept(
        tmp_path, [answer(1), answer(1, fetched_at=later), answer(1, b"<p>new", fetched_at=later)]
    )
    assert first.origin == second.origin != other.origin
    assert read_origin(second.origin, scheme=SCHEME).body == second.body
    (path,) = tmp_path.iterdir()
    with path.open("rb") as file:
        kinds = [record.rec_type for record in ArchiveIterator(file)]
    assert kinds == ["warcinfo", "response", "revisit", "response"]


def test_files_are_closed_at_a_size(tmp_path: Path) -> None:
    pages = kept(tmp_path, [answer(i) for i in range(12)], file_bytes=2000)
    files = sorted(tmp_path.iterdir())
    assert len(files) > 2
    assert all(path.stat().st_size < 2000 + 1000 for path in files)
    assert {page.origin.source for page in pages} == set(map(str, files))


def test_a_crawl_keeps_what_it_fetched_and_cuts_evidence_from_it(tmp_path: Path) -> None:
    with serving(demo_site()) as site:
        urls = (site.url(), site.url(host=OTHER))
        asked = crawl_arguments("local:state", *urls)
        code, out, err = run([*asked, "--warc", "kept", "--limit-pages", "40"], tmp_path)
    assert code == 0, err
    bus = LocalBus(tmp_path / "state")
    verdicts = list(topic_views.verdicts(bus))
    assert {v.origin.source for v in verdicts} == {str(p) for p in (tmp_path / "kept").iterdir()}
    assert read_origin(verdicts[0].origin, scheme=SCHEME).url == verdicts[0].url
    found = [alert for alert in topic_views.alerts(bus) if alert.evidence]
    assert found, summary_of(out)
    assert list(bus.read(topics.DEAD_LETTERS)) == []
