"""The demo's web as a WARC, one gzip member a record, as crawlers write it."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from reusewatch.crawler.demo.web import DemoPage

_REASONS = {200: "200 OK", 404: "404 Not Found"}


def write_warc(pages: Iterable[DemoPage], path: Path) -> None:
    """Write the pages as response records."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "reusewatch"}))
        for page in pages:
            headers = StatusAndHeaders(
                _REASONS[page.status], [("Content-Type", "text/html; charset=utf-8")],
                protocol="HTTP/1.1",
            )  # fmt: skip
            writer.write_record(
                writer.create_warc_record(
                    page.url, "response", payload=BytesIO(page.html.encode()), http_headers=headers,
                    warc_headers_dict={"WARC-Date": page.fetched_at.strftime("%Y-%m-%dT%H:%M:%SZ")},
                )
            )  # fmt: skip
