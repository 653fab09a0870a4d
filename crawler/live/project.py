"""The settings of reusewatch in a Scrapy project: those named `REUSEWATCH_*` among Scrapy's own.

They go before the environment and reusewatch.toml. One that only other commands use is an error
there, since it would do nothing; in the environment and in the file it is for them. Some names are
the add-on's alone: `REUSEWATCH_ENABLED`; `REUSEWATCH_CONFIG`, another file than ./reusewatch.toml;
`REUSEWATCH_QUEUE_RESPONSES` and `REUSEWATCH_QUEUE_BYTES`, how much may wait for the bus in memory;
`REUSEWATCH_EXIT_CODE = False`: a process whose crawl had trouble ends with the code that it would
have had without; `REUSEWATCH_STEER` and those that begin with it: see `steering_rules`;
`REUSEWATCH_TRAPS`: see `url_traps`; `REUSEWATCH_WARC`: see `warc`; `REUSEWATCH_JUDGE`: see `judge`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import msgspec
from scrapy.settings import BaseSettings

from reusewatch.crawler.live.feeder import GATHER_SECONDS, STEERED_GATHER_SECONDS, Capacity
from reusewatch.streams.alert_kinds import KINDS, OnPage
from reusewatch.streams.extras import needed_for
from reusewatch.streams.settings import (
    ENV_PREFIX,
    SECRETS,
    Part,
    Resolved,
    SettingsError,
    resolve,
)
from reusewatch.streams.steering.rules import MODES, Mode, Rules
from reusewatch.streams.trust import foreign_within

if TYPE_CHECKING:
    from reusewatch.crawler.live.warc import WarcFiles

logger = logging.getLogger(__name__)

ENABLED = f"{ENV_PREFIX}ENABLED"
CONFIG = f"{ENV_PREFIX}CONFIG"
QUEUE_RESPONSES = f"{ENV_PREFIX}QUEUE_RESPONSES"
QUEUE_BYTES = f"{ENV_PREFIX}QUEUE_BYTES"
# Whether a crawl that had trouble decides with which code its process ends.
EXIT_CODE = f"{ENV_PREFIX}EXIT_CODE"
# Of the bundled crawl: a bus that is away at the beginning is not waited for.
MUST_BE_THERE = "BUS_MUST_BE_THERE"
# What is found keeps requests out: "off", "dry-run" or "on"; what is done for each kind of finding
# ("drop", "lower" or "keep"); which share of requests is sent all the same; by how much a priority
# is lowered; and how old a finding may be.
STEER = f"{ENV_PREFIX}STEER"
STEER_ACTIONS = f"{STEER}_ACTIONS"
STEER_SAMPLED = f"{STEER}_SAMPLED"
STEER_LOWERED = f"{STEER}_LOWERED"
STEER_EXPIRE_DAYS = f"{STEER}_EXPIRE_DAYS"
_STEERING = (STEER, STEER_ACTIONS, STEER_SAMPLED, STEER_LOWERED, STEER_EXPIRE_DAYS)
# Requests whose URLs are part of a crawl trap: "off", "dry-run" or "on".
TRAPS = f"{ENV_PREFIX}TRAPS"
# Whether a page is judged before its links are followed, and what is done for each kind of finding.
JUDGE, JUDGE_ACTIONS = f"{ENV_PREFIX}JUDGE", f"{ENV_PREFIX}JUDGE_ACTIONS"
_JUDGED: Mapping[str, Sequence[str]] = {x.name: x.on_page for x in KINDS.values() if x.on_page}
_MAY_BE_DONE = frozenset(get_args(OnPage))
# A directory for WARC files of what is fetched, and at which size a file is closed.
WARC, WARC_BYTES = f"{ENV_PREFIX}WARC", f"{ENV_PREFIX}WARC_BYTES"
OF_THE_ADDON = (
    ENABLED, CONFIG, QUEUE_RESPONSES, QUEUE_BYTES, EXIT_CODE, TRAPS, WARC,
    WARC_BYTES, JUDGE, JUDGE_ACTIONS, *_STEERING,
)  # fmt: skip
# From a response to its effect within a second: two commits are on that way.
_STEERED_COMMIT_SECONDS = 0.25


def resolved(settings: BaseSettings) -> Resolved:
    """The settings of reusewatch that hold in a Scrapy project. Raises SettingsError."""
    file = settings.get(CONFIG)
    # By these names an error says where the value stands: in the project's settings.
    given = _given(settings)
    found = resolve(environ={**os.environ, **given}, file=Path(file) if file else None)
    names = [key.removeprefix(ENV_PREFIX).lower() for key in given]
    judge: tuple[Part, ...] = ("judge",) if settings.getbool(JUDGE) else ()
    found.require_used((name for name in names if name in found.origins), "crawl", *judge)
    changed: dict[str, Any] = {}
    if steering_rules(settings).mode != "off":
        changed["commit_seconds"] = min(found.settings.commit_seconds, _STEERED_COMMIT_SECONDS)
    if directory := settings.get(WARC):
        # Evidence is read from there.
        changed["archive_roots"] = (*found.settings.archive_roots, str(Path(directory).resolve()))
    return replace(found, settings=msgspec.structs.replace(found.settings, **changed))


def warc_files(settings: BaseSettings) -> WarcFiles | None:
    """Where what is fetched is kept, if anywhere. Raises SettingsError."""
    directory = settings.get(WARC)
    if not directory:
        return None
    with needed_for(f"{WARC} ({directory})"):
        from reusewatch.crawler.live.warc import FILE_BYTES, WarcFiles
    software = f"reusewatch/{version('reusewatch')}"
    try:
        file_bytes = settings.getint(WARC_BYTES, FILE_BYTES)
        return WarcFiles(Path(directory), software=software, file_bytes=file_bytes)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{WARC} = {directory}: {error}") from error


def steering_rules(settings: BaseSettings) -> Rules:
    """How the crawl is steered. Raises SettingsError."""
    default = Rules(seed=0)
    try:
        return Rules(
            mode=settings.get(STEER, default.mode),
            actions={**default.actions, **settings.getdict(STEER_ACTIONS)},
            sampled=settings.getfloat(STEER_SAMPLED, default.sampled),
            lowered=settings.getint(STEER_LOWERED, default.lowered),
            expires=timedelta(days=settings.getfloat(STEER_EXPIRE_DAYS, default.expires.days)),
        )
    except (ValueError, OverflowError) as error:
        raise SettingsError(f"{', '.join(_STEERING)}: {error}") from error


def judge_actions(settings: BaseSettings) -> Mapping[str, Sequence[str]] | None:
    """What is done for each kind of finding; None where no page is judged. Raises SettingsError."""
    if not settings.getbool(JUDGE):
        return None
    try:
        given = {kind: tuple(done) for kind, done in settings.getdict(JUDGE_ACTIONS).items()}
    except (ValueError, TypeError) as error:
        raise SettingsError(f"{JUDGE_ACTIONS}: {error}") from error
    if unknown := sorted(given.keys() - _JUDGED.keys()):
        raise SettingsError(f"{JUDGE_ACTIONS}: {unknown[0]}: there is {', '.join(_JUDGED)}")
    if wrong := sorted({one for done in given.values() for one in done} - _MAY_BE_DONE):
        known = ", ".join(sorted(_MAY_BE_DONE))
        raise SettingsError(f"{JUDGE_ACTIONS}: {wrong[0]}: lists of {known}")
    return {**_JUDGED, **given}


def traps_mode(settings: BaseSettings) -> Mode:
    """What is done with requests whose URLs are part of a trap. Raises SettingsError."""
    mode = settings.get(TRAPS, "off")
    if mode not in MODES:
        raise SettingsError(f"{TRAPS} = {mode!r}: there is {', '.join(MODES)}")
    return cast("Mode", mode)


def gather_seconds(settings: BaseSettings) -> float:
    """How long pages are gathered before they are handed on."""
    steered = steering_rules(settings).mode != "off"
    return STEERED_GATHER_SECONDS if steered else GATHER_SECONDS


def capacity(settings: BaseSettings) -> Capacity:
    """How much may wait for the bus. Raises SettingsError."""
    default = Capacity()
    try:
        return Capacity(
            settings.getint(QUEUE_RESPONSES, default.items),
            settings.getint(QUEUE_BYTES, default.bytes),
        )
    except ValueError as error:
        raise SettingsError(f"{QUEUE_RESPONSES}, {QUEUE_BYTES}: {error}") from error


def check(settings: BaseSettings) -> None:
    """Raise SettingsError for a setting that cannot be, after saying so on one line."""
    try:
        resolved(settings)
        capacity(settings)
        steering_rules(settings)
        traps_mode(settings)
        judge_actions(settings)
        _job_of_this_user(settings)
    except SettingsError as error:
        _tell(error)
        raise


def _job_of_this_user(settings: BaseSettings) -> None:
    """Scrapy unpickles what lies in JOBDIR."""
    given = settings.get("JOBDIR")
    if given and (why := foreign_within(Path(given).resolve())):
        raise SettingsError(
            f"JOBDIR: {why}: Scrapy runs what is pickled there; have it belong to the user who "
            "crawls, and be written by no other (chmod go-w)"
        )


def _given(settings: BaseSettings) -> Mapping[str, str]:
    given = {}
    for key, value in settings.items():
        name = str(key)
        if not name.startswith(ENV_PREFIX) or name in OF_THE_ADDON or value is None:
            continue
        if name.removeprefix(ENV_PREFIX).lower() in SECRETS:
            raise SettingsError(
                f"{name} is a secret: give it in the environment, or name a file that holds it "
                f"with {name}_FILE"
            )
        given[name] = value
    return given


def _tell(error: SettingsError) -> None:
    """Say what is wrong on one line. The error must still be raised, or the crawl would begin."""
    logger.critical("reusewatch: %s", error)
    # A crawl is a task of asyncio, which logs what ended it with a traceback of forty lines: they
    # would be the last that is read, and say the same.
    logging.getLogger("asyncio").addFilter(
        lambda record: record.exc_info is None or record.exc_info[1] is not error
    )
