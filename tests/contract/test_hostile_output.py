"""A stranger's text never reaches the terminal raw."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import at_terminal, run
from tests.contract.tables import FOUND_DAMAGE, OK, printable

# A fixture that waits for what never comes says so soon.
pytestmark = pytest.mark.timeout(300)


HOSTILE = "\x1b]0;owned\x07\x1b[31m\x9b31mred \u202e mirrored \x7f"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """An archive of two pages with the same hostile words, and one record with a hostile URL."""
    html = f"<title>{HOSTILE}</title><p>{HOSTILE} words that are the same on both pages"
    names = ["http://one.example/a%1b[31m", "http://two.example/b\x1b[31m", "http://\x1b[31m/\x07"]
    with (tmp_path / "hostile.warc").open("wb") as file:
        for number, url in enumerate(names):
            http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{html}"
            body = http.encode()
            file.write(
                f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n"
                f"WARC-Date: 2026-03-02T06:00:0{number}Z\r\n"
                f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-00000000000{number}>\r\n"
                "Content-Type: application/http; msgtype=response\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode()
            )
            file.write(body + b"\r\n\r\n")
    return tmp_path / "hostile.warc"


def test_hostile_text_never_reaches_the_terminal_raw(hostile: Path) -> None:
    directory, no_color = hostile.parent, {"NO_COLOR": "1"}
    odd_name = directory / "odd\x1b[31m\r\n.warc"
    hostile.rename(odd_name)
    code, text = at_terminal("replay", odd_name.name, cwd=directory, env=no_color)
    assert code in (OK, FOUND_DAMAGE)
    assert printable(text)
    (alert,) = run("alerts", "--json", cwd=directory).objects
    show: list[tuple[str, ...]] = [
        ("alerts",), ("verdicts",), ("dead-letters",), ("alerts", "show", alert["id"]),
    ]  # fmt: skip
    for arguments in show:
        code, text = at_terminal(*arguments, cwd=directory, env=no_color)
        assert code == OK
        assert printable(text), arguments
        piped = run(*arguments, cwd=directory)
        assert printable(piped.out + piped.err), arguments
        as_json = run(*arguments, "--json", cwd=directory)
        assert all(char >= " " for char in as_json.out.replace("\n", "")), arguments
