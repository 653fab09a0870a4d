"""What only reads changes nothing, and answers the same: at rest, beside a replay, read-only."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.command import ended, environment, start
from tests.contract import read_in_turn
from tests.contract.tables import DEMO_PACK, OK, UNREACHABLE, Tried

pytestmark = pytest.mark.timeout(600)

ARCHIVE = ".demo/web.warc.gz"
BUS = ("--bus", "local:bus")
# What is asked of a bus; ID and URL are of an alert about two pages.
OF_A_BUS: dict[str, tuple[str, ...]] = {
    "alerts": ("alerts", "--json"),
    "alerts, a table": ("alerts",),
    "alerts show": ("alerts", "show", "ID", "--json"),
    "alerts show, drawn": ("alerts", "show", "ID"),
    "alerts summary": ("alerts", "summary", "--json"),
    "verdicts": ("verdicts", "--json"),
    "dead-letters": ("dead-letters", "--json"),
    "prefixes": ("prefixes", "--json"),
    "similar": ("similar", "URL", "--json"),
    "clusters": ("clusters", "--json"),
    "neighborhoods": ("neighborhoods", "--json"),
    "phrases": ("phrases", "--json"),
    "phrases --hosts": ("phrases", "--hosts", "--json"),
    "cover": ("cover", "URL", "--json"),
    "labels show": ("labels", "show", "--json"),
    "labels preview": ("labels", "preview", DEMO_PACK, "--json"),
    "labels propose-stops": ("labels", "propose-stops", "--min-sites", "2", "--json"),
    "labels discover": ("labels", "discover", "--pages", "3", "--sites", "2", "--json"),
}
BESIDE_IT: dict[str, tuple[str, ...]] = {
    "labels show, a pack": ("labels", "show", DEMO_PACK, "--json"),
    "labels verify": ("labels", "verify", DEMO_PACK, "--json"),
    "labels diff": ("labels", "diff", DEMO_PACK, DEMO_PACK, "--json"),
    "fingerprint": ("fingerprint", ARCHIVE, "--url", "URL", "--json"),
    "config": ("config", "--json", *BUS),
    "topics check": ("topics", "check", *BUS),
    "doctor": ("doctor", "--json", *BUS),
}
READ = {name: (*words, *BUS) for name, words in OF_A_BUS.items()} | BESIDE_IT
# It says how much room there is, and whether the directory can be written to.
ANSWERS_DIFFER = ("doctor",)


@dataclass(frozen=True)
class Answer:
    """How a command ended, what it said, and the files that are not as they were."""

    code: int
    out: str
    err: str
    changed: list[str]


Answers = Mapping[str, Answer]


def answers(
    directory: Path, commands: Mapping[str, Sequence[str]], bus: str, *, before: Sequence[str] = ()
) -> Answers:
    """The commands' answers, in a directory."""
    script = [sys.executable, read_in_turn.__file__, str(directory / bus)]
    done = subprocess.run(
        [*before, *script], cwd=directory, env=environment(), text=True, capture_output=True,
        input="".join(json.dumps(words) + "\n" for words in commands.values()), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = (Answer(*json.loads(line)) for line in done.stdout.splitlines())
    return dict(zip(commands, found, strict=True))


def only_read(directory: Path) -> list[str]:
    """Runs a command where the directory is mounted so that it can only be read."""
    mounted = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"'
    rights = [] if os.getuid() == 0 else ["--map-root-user"]
    return ["unshare", *rights, "--mount", "sh", "-c", mounted, str(directory)]


@pytest.fixture(scope="module")
def place(tried: Tried, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the demo left."""
    directory = tmp_path_factory.mktemp("reading")
    shutil.copytree(tried.directory / ".demo", directory / ".demo", copy_function=shutil.copy2)
    shutil.copytree(directory / ".demo" / "state", directory / "bus", copy_function=shutil.copy2)
    return directory


@pytest.fixture(scope="module")
def commands(tried: Tried) -> dict[str, list[str]]:
    """The commands, about an alert of the demo."""
    alert = tried.of_kind("near-duplicate")[0]
    named = {"ID": alert["id"], "URL": alert["url"]}
    return {name: [named.get(word, word) for word in words] for name, words in READ.items()}


@pytest.fixture(scope="module")
def at_rest(place: Path, commands: dict[str, list[str]]) -> Answers:
    """Where the directory can be written to, and nobody does."""
    return answers(place, commands, "bus")


@pytest.fixture(scope="module")
def read_only(place: Path, commands: dict[str, list[str]], at_rest: Answers) -> Answers:
    """Where nothing can be written."""
    return answers(place, commands, "bus", before=only_read(place))


@pytest.fixture(scope="module")
def beside(place: Path, commands: dict[str, list[str]], read_only: Answers) -> Iterator[Answers]:
    """While a replay has the bus, and waits for archives."""
    (place / "later").mkdir()
    replay = ("replay", "--follow", "later", "--metrics-port", "0", *BUS)
    with start(*replay, cwd=place) as replaying:
        assert replaying.stderr is not None
        try:
            assert "metrics" in replaying.stderr.readline()
            yield answers(place, commands, "bus")
        finally:
            replaying.send_signal(signal.SIGINT)
            ended(replaying)


@pytest.mark.parametrize("name", READ)
def test_nothing_changes(name: str, at_rest: Answers) -> None:
    assert at_rest[name].changed == []
    assert at_rest[name].code == (2 if name == "topics check" else OK), at_rest[name].err


@pytest.mark.parametrize("name", READ)
def test_a_bus_that_can_only_be_read_answers_the_same(
    name: str, at_rest: Answers, read_only: Answers
) -> None:
    assert read_only[name].changed == []
    if name not in ANSWERS_DIFFER:
        assert (read_only[name].code, read_only[name].out) == (
            at_rest[name].code,
            at_rest[name].out,
        )


def test_doctor_says_that_a_directory_can_only_be_read(read_only: Answers) -> None:
    assert read_only["doctor"].code == UNREACHABLE
    rows = {row["check"]: row for row in map(json.loads, read_only["doctor"].out.splitlines())}
    assert rows["state directory bus"]["found"] == "not writable"
    assert rows["bus"]["ok"]


@pytest.mark.parametrize("name", READ)
def test_beside_a_replay_the_answer_is_the_same(
    name: str, at_rest: Answers, beside: Answers
) -> None:
    if name not in ANSWERS_DIFFER:
        assert (beside[name].code, beside[name].out) == (at_rest[name].code, at_rest[name].out)


@pytest.fixture(scope="module")
def of_no_bus(place: Path, commands: dict[str, list[str]], at_rest: Answers) -> Answers:
    """Of a directory that is something else's."""
    (place / "other").mkdir()
    (place / "other" / "file").write_text("not ours")
    asked = {name: [*commands[name][:-1], "local:other"] for name in OF_A_BUS}
    return answers(place, asked, "other")


@pytest.fixture(scope="module")
def of_nothing(place: Path, commands: dict[str, list[str]], at_rest: Answers) -> Answers:
    """Of a directory that is not there."""
    asked = {name: [*commands[name][:-1], "local:missing"] for name in OF_A_BUS}
    return answers(place, asked, "missing")


@pytest.mark.parametrize("name", OF_A_BUS)
def test_a_directory_that_is_no_bus_is_named_and_left_alone(name: str, of_no_bus: Answers) -> None:
    said = of_no_bus[name]
    assert (said.code, said.out, said.changed) == (UNREACHABLE, "", []), said.err
    assert "other holds no" in said.err
    assert "replay something, or name --bus" in said.err


@pytest.mark.parametrize("name", OF_A_BUS)
def test_a_directory_that_is_not_there_is_named_and_not_made(
    name: str, of_nothing: Answers, place: Path
) -> None:
    said = of_nothing[name]
    assert (said.code, said.out, said.changed) == (UNREACHABLE, "", []), said.err
    assert "missing" in said.err
    assert "replay something, or name --bus" in said.err


_KILLED = """
import os, sys
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.local import LocalBus
bus = LocalBus(sys.argv[1])
bus.lock()
outlet = bus.outlet()
outlet.send(Outgoing("alerts", "0" * 32, None))
outlet.flush()
os._exit(9)
"""


def test_what_a_killed_process_wrote_is_read_where_nothing_can_be_written(
    place: Path, at_rest: Answers
) -> None:
    shutil.copytree(place / ".demo" / "state", place / "killed", copy_function=shutil.copy2)
    subprocess.run([sys.executable, "-c", _KILLED, "killed"], cwd=place, check=False)
    assert (place / "killed" / "bus.sqlite-wal").stat().st_size
    asked = {"alerts": ["alerts", "--json", "--bus", "local:killed"]}
    said = answers(place, asked, "killed", before=only_read(place))["alerts"]
    assert (said.code, said.changed) == (OK, []), said.err
    assert said.out == at_rest["alerts"].out
