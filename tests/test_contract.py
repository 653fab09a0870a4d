"""What users' scripts rely on, as data, held against the command itself.

Names in these tables may be joined by others. Taking one away breaks somebody's script, and needs
a major version.
"""

from __future__ import annotations

import json
import re
import signal
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args
from urllib.request import urlopen

import pytest
from jsonschema import Draft202012Validator
from kafka import KafkaConsumer, TopicPartition

from deploy.kafka.broker import free_port
from streams import records, schemas
from streams.local import LocalBus
from streams.wire import Outgoing
from tests.command import Done, at_terminal, ended, read_lines, run, start

# A fixture that waits for what never comes says so soon.
pytestmark = pytest.mark.timeout(120)

OK, FOUND_DAMAGE, WRONG_USE, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 130

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
HEX = re.compile(r"[0-9a-f]+")

KINDS = {
    "duplicate", "labeled-page", "labeled-content", "near-duplicate", "quilt", "phrase-host",
    "bad-neighborhood", "discovered-content", "crawl-trap",
}  # fmt: skip
ALERT = {
    "id", "kind", "state", "severity", "url", "prefix", "site", "figure", "threshold", "labels",
    "donors", "evidence", "fetched_at", "detected_at", "detector", "labels_version",
}  # fmt: skip
DONOR = {"url", "share", "fetched_at"}
EVIDENCE = {"start", "end", "text", "donor", "donor_start", "donor_end", "label"}
VERDICT = {
    "url", "site", "fetched_at", "exact", "contains", "labels", "near_duplicate", "quilt",
    "popular_shingles", "truncated", "detector", "labels_version",
}  # fmt: skip
SUMMARY = {
    "records", "pages", "skipped", "damaged", "dead_letters", "alerts", "seconds",
}  # fmt: skip
DEAD_LETTER = {"reason", "source", "offset", "url", "detail", "at"}
CHECK = {"check", "ok", "found", "wanted", "do"}
SETTING = {"name", "value", "from"}

COMMANDS = [
    [], ["demo"], ["replay"], ["crawl"], ["work"], ["alerts"], ["alerts", "show"], ["verdicts"],
    ["dead-letters"], ["topics"], ["topics", "create"], ["topics", "check"], ["doctor"], ["config"],
]  # fmt: skip

# topic → key, schema, content type
TOPICS: dict[str, tuple[str | None, str, str]] = {
    "pages": (None, "page/1", "application/msgpack"),
    "fingerprints": (None, "fingerprints/1", "application/vnd.apache.arrow.stream"),
    "verdicts": ("id", "verdict/1", "application/json"),
    "alerts": ("id", "alert/1", "application/json"),
    "dead-letters": (None, "dead-letter/1", "application/json"),
}
CLOUD_EVENT = {"ce_specversion", "ce_id", "ce_type", "ce_source", "ce_time"}
DEMO_COPIES = 13


