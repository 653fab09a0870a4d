"""Two pages side by side on a terminal: copied passages numbered and coloured, the rest dim.

Elsewhere than at a terminal one page follows the other, without colours. Nothing in a page's text
is obeyed: neither by the terminal, nor as markup of whoever draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from reusewatch.streams.console import at_terminal, harmless, print_drawn, print_line
from reusewatch.streams.records import Alert
from reusewatch.streams.verbs.sides import Lengths, Part

LENGTHS = Lengths(copied=40, own=8)
_COLOURS = ("green", "cyan", "magenta", "yellow", "blue", "red")


def print_sides(
    alert: Alert, here: Sequence[Part], there: Sequence[Part], *, other: str | None = None
) -> None:
    """Both pages; of `alert` the addresses stand above them, the first donor's if no `other`."""
    titles = f"here: {alert.url}", f"there: {other or alert.donors[0].url}"
    if not at_terminal():
        for title, parts in zip(titles, (here, there), strict=True):
            print_line()
            print_line(harmless(title))
            for line in _plain(parts):
                print_line(line)
        return
    table = Table(pad_edge=False, expand=True)
    for title in titles:
        table.add_column(Text(harmless(title)), ratio=1, overflow="fold")
    table.add_row(_drawn(here), _drawn(there))
    print_drawn(table)


def _drawn(parts: Iterable[Part]) -> Text:
    drawn, last = Text(), None
    for part in parts:
        drawn.append("\n" if part.number != last and drawn else " " if drawn else "")
        if part.number is None:
            drawn.append(_joined(part), style="dim")
        else:
            colour = _COLOURS[(part.number - 1) % len(_COLOURS)]
            if part.number != last:
                drawn.append(f"[{part.number}] ", style=f"bold {colour}")
            drawn.append(_joined(part), style=f"underline {colour}" if part.own else colour)
        last = part.number
    return drawn


def _plain(parts: Iterable[Part]) -> Iterable[str]:
    """A line a part: its number, or a dash where the other page has none of it there."""
    for part in parts:
        sign = "-" if part.number is None else f"[{part.number}]"
        yield f"{sign:5}{'≠ ' if part.own and part.number else ''}{_joined(part)}"


def _joined(part: Part) -> str:
    text = harmless(" ".join(part.text.split()))
    if part.left_out:
        text += f" … {part.left_out} words … {harmless(' '.join(part.end.split()))}"
    return text
