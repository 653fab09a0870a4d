"""The dashboards, by Grafana's published types (its foundation SDK); `make packaged` runs this.

Grafana passes over a field whose name it does not know, and a value that it does not expect: a
panel looks different then, and nothing says why.
"""

from __future__ import annotations

import enum
import json
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from tests.command import ROOT

FILES = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
plugins.register_default_plugins()


def lost(given: Any, kept: Any, at: str = "") -> Iterator[str]:
    """Where something is not as it was."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for name, value in given.items():
            yield from lost(value, kept.get(name), f"{at}.{name}")
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for number, (one, other) in enumerate(zip(given, kept, strict=True)):
            yield from lost(one, other, f"{at}[{number}]")
    elif given != kept:
        yield f"{at}: {given!r} is {kept!r}"


def strange(found: Any, at: str = "") -> Iterator[str]:
    """Values that are none of those that their type has."""
    if isinstance(found, (list, tuple)):
        for number, one in enumerate(found):
            yield from strange(one, f"{at}[{number}]")
    elif isinstance(found, Mapping):
        for name, one in found.items():
            yield from strange(one, f"{at}.{name}")
    elif type(found).__module__.startswith("grafana_foundation_sdk"):
        for name, kind in typing.get_type_hints(type(found)).items():
            value = getattr(found, name, None)
            if value is not None and not fits(value, kind):
                yield f"{at}.{name}: {value!r} is no {kind}"
            yield from strange(value, f"{at}.{name}")


def fits(value: Any, kind: Any) -> bool:
    """By enumerations and plain types: what is made of these is looked at for itself."""
    arms = typing.get_args(kind) if typing.get_origin(kind) is typing.Union else (kind,)
    for arm in arms:
        if isinstance(arm, type) and issubclass(arm, enum.Enum):
            if value in [one.value for one in arm]:
                return True
        elif arm in (str, bool, int):
            if type(value) is arm:
                return True
        elif arm is float:
            if type(value) in (int, float):
                return True
        elif arm is not type(None):
            return True
    return False


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_grafana_knows_every_field_and_value(file: Path) -> None:
    given = json.loads(file.read_text("utf-8"))
    dashboard = Dashboard.from_json(given)
    assert list(lost(given, json.loads(JSONEncoder().encode(dashboard)))) == []
    assert list(strange(dashboard)) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("panels", -1, "fieldConfig", "defaults", "untt"), "s"),
        (("panels", -1, "fieldConfig", "defaults", "custom", "stacking", "mode"), "nrmal"),
        (("panels", -1, "targets", 0, "exprr"), "up"),
        (("panels", -1, "options", "legend", "displayMode"), "lst"),
        (("schemaVersion",), "39"),
    ],
)
def test_a_slip_is_seen(path: tuple[Any, ...], value: object) -> None:
    given = json.loads(FILES[0].read_text("utf-8"))
    place = given
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    dashboard = Dashboard.from_json(given)
    seen = [*lost(given, json.loads(JSONEncoder().encode(dashboard))), *strange(dashboard)]
    assert len(seen) == 1
