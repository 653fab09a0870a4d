"""Pages that a browser has open put no questions; programs of this machine do."""

from __future__ import annotations

import pytest

from reusewatch.streams.running.askers import refusal

MAY = [
    {"Host": "127.0.0.1:9462"},
    {"Host": "localhost"},
    {"Host": "[::1]:9462"},
    {"Host": "127.8.0.1"},
    {"Host": "index.internal:9462"},
    {"Host": "INDEX.internal"},
    {"Host": "127.0.0.1:9462", "Origin": "http://127.0.0.1:9462"},
    {"Host": "127.0.0.1:9462", "Sec-Fetch-Site": "none"},
    {"Host": "127.0.0.1:9462", "Sec-Fetch-Site": "same-origin"},
]
MAY_NOT = [
    {},
    {"Host": ""},
    {"Host": "rebound.example:9462"},
    {"Host": "127.0.0.1.example"},
    {"Host": "[::ffff:8.8.8.8]"},
    {"Host": "0.0.0.0"},
    {"Host": "\u0661\u0662\u0667.0.0.1"},
    {"Host": "127.0.0.1:9462", "Origin": "http://evil.example"},
    {"Host": "127.0.0.1:9462", "Origin": "null"},
    {"Host": "127.0.0.1:9462", "Origin": ""},
    {"Host": "127.0.0.1:9462", "Sec-Fetch-Site": "cross-site"},
    {"Host": "127.0.0.1:9462", "Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("headers", MAY)
def test_programs_may_ask(headers: dict[str, str]) -> None:
    assert refusal(headers, ("index.internal",)) is None


@pytest.mark.parametrize("headers", MAY_NOT)
def test_pages_may_not(headers: dict[str, str]) -> None:
    assert refusal(headers, ("index.internal",)) is not None
