"""Evidence as it is drawn: both pages side by side, whatever they hold."""

from __future__ import annotations

import os
import pty
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.evidence.pages import words_of_pages
from reusewatch.detector.evidence.pairs import Pair, compare
from reusewatch.detector.hashing import hex_of
from reusewatch.detector.sketching.fingerprint import Document
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Alert, Direction, Donor, Origin, Page
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import alert_evidence, evidence_html, evidence_terminal, topic_views
from reusewatch.streams.verbs.showing import told_direction
from reusewatch.streams.verbs.sides import Lengths, Part, sides_of
from reusewatch.streams.wire import alert_message
from tests.pages import SCHEME
from tests.streams.stages.making import NOW
from tests.streams.stages.test_near_order import page

TEXT = " ".join(f"copied{n}" for n in range(30))
HOSTILE = [
    "<script>document.title = 'owned'</script><p>a &lt;script&gt;alert(1)&lt;/script&gt; b",
    "<title>&lt;/title&gt;&lt;img src=x onerror=alert(1)&gt;</title>",
    "<p>&lt;/p&gt;&lt;/section&gt;&lt;/style&gt;&lt;style&gt;*{display:none}",
    "<p>\u202eright to left\u202c \x1b[31mred\x1b[0m \x9b31m \u2028 line",
    "<p>&#0; &#x1f; &amp;lt; ]]&gt; &lt;!-- <!-- x --> \ufffe \ufeff",
    "<pre>one\n\n\ntwo\tthree</pre>",
]
LENGTHS = Lengths(40, 8)


def pair_of(here: str, there: str) -> Pair:
    documents = [Document(text.encode("utf-8", "surrogatepass")) for text in (here, there)]
    return compare(*words_of_pages(documents, SCHEME), SCHEME)


def alert_of(here: Page, there: Page) -> Alert:
    hashes = [hex_of(SCHEME.of_bytes(one.body)) for one in (here, there)]
    return Alert(
        id="ab" * 16, kind="near-duplicate", severity="info", url=here.url, site=here.site,
        figure=1, threshold=1, fetched_at=NOW, detected_at=NOW, detector="x", scheme=SCHEME.name,
        origin=here.origin, file_hash=hashes[0], evidence_missing="budget",
        donors=(Donor(url=there.url, share=1, fetched_at=NOW, origin=there.origin,
                      file_hash=hashes[1]),),
    )  # fmt: skip


PAGES = {0: page(0, 0, 0), 1: page(1, 1, 1)}
ALERT = alert_of(PAGES[1], PAGES[0])


def shown(parts: list[Part]) -> list[tuple[int | None, bool, str]]:
    return [(part.number, part.own, " ".join(part.text.split())) for part in parts]


def test_copied_passages_are_numbered_on_both_sides() -> None:
    changed = TEXT.replace("copied9 ", "else ")
    pair = pair_of(f"<p>Own words here <p>{changed}", f"<p>{TEXT} <p>and theirs")
    here, there = sides_of(pair, LENGTHS)
    before, after = TEXT.split(" copied9 ")
    assert shown(here) == [
        (None, True, "Own words here"), (1, False, before), (1, True, "else"), (1, False, after),
    ]  # fmt: skip
    assert shown(there) == [
        (1, False, before), (1, True, "copied9"), (1, False, after), (None, True, "and theirs"),
    ]  # fmt: skip


def test_what_is_long_is_shortened_and_counted() -> None:
    own = " ".join(f"own{n}" for n in range(100))
    (first, second) = sides_of(pair_of(f"<p>{own} {TEXT}", TEXT), LENGTHS)[0]
    assert (first.text.split()[-1], first.end.split()[0], first.left_out) == ("own7", "own92", 84)
    assert (second.number, second.left_out) == (1, 0)


def test_words_of_the_donor_are_drawn_once() -> None:
    twice = f"<p>{TEXT}<p>between these two and some more<p>{TEXT}"
    here, there = sides_of(pair_of(twice, TEXT), LENGTHS)
    assert [part.number for part in here if part.number] == [1, 2]
    assert len(shown(there)) == 1


HEADS = {
    Direction(original="there", by="owned"): ["This page, the copy", "The one it copies"],
    Direction(original="here", by="declared"): ["This page, the original", "Its copy"],
    Direction(original="unknown", gap_seconds=60): ["This page", "Also at"],
    None: ["This page", "The one it copies"],
}


@pytest.mark.parametrize("direction", HEADS)
def test_the_file_says_who_has_it_from_whom_as_far_as_that_is_known(
    direction: Direction | None,
) -> None:
    alert = msgspec.structs.replace(ALERT, direction=direction)
    root = ElementTree.fromstring(evidence_html.html_of(alert, [], []).encode())  # noqa: S314
    assert [(one.text or "").split(":")[0] for one in root.iter("h2")] == HEADS[direction]
    facts = dict(zip(
        (one.text for one in root.iter("dt")), (one.text for one in root.iter("dd")), strict=True
    ))  # fmt: skip
    if direction is not None:
        assert facts["original"] == told_direction(direction, len(alert.donors))
    assert ("donor" in facts) == (direction is None or direction.original == "there")


