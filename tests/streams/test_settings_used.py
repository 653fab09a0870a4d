"""Each setting says who uses it: exactly those read it, and given to others it is an error."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from scrapy.settings import Settings as ScrapySettings

from reusewatch.crawler.addon import ReuseWatch
from reusewatch.crawler.live.project import resolved
from reusewatch.crawler.verbs import replay, work
from reusewatch.streams.kafka import KafkaConfig
from reusewatch.streams.settings import Settings, SettingsError
from reusewatch.streams.settings.declared import STAGES
from reusewatch.streams.settings.described import DESCRIPTIONS
from reusewatch.streams.signals import Stop
from reusewatch.streams.verbs import options
from tests.command import ROOT
from tests.command import run as reusewatch
from tests.crawler.live.crawls import run
from tests.crawler.live.own import PROJECT, arguments
from tests.crawler.live.site import demo_site, serving
from tests.streams import recorded

KAFKA = "kafka://127.0.0.1:9"


def project(**given: object) -> ScrapySettings:
    return ScrapySettings({f"REUSEWATCH_{name}": value for name, value in given.items()})


@pytest.mark.parametrize(
    ("name", "value", "command"),
    [
        ("OWNED", ["x.example"], "reusewatch work index"),
        ("TRUST_DATES", ["/"], "reusewatch replay"),
        ("KEEP_PAGES", "2GB", "reusewatch replay --bus local:DIR"),
    ],
)
def test_a_project_cannot_set_what_only_other_commands_use(
    name: str, value: object, command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError) as said:
        ReuseWatch().update_settings(project(BUS=KAFKA, **{name: value}))
    assert f"REUSEWATCH_{name} does nothing here" in str(said.value)
    assert f"set `{name.lower()}` where `{command}`" in str(said.value)
    # The process that the crawl starts on a local bus uses it.
    ReuseWatch().update_settings(project(BUS="local:state", **{name: value}))


def test_what_the_whole_deployment_shares_holds_settings_of_all_commands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reusewatch.toml").write_text('allowed = ["y.example"]\n')
    monkeypatch.setenv("REUSEWATCH_OWNED", "x.example")
    found = resolved(project(BUS=KAFKA)).settings
    assert (found.owned, found.allowed) == (("x.example",), ("y.example",))


def test_a_crawl_that_judges_uses_what_judging_needs() -> None:
    found = resolved(project(BUS=KAFKA, OWNED=["x.example"], JUDGE=True)).settings
    assert found.owned == ("x.example",)
    with pytest.raises(SettingsError, match="REUSEWATCH_QUILT_M does nothing here"):
        resolved(project(BUS=KAFKA, QUILT_M=5, JUDGE=True))


@pytest.mark.parametrize(
    "words",
    [
        ("work", "index", "--workers", "2"),
        ("replay", "x.warc.gz", "--workers", "2"),
        ("crawl", "http://127.0.0.1:9/", "--allow-private", "--workers", "2"),
    ],
)
def test_a_flag_that_does_nothing_is_wrong_use(words: tuple[str, ...], tmp_path: Path) -> None:
    done = reusewatch(*words, "--bus", KAFKA, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "--workers does nothing here, where the bus is Kafka" in done.err


def used_by(part: str) -> set[str]:
    """What the declarations say, but for the connection: all of that is read together."""
    found = {name for name, one in DESCRIPTIONS.items() if part in one.used_by}
    return {name for name in found if not name.startswith("kafka_")}


def read_but_connection() -> set[str]:
    return {name for name in recorded.names_read() if not name.startswith("kafka_")}


def on(config: KafkaConfig) -> dict[str, str]:
    return {"bus": f"kafka://{config.bootstrap_servers[0]}", "topic_prefix": config.topic_prefix}


@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_reads_what_is_declared_for_its_stage(
    stage: str, kafka_config: KafkaConfig, tmp_path: Path
) -> None:
    settings = recorded.recorded(
        Settings(state=str(tmp_path), metrics_port=0, **on(kafka_config))  # type: ignore[arg-type]
    )
    stop = Stop()
    stop.set()
    work._work(stage, settings, stop, work._run)
    assert read_but_connection() == used_by(stage)


def test_a_replay_reads_what_is_declared_for_it(
    kafka_config: KafkaConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.html").write_text("<p>Some words.")
    monkeypatch.setattr(options, "resolve", recorded.resolve_recorded)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in on(kafka_config).items()]
    app = typer.Typer()
    replay.register(app)
    app(["--tree", "tree=https://a.example/", *flags], standalone_mode=False)
    assert read_but_connection() == used_by("replay")


_CRAWL = (
    PROJECT
    + f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import atexit
from reusewatch.crawler.live import project
from tests.streams import recorded

project.resolve = recorded.resolve_recorded
atexit.register(lambda: open("read", "w").write(" ".join(recorded.names_read())))
"""
)


def test_a_crawl_reads_what_is_declared_for_it(kafka_config: KafkaConfig, tmp_path: Path) -> None:
    given = {f"REUSEWATCH_{name.upper()}": value for name, value in on(kafka_config).items()}
    with serving(demo_site()) as site:
        asked = arguments(
            tmp_path, [site.url("/target")], _CRAWL, **given,
            REUSEWATCH_ON_TROUBLE="spill", REUSEWATCH_METRICS_PORT=0,
        )  # fmt: skip
        code, _, err = run(asked, tmp_path)
    assert code == 0, err
    read = set((tmp_path / "read").read_text().split())
    assert {name for name in read if not name.startswith("kafka_")} == used_by("crawl")
