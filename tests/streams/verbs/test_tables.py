"""The tables of deploy/README.md are those of the code, and name everything that there is."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reusewatch.streams.running.crawl_metrics import DECLARED
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.stages.events import DEAD, EVENTS, FINDINGS
from reusewatch.streams.verbs import tables
from tests.command import ROOT


@pytest.mark.parametrize("name", tables.TABLES)
def test_what_is_published_is_current(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert tables.current(text, tables.TABLES[name]) == text, "run `make docs`"


def test_they_are_written_by_running_the_module(tmp_path: Path) -> None:
    for name in tables.TABLES:
        (tmp_path / name).parent.mkdir()
        text = (ROOT / name).read_text("utf-8")
        changed = text.replace("| `policy` |", "| `polity` |").replace("| `quilt` |", "| `patch` |")
        assert changed != text
        (tmp_path / name).write_text(changed, "utf-8")
    subprocess.run([sys.executable, "-m", "reusewatch.streams.verbs.tables", tmp_path], check=True)
    for name in tables.TABLES:
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes()


def test_a_text_without_a_place_for_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for settings"):
        tables.current("# Nothing\n", tables.TABLES["deploy/README.md"])


def test_every_metric_is_declared_with_its_labels() -> None:
    meters = Meters("a stage", "a scheme")
    collected = {
        family.name + ("_total" if family.type == "counter" else ""): (
            family.type, family.documentation
        )
        for family in meters.registry.collect()
        if family.name.startswith("reusewatch_")
    }  # fmt: skip
    declared = {one.name: (one.kind, one.meaning) for one in meters.declared}
    assert declared == collected
    assert [one.name for one in meters.declared if not one.meaning.endswith(".")] == []
    assert {one.labels[0] for one in meters.declared} == {"stage"}
    # The labels that are declared are those that are taken.
    meters.dead.labels(stage="a stage", reason="a reason").inc()
    (dead,) = [one for one in meters.declared if one.name == "reusewatch_dead_letters_total"]
    assert dead.labels == ("stage", "reason")


def counted() -> Iterator[str]:
    """The names under which the product counts events: `…events["late"] += …` and the like."""
    for file in (ROOT / "streams").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("events"):
                yield from constants(node.slice)
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("events.labels"):
                yield from constants(node.args[-1])


def constants(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        yield str(node.value)


def test_every_event_that_is_counted_is_in_the_table() -> None:
    named = set(counted())
    assert len(named) > 10
    assert named <= EVENTS.keys() | FINDINGS.keys()


def test_every_event_in_the_table_is_counted_somewhere() -> None:
    sources = "\n".join(
        file.read_text("utf-8")
        for file in (ROOT / "streams").rglob("*.py")
        if file.name != "events.py"
    )
    made = {"discovered-chunk", "discovered-file"}  # by f"discovered-{unit}"
    assert [x for x in (EVENTS.keys() | FINDINGS.keys()) - made if f'"{x}"' not in sources] == []
    assert 'f"discovered-{' in sources


def test_every_metric_is_seen_in_a_rule_or_a_panel() -> None:
    seen = tables.seen_in()
    declared = {one.name for one in (*Meters("", "").declared, *DECLARED)}
    assert seen.keys() == declared
    assert "`ReusewatchRecoveryLong`" in seen["reusewatch_recovery_records"]
    assert "*Stream health*: Time of a commit, by stage" in seen["reusewatch_commit_seconds"]


def test_every_reason_of_a_dead_letter_is_known() -> None:
    sources = "\n".join(
        file.read_text("utf-8")
        for room in ("crawler", "detector", "streams")
        for file in (ROOT / room).rglob("*.py")
    )
    raised = re.findall(r'\bBadPage\(\s*"([a-z-]+)"', sources)
    wire = (ROOT / "streams" / "wire.py").read_text("utf-8")
    assert {*raised, *re.findall(r'\breason = "([a-z-]+)"', wire)} == DEAD
