"""Asking live state: the worker that holds it, over HTTP; where none runs, the last snapshot."""

from __future__ import annotations

import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from reusewatch.streams import kernels
from reusewatch.streams.bus import Message, Unreachable
from reusewatch.streams.opening import open_bus, state_directory
from reusewatch.streams.questions import WAIT_SECONDS, BadQuestion, Parameters, Rows, Unanswered
from reusewatch.streams.running.stage_names import CHANGELOGS, PORTS
from reusewatch.streams.settings import Settings

_BAD, _AWAY = 400, 503


class Answered(msgspec.Struct, frozen=True):
    """Rows, and as of when they hold."""

    as_of: datetime
    answers: Rows


@dataclass(frozen=True, slots=True)
class Ask:
    """How a command asks the state of a stage. `at`: the address of a worker, instead of ours,
    which `option` names. `say` tells the operator what is waited for."""

    settings: Settings
    stage: str
    at: str | None = None
    say: Callable[[str], None] = lambda text: None
    option: str = "--at"

    def __call__(self, name: str, parameters: Parameters) -> Answered:
        """The answer. Unreachable where there is neither a worker nor a snapshot."""
        local = self.settings.bus.startswith("local:")
        if self.at is None and local:
            return self._from_snapshot(name, parameters)
        if self.at is None and self.stage in CHANGELOGS:
            # A worker holds its share of the sites only; the changelog has all of them.
            return self._from_changelog(name, parameters)
        try:
            return self._over_http(name, parameters)
        except Unreachable:
            if self.at is not None:
                raise
            return self._from_snapshot(name, parameters)

    def _over_http(self, name: str, parameters: Parameters) -> Answered:
        base = self.at or f"127.0.0.1:{PORTS[self.stage]}"
        address = base if "://" in base else f"http://{base}"
        # http only: an address that names a file is none.
        url = f"{address.rstrip('/')}/questions/{name}"
        # In the body: a page's terms are longer than an address may be.
        body = urllib.parse.urlencode(parameters).encode()
        try:
            with urllib.request.urlopen(url, body, timeout=WAIT_SECONDS + 5) as response:  # noqa: S310
                return msgspec.json.decode(response.read(), type=Answered)
        except urllib.error.HTTPError as error:
            text = error.read().decode("utf-8", "replace").strip()
            if error.code == _BAD:
                raise BadQuestion(text) from None
            if error.code == _AWAY:
                raise Unanswered(f"{address}: {text}") from None
            raise Unreachable(f"{address} answers {error.code}: is it a worker's port?") from None
        except (OSError, ValueError, msgspec.DecodeError) as error:
            raise Unreachable(
                f"{address} does not answer ({error}): name a worker of the stage {self.stage} "
                f"with {self.option} HOST:PORT, the port that serves its metrics"
            ) from None

    def _from_snapshot(self, name: str, parameters: Parameters) -> Answered:
        from reusewatch.streams.running import topology
        from reusewatch.streams.stages.index_answers import is_needed
        from reusewatch.streams.stages.snapshot import Snapshots

        directory = state_directory(self.settings)
        snapshots = Snapshots(directory / "snapshots", self.stage, self.settings.scheme)
        # Of what the index remembers most answers nothing that is asked for here.
        needs = partial(is_needed, name) if self.stage == "index" else None
        kernels.prepare_stored(self.say)
        stage = topology.stateful(self.stage, self.settings)
        loaded = snapshots.load(needs, partial(stage.restore, question=name))
        if loaded.state is None or loaded.written_at is None:
            if loaded.rejected:
                raise Unreachable(f"{'; '.join(loaded.rejected)}: a replay makes it anew")
            raise Unreachable(self._nobody(directory))
        as_of = datetime.fromtimestamp(loaded.written_at, UTC)
        return Answered(as_of, stage.answer(name, parameters))

    def _from_changelog(self, name: str, parameters: Parameters) -> Answered:
        from reusewatch.streams.running import topology

        bus = open_bus(self.settings, say=self.say)
        stage = topology.neighborhoods(self.settings, partitions=topology.partitions_of(bus))
        newest = 0
        found: dict[int, list[Message]] = {}
        for message in bus.read(CHANGELOGS[self.stage]):
            found.setdefault(message.partition.number, []).append(message)
            newest = max(newest, message.timestamp_ms)
        for part, messages in found.items():
            stage.take_up(part, messages)
        as_of = datetime.fromtimestamp(newest / 1000, UTC)
        return Answered(as_of, stage.answer(name, parameters))

    def _nobody(self, directory: Path) -> str:
        if self.settings.bus.startswith("local:"):
            return (
                f"{directory} holds no state of {self.stage} yet: replay something, or name --bus"
            )
        return (
            f"no worker of the stage {self.stage} answers, and {directory} holds no snapshot: "
            f"name a worker with {self.option} HOST:PORT, or the directory with --state"
        )