@dataclass(frozen=True)
class Tried:
    """A directory where the demo ran, and a damaged archive was replayed beside it."""

    directory: Path
    demo: Done
    damaged: Done
    bus: str = "local:.demo/state"

    def run(self, *arguments: str) -> Done:
        """A command on the bus of the demo."""
        return run(*arguments, "--bus", self.bus, cwd=self.directory)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    directory = tmp_path_factory.mktemp("tried")
    demo = run("demo", "--json", cwd=directory)
    assert demo.code == OK, demo.err
    whole = (directory / ".demo" / "web.warc.gz").read_bytes()
    (directory / "cut.warc.gz").write_bytes(whole[: len(whole) // 2])
    damaged = run("replay", "cut.warc.gz", "--bus", "local:cut", "--json", cwd=directory)
    return Tried(directory, demo, damaged)


def only_objects(done: Done, fields: set[str]) -> list[dict[str, Any]]:
    """What was printed: objects of these fields at least, and nothing on stderr."""
    assert done.code == OK, done.err
    assert done.err == ""
    assert done.out.endswith("\n") or not done.out
    for one in done.objects:
        assert fields <= one.keys(), fields - one.keys()
    return done.objects


def valid(name: str, objects: list[dict[str, Any]]) -> None:
    """As the published schema says."""
    validator = Draft202012Validator(schemas.schema_of(name))
    for one in objects:
        validator.validate(one)


# The command line


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(command: list[str], tmp_path: Path) -> None:
    done = run(*command, "--help", cwd=tmp_path)
    assert (done.code, done.err) == (OK, "")
    assert "Example: reusewatch " + " ".join(command) in " ".join(done.out.split())


def test_the_version_is_said(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path) == Done(OK, f"reusewatch {version('reusewatch')}\n", "")


# Objects


def test_the_demo_prints_alerts(tried: Tried) -> None:
    assert len(only_objects(tried.demo, ALERT)) == DEMO_COPIES


def test_alerts_have_the_fields_of_the_contract(tried: Tried) -> None:
    alerts = only_objects(tried.run("alerts", "--json"), ALERT)
    valid("alert", alerts)
    assert alerts == tried.demo.objects
    for alert in alerts:
        assert HEX.fullmatch(alert["id"])
        assert alert["kind"] in KINDS
        assert alert["state"] in ("open", "closed")
        assert alert["severity"] in ("info", "warning", "critical")
        assert alert["url"].startswith("http")
        assert alert["prefix"] is None
        assert alert["figure"] >= alert["threshold"]
        assert TIME.fullmatch(alert["fetched_at"])
        assert TIME.fullmatch(alert["detected_at"])
        for donor in alert["donors"]:
            assert donor.keys() >= DONOR
            assert TIME.fullmatch(donor["fetched_at"])
        shares = [donor["share"] for donor in alert["donors"]]
        assert shares == sorted(shares, reverse=True)
        for span in alert["evidence"]:
            assert span.keys() >= EVIDENCE
            assert len(span["text"]) <= 300
            assert span["start"] < span["end"]


def test_the_kinds_of_alerts_are_those_of_the_contract() -> None:
    assert set(get_args(records.Kind)) >= KINDS
    assert set(get_args(records.Severity)) == {"info", "warning", "critical"}


def test_alerts_are_chosen_by_kind_site_and_time(tried: Tried) -> None:
    everything = tried.demo.objects
    assert tried.run("alerts", "--json", "--kind", "duplicate").objects == everything
    assert tried.run("alerts", "--json", "--kind", "quilt").objects == []
    of_site = tried.run("alerts", "--json", "--site", "reader-view.example").objects
    assert of_site == [one for one in everything if one["site"] == "reader-view.example"]
    assert len(of_site) == 5
    middle = everything[6]["detected_at"]
    late = tried.run("alerts", "--json", "--since", middle).objects
    assert late == [one for one in everything if one["detected_at"] >= middle]
    assert tried.run("alerts", "--json", "--since", "2026-01-01").objects == everything
    assert tried.run("alerts", "--json", "--since", "2999-01-01").objects == []


def test_one_alert_is_shown_by_any_unique_beginning_of_its_id(tried: Tried) -> None:
    alert = tried.demo.objects[3]
    for given in (alert["id"], alert["id"][:8], alert["id"][:8].upper()):
        assert only_objects(tried.run("alerts", "show", given, "--json"), ALERT) == [alert]
    shown = tried.run("alerts", "show", alert["id"][:8])
    assert (shown.code, shown.err) == (OK, "")
    wanted = (alert["id"], alert["url"], alert["donors"][0]["url"], alert["evidence"][0]["text"])
    assert all(text in shown.out for text in wanted)


def test_verdicts_have_the_fields_of_the_contract(tried: Tried) -> None:
    verdicts = only_objects(tried.run("verdicts", "--json"), VERDICT)
    valid("verdict", verdicts)
    by_url = {one["url"]: one for one in verdicts}
    for alert in tried.demo.objects:
        exact = by_url[alert["url"]]["exact"]
        assert exact.keys() >= {"file", "text"}
        assert exact["text"] == alert["donors"][0]["url"]
        assert TIME.fullmatch(by_url[alert["url"]]["fetched_at"])


def test_verdicts_are_chosen_by_url_and_site(tried: Tried) -> None:
    alert = tried.demo.objects[0]
    of_url = tried.run("verdicts", "--json", "--url", alert["url"]).objects
    assert [one["url"] for one in of_url] == [alert["url"]]
    of_site = tried.run("verdicts", "--json", "--site", alert["site"]).objects
    assert len(of_site) > 1
    assert {one["site"] for one in of_site} == {alert["site"]}


def test_a_replay_ends_with_one_summary(tried: Tried) -> None:
    done = run("replay", ".demo/web.warc.gz", "--bus", "local:again", "--json", cwd=tried.directory)
    (summary,) = only_objects(done, SUMMARY)
    pages = len(tried.run("verdicts", "--json").objects)
    assert summary["pages"] == pages
    assert summary["records"] == pages + sum(summary["skipped"].values())
    assert (summary["damaged"], summary["dead_letters"]) == (0, 0)
    assert summary["alerts"] == DEMO_COPIES
    alerts = run("alerts", "--json", "--bus", "local:again", cwd=tried.directory).objects
    assert {one["id"] for one in alerts} == {one["id"] for one in tried.demo.objects}


def test_what_is_damaged_is_counted_buried_and_told(tried: Tried) -> None:
    (summary,) = tried.damaged.objects
    assert tried.damaged.code == FOUND_DAMAGE
    assert summary["damaged"] == summary["dead_letters"] == 1
    assert "reusewatch dead-letters --bus local:cut" in tried.damaged.err
    done = run("dead-letters", "--json", "--bus", "local:cut", cwd=tried.directory)
    (letter,) = only_objects(done, DEAD_LETTER)
    valid("dead-letter", [letter])
    assert (letter["reason"], Path(letter["source"]).name) == ("truncated", "cut.warc.gz")
    assert TIME.fullmatch(letter["at"])


def test_damage_may_be_allowed(tried: Tried) -> None:
    done = run(
        "replay", "cut.warc.gz", "--allow-damaged", "--json", "--bus", "local:allowed",
        cwd=tried.directory,
    )  # fmt: skip
    assert done.code == OK
    assert done.objects[0]["damaged"] == 1


def test_doctor_prints_checks(tried: Tried) -> None:
    checks = only_objects(tried.run("doctor", "--json"), CHECK)
    assert all(one["ok"] is True for one in checks)


def test_config_prints_each_setting_with_its_origin(tmp_path: Path) -> None:
    (tmp_path / "reusewatch.toml").write_text('window_pages = 5000\nbus = "local:a"\n')
    done = run("config", "--json", "--bus", "local:c", cwd=tmp_path, REUSEWATCH_WORKERS="2",
               REUSEWATCH_KAFKA_PASSWORD="hunter2", REUSEWATCH_BUS="local:b")  # fmt: skip
    found = {one["name"]: (one["value"], one["from"]) for one in only_objects(done, SETTING)}
    assert found["bus"] == ("local:c", "--bus")
    assert found["workers"] == (2, "REUSEWATCH_WORKERS")
    assert found["window_pages"] == (5000, "reusewatch.toml")
    assert found["commit_seconds"] == (2.0, "default")
    assert found["kafka_password"] == ("(secret)", "REUSEWATCH_KAFKA_PASSWORD")
    assert "hunter2" not in done.out + done.err


# Exit codes


WRONG: dict[str, list[str]] = {
    "no command": [],
    "unknown command": ["bogus"],
    "unknown option": ["alerts", "--bogus"],
    "nothing to replay": ["replay"],
    "no such archive": ["replay", "nowhere.warc.gz"],
    "no such pattern": ["replay", "no*.warc.gz"],
    "a tree without a URL": ["replay", "--tree", "."],
    "a bus of no kind": ["alerts", "--bus", "ftp://example.org"],
    "a time that is none": ["alerts", "--since", "yesterday"],
    "a kind that is none": ["alerts", "--kind", "odd"],
    "an id of no alert": ["alerts", "show", "ffff"],
    "a stage that is none": ["work", "bogus", "--bus", "kafka://127.0.0.1:1"],
    "a local bus has no workers": ["work", "index"],
    "a local bus has no topics": ["topics", "check"],
    "no such configuration": ["config", "--config", "nowhere.toml"],
    "a number out of range": ["replay", "x", "--workers", "0"],
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_wrong_use_is_2_with_a_word_on_stderr(arguments: list[str], tmp_path: Path) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert (done.code, done.out) == (WRONG_USE, "")
    assert done.err.strip()
    assert "Traceback" not in done.err


def test_a_wrong_variable_is_2_and_named(tmp_path: Path) -> None:
    done = run("config", cwd=tmp_path, REUSEWATCH_BOGUS="1")
    assert (done.code, done.out) == (WRONG_USE, "")
    assert "REUSEWATCH_BOGUS" in done.err


@pytest.mark.parametrize("arguments", [["alerts"], ["work", "index"]], ids=" ".join)
def test_a_broker_that_is_not_there_is_3(arguments: list[str], tmp_path: Path) -> None:
    done = run(*arguments, "--bus", f"kafka://127.0.0.1:{free_port()}", cwd=tmp_path)
    assert (done.code, done.out) == (UNREACHABLE, "")
    assert "Traceback" not in done.err
    assert "no Kafka broker at 127.0.0.1:" in done.err


def test_a_directory_that_cannot_be_made_is_3(tried: Tried) -> None:
    done = run("replay", ".demo/web.warc.gz", "--bus", "local:/proc/none", cwd=tried.directory)
    assert (done.code, done.out) == (UNREACHABLE, "")
    assert "/proc/none" in done.err


def test_a_newer_record_is_1_and_told_what_to_do(tmp_path: Path) -> None:
    bus = LocalBus(tmp_path / "bus")
    bus.lock()
    outlet = bus.outlet()
    headers = (("schema", b"alert/2"), ("content-type", b"application/json"))
    outlet.send(Outgoing("alerts", "key", b"{}", headers))
    outlet.close()
    bus.close()
    done = run("alerts", "--bus", "local:bus", cwd=tmp_path)
    assert (done.code, done.out) == (FOUND_DAMAGE, "")
    assert "alert/2" in done.err
    assert "upgrade" in done.err


def test_following_goes_on_until_interrupted(tried: Tried) -> None:
    following = start("alerts", "--json", "--follow", "--bus", tried.bus, cwd=tried.directory)
    read_lines(following, DEMO_COPIES)
    following.send_signal(signal.SIGINT)
    done = ended(following)
    assert (done.code, done.out) == (INTERRUPTED, "")
    assert "Traceback" not in done.err


def test_an_interrupted_replay_is_130_and_goes_on(tried: Tried) -> None:
    replay = ("replay", "--follow", ".demo", "--settle", "0", "--bus", "local:followed")
    replaying = start(*replay, cwd=tried.directory)
    (tried.directory / "followed").mkdir(exist_ok=True)
    following = start("alerts", "--json", "--follow", "--bus", "local:followed",
                      cwd=tried.directory)  # fmt: skip
    try:
        seen = read_lines(following, DEMO_COPIES)
    finally:
        following.kill()
        following.communicate()
        replaying.send_signal(signal.SIGINT)
        done = ended(replaying)
    assert len(seen) == DEMO_COPIES
    assert (done.code, done.out) == (INTERRUPTED, "")
    assert "run it again to go on" in done.err


def test_a_replay_serves_metrics_where_it_is_asked_to(tried: Tried) -> None:
    replay = ("replay", "--follow", ".demo", "--settle", "0", "--bus", "local:served")
    with start(*replay, "--metrics-port", "0", cwd=tried.directory) as replaying:
        assert replaying.stderr is not None
        address = replaying.stderr.readline().split()[-1]
        with urlopen(address) as answer:
            assert b"reusewatch_build_info" in answer.read()
        with urlopen(address.replace("metrics", "healthz")) as answer:
            assert answer.read() == b"ok\n"
        replaying.send_signal(signal.SIGINT)
        assert ended(replaying).code == INTERRUPTED


def test_a_reader_that_leaves_early_is_no_error(tried: Tried) -> None:
    with start("verdicts", "--json", "--bus", tried.bus, cwd=tried.directory) as printing:
        assert printing.stdout is not None
        assert printing.stderr is not None
        printing.stdout.close()
        assert printing.stderr.read() == ""
    assert printing.returncode == OK


# Streams


PLAIN: dict[str, list[str]] = {
    "alerts": ["alerts"],
    "verdicts": ["verdicts"],
    "config": ["config"],
    "replay": ["replay", ".demo/web.warc.gz"],
}


@pytest.mark.parametrize("arguments", PLAIN.values(), ids=PLAIN)
def test_what_is_piped_is_plain(arguments: list[str], tried: Tried) -> None:
    bus = "local:plain" if arguments[0] == "replay" else tried.bus
    done = run(*arguments, "--bus", bus, cwd=tried.directory, FORCE_COLOR="1")
    assert (done.code, done.err) == (OK, "")
    assert printable(done.out)


def printable(text: str) -> bool:
    """Nothing that a terminal obeys but the ends of lines and tabs."""
    return all(char.isprintable() for char in text.replace("\n", "").replace("\t", ""))


def test_piped_rows_are_complete_and_tables_are_for_terminals(tried: Tried) -> None:
    piped = [line.split("\t") for line in tried.run("alerts").out.splitlines()]
    ids = [one["id"] for one in tried.demo.objects]
    urls = [one["url"] for one in tried.demo.objects]
    assert [row[0] for row in piped] == ids
    assert [row[3] for row in piped] == urls
    code, table = at_terminal("alerts", "--bus", tried.bus, cwd=tried.directory)
    assert code == OK
    assert "\x1b[" in table
    assert "─" in table
    assert all(one[:8] in table and one not in table for one in ids)


WIDTHS = [("alerts", 60), ("alerts", 120), ("verdicts", 80), ("config", 80), ("dead-letters", 60)]


@pytest.mark.parametrize(("command", "columns"), WIDTHS)
def test_tables_fit_the_terminal_and_lose_nothing(command: str, columns: int, tried: Tried) -> None:
    bus = "local:cut" if command == "dead-letters" else tried.bus
    code, table = at_terminal(
        command, "--bus", bus, cwd=tried.directory, columns=columns, env={"NO_COLOR": "1"}
    )
    assert code == OK
    assert printable(table)
    assert max(map(len, table.splitlines())) <= columns
    if command == "alerts" and columns == 120:
        for one in tried.demo.objects:
            assert one["url"].removeprefix("https://") in table
            assert one["donors"][0]["url"].removeprefix("https://") in table


def test_bars_are_for_terminals_that_want_them(tried: Tried) -> None:
    arguments = ("replay", ".demo/web.warc.gz", "--bus", "local:bars")
    code, lively = at_terminal(*arguments, cwd=tried.directory)
    assert code == OK
    assert "━" in lively
    code, quiet = at_terminal(*arguments, cwd=tried.directory, env={"NO_COLOR": "1"})
    assert code == OK
    assert "━" not in quiet
    assert printable(quiet)


@pytest.mark.parametrize("terminal", [False, True], ids=["piped", "terminal"])
def test_the_demo_is_readable_at_100_columns(terminal: bool, tmp_path: Path) -> None:
    if terminal:
        code, text = at_terminal("demo", cwd=tmp_path, columns=100)
    else:
        done = run("demo", cwd=tmp_path)
        code, text = done.code, done.out
    assert code == OK
    assert max(map(len, text.splitlines())) <= 100
    assert "\t" not in text
    assert "\x1b" not in text
    assert f"{DEMO_COPIES} are found, each with its original" in text


HOSTILE = "\x1b]0;owned\x07\x1b[31m\x9b31mred \u202e mirrored \x7f"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """An archive of two pages with the same hostile words, and one record with a hostile URL."""
    html = f"<title>{HOSTILE}</title><p>{HOSTILE} words that are the same on both pages"
    names = ["http://one.example/a%1b[31m", "http://two.example/b\x1b[31m", "http://\x1b[31m/\x07"]
    with (tmp_path / "hostile.warc").open("wb") as file:
        for number, url in enumerate(names):
            http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{html}"
            body = http.encode()
            file.write(
                f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n"
                f"WARC-Date: 2026-03-02T06:00:0{number}Z\r\n"
                f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-00000000000{number}>\r\n"
                "Content-Type: application/http; msgtype=response\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode()
            )
            file.write(body + b"\r\n\r\n")
    return tmp_path / "hostile.warc"


def test_hostile_text_never_reaches_the_terminal_raw(hostile: Path) -> None:
    directory, no_color = hostile.parent, {"NO_COLOR": "1"}
    odd_name = directory / "odd\x1b[31m\r\n.warc"
    hostile.rename(odd_name)
    code, text = at_terminal("replay", odd_name.name, cwd=directory, env=no_color)
    assert code in (OK, FOUND_DAMAGE)
    assert printable(text)
    (alert,) = run("alerts", "--json", cwd=directory).objects
    show: list[tuple[str, ...]] = [
        ("alerts",), ("verdicts",), ("dead-letters",), ("alerts", "show", alert["id"]),
    ]  # fmt: skip
    for arguments in show:
        code, text = at_terminal(*arguments, cwd=directory, env=no_color)
        assert code == OK
        assert printable(text), arguments
        piped = run(*arguments, cwd=directory)
        assert printable(piped.out + piped.err), arguments
        as_json = run(*arguments, "--json", cwd=directory)
        assert all(char >= " " for char in as_json.out.replace("\n", "")), arguments


# On Kafka


@dataclass(frozen=True)
class OnKafka:
    """The demo's archive, replayed through a broker with one worker of each stage."""

    broker: str
    prefix: str
    directory: Path
    codes: dict[str, int]

    def run(self, *arguments: str) -> Done:
        """A command on these topics."""
        return on_kafka(*arguments, broker=self.broker, prefix=self.prefix, cwd=self.directory)

    def messages(self, topic: str) -> list[Any]:
        """Everything on a topic, as any Kafka client sees it."""
        consumer = KafkaConsumer(bootstrap_servers=self.broker, enable_auto_commit=False)
        try:
            name = self.prefix + topic
            parts = [TopicPartition(name, n) for n in consumer.partitions_for_topic(name) or ()]
            consumer.assign(parts)
            consumer.seek_to_beginning(*parts)
            ends = consumer.end_offsets(parts)
            found: list[Any] = []
            while any(consumer.position(part) < end for part, end in ends.items()):
                for batch in consumer.poll(timeout_ms=500).values():
                    found += batch
            return found
        finally:
            consumer.close()


def bus_flags(broker: str, prefix: str) -> tuple[str, ...]:
    return ("--bus", f"kafka://{broker}", "--topic-prefix", prefix)


def on_kafka(*arguments: str, broker: str, prefix: str, cwd: Path) -> Done:
    return run(*arguments, *bus_flags(broker, prefix), cwd=cwd)


@pytest.fixture(scope="module")
def kafka(broker: str, tried: Tried) -> OnKafka:
    prefix = f"contract-{free_port()}."
    flags = bus_flags(broker, prefix)
    codes = {}
    created = run("topics", "create", "--partitions", "2", *flags, cwd=tried.directory)
    assert created.code == OK, created.err
    stages = ("fingerprint", "index")
    working = {
        stage: start("work", stage, "--metrics-port", "0", "--state", stage, *flags,
                     cwd=tried.directory)
        for stage in stages
    }  # fmt: skip
    try:
        replayed = run("replay", ".demo/web.warc.gz", *flags, "--json", cwd=tried.directory)
        codes["replay"] = replayed.code
        following = start("alerts", "--json", "--follow", *flags, cwd=tried.directory)
        try:
            read_lines(following, DEMO_COPIES)
        finally:
            following.send_signal(signal.SIGINT)
            codes["follow"] = ended(following).code
    finally:
        for stage, process in working.items():
            process.send_signal(signal.SIGTERM)
            done = ended(process)
            codes[stage] = done.code
            assert done.out == "", "workers report on stderr"
    return OnKafka(broker, prefix, tried.directory, codes)


def test_workers_that_are_told_to_stop_end_with_0(kafka: OnKafka) -> None:
    expected = {"replay": OK, "follow": INTERRUPTED, "fingerprint": OK, "index": OK}
    assert kafka.codes == expected


def test_on_kafka_the_same_alerts_are_found(kafka: OnKafka, tried: Tried) -> None:
    # Donors and their evidence may differ with the order of arrival; what is found may not.
    changing = {"detected_at", "donors", "figure", "evidence"}

    def what(alerts: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
        kept = ALERT - changing
        return {one["id"]: {name: one[name] for name in kept} for one in alerts}

    here = only_objects(kafka.run("alerts", "--json"), ALERT)
    assert what(here) == what(tried.demo.objects)
    assert len(here) == DEMO_COPIES


def test_topics_have_the_names_keys_and_headers_of_the_contract(kafka: OnKafka) -> None:
    for topic, (key, schema, content_type) in TOPICS.items():
        for message in kafka.messages(topic):
            headers = dict(message.headers)
            assert headers["schema"].decode() == schema
            assert headers["content-type"].decode() == content_type
            if key is not None and message.value is not None:
                assert json.loads(message.value)[key] == message.key.decode()


def test_pages_are_keyed_by_registered_domain(kafka: OnKafka) -> None:
    keys = {message.key.decode() for message in kafka.messages("pages")}
    assert {"pagefarm.example", "harbour-gazette.example"} <= keys
    assert not any(key.startswith("www.") for key in keys)


def test_alerts_are_cloud_events(kafka: OnKafka) -> None:
    alerts = [message for message in kafka.messages("alerts") if message.value is not None]
    assert len(alerts) >= DEMO_COPIES
    for message in alerts:
        headers = {name: value.decode() for name, value in message.headers}
        assert headers.keys() >= CLOUD_EVENT
        assert headers["ce_specversion"] == "1.0"
        assert headers["ce_id"] == message.key.decode()
        assert headers["ce_type"] == "reusewatch.alert.duplicate"
        assert TIME.fullmatch(headers["ce_time"])


def test_values_on_kafka_are_as_their_schemas_say(kafka: OnKafka) -> None:
    for topic, name in (("verdicts", "verdict"), ("alerts", "alert")):
        values = [m.value for m in kafka.messages(topic) if m.value is not None]
        assert values
        valid(name, list(map(json.loads, values)))


def test_topics_are_made_once_and_checked(kafka: OnKafka) -> None:
    again = only_objects(kafka.run("topics", "create", "--json"), {"topic", "created"})
    assert {one["topic"] for one in again} >= {kafka.prefix + name for name in (*TOPICS, "labels")}
    assert not any(one["created"] for one in again)
    checks = only_objects(kafka.run("topics", "check", "--json", "--partitions", "2"), CHECK)
    assert all(one["ok"] for one in checks)
    assert only_objects(
        run("doctor", "--json", *bus_flags(kafka.broker, kafka.prefix), cwd=kafka.directory,
            REUSEWATCH_KAFKA_PARTITIONS="2"),
        CHECK,
    )  # fmt: skip


def test_topics_that_are_missing_are_1_with_what_to_do(kafka: OnKafka) -> None:
    done = on_kafka(
        "topics", "check", "--json", broker=kafka.broker, prefix="none.", cwd=kafka.directory
    )
    assert done.code == FOUND_DAMAGE
    wrong = [one for one in done.objects if not one["ok"]]
    assert wrong
    assert all(one.keys() >= CHECK for one in wrong)
    assert all(one["do"] for one in wrong)
