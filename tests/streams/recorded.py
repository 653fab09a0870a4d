"""Settings that note which of them are read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from reusewatch.streams.settings import Resolved, Settings, resolve

READ: set[str] = set()


class Recorded(Settings):
    """Notes each name in READ."""

    def __getattribute__(self, name: str) -> Any:
        """The value, noted."""
        READ.add(name)
        return super().__getattribute__(name)


def recorded(settings: Settings) -> Settings:
    """The same settings, of which nothing was read."""
    made = Recorded(**msgspec.structs.asdict(settings))
    READ.clear()
    return made


def resolve_recorded(*args: Any, **given: Any) -> Resolved:
    """As `resolve`."""
    found = resolve(*args, **given)
    return replace(found, settings=recorded(found.settings))


def names_read() -> set[str]:
    """The settings that were read."""
    return READ & set(Settings.__struct_fields__)
