"""Every module can be the first one that is imported: no circle of imports waits for its turn.

And what the rooms of the crawler know of streams is a short list, which nothing joins unseen.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections import defaultdict

import grimp
import pytest

from tests.command import ROOT

_EACH_FIRST = """
import importlib, pathlib, sys
names = [
    ".".join(("reusewatch", *path.with_suffix("").parts)).removesuffix(".__init__")
    for package in ("crawler", "streams", "detector")
    for path in pathlib.Path(package).rglob("*.py")
    if path.name != "__main__.py"
]
fresh = ("reusewatch.crawler", "reusewatch.streams")
for name in names:
    for loaded in [m for m in sys.modules if m.startswith(fresh)]:
        del sys.modules[loaded]
    importlib.import_module(name)
print(len(names))
"""


def test_every_module_can_be_imported_first() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _EACH_FIRST], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 100


# What pages travel in. Verbs, the demo and the command line compose streams, and may know all.
TRAVEL = {"bus", "charsets", "documents", "records", "topics", "urls"}
COMPOSE = {"verbs", "demo", "cli", "exit_codes", "__main__"}
# A replay and a crawl end in a sink; a crawl runs in a process of Scrapy's, with its settings.
BESIDES: dict[str, set[str]] = {
    "live": {
        "alert_kinds",
        "extras",
        "kernels",
        "running.crawl_port",
        "running.sinks",
        "settings",
        "signals",
        # It is steered by what was found, whoever judges.
        "local.judged",
        "local.spools",
        "opening",
        "running.page_judge",
        "running.stage_names",
        "stages.labeled",
        "steering.delays",
        "steering.distinct",
        "steering.following",
        "steering.places",
        "steering.reports",
        "steering.rules",
        "steering.traps",
        # Whose notes of a crawl are read.
        "trust",
    },
    # Pages are read again from wherever they are kept.
    "replaying": {
        "disk",
        "kafka.again",
        "kafka.config",
        "local.spools",
        "origins",
        "page_text",
        "running.page_sink",
        "wire",
    },
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """All imports, those for typing and those inside functions too."""
    return grimp.build_graph("reusewatch.crawler", "reusewatch.streams", "reusewatch.detector")


def test_rooms_of_the_crawler_know_no_more_of_streams_than_they_need(
    graph: grimp.ImportGraph,
) -> None:
    known = defaultdict[str, set[str]](set)
    for module in graph.find_descendants("reusewatch.crawler"):
        room = module.split(".")[2]
        for imported in graph.find_modules_directly_imported_by(module):
            if imported.startswith("reusewatch.streams."):
                known[room].add(imported.removeprefix("reusewatch.streams."))
    beyond = {room: names - TRAVEL for room, names in known.items() if room not in COMPOSE}
    assert {room: names for room, names in beyond.items() if names} == BESIDES


def test_no_room_of_streams_is_left_out_of_the_contract(graph: grimp.ImportGraph) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = (
        one
        for one in settings["tool"]["importlinter"]["contracts"]
        if one["name"].startswith("what reads pages")
    )
    forbidden = {name.removeprefix("reusewatch.streams.") for name in contract["forbidden_modules"]}
    children = graph.find_children("reusewatch.streams")
    wanted = {name.removeprefix("reusewatch.streams.") for name in children} - TRAVEL
    assert forbidden == wanted, "list the rooms and modules of streams in pyproject.toml anew"
