"""JSON Schemas of the records as they are written, for those who read the topics with other tools.

`make schemas` writes `deploy/schemas/` anew; a test keeps it current. Readers ignore fields that
they do not know, hence the schemas allow them.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from reusewatch.streams.blocks.columns import SECTIONS
from reusewatch.streams.blocks.sections import Section
from reusewatch.streams.records import (
    VERSIONS,
    Alert,
    DeadLetter,
    Label,
    LabelManifest,
    NeighborhoodPart,
    Page,
    PartitionMoments,
    Record,
    Verdict,
)

RECORDS: dict[str, type[Record]] = {
    "page": Page,
    "verdict": Verdict,
    "alert": Alert,
    "label": Label,
    "label-manifest": LabelManifest,
    "dead-letter": DeadLetter,
    "neighborhood-part": NeighborhoodPart,
    "moments": PartitionMoments,
}
DIRECTORY = Path(__file__).resolve().parents[2] / "deploy" / "schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PAGE = "On the topic a page is msgpack: the same fields, times as timestamps, the body as bytes."


def schema_of(name: str) -> dict[str, Any]:
    """The schema of what a `schema: name/version` header announces."""
    (made,), parts = msgspec.json.schema_components([RECORDS[name]], ref_template="#/$defs/{name}")
    own = parts.pop(made["$ref"].rpartition("/")[2])
    for part in (own, *parts.values()):
        _as_written(part)
    found = {
        "$schema": _DIALECT,
        "$id": f"urn:reusewatch:schema:{name}:{VERSIONS[name]}",
        **own,
        "title": f"{name}/{VERSIONS[name]}",
    }
    if name == "page":
        found["$comment"] = _PAGE
    return found | ({"$defs": parts} if parts else {})


def _as_written(part: dict[str, Any]) -> None:
    """What is written has every field, null where nothing is known: no defaults, all required."""
    # From Python 3.13 on the compiler takes the indentation out of docstrings.
    part["description"] = inspect.cleandoc(part["description"])
    properties = part.get("properties", {})
    for name, field in properties.items():
        field.pop("default", None)
        properties[name] = _nullable(field)
    part["required"] = list(properties)


def _nullable(field: dict[str, Any]) -> dict[str, Any]:
    """A value or null, in the short form where there is one."""
    either: list[dict[str, Any]] = field.get("anyOf", [])
    if len(either) == 2 and either[1] == {"type": "null"} and "type" in either[0]:
        return {**either[0], "type": [either[0]["type"], "null"]}
    return field


def columns() -> str:
    """The columns of a fingerprint block, as text."""
    head = (
        f"fingerprints/{VERSIONS['fingerprints']}: an Arrow IPC stream of one record batch, "
        "compressed with lz4.\n"
        "Metadata of the schema: `scheme`, the hash scheme; `fingerprints`, this version;\n"
        "`chunks`: `text` if a chunk is a paragraph's words, `raw` if it is the bytes between\n"
        "paragraph tags; the two are never compared; `sections`: the sections of columns that\n"
        "are there, each with its version, and `!` where who does not know it may not go on.\n"
    )
    return head + "".join(map(_section, SECTIONS))


def _section(section: Section) -> str:
    lines = (
        f"{field.name:14} {field.type}{'' if field.nullable else ' not null'}\n"
        for field in section.fields
    )
    return f"\n{section.name}/{section.version}{'!' * section.needed}\n" + "".join(lines)


def files() -> Iterator[tuple[str, str]]:
    """Each file's name, and what is in it."""
    for name in RECORDS:
        text = msgspec.json.format(msgspec.json.encode(schema_of(name)), indent=2).decode()
        yield f"{name}.json", text + "\n"
    yield "fingerprints.txt", columns()


def main(directory: Path = DIRECTORY) -> None:
    """Write the files."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files():
        (directory / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
