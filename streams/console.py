"""What people and scripts see: results on stdout, everything else on stderr.

Texts of pages are strangers' texts: control characters, terminal escapes among them, are shown as
escapes, never sent to the terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import msgspec
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

_JSON = msgspec.json.Encoder()


def harmless(text: str) -> str:
    r"""A stranger's text on one line, without anything that a terminal obeys.

    >>> harmless("a\x1b[31m b\r\nc")
    'a\\x1b[31m b\\r\\nc'
    """
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 200
    no_color = "NO_COLOR" in os.environ or not stream.isatty()
    return Console(stderr=stderr, no_color=no_color, highlight=False, width=width, soft_wrap=True)


def say(text: str) -> None:
    """One line for the operator, on stderr."""
    for line in text.split("\n"):
        sys.stderr.write(harmless(line) + "\n")
    sys.stderr.flush()


def fail(text: str, code: int) -> NoReturn:
    """Say what is wrong, and end with this code."""
    say(f"reusewatch: {text}")
    raise typer.Exit(code)


def print_json(record: Any) -> None:
    """One JSON object on a line of its own."""
    sys.stdout.write(_JSON.encode(record).decode() + "\n")
    sys.stdout.flush()


def print_line(text: str = "") -> None:
    """A line of a result."""
    sys.stdout.write(text + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """A table; when piped, one tab-separated line a row."""
    if not sys.stdout.isatty():
        for row in rows:
            print_line("\t".join(harmless(str(cell)) for cell in row))
        return
    table = Table(*columns, box=SIMPLE_HEAD, title=title or None, title_justify="left")
    for row in rows:
        table.add_row(*(Text(harmless(str(cell)), overflow="fold") for cell in row))
    _console(stderr=False).print(table, soft_wrap=False)
