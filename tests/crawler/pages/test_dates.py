"""Dates of archives: every precision that is written, and never an error."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.crawler.pages.dates import date_of

WHOLE = datetime(2026, 11, 18, 9, 41, 17, tzinfo=UTC)
moments = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30))
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(moments)
def test_what_an_archive_writes_of_a_moment_is_that_moment(moment: datetime) -> None:
    moment = moment.replace(tzinfo=UTC)
    second = moment.replace(microsecond=0)
    plain = f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
    assert date_of(plain) == date_of(plain.replace(".", ",")) == moment
    assert date_of(plain[:19] + "Z") == date_of(plain[:19]) == second
    assert date_of(plain[:19].translate(dict.fromkeys(map(ord, "-:T")))) == second


@given(moments, offsets)
def test_an_offset_is_taken_off(moment: datetime, zone: timezone) -> None:
    assert date_of(moment.replace(tzinfo=zone).isoformat()) == moment.replace(tzinfo=zone)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-11", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-18", datetime(2026, 11, 18, tzinfo=UTC)),
        (" 2026-11-18T09:41Z ", WHOLE.replace(second=0)),
        ("2026-11-18T09:41:60Z", WHOLE.replace(second=59)),  # a leap second
        ("20261118", datetime(2026, 11, 18, tzinfo=UTC)),
        ("2026111809411", WHOLE.replace(minute=41, second=0)),
    ],
)
def test_fewer_digits_mean_the_beginning(text: str, wanted: datetime) -> None:
    assert date_of(text) == wanted


@pytest.mark.parametrize("text", [None, "", "yesterday", "2026-13-01", "00000000", "1" * 50])
def test_what_names_no_time_is_none(text: str | None) -> None:
    assert date_of(text) is None


@given(st.text() | st.text("0123456789-:TZ+., "))
def test_no_text_is_an_error(text: str) -> None:
    found = date_of(text)
    assert found is None or found.tzinfo is not None
