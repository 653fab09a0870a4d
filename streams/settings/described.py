"""What there is to set, told: as rows, as Markdown, as a reusewatch.toml to begin with.

Everything is read off `declared.Settings`. The words for what a value may be are those of the
tables and of the errors, so the two cannot differ.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import inspect

from reusewatch.streams.settings.declared import ALL, HEADINGS, Part, Settings

_HEAD = """\
# The settings of reusewatch. Lines with "##" explain; remove the "#" before what you change.
# What is given as a flag, or as REUSEWATCH_NAME in the environment, goes before this file.
"""


@dataclass(frozen=True, slots=True)
class Description:
    """One setting: everything that is known of it but its value."""

    name: str
    type: str
    choices: tuple[str, ...]
    default: Any
    secret: bool
    meaning: str
    example: str | float | tuple[str, ...] | None
    # The parts that use it where the bus is Kafka.
    used_by: tuple[Part, ...]


def _described(field: msgspec.structs.FieldInfo) -> Description:
    plain, meta = get_args(field.type)[0], get_args(field.type)[-1]
    choices = get_args(plain) if get_origin(plain) is Literal else ()
    words = "one of " + ", ".join(choices) if choices else _words(inspect.type_info(field.type))
    return Description(
        field.name, words, choices, field.default, meta.extra["secret"], meta.description,
        meta.extra["example"], meta.extra["by"],
    )  # fmt: skip


def _words(kind: inspect.Type) -> str:
    """What a value may be, in words that go on from "it must be"."""
    if isinstance(kind, inspect.Metadata):
        return _words(kind.type)
    if isinstance(kind, inspect.UnionType):
        return _words(next(x for x in kind.types if not isinstance(x, inspect.NoneType)))
    if isinstance(kind, inspect.IntType):
        return "a whole number" + _bounds(kind)
    if isinstance(kind, inspect.FloatType):
        return "a number" + _bounds(kind)
    if isinstance(kind, inspect.VarTupleType):
        return "a list of " + _words(kind.item_type)
    return {inspect.BoolType: "true or false", inspect.StrType: "text"}[type(kind)]


def _bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.gt is not None:
        return f" over {kind.gt:g}" + ("" if kind.le is None else f", at most {kind.le:.15g}")
    if kind.ge is not None:
        return f" from {kind.ge:g} " + ("on" if kind.le is None else f"to {kind.le}")
    return ""


# By name, in the order of the tables.
DESCRIPTIONS: Mapping[str, Description] = {
    field.name: _described(field) for field in msgspec.structs.fields(Settings)
}
# Told nowhere but in the environment and in files of their own.
SECRETS = frozenset(name for name, one in DESCRIPTIONS.items() if one.secret)


def markdown() -> str:
    """All settings as Markdown: a table, and in it a row for each heading."""
    rows = [
        "| setting | type | default | meaning | on Kafka, used by |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, one in DESCRIPTIONS.items():
        if name in HEADINGS:
            rows.append(f"| **{HEADINGS[name]}** | | | | |")
        kind = "one of " + ", ".join(f"`{x}`" for x in one.choices) if one.choices else one.type
        meaning = one.meaning + (" A secret." if one.secret else "")
        rows.append(f"| `{name}` | {kind} | {_default(one)} | {meaning} | {_users(one)} |")
    return "\n".join(rows) + "\n"


def _default(one: Description) -> str:
    return "" if one.default in (None, ()) else f"`{as_text(one.default)}`"


def _users(one: Description) -> str:
    return "all" if one.used_by == ALL else ", ".join(one.used_by)


def as_text(value: Any) -> str:
    """A value as it is written in the environment and shown to people."""
    if isinstance(value, tuple):
        return ",".join(map(as_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def template() -> str:
    """A reusewatch.toml in which everything is commented out."""
    return _HEAD + "".join(_part(one) for one in DESCRIPTIONS.values())


def _part(one: Description) -> str:
    lines = ["", *_heading(one.name), *_comment(one)]
    if one.secret:
        lines.append(f'# {one.name}_file = "{one.name.replace("_", "-")}.secret"')
    else:
        value = one.example if one.default in (None, ()) else one.default
        lines.append(f"# {one.name} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def _heading(name: str) -> Iterator[str]:
    if name in HEADINGS:
        yield from (f"#### {HEADINGS[name]}", "")


def _comment(one: Description) -> Iterator[str]:
    text = one.meaning
    if one.secret:
        text += f" A secret: name the file that holds it, or set REUSEWATCH_{one.name.upper()}."
    elif one.type != "text":
        text += f" It is {one.type}" + ("." if one.default is not None else ", or not set.")
    yield from textwrap.wrap(text, 96, initial_indent="## ", subsequent_indent="## ")


def as_rows() -> Iterator[dict[str, Any]]:
    """Each setting as an object for programs."""
    for one in DESCRIPTIONS.values():
        row = msgspec.to_builtins(one)
        del row["example"]
        yield row
