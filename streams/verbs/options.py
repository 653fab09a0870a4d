"""The options that commands share: each sets one setting, and is written out here once.

A command says which settings it lets people set, and is handed the settings in force.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from reusewatch.streams.settings import Resolved, Settings, resolve

Verb = Callable[..., None]
# The settings in force and where each was set, once they are asked for. Raises SettingsError.
Resolving = Callable[[], Resolved]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Instead of ./reusewatch.toml.")
]

# By the name of the setting, in the order in which --help lists them.
_OPTIONS: dict[str, Any] = {
    "chunks": Annotated[
        str | None,
        typer.Option(
            "--chunks", metavar="text|raw", help="Paragraphs' words, or bytes between their tags."
        ),
    ],
    "contains_threshold": Annotated[
        float | None,
        typer.Option("--threshold", metavar="SHARE", help="Instead of the setting or the paper's."),
    ],
    "kafka_partitions": Annotated[
        int | None,
        typer.Option("--partitions", metavar="N", help="Of pages, fingerprints and verdicts."),
    ],
    "kafka_replication": Annotated[
        int | None,
        typer.Option("--replication-factor", metavar="N", help="Default: 3, or all brokers."),
    ],
    "workers": Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Processes that read pages.")
    ],
    "bus": Annotated[
        str | None,
        typer.Option("--bus", metavar="BUS", help="local:DIR or kafka://HOST:PORT[,HOST:PORT…]"),
    ],
    "state": Annotated[
        str | None,
        typer.Option("--state", metavar="DIR", help="Where Kafka workers keep snapshots."),
    ],
    "topic_prefix": Annotated[
        str | None,
        typer.Option("--topic-prefix", metavar="TEXT", help="Before every topic's name."),
    ],
    "metrics_port": Annotated[
        int | None,
        typer.Option(
            "--metrics-port", metavar="PORT", help="Serve /metrics here; 0 takes a free one."
        ),
    ],
    "log_format": Annotated[
        str | None,
        typer.Option("--log-format", metavar="plain|json", help="How it says what has changed."),
    ],
    "dead_letter_limit": Annotated[
        float | None,
        typer.Option(
            "--dead-letter-limit", metavar="SHARE", help="Stop above this share of poison."
        ),
    ],
}
# What most commands let people set; and those that also look into a state directory.
BUS = ("bus", "topic_prefix")
BUS_AND_STATE = (*BUS, "state")


def with_settings(*names: str) -> Callable[[Verb], Verb]:
    """Give a command the options of these settings, and `--config`.

    The command has one parameter of the type Settings; or of the type Resolving, where it must know
    what was set where, or may not need the settings. Typer never sees that parameter: it sees the
    options in its place.
    """

    def decorate(verb: Verb) -> Verb:
        return _with_options(verb, [name for name in _OPTIONS if name in names])

    if unknown := set(names) - set(_OPTIONS):
        raise ValueError(f"no option sets {', '.join(sorted(unknown))}: write it into `_OPTIONS`")
    return decorate


def _with_options(verb: Verb, names: list[str]) -> Verb:
    own = inspect.signature(verb, eval_str=True).parameters
    (handed,) = (p for p in own.values() if p.annotation in (Settings, Resolving))

    def made(flags: dict[str, Any]) -> Settings | Resolving:
        resolving = functools.partial(resolve, file=flags.pop("config"), flags=flags)
        return resolving if handed.annotation == Resolving else resolving().settings

    options = {name: (_OPTIONS[name], None) for name in names} | {"config": (ConfigOption, None)}
    return in_place_of(verb, handed.name, options, made)


def in_place_of(
    verb: Verb,
    parameter: str,
    options: Mapping[str, tuple[Any, Any]],
    made: Callable[[dict[str, Any]], Any],
) -> Verb:
    """A command with options (annotation and default) in the place of one parameter, which is made
    of their values. `--json` stays the last."""
    own = inspect.signature(verb, eval_str=True).parameters.values()

    @functools.wraps(verb)
    def command(**given: Any) -> None:
        values = {name: given.pop(name) for name in options}
        verb(**given, **{parameter: made(values)})

    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = [p for p in own if p.name != parameter] + [
        inspect.Parameter(name, either, default=default, annotation=annotation)
        for name, (annotation, default) in options.items()
    ]
    shown.sort(key=lambda p: p.name == "json")
    # Typer reads a command's options from these two.
    vars(command)["__signature__"] = inspect.Signature(shown)
    command.__annotations__ = {p.name: p.annotation for p in shown}
    return command
