"""A page that holds the text of a record forges none that is believed."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from reusewatch.crawler.archives.doubt import doubted
from reusewatch.crawler.pages.archive_events import Found, Limits
from tests.crawler.archives import zoo
from tests.crawler.archives.zoo import read_all
from tests.hostile.forged import AFTER, ATTACKS, FORGED, FORGER, VICTIM, large

_SMALL = Limits(max_record_bytes=1 << 16)


def _salvaged(events: list[Found]) -> dict[str, bool]:
    return {event.page.url: event.page.salvaged for event in events if event.page}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_found_behind_damage_says_that_it_was_salvaged(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(ATTACKS[name]())
    events = read_all(path)
    pages = _salvaged(events)
    assert any(event.damage for event in events)
    assert pages[VICTIM] is False
    assert pages.get(FORGED, True) is True


@pytest.mark.parametrize("name", ATTACKS)
def test_reading_goes_on_with_the_same_doubt(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(ATTACKS[name]())
    events = read_all(path)
    for number, event in enumerate(events):
        rest = read_all(path, event.next_offset, doubt=event.doubt)
        assert _salvaged(rest) == _salvaged(events[number + 1 :])


@pytest.mark.parametrize("packed", [False, True])
def test_a_large_record_of_a_stream_is_read_past(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    data = large(_SMALL.max_record_bytes)
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(data) if packed else data)
    with path.open("rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        events = read_all("-", limits=_SMALL)
    assert _salvaged(events) == {VICTIM: False, FORGER: False, AFTER: False}
    assert not any(event.damage for event in events)


def test_pages_far_behind_a_broken_member_are_trusted_again(tmp_path: Path) -> None:
    path = tmp_path / "x"
    noise = [zoo.response(zoo.url(n), zoo.html(str(n) * 9000)) for n in range(400)]
    broken = bytearray(zoo.member_each([zoo.response(zoo.B, zoo.html("y" * 400))]))
    broken[-3] ^= 1
    path.write_bytes(zoo.member_each([noise[0]]) + bytes(broken) + zoo.member_each(noise[1:]))
    said = [event.page.salvaged for event in read_all(path) if event.page]
    assert (said[0], said[1], said[-1]) == (False, True, False)
    assert said == sorted(said[:1]) + sorted(said[1:], reverse=True)


def test_doubt_of_plain_records_ends_only_where_they_do() -> None:
    """A forged record whose length leads into a later page of the same author."""
    events = [
        Found(None, None, zoo_damage, "x", 0, 10, doubt=50)
        for zoo_damage in [read_all(__file__)[0].damage]
    ]
    events += [Found(None, "request", None, "x", 10, 70), Found(None, "request", None, "x", 70, 90)]
    plain = [found.doubt for found in doubted(events, 0, by_member=False)]
    members = [found.doubt for found in doubted(events, 0, by_member=True)]
    assert plain[0] == members[0] == 50
    assert plain[1] == plain[2] > 90
    assert members[1:] == [0, 0]