_page = st.lists(st.sampled_from([*HOSTILE, *TEXT.split(), "<p>", "other"]), max_size=12)


@given(_page.map(" ".join), _page.map(" ".join), st.sampled_from(HOSTILE))
def test_the_file_holds_nothing_but_text(here: str, there: str, url: str) -> None:
    """Read by a strict parser: our elements, no attribute of a stranger's, no control."""
    alert = msgspec.structs.replace(ALERT, url=url, donors=(
        msgspec.structs.replace(ALERT.donors[0], url=url),
    ))  # fmt: skip
    text = evidence_html.html_of(alert, *sides_of(pair_of(here, there), evidence_html.LENGTHS))
    root = ElementTree.fromstring(text.encode())  # noqa: S314 - of our own making
    known = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "dl", "dt", "dd", "div",
             "section", "p", "b", "mark", "u", "i"}  # fmt: skip
    for element in root.iter():
        assert element.tag in known
        assert element.attrib.keys() <= {
            "lang",
            "charset",
            "http-equiv",
            "content",
            "name",
            "class",
        }
    assert len(list(root.iter("style"))) == len(list(root.iter("title"))) == 1
    body = "".join(root.itertext())
    assert all(char.isprintable() or char == "\n" for char in body)
    assert root.findall("head/meta")[1].get("content", "").startswith("default-src 'none'; style")


@given(_page.map(" ".join), _page.map(" ".join))
def test_a_terminal_obeys_nothing(here: str, there: str) -> None:
    for parts in sides_of(pair_of(here, there), LENGTHS):
        drawn = evidence_terminal._drawn(parts).plain
        lines = "\n".join(evidence_terminal._plain(parts))
        assert all(char.isprintable() or char == "\n" for char in drawn + lines)


def test_two_columns_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    monkeypatch.setenv("COLUMNS", "100")
    with os.fdopen(theirs, "w") as terminal, os.fdopen(ours, "rb"):
        monkeypatch.setattr("sys.stdout", terminal)
        parts = sides_of(pair_of(f"<p>{TEXT} <p>Own", TEXT), LENGTHS)
        evidence_terminal.print_sides(ALERT, *parts)
        said = os.read(ours, 1 << 16).decode()
    (row,) = [line for line in said.splitlines() if line.count("[1]") == 2]
    assert "copied0" in row


def bus_of(directory: Path) -> LocalBus:
    bus = LocalBus(directory)
    outlet = bus.outlet()
    outlet.send(alert_message(ALERT))
    outlet.close()
    return bus


def reader(settings: Settings) -> alert_evidence.ReadOrigin:
    return lambda origin: PAGES[origin.offset or 0]


def test_late_evidence_is_shown_and_not_sent(tmp_path: Path) -> None:
    bus = bus_of(tmp_path)
    found = alert_evidence.with_pages(ALERT, Settings(bus=f"local:{tmp_path}"), reader)
    assert found.alert.evidence
    assert found.alert.evidence_missing is None
    assert list(topic_views.alerts(bus)) == [ALERT]


def test_why_there_is_none_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(bus=f"local:{tmp_path}")

    def gone(settings: Settings) -> alert_evidence.ReadOrigin:
        def read(origin: Origin) -> Page:
            raise OSError("gone")

        return read

    bus_of(tmp_path)
    found = alert_evidence.with_pages(ALERT, settings, gone)
    assert found.alert.evidence_missing == "archive gone"
    alert_evidence.print_pages(found)
    said = capsys.readouterr().out
    assert alert_evidence.WHY["archive gone"] in said
    assert ALERT.origin is not None
    assert f"({ALERT.origin.source})" in said
    elsewhere = msgspec.structs.replace(ALERT, scheme="xxh3-0-other")
    assert alert_evidence.with_pages(elsewhere, settings, reader).pair is None
    assert "xxh3-0-other" in capsys.readouterr().err


def test_a_file_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bus_of(tmp_path)
    found = alert_evidence.with_pages(ALERT, Settings(bus=f"local:{tmp_path}"), reader)
    alert_evidence.write_html(found, tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")
    alert_evidence.print_pages(found)
    assert "there: " in capsys.readouterr().out


def test_a_quilt_stands_beside_each_of_its_sources(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (first,) = ALERT.donors
    donors = (first, *(msgspec.structs.replace(first, url=f"http://s{n}.example/") for n in "23"))
    gone = msgspec.structs.replace(first, url="http://gone.example/", origin=None)
    quilt = msgspec.structs.replace(ALERT, kind="quilt", donors=(*donors, gone))
    bus_of(tmp_path)
    found = alert_evidence.with_pages(quilt, Settings(bus=f"local:{tmp_path}"), reader)
    alert_evidence.print_pages(found)
    alert_evidence.write_html(found, tmp_path / "a.html")
    drawn = [line for line in capsys.readouterr().out.splitlines() if line.startswith("there: ")]
    assert drawn == [f"there: {one.url}" for one in donors]
    assert (tmp_path / "a.html").read_text().count('<div class="sides">') == len(donors)
