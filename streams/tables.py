"""Tables at a terminal: where a cell that is too long is broken anywhere, and never cut.

Apart from `console`, since what draws them takes as long to load as a short command. Knows nothing
of cells but their lines, which were made harmless before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_STYLES = {"critical": "bold red", "warning": "yellow", "info": "dim"}


def table_of(
    columns: Sequence[str], rows: Iterable[Iterable[list[str]]], *, fold: Collection[str]
) -> Table:
    """A table of cells, each a list of lines; the columns in `fold` give way."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        table.add_column(name, no_wrap=name not in fold, overflow="fold")
    for row in rows:
        table.add_row(*map(_Folded, row))
    return table


def console(*, coloured: bool) -> Console:
    """What draws on stdout."""
    return Console(color_system="auto" if coloured else None, highlight=False)


class _Folded:
    """A cell that breaks anywhere: a URL has no better place, and none of it may be cut."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(1, *map(cell_len, self._lines)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._lines:
            style = _STYLES.get(line, "")
            for part in chop_cells(line, options.max_width) or [""]:
                yield Text(part, style=style)
