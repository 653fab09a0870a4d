"""The verb `prefixes`: what a crawl should keep out of now, in the words of its filter.

A file is written whole under another name and takes its place at once: a crawler that reads it
meanwhile has all of the old rules, or all of the new.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, cast

import msgspec
import typer

from reusewatch.streams import topics
from reusewatch.streams.bus import Bus, Message
from reusewatch.streams.console import fail, print_json_lines, print_line, say
from reusewatch.streams.disk import replace_file
from reusewatch.streams.opening import bus_to_read
from reusewatch.streams.settings import Settings
from reusewatch.streams.settings.keeping import keep_of
from reusewatch.streams.signals import stopping
from reusewatch.streams.steering.formats import FORMATS, Format, written
from reusewatch.streams.steering.places import KeptOut, Places
from reusewatch.streams.verbs.options import BUS, JsonOption, with_settings
from reusewatch.streams.verbs.topic_views import PassedOver
from reusewatch.streams.wire import WireError


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "prefixes",
        help="What a crawl should keep out of now: bad neighborhoods, mirrors and crawl traps "
        "that are open, for the filters of other crawlers.\n\n"
        "Example: reusewatch prefixes --format surt --output keep-out.seeds",
    )(prefixes)


@with_settings(*BUS)
def prefixes(
    settings: Settings,
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="FORMAT", help=", ".join(FORMATS),
            autocompletion=lambda: list(FORMATS),
        ),
    ] = "prefixes",
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Into this file, all of it at once."),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Write the file anew when something changes.")
    ] = False,
    expire: Annotated[
        str,
        typer.Option("--expire", metavar="AGE", help="Lifted so long after it was detected last."),
    ] = "7d",
    info: Annotated[bool, typer.Option("--info", help="Those of severity info too.")] = False,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Show what to keep out of."""
    if form not in FORMATS:
        fail(f"--format {form}: there is {', '.join(FORMATS)}", 2)
    if json and form != "prefixes":
        fail(f"--json: leave it out, or --format {form}", 2)
    if follow and output is None:
        fail("--follow writes a file anew: name it with --output", 2)
    places = Places(expires=_age(expire), info=info)
    drawn = _objects if json else _drawing(cast("Format", form))
    if follow and output is not None:
        _follow(settings, places, _File(output, drawn))
        return
    passed = taken(bus_to_read(settings), places)
    rows = places.at(datetime.now(UTC))
    if not rows:
        say(f"nothing to keep out of on {settings.bus}")
    if output is not None:
        _File(output, drawn).write(rows)
    elif json:
        print_json_lines(rows)
    else:
        for line in drawn(rows).splitlines():
            print_line(line)
    if passed:
        raise PassedOver(f"{passed} of the messages on the topic alerts could not be read")


def _age(text: str) -> timedelta:
    try:
        seconds = keep_of([text]).seconds
        if not seconds:
            raise ValueError(text)
        return timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        fail(f"--expire {text}: an age such as 7d or 12h is expected", 2)


def taken(bus: Bus, places: Places) -> int:
    """Take all that stands on the topic now; how many messages could not be read."""
    take = Taking(places)
    for message in bus.read(topics.ALERTS):
        take(message)
    return take.passed


class Taking:
    """Takes messages; what cannot be read is said, and hides nothing of what comes behind it."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.passed = 0

    def __call__(self, message: Message) -> None:
        """Take one."""
        try:
            self._places.take(message)
        except WireError as error:
            self.passed += 1
            if self.passed == 1:
                say(f"passed over alerts, offset {message.offset}: {str(error)[:200]}")


Draw = Callable[[list[KeptOut]], str]


def _objects(rows: list[KeptOut]) -> str:
    return "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)


def _drawing(form: Format) -> Draw:
    told = 0

    def draw(rows: list[KeptOut]) -> str:
        nonlocal told
        made = written((row.prefix for row in rows), form)
        if made.refused != told:
            say(f"{made.refused} prefixes cannot be said in the format {form}: --json has them")
            told = made.refused
        return made.text

    return draw


class _File:
    """A file that is replaced at once, and only by another text."""

    def __init__(self, path: Path, draw: Draw) -> None:
        self.path = path
        self._draw = draw
        self._rows: list[KeptOut] | None = None
        self._text: str | None = None

    def write(self, rows: list[KeptOut]) -> None:
        """Hold these from now on."""
        if rows == self._rows:
            return
        text, self._rows = self._draw(rows), rows
        if text == self._text:
            return
        try:
            replace_file(self.path, text.encode())
        except OSError as error:
            fail(f"{self.path} cannot be written: {error.strerror or error}", 3)
        self._text = text
        say(f"{self.path}: {len(rows)} prefixes")


def _follow(settings: Settings, places: Places, file: _File) -> None:
    with stopping() as stop:
        bus = bus_to_read(settings, stop=stop, say=say, waits=True)
        keep_written(bus, places, file.write, stop.is_set)
        if stop.interrupted:
            raise typer.Exit(130)


def keep_written(
    bus: Bus,
    places: Places,
    write: Callable[[list[KeptOut]], None],
    stop: Callable[[], bool],
) -> None:
    """Write what holds whenever all that came was taken, until stopped."""
    take = Taking(places)

    def idle() -> None:
        write(places.at(datetime.now(UTC)))

    for message in bus.read(topics.ALERTS, follow=True, stop=stop, idle=idle):
        take(message)
