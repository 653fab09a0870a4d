"""What people read of a finding: how alike two pages are, in words that promise no more."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from reusewatch.streams.records import Alert, Donor, Exact, NearDuplicate, Verdict, Within
from reusewatch.streams.verbs import listing, showing

AT = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)
NEAR = Alert(
    id="0" * 32, kind="near-duplicate", severity="warning", url="https://a.example/", site="a",
    figure=381.0, threshold=372.0, fetched_at=AT, detected_at=AT,
    donors=(Donor(url="https://b.example/", share=1.0, fetched_at=AT),), detector="d",
    scheme="public", b=4, c=381, relation="other-site",
)  # fmt: skip
WORDS = "b: 4 of 6 supershingles, c: 381 of 384 bits"


def test_a_near_copy_is_told_in_what_agrees_and_not_as_a_share(
    capsys: pytest.CaptureFixture[str],
) -> None:
    showing.print_alert(NEAR)
    said = capsys.readouterr().out
    assert WORDS in said
    assert "%" not in said
    assert "first fetched 2026-03-02" in said


def test_the_tables_say_it_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "at_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "160")
    showing.ALERTS.show([NEAR])
    assert WORDS in capsys.readouterr().out
    near = NearDuplicate(
        url="https://b.example/", b=4, c=381, relation="other-site", cluster="0" * 16
    )
    showing.VERDICTS.show([
        Verdict(
            id="0" * 16, url="https://a.example/", site="a", fetched_at=AT, exact=Exact(),
            near_duplicate=near, contains=None, detector="d", scheme="public",
        )
    ])  # fmt: skip
    assert WORDS in capsys.readouterr().out


def test_the_shares_of_a_part_say_what_each_is_of(capsys: pytest.CaptureFixture[str]) -> None:
    donor = Donor(url="https://b.example/", share=0.37, fetched_at=AT)
    within = Within(url="https://b.example/", here=0.42, there=0.6)
    part = msgspec.structs.replace(
        NEAR, kind="partial-copy", figure=0.57, threshold=0.3, donors=(donor,), within=within,
        b=None, c=None,
    )  # fmt: skip
    showing.print_alert(part)
    said = " ".join(capsys.readouterr().out.split())
    assert "about 37% of this page's runs of five words" in said
    assert "42% of this page's words stand in the other page, 60% of that one's here" in said
    assert "the other shares are estimates, of runs of five words" in said
    assert "0.57 of the page's runs of five words, or of the other's, are in both" in said


def test_of_several_other_pages_it_is_said_which_one_has_words_in_common() -> None:
    donors = tuple(Donor(url=f"https://{name}.example/", share=0.3, fetched_at=AT) for name in "bc")
    within = Within(url="https://c.example/", here=0.42, there=0.6)
    quilt = msgspec.structs.replace(NEAR, kind="quilt", donors=donors, within=within)
    assert "stand in https://c.example/, 60%" in showing.in_common(quilt, within)
