"""What people and scripts see: results on stdout, everything else on stderr.

Texts of pages are strangers' texts: control characters, terminal escapes among them, are shown as
escapes, never sent to the terminal.
"""

from __future__ import annotations

import csv
import io
import os
import re
import sys
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
import typer

if TYPE_CHECKING:
    from rich.table import Table

_JSON = msgspec.json.Encoder()
# What a terminal obeys although it may stand in JSON: DEL and C1 (U+009B begins an escape sequence
# by itself), the marks that turn the direction of text, and line ends of Unicode.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
# Characters without a glyph of their own: soft hyphens, joiners, spaces of no width.
_NO_GLYPH = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
# What a cell may be; a tuple is shown line below line.
Cell = object
# A spreadsheet takes a cell that begins so for a formula, and runs it.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


class Share(float):
    """A share: people read 20.8%, programs 0.208.

    >>> str(Share(0.2083)), f"{Share(0.2083):g}"
    ('20.8%', '0.2083')
    """

    def __str__(self) -> str:
        return f"{float(self):.1%}"


def harmless(text: str) -> str:
    r"""A stranger's text on one line, without anything that a terminal obeys.

    Spaces of any width become plain spaces, and characters without a glyph are left out. Other
    characters that cannot be printed, marks that turn the direction of text among them, are shown
    as escapes.

    >>> harmless("a\x1b[31m b\r\nc"), harmless("10\u2009km\xa0of soft\xadware")
    ('a\\x1b[31m b\\r\\nc', '10 km of software')
    """
    return text if text.isprintable() else "".join(map(_shown_as, text.translate(_NO_GLYPH)))


def _shown_as(char: str) -> str:
    if char.isprintable():
        return char
    return " " if unicodedata.category(char) == "Zs" else repr(char)[1:-1]


def tamed(line: str) -> str:
    r"""A line of JSON with nothing in it that a terminal obeys; it is the same JSON as before.

    >>> tamed('{"url":"\x9b31m\u202egpj.exe"}')
    '{"url":"\\u009b31m\\u202egpj.exe"}'
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def at_terminal() -> bool:
    """Whether results go to a person: then tables, otherwise a line a row."""
    return sys.stdout.isatty()


def lively() -> bool:
    """Whether colour and bars are welcome: stderr is a terminal, and NO_COLOR is not set."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")


def width() -> int:
    """Columns of the terminal that results go to."""
    from reusewatch.streams.tables import console  # rich: most commands draw nothing

    return console(coloured=lively()).width


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
    _write(_JSON.encode(record).decode() + "\n")


def print_json_lines(records: Iterable[Any]) -> None:
    """A JSON object for each, each as soon as it is there."""
    for record in records:
        print_json(record)


def print_line(text: str = "") -> None:
    """A line of a result."""
    _write(text + "\n")


def _write(text: str) -> None:
    # Scripts get what is there; a person's terminal must not obey what a stranger wrote.
    text = tamed(text) if at_terminal() else text
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough (`| head`). What is still buffered must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(f"the results cannot be written: {error.strerror}", 3)


def print_row(cells: Sequence[Cell]) -> None:
    """A row for scripts: its cells on one line, complete, between tabs, numbers as they are."""
    print_line("\t".join(harmless(_shown(_raw(cell))) for cell in cells))


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Rows for scripts, below a line with the columns' names. Without rows nothing is printed."""
    for number, row in enumerate(rows):
        if number == 0:
            print_row(columns)
        print_row(row)


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Rows for spreadsheets. Without rows nothing is printed."""
    for number, row in enumerate(rows):
        if number == 0:
            _write(csv_line(columns))
        _write(csv_line(row))


def csv_line(cells: Sequence[Cell]) -> str:
    """A line of CSV. What a stranger wrote is a text in it, never a formula.

    >>> csv_line(["a,b", '=HYPERLINK("x")', 0.5, None])
    '"a,b","\'=HYPERLINK(""x"")",0.5,\n'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([_no_formula(_raw(cell)) for cell in cells])
    return line.getvalue()


def _no_formula(cell: Cell) -> str:
    text = _shown(cell)
    shown = harmless(text)
    # Spaces in front, and escapes that were a tab, do not make it less of a formula; a lone sign,
    # as of an empty cell, is none.
    formula = text.startswith(_FORMULAS) or shown.lstrip(" ").startswith(_FORMULAS)
    formula = formula and len(text) > 1
    return f"'{shown}" if formula and isinstance(cell, str | tuple) else shown


def _raw(cell: Cell) -> Cell:
    """A share as programs read it, with the digits that mean something."""
    return f"{float(cell):.6g}" if isinstance(cell, Share) else cell


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, fold: Collection[str] = ()
) -> None:
    """A table at a terminal, where the columns in `fold` give way; elsewhere rows for scripts."""
    if not at_terminal():
        print_rows(columns, rows)
        return
    from reusewatch.streams.tables import console, table_of

    table = table_of(columns, (map(_lines, row) for row in rows), fold=fold)
    if table.row_count:
        console(coloured=lively()).print(table)


def print_drawn(drawing: Table) -> None:
    """A drawing at a terminal, whose texts were made harmless by who drew it."""
    from reusewatch.streams.tables import console

    console(coloured=lively()).print(drawing)


def print_aligned(rows: Sequence[Sequence[str]], indent: str = "  ") -> None:
    """Rows for people, in columns also where the output is piped."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(size) for cell, size in zip(row, widths, strict=True))
        print_line((indent + "  ".join(map(harmless, cells))).rstrip())


def _lines(cell: Cell) -> list[str]:
    # A list of settings may be empty: that is one line with nothing on it.
    lines = (cell or ("",)) if isinstance(cell, tuple) else (cell,)
    return [harmless(_shown(line)) for line in lines]


def _shown(cell: Cell) -> str:
    if isinstance(cell, tuple):
        return " ".join(map(_shown, cell))
    return "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)
