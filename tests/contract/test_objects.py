"""What `--json` prints."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from reusewatch.streams import alert_kinds
from tests.command import run
from tests.contract.tables import (
    ALERT,
    CHECK,
    DEAD_LETTER,
    DEMO_ALERTS,
    DEMO_CONFIG,
    DEMO_PACK,
    DONOR,
    EVIDENCE,
    FOUND_DAMAGE,
    HEX,
    KINDS,
    OK,
    PLANTED,
    SETTING,
    SUMMARY,
    TIME,
    VERDICT,
    Tried,
    only_objects,
    valid,
)

# A fixture that waits for what never comes says so soon.
pytestmark = pytest.mark.timeout(300)


def test_the_demo_prints_alerts(tried: Tried) -> None:
    found = only_objects(tried.demo, ALERT)
    assert Counter(one["kind"] for one in found) == PLANTED


def test_alerts_have_the_fields_of_the_contract(tried: Tried) -> None:
    alerts = only_objects(tried.run("alerts", "--json"), ALERT)
    valid("alert", alerts)
    assert alerts == tried.demo.objects
    for alert in alerts:
        assert HEX.fullmatch(alert["id"])
        assert alert["kind"] in KINDS
        assert alert["state"] in ("open", "closed")
        assert alert["severity"] in ("info", "warning", "critical")
        assert (alert["url"] is None) != (alert["prefix"] is None)
        assert (alert["url"] or alert["prefix"]).startswith("http")
        assert alert["prefix"] is None or alert["prefix"].endswith("/")
        assert alert["figure"] >= alert["threshold"]
        assert TIME.fullmatch(alert["fetched_at"])
        assert TIME.fullmatch(alert["detected_at"])
        for donor in alert["donors"]:
            assert donor.keys() >= DONOR
            assert TIME.fullmatch(donor["fetched_at"])
        shares = [donor["share"] for donor in alert["donors"]]
        # Owned donors come first, whatever they gave.
        if alert["direction"] is None or alert["direction"]["by"] != "owned":
            assert shares == sorted(shares, reverse=True)
        for span in alert["evidence"]:
            assert span.keys() >= EVIDENCE
            assert len(span["text"] or "") <= 300
            assert (span["start"] is None) == (span["end"] is None)
            assert span["start"] is None or span["start"] < span["end"]
        if alert["kind"].startswith("labeled"):
            assert alert["labels"]
            assert {span["label"] for span in alert["evidence"]} <= set(alert["labels"])


def test_the_kinds_of_alerts_are_those_of_the_contract() -> None:
    assert set(alert_kinds.KINDS) >= KINDS
    assert set(alert_kinds.SEVERITIES) == {"info", "warning", "critical"}


def test_alerts_are_chosen_by_kind_site_and_time(tried: Tried) -> None:
    everything = tried.demo.objects
    for kind in PLANTED:
        assert tried.run("alerts", "--json", "--kind", kind).objects == tried.of_kind(kind)
    nowhere = ("--kind", "quilt", "--site", "nowhere.example")
    assert tried.run("alerts", "--json", *nowhere).objects == []
    of_site = tried.run("alerts", "--json", "--site", "reader-view.example").objects
    assert of_site == [one for one in everything if one["site"] == "reader-view.example"]
    assert len(of_site) == 5
    middle = everything[6]["detected_at"]
    late = tried.run("alerts", "--json", "--since", middle).objects
    assert late == [one for one in everything if one["detected_at"] >= middle]
    assert tried.run("alerts", "--json", "--since", "2026-01-01").objects == everything
    assert tried.run("alerts", "--json", "--since", "2999-01-01").objects == []


def test_one_alert_is_shown_by_any_unique_beginning_of_its_id(tried: Tried) -> None:
    alert = tried.of_kind("duplicate")[3]
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
    for alert in tried.of_kind("near-duplicate"):
        near = by_url[alert["url"]]["near_duplicate"]
        assert near.keys() >= {"url", "b", "c", "relation", "cluster"}
        assert near["url"] == alert["donors"][0]["url"]
    for alert in tried.of_kind("labeled-content"):
        verdict = by_url[alert["url"]]
        assert (verdict["contains"], verdict["labels"]) == (alert["figure"], alert["labels"])
    for alert in tried.of_kind("duplicate"):
        exact = by_url[alert["url"]]["exact"]
        assert exact.keys() >= {"file", "text"}
        assert exact["text"] == alert["donors"][0]["url"]
        assert TIME.fullmatch(by_url[alert["url"]]["fetched_at"])


def test_verdicts_are_chosen_by_url_and_site(tried: Tried) -> None:
    alert = tried.of_kind("duplicate")[0]
    of_url = tried.run("verdicts", "--json", "--url", alert["url"]).objects
    assert [one["url"] for one in of_url] == [alert["url"]]
    of_site = tried.run("verdicts", "--json", "--site", alert["site"]).objects
    assert len(of_site) > 1
    assert {one["site"] for one in of_site} == {alert["site"]}


def test_a_replay_ends_with_one_summary(tried: Tried) -> None:
    pushed = run("labels", "push", DEMO_PACK, "--bus", "local:again", cwd=tried.directory)
    assert pushed.code == OK, pushed.err
    done = run("replay", ".demo/web.warc.gz", "--bus", "local:again", *DEMO_CONFIG, "--json",
               cwd=tried.directory)  # fmt: skip
    (summary,) = only_objects(done, SUMMARY)
    pages = len(tried.run("verdicts", "--json").objects)
    assert summary["pages"] == pages
    assert summary["records"] == pages + sum(summary["skipped"].values())
    assert (summary["damaged"], summary["dead_letters"]) == (0, 0)
    assert summary["alerts"] == DEMO_ALERTS
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
