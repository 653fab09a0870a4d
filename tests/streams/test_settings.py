"""Settings: which of four places decides, and what is said of a wrong or a secret one."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.replaying.jobs import Reader
from reusewatch.detector.discovery.online import Discovery
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.neighborhoods.neighborhoods import Neighborhoods
from reusewatch.detector.window import near_rules
from reusewatch.detector.window.index import LARGEST_CLASS
from reusewatch.streams.kafka import KafkaConfig
from reusewatch.streams.settings import SECRETS, Settings, SettingsError, described, resolve
from reusewatch.streams.settings.declared import HEADINGS
from reusewatch.streams.stages import discovering, judging_rules
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.labeled import LABELED_GRAMS, LabeledPages
from reusewatch.streams.stages.neighboring import NeighborhoodStage
from tests.end_to_end.runs import run

SECRET = "0xfeedfacecafebeef"


def toml(directory: Path, text: str) -> Path:
    path = directory / "reusewatch.toml"
    path.write_text(text)
    return path


def shown(rows: list[dict[str, Any]], name: str) -> tuple[Any, str]:
    (row,) = [row for row in rows if row["name"] == name]
    return row["value"], row["from"]


def test_flags_before_environment_before_file_before_defaults(tmp_path: Path) -> None:
    file = toml(tmp_path, "workers = 2\nbatch_pages = 20\nwindow_pages = 200\n")
    environ = {"REUSEWATCH_WORKERS": "3", "REUSEWATCH_BATCH_PAGES": "30", "PATH": "x"}
    found = resolve({"workers": 4, "bus": None}, environ=environ, file=file)
    assert found.settings.workers == 4
    assert found.settings.batch_pages == 30
    assert found.settings.window_pages == 200
    assert found.settings.commit_seconds == Settings().commit_seconds
    rows = found.shown()
    assert shown(rows, "workers") == (4, "--workers")
    assert shown(rows, "batch_pages") == (30, "REUSEWATCH_BATCH_PAGES")
    assert shown(rows, "window_pages") == (200, str(file))
    assert shown(rows, "commit_seconds") == (2.0, "default")
    assert len(rows) == len(Settings.__struct_fields__)


def test_config_says_the_same_as_a_command(tmp_path: Path) -> None:
    toml(tmp_path, "workers = 2\nkafka_partitions = 3\n")
    said = run(
        "config", "--bus", "local:x", "--json", cwd=tmp_path, kafka_partitions=9, hash_key=SECRET
    )
    assert said.code == 0, said.err
    assert shown(said.objects, "bus") == ("local:x", "--bus")
    assert shown(said.objects, "kafka_partitions") == (9, "REUSEWATCH_KAFKA_PARTITIONS")
    assert shown(said.objects, "workers") == (2, "reusewatch.toml")
    assert shown(said.objects, "hash_key") == ("(secret)", "REUSEWATCH_HASH_KEY")
    assert SECRET not in said.out + said.err


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_a_secret_is_never_shown_and_never_in_the_file(tmp_path: Path, name: str) -> None:
    environ = {f"REUSEWATCH_{name.upper()}": SECRET}
    found = resolve(environ=environ)
    assert shown(found.shown(), name) == ("(secret)", f"REUSEWATCH_{name.upper()}")
    kept = tmp_path / "secret.txt"
    kept.write_text(SECRET + "\n")
    by_file = resolve(environ={}, file=toml(tmp_path, f'{name}_file = "secret.txt"\n'))
    assert getattr(by_file.settings, name) == SECRET
    value, origin = shown(by_file.shown(), name)
    assert value == "(secret)"
    assert str(kept) in origin
    with pytest.raises(SettingsError, match=f"{name} is a secret: give it as REUSEWATCH_") as said:
        resolve(environ={}, file=toml(tmp_path, f'{name} = "{SECRET}"\n'))
    assert SECRET not in str(said.value)


def test_a_wrong_secret_is_not_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="hash_key, from REUSEWATCH_HASH_KEY") as said:
        resolve(environ={"REUSEWATCH_HASH_KEY": "hunter2"})
    assert "hunter2" not in str(said.value)


@pytest.mark.parametrize(
    ("file", "environ", "flags", "wrong"),
    [
        (
            "workers = 0",
            {},
            {},
            r"workers, from .*reusewatch\.toml: 0 will not do: it must be a whole number from 1 on",
        ),
        ("workers = 'x'", {}, {}, r"workers, from .*reusewatch\.toml"),
        (
            "workrs = 2",
            {},
            {},
            r"reusewatch\.toml: there is no setting workrs, did you mean workers\\?",
        ),
        (
            "policy = 'fuzzy'",
            {},
            {},
            "policy, from .*'fuzzy'.* one of across, henzinger, b, c, combined, eit",
        ),
        ("[kafka]\nx = 1", {}, {}, r"reusewatch\.toml: there is no setting kafka"),
        ("workers = ", {}, {}, r"reusewatch\.toml: cannot be read as TOML"),
        (
            "",
            {"REUSEWATCH_WORKERS": "many"},
            {},
            "workers, from REUSEWATCH_WORKERS: 'many' .* a whole number from 1 on",
        ),
        ("", {"REUSEWATCH_NOTHING": "1"}, {}, "REUSEWATCH_NOTHING: there is no setting nothing"),
        ("", {"REUSEWATCH_HASH_KEY_FILE": "/none"}, {}, "HASH_KEY_FILE: /none cannot be read"),
        ("", {"REUSEWATCH_HASH_KEY": str(1 << 64)}, {}, "hash_key.*not a 64-bit number"),
        ("", {}, {"bus": "http://x"}, "bus, from --bus: 'http://x' is neither local:DIR nor"),
        ("", {}, {"bus": "kafka://"}, "bus, from --bus"),
        (
            "",
            {},
            {"dead_letter_limit": 1.5},
            "dead_letter_limit, from --dead-letter-limit: 1.5 .* a number over 0, at most 1",
        ),
        (
            "",
            {},
            {"metrics_port": 70000},
            "metrics_port, from --metrics-port: 70000 .* from 0 to 65535",
        ),
    ],
)
def test_an_error_names_what_and_where(
    tmp_path: Path, file: str, environ: dict[str, str], flags: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(SettingsError, match=wrong):
        resolve(flags, environ=environ, file=toml(tmp_path, file))


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml"):
        resolve(environ={}, file=tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("args", "settings"),
    [
        (("replay", "x.warc.gz", "--workers", 0), {}),
        (("alerts",), {"workers": "many"}),
        (("work", "index"), {}),  # a local bus has no workers
        (("work", "nothing", "--bus", "kafka://127.0.0.1:1"), {}),
        (("replay", "nowhere.warc.gz"), {}),
        (("nothing",), {}),
        (("config", "--config", "none.toml"), {}),
    ],
)
def test_wrong_usage_ends_with_2_and_no_traceback(
    tmp_path: Path, args: tuple[object, ...], settings: dict[str, object]
) -> None:
    ended = run(*args, cwd=tmp_path, **settings)
    assert ended.code == 2, ended.err
    assert ended.out == ""
    assert ended.err
    assert "Traceback" not in ended.err


def test_every_setting_says_what_it_means_and_what_it_may_be() -> None:
    rows = {row["name"]: row for row in described.as_rows()}
    assert list(rows) == list(Settings.__struct_fields__)
    assert [name for name, row in rows.items() if not row["meaning"].endswith(".")] == []
    assert rows["policy"]["choices"] == ("across", "henzinger", "b", "c", "combined", "either")
    assert rows["b_similar"]["type"] == "a whole number from 1 to 6"
    assert rows["window_seconds"]["type"] == "a number over 0, at most 1000000000"
    assert {name for name, row in rows.items() if row["secret"]} == SECRETS
    assert HEADINGS.keys() <= rows.keys()


def test_the_template_is_every_setting_s_default(tmp_path: Path) -> None:
    lines = described.template().splitlines()
    given = [line[2:] for line in lines if line.startswith("# ") and " = " in line]
    values = tomllib.loads("\n".join(given))
    assert [name.removesuffix("_file") for name in values] == list(Settings.__struct_fields__)
    assert resolve(environ={}, file=toml(tmp_path, "\n".join(lines))).settings == Settings()
    for name in SECRETS:
        (tmp_path / values[f"{name}_file"]).write_text("0x1")
    found = resolve(environ={}, file=toml(tmp_path, "\n".join(given)))
    unset = {name for name, one in described.DESCRIPTIONS.items() if one.default in (None, ())}
    for name in set(values) - unset:
        if not name.endswith("_file"):
            assert getattr(found.settings, name) == getattr(Settings(), name)
    assert "default" not in found.origins.values()


def test_the_verb_describes_even_where_the_settings_are_wrong(tmp_path: Path) -> None:
    toml(tmp_path, "workers = 0\n")
    rows = run("config", "--describe", "--json", cwd=tmp_path)
    assert rows.code == 0, rows.err
    assert [row["name"] for row in rows.objects] == list(Settings.__struct_fields__)
    table = run("config", "--describe", "--format", "markdown", cwd=tmp_path)
    assert table.out == described.markdown()
    assert run("config", "--template", cwd=tmp_path).out == described.template()
    wrong = run("config", "--describe", "--format", "html", cwd=tmp_path)
    assert (wrong.code, wrong.out) == (2, "")


@pytest.mark.parametrize("said", ["/a,/b", " /a , /b, ", ["/a", "/b"]])
def test_a_list_is_one_in_a_file_and_has_commas_in_the_environment(
    tmp_path: Path, said: str | list[str]
) -> None:
    if isinstance(said, str):
        found = resolve(environ={"REUSEWATCH_ARCHIVE_ROOTS": said})
    else:
        found = resolve(environ={}, file=toml(tmp_path, f"archive_roots = {said}"))
    assert found.settings.archive_roots == ("/a", "/b")
    with pytest.raises(SettingsError, match="a list of text"):
        resolve(environ={}, file=toml(tmp_path, "archive_roots = [1]"))


def default_of(made_by: Callable[..., Any], name: str) -> Any:
    return signature(made_by).parameters[name].default


# What loads numba, or is of a layer above, cannot be read where settings are declared.
WRITTEN_TWICE: dict[str, list[Any]] = {
    "b_similar": [near_rules.B_SIMILAR],
    "c_similar": [near_rules.C_SIMILAR],
    "combined_c": [near_rules.COMBINED_C],
    "max_cluster": [LARGEST_CLASS, judging_rules.Rules().max_cluster],
    "evidence_pairs": [judging_rules.Rules().evidence_pairs],
    "precedence_seconds": [judging_rules.Rules().precedence_us // 1_000_000],
    "near_mwo": [judging_rules.Rules().least_mwo],
    "site": [judging_rules.Rules().site],
    "alert_near_same_site": [judging_rules.Rules().near_same_site],
    "alert_near_other_site": [judging_rules.Rules().near_other_site],
    "labeled_grams": [LABELED_GRAMS, default_of(LabeledPages, "grams")],
    "contains": [default_of(LabeledPages, "rule"), default_of(NeighborhoodStage, "rule")],
    "chunks": [default_of(FingerprintStage, "chunks")],
    "discover_pages": [discovering.Rules().pages, default_of(Discovery, "threshold")],
    "discover_file_pages": [discovering.Rules().file_pages],
    "discover_sites": [discovering.Rules().sites, default_of(Discovery, "min_sites")],
    "discover_length": [discovering.Rules().length],
    "neighborhood_files": [default_of(x, "min_files") for x in (Neighborhoods, NeighborhoodStage)],
    "neighborhood_prefixes": [
        default_of(x, "max_prefixes") for x in (Neighborhoods, NeighborhoodStage)
    ],
    "window_pages": [default_of(x, "max_pages") for x in (Neighborhoods, NeighborhoodStage)],
    "max_body_bytes": [Limits().max_body_bytes],
    "trust_dates": [default_of(Reader, "trust_dates")],
    "simhash_counts": [default_of(HashScheme, "counts")],
    "topic_prefix": [default_of(KafkaConfig, "topic_prefix")],
    "kafka_compression": [default_of(KafkaConfig, "compression")],
    "kafka_session_seconds": [default_of(KafkaConfig, "session_timeout")],
    "kafka_gather_seconds": [default_of(KafkaConfig, "gather")],
    "kafka_tls_check_hostname": [default_of(KafkaConfig, "ssl_check_hostname")],
}


@pytest.mark.parametrize("name", WRITTEN_TWICE)
def test_what_is_written_twice_is_the_same(name: str) -> None:
    assert WRITTEN_TWICE[name] == [getattr(Settings(), name)] * len(WRITTEN_TWICE[name])
