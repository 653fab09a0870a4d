"""The verb `spill`: pages that crawls put aside while the broker was away, sent now."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import typer

from reusewatch.streams.console import fail, print_json, print_line, say
from reusewatch.streams.opening import open_bus
from reusewatch.streams.settings import Settings
from reusewatch.streams.signals import stopping
from reusewatch.streams.verbs.options import BUS, JsonOption, with_settings


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "spill",
        help='Send what crawls with on_trouble = "spill" put aside while the broker was away. A '
        "crawl does it by itself.\n\nExample: reusewatch spill --bus kafka://127.0.0.1:9092",
    )(spill)


@with_settings(*BUS)
def spill(settings: Settings, json: JsonOption = False) -> None:
    """Send what was put aside."""
    from reusewatch.streams.running.bus_sink import BusSink
    from reusewatch.streams.running.spilling import send_spilled

    if settings.bus.startswith("local:"):
        fail(f"spill: {settings.bus} is a local bus, which has nothing put aside", 2)
    with stopping() as stop, closing(BusSink(open_bus(settings, stop=stop, say=say))) as sink:
        sent = send_spilled(Path(settings.spill), sink.send, sink.checkpoint)
    if sink.remark is not None:
        say(f"reusewatch: {sink.remark}")
    if json:
        print_json({"sent": sent, "from": settings.spill})
    else:
        print_line(f"{sent:,} messages of {settings.spill} sent")
