"""One frozen Settings: flags, then REUSEWATCH_*, then reusewatch.toml, then defaults.

Every value knows where it came from. Secrets come from the environment or from files only, and
are never shown.

SettingsError   a name or a value is wrong; the message says where it stands
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from reusewatch.detector.hashing import PUBLIC_KEY, HashScheme

MIB = 1 << 20
CONFIG_FILE = "reusewatch.toml"
ENV_PREFIX = "REUSEWATCH_"
SECRETS = frozenset({"hash_key", "kafka_password", "kafka_token", "kafka_tls_key_password"})

Positive = Annotated[int, msgspec.Meta(ge=1)]
Natural = Annotated[int, msgspec.Meta(ge=0)]
Supershingles = Annotated[int, msgspec.Meta(ge=1, le=6)]
Bits = Annotated[int, msgspec.Meta(ge=1, le=384)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
# A counter of discovery remembers as many pages; `labels discover` counts any number, offline.
Threshold = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Sites = Annotated[int, msgspec.Meta(ge=1, le=1000)]
Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class SettingsError(Exception):
    """A setting that cannot be: what, where it was set, and what it may be."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. The field's name is the name in reusewatch.toml."""

    bus: str = "local:.reusewatch"
    state: str = ".reusewatch/state"
    topic_prefix: str = "reusewatch."
    hash_key: str = f"{PUBLIC_KEY:#x}"

    workers: Positive = 1
    batch_pages: Positive = 64
    commit_seconds: Seconds = 2.0
    snapshot_seconds: Seconds = 60.0
    # Share of dead letters among the last thousand records at which a worker stops.
    dead_letter_limit: Share = 0.5

    window_pages: Positive = 1_000_000
    window_seconds: Seconds | None = None
    alert_same_site: bool = False

    # Which pairs are near-duplicates (Henzinger 2006), which of them alert, and what a site is.
    policy: Literal["henzinger", "b", "c", "combined", "either"] = "henzinger"
    b_similar: Supershingles = 2
    c_similar: Bits = 372
    combined_c: Bits = 355
    alert_near_same_site: bool = False
    alert_near_other_site: bool = True
    site: Literal["registered-domain", "simple"] = "registered-domain"
    max_cluster: Positive = 100_000
    # Near-duplicate alerts of a batch for which both pages are read again, to tell what differs.
    differences: Natural = 8

    # Files from which on a neighborhood can be bad, and the badness from which on it is: empty is
    # one standard deviation over the mean of what was seen.
    neighborhood_files: Positive = 10
    badness_threshold: Share | None = None
    neighborhood_prefixes: Positive = 200_000

    # Which word 5-grams a fingerprint carries: quilts need them, and they are most of its bytes.
    grams: Literal["all", "sampled", "none"] = "none"
    # What a chunk is: a paragraph's words, or the bytes between paragraph tags.
    chunks: Literal["text", "raw"] = "text"

    # Content that comes to be common: report it, or also put it into the labeled dataset.
    discover: Literal["off", "alert", "label"] = "alert"
    # On more pages than this within the window: a chunk, a whole file.
    discover_pages: Threshold = 100
    discover_file_pages: Threshold = 100
    discover_sites: Sites = 5
    # Shorter chunks are seldom anybody's own.
    discover_length: Annotated[int, msgspec.Meta(ge=0)] = 100

    # A TOML file with stop chunks beside the shipped ones.
    stop_chunks: str | None = None
    # Pages whose weighted terms are kept for `similar` and for MWO in verdicts; and the MWO that
    # near-duplicates must have as well to alert.
    similar_pages: Natural = 50_000
    near_mwo: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0

    # Share of labeled chunks from which a page is reported; without, mean plus one deviation.
    contains_threshold: Share | None = None

    max_body_bytes: Positive = 32 * MIB

    metrics_host: str = "127.0.0.1"
    metrics_port: Port | None = None

    kafka_security: Literal["plaintext", "tls", "sasl", "sasl+tls"] = "plaintext"
    kafka_sasl: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = "PLAIN"
    kafka_username: str | None = None
    kafka_password: str | None = None
    kafka_token: str | None = None
    kafka_tls_ca: str | None = None
    kafka_tls_certificate: str | None = None
    kafka_tls_key: str | None = None
    kafka_tls_key_password: str | None = None
    kafka_tls_check_hostname: bool = True
    kafka_compression: Literal["lz4", "zstd", "none"] = "lz4"
    kafka_partitions: Positive = 6
    kafka_replication: Positive = 1
    kafka_instance: str | None = None
    # A worker that says nothing for so long has died, and another takes over. The broker bounds it.
    kafka_session_seconds: Seconds = 45.0

    @property
    def scheme(self) -> HashScheme:
        """The hash scheme under this deployment's key."""
        return HashScheme(int(self.hash_key, 0))


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
    """The settings in force. `file` must exist if it is given; ./reusewatch.toml need not."""
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
    if name not in _BY_NAME:
        raise SettingsError(f"{origin}: there is no setting {name}; `reusewatch config` lists all")
    return {name: (value, origin)}


def _converted(name: str, value: Any, origin: str) -> Any:
    try:
        return msgspec.convert(value, _BY_NAME[name].type, strict=False)
    except msgspec.ValidationError as error:
        shown = "its value" if name in SECRETS else repr(value)
        raise SettingsError(f"{name}, from {origin}: {shown} will not do: {error}") from error


def _check(settings: Settings, origins: Mapping[str, str]) -> None:
    if not settings.bus.startswith(("local:", "kafka://")) or settings.bus in (
        "local:",
        "kafka://",
    ):
        raise SettingsError(
            f"bus, from {origins['bus']}: {settings.bus!r} is neither local:DIR nor "
            "kafka://HOST:PORT[,HOST:PORT…]"
        )
    try:
        _ = settings.scheme
    except ValueError as error:
        raise SettingsError(
            f"hash_key, from {origins['hash_key']}: not a 64-bit number such as 0x9e3779b97f4a7c15"
        ) from error


_FIELDS = msgspec.structs.fields(Settings)
_BY_NAME = {field.name: field for field in _FIELDS}
