"""The values in force: flags, then REUSEWATCH_*, then reusewatch.toml, then defaults.

Every value knows where it came from. Secrets come from the environment or from files only, and
are never shown.
"""

from __future__ import annotations

import difflib
import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from reusewatch.streams.settings.declared import COMMANDS, Part, Settings, SettingsError
from reusewatch.streams.settings.described import DESCRIPTIONS, SECRETS

CONFIG_FILE = "reusewatch.toml"
ENV_PREFIX = "REUSEWATCH_"
# As the name of a file: the settings of the process that started this one, as JSON on stdin.
HANDED_OVER = "-"


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings, and for each name where its value came from."""

    settings: Settings
    origins: Mapping[str, str]

    def shown(self) -> list[dict[str, Any]]:
        """Name, value and origin of each, secrets redacted."""
        return [
            {"name": name, "value": self._shown(name), "from": origin}
            for name, origin in self.origins.items()
        ]

    def flags(self) -> list[str]:
        """The settings that were given as flags."""
        return [name for name, origin in self.origins.items() if origin == _flag(name)]

    def require_used(self, names: Iterable[str], *parts: Part) -> None:
        """Raise SettingsError where the bus is Kafka and one of these settings is for other parts.

        For names that somebody gave to this command alone. The environment and reusewatch.toml are
        shared by all commands of a deployment, and hold settings of others."""
        if self.settings.bus.startswith("local:"):
            return
        for name in names:
            users = DESCRIPTIONS[name].used_by
            if not set(parts) & set(users):
                where = " and ".join(f"`{COMMANDS[one]}`" for one in users if one != "judge")
                raise SettingsError(
                    f"{self.origins[name]} does nothing here, where the bus is Kafka: set `{name}` "
                    f"where {where} runs"
                )

    def _shown(self, name: str) -> Any:
        value = getattr(self.settings, name)
        if name in SECRETS and value is not None and self.origins[name] != "default":
            return "(secret)"
        return value


def resolve(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> Resolved:
    """The settings in force. `file` must exist if it is given; ./reusewatch.toml need not.

    With HANDED_OVER as the file, they are those that another process wrote to our stdin, and
    nothing else counts."""
    if file is not None and str(file) == HANDED_OVER:
        return _handed_over(sys.stdin.buffer.read())
    found: dict[str, tuple[Any, str]] = {}
    found.update(_from_file(file))
    found.update(_from_environment(os.environ if environ is None else environ))
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    found.update({name: (value, _flag(name)) for name, value in given.items()})
    values = {name: _converted(name, value, origin) for name, (value, origin) in found.items()}
    origins = {
        field.name: found[field.name][1] if field.name in found else "default" for field in _FIELDS
    }
    settings = Settings(**values)
    _check(settings, origins)
    return Resolved(settings, origins)


def handed_over(settings: Settings) -> bytes:
    """All settings, also those that are not set, for the stdin of a process that we start with
    `--config -`: an environment or an argument would show secrets, and has a limit."""
    return msgspec.json.encode(settings)


def _handed_over(text: bytes) -> Resolved:
    try:
        settings = msgspec.json.decode(text, type=Settings)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SettingsError(
            "--config -: stdin is not what another process of reusewatch hands over; name a file"
        ) from error
    return Resolved(settings, dict.fromkeys(_BY_NAME, "the process that started this one"))


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _from_file(file: Path | None) -> dict[str, tuple[Any, str]]:
    path = Path(CONFIG_FILE) if file is None else file
    if file is None and not path.exists():
        return {}
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read as TOML: {error}") from error
    found = {}
    for name, value in values.items():
        if name in SECRETS:
            raise SettingsError(
                f"{path}: {name} is a secret: give it as {ENV_PREFIX}{name.upper()}, "
                f"or name a file that holds it with {name}_file"
            )
        found.update(_one(name, value, str(path), path.parent))
    return found


def _from_environment(environ: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    found = {}
    for variable, value in environ.items():
        name = variable.removeprefix(ENV_PREFIX).lower()
        if variable.startswith(ENV_PREFIX) and not name.startswith("test_"):
            found.update(_one(name, value, variable, Path()))
    return found


def _one(name: str, value: Any, origin: str, base: Path) -> dict[str, tuple[Any, str]]:
    secret = name.removesuffix("_file")
    if name.endswith("_file") and secret in SECRETS:
        path = base / str(value)
        try:
            return {secret: (path.read_text("utf-8").strip(), f"{origin} → {path}")}
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{origin}: {path} cannot be read: {error}") from error
    if name in _RENAMED:
        raise SettingsError(f"{origin}: {name} is called {_RENAMED[name]} now")
    if name not in _BY_NAME:
        near = difflib.get_close_matches(name, _BY_NAME, 1)
        meant = f", did you mean {near[0]}?" if near else ";"
        raise SettingsError(
            f"{origin}: there is no setting {name}{meant} `reusewatch config --describe` lists all"
        )
    return {name: (value, origin)}


def _converted(name: str, value: Any, origin: str) -> Any:
    if name in _LISTS and isinstance(value, str):  # of the environment
        value = [part.strip() for part in value.split(",") if part.strip()]
    try:
        return msgspec.convert(value, _BY_NAME[name].type, strict=False)
    except msgspec.ValidationError as error:
        shown = "its value" if name in SECRETS else repr(value)
        wanted = DESCRIPTIONS[name].type
        raise SettingsError(
            f"{name}, from {origin}: {shown} will not do: it must be {wanted}"
        ) from error


def _check(settings: Settings, origins: Mapping[str, str]) -> None:
    if not settings.bus.startswith(("local:", "kafka://")) or settings.bus in (
        "local:",
        "kafka://",
    ):
        raise SettingsError(
            f"bus, from {origins['bus']}: {settings.bus!r} is neither local:DIR nor "
            "kafka://HOST:PORT[,HOST:PORT…]"
        )
    _check_places(settings, origins)
    try:
        _ = settings.kept_pages
    except ValueError as error:
        raise SettingsError(
            f"keep_pages, from {origins['keep_pages']}: {settings.keep_pages!r} is neither bytes "
            "(2GB) nor a time (7d); units are kB, MB, GB, TB, m, h, d, w; 0 keeps none"
        ) from error
    try:
        _ = settings.scheme
    except ValueError as error:
        raise SettingsError(
            f"hash_key, from {origins['hash_key']}: not a 64-bit number such as 0x9e3779b97f4a7c15"
        ) from error


def _check_places(settings: Settings, origins: Mapping[str, str]) -> None:
    for name, places in (("owned", settings.owned), ("allowed", settings.allowed)):
        if not places:
            continue
        from reusewatch.streams.url_sets import UrlSet  # numpy, for those who name places

        try:
            UrlSet(places)
        except ValueError as error:
            raise SettingsError(f"{name}, from {origins[name]}: {error}") from error


_FIELDS = msgspec.structs.fields(Settings)
_BY_NAME = {field.name: field for field in _FIELDS}
# Settings of before, and what they are called now.
_RENAMED = {"differences": "evidence_pairs"}
_LISTS = frozenset(field.name for field in _FIELDS if isinstance(field.default, tuple))
