"""The options that commands share, and how the settings come of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reusewatch.streams.settings import Resolved, Settings, resolve

BusOption = Annotated[
    str | None,
    typer.Option("--bus", metavar="BUS", help="local:DIR or kafka://HOST:PORT[,HOST:PORT…]"),
]
StateOption = Annotated[
    str | None, typer.Option("--state", metavar="DIR", help="Where Kafka workers keep snapshots.")
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Instead of ./reusewatch.toml.")
]
PrefixOption = Annotated[
    str | None, typer.Option("--topic-prefix", metavar="TEXT", help="Before every topic's name.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", metavar="N", help="Processes that read pages.")
]
MetricsPortOption = Annotated[
    int | None,
    typer.Option("--metrics-port", metavar="PORT", help="Serve /metrics here; 0 takes a free one."),
]
DeadLetterLimitOption = Annotated[
    float | None,
    typer.Option("--dead-letter-limit", metavar="SHARE", help="Stop above this share of poison."),
]


def settled(config: Path | None, **flags: Any) -> Resolved:
    """The settings in force, with where each came from."""
    return resolve(flags, file=config)


def settings(config: Path | None, **flags: Any) -> Settings:
    """The settings in force."""
    return settled(config, **flags).settings
