"""`python -m tests.browser [PICTURE]`: evidence as a real Chromium shows it, hostile pages too.

The file is opened without a display; what the browser made of it is read back. Nothing of a page
may have become an element, run, or changed the title; it prints to PDF. With a name, the picture of
the demo's evidence is written there.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

from reusewatch.detector.evidence.pages import words_of_pages
from reusewatch.detector.evidence.pairs import compare
from reusewatch.detector.sketching.fingerprint import Document
from reusewatch.streams.verbs import evidence_html
from reusewatch.streams.verbs.sides import sides_of
from tests.command import COMMAND, environment
from tests.pages import SCHEME
from tests.streams.verbs.test_evidence_drawn import ALERT, HOSTILE, TEXT

_SECONDS = 240
_KNOWN = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "dl", "dt", "dd", "div",
    "section", "p", "b", "mark", "u", "i",
}  # fmt: skip


class _Elements(HTMLParser):
    """What a browser's tree has."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def chromium(*arguments: str, directory: Path) -> str:
    """What it prints; as root it runs without a sandbox of its own."""
    sandbox = ["--no-sandbox"] if os.getuid() == 0 else []
    done = subprocess.run(
        ["chromium", "--headless", "--disable-gpu", *sandbox,
         f"--user-data-dir={directory / 'profile'}", *arguments],
        capture_output=True, text=True, timeout=_SECONDS, check=True,
    )  # fmt: skip
    return done.stdout


def hostile(directory: Path) -> None:
    """A pair of pages that try everything."""
    here, there = ("".join(HOSTILE) + f"<p>{TEXT}", f"<p>{TEXT}" + "".join(reversed(HOSTILE)))
    documents = [Document(text.encode("utf-8", "replace")) for text in (here, there)]
    pair = compare(*words_of_pages(documents, SCHEME), SCHEME)
    file = directory / "hostile.html"
    text = evidence_html.html_of(ALERT, *sides_of(pair, evidence_html.LENGTHS))
    file.write_text(text, "utf-8", errors="replace")
    looked_at(file, directory)
    # Should an escape be forgotten one day, the file's own policy still lets nothing run.
    escaped = directory / "unescaped.html"
    planted = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='x'\">"
    escaped.write_text(text.replace("<dl>", planted + "<dl>", 1), "utf-8", errors="replace")
    assert titled(chromium("--dump-dom", escaped.as_uri(), directory=directory)) == titled(text)


def looked_at(file: Path, directory: Path) -> None:
    """Open the file, read the tree back, print it."""
    seen = chromium("--dump-dom", file.as_uri(), directory=directory)
    elements = _Elements()
    elements.feed(seen)
    assert elements.names <= _KNOWN, elements.names - _KNOWN
    assert not {name for name in elements.attributes if name.startswith("on") or name == "src"}
    assert titled(seen) == titled(file.read_text("utf-8"))
    printed = directory / f"{file.stem}.pdf"
    chromium(f"--print-to-pdf={printed}", file.as_uri(), directory=directory)
    assert printed.read_bytes().startswith(b"%PDF")


def titled(html: str) -> str:
    """The title of a tree, as it is written."""
    found = re.search("<title>(.*?)</title>", html, re.S)
    return found[1] if found else ""


def reusewatch(*arguments: str, directory: Path) -> str:
    """The command itself; what it says goes where ours goes."""
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=directory, env=environment(), stdout=subprocess.PIPE,
        text=True, check=True, timeout=_SECONDS,
    )  # fmt: skip
    return done.stdout


def demo(directory: Path, picture: Path | None) -> None:
    """A near-copy of the demo, by the command itself."""
    said = reusewatch("demo", "--json", directory=directory)
    alerts = [json.loads(line) for line in said.splitlines()]
    near = [one for one in alerts if one["kind"] == "near-duplicate" and one["evidence"]]
    chosen = min(near, key=lambda one: (-len(one["evidence"]), one["id"]))
    bus = f"local:{directory / '.demo' / 'state'}"
    show = ("alerts", "show", chosen["id"], "--html", "demo.html", "--bus", bus)
    reusewatch(*show, directory=directory)
    looked_at(directory / "demo.html", directory)
    if picture is not None:
        chromium(
            f"--screenshot={picture.absolute()}", "--window-size=1100,620", "--hide-scrollbars",
            (directory / "demo.html").as_uri(), directory=directory,
        )  # fmt: skip


def main() -> None:
    """All of it."""
    picture = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as temporary:
        hostile(Path(temporary))
        demo(Path(temporary), picture)
    print("a browser shows the evidence, and nothing of the pages is more than text")  # noqa: T201


if __name__ == "__main__":
    main()
