"""One rule for all commands: what was named and is not there is 2, and nothing is printed.

A page, an archive, a pack, an alert or a label that is named is one thing, and it is there or not.
A filter (`alerts --site`, `verdicts --url`, `neighborhoods --under`) describes many: where nothing
fits it, that is the answer, and the command is done.
"""

from __future__ import annotations

import pytest

from tests.contract.tables import DEMO_PACK, OK, UNREACHABLE, WRONG_USE, Tried

pytestmark = pytest.mark.timeout(300)

NOWHERE = "https://nobody.example/"
ARCHIVE = ".demo/web.warc.gz"

NAMED: dict[str, tuple[str, ...]] = {
    "replay, a file": ("replay", "gone.warc.gz"),
    "replay, a pattern": ("replay", "gone-*.warc.gz"),
    "replay, a tree": ("replay", f"--tree=gone={NOWHERE}"),
    "replay, a directory to follow": ("replay", "--follow", "gone"),
    "fingerprint, a file": ("fingerprint", "gone.html"),
    "fingerprint, a page of an archive": ("fingerprint", ARCHIVE, "--url", NOWHERE),
    "similar, a file": ("similar", "gone.html"),
    "similar, a page": ("similar", NOWHERE),
    "cover, a page": ("cover", NOWHERE),
    "clusters, a page": ("clusters", "--url", NOWHERE),
    "alerts show, an id": ("alerts", "show", "ffffffffffff"),
    "labels build, a source": ("labels", "build", "x", "gone.warc.gz", "-o", "x.pack"),
    "labels build, a tree": ("labels", "build", "x", f"gone={NOWHERE}", "-o", "x.pack"),
    "labels build, a list": ("labels", "build", "x", ARCHIVE, "-o", "x.pack", "--urls", "gone"),
    "labels discover, a source": ("labels", "discover", "gone.warc.gz"),
    "labels discover, a tree": ("labels", "discover", f"--tree=gone={NOWHERE}"),
    "labels merge, a pack": ("labels", "merge", "gone.pack", DEMO_PACK, "-o", "x.pack"),
    "labels diff, a pack": ("labels", "diff", "gone.pack", DEMO_PACK),
    "labels preview, a pack": ("labels", "preview", "gone.pack"),
    "labels push, a pack": ("labels", "push", "gone.pack"),
    "labels remove, a name": ("labels", "remove", "nobody"),
    "labels show, a pack": ("labels", "show", "gone.pack"),
    "labels verify, a pack": ("labels", "verify", "gone.pack"),
    "config, a file": ("config", "--config", "gone.toml"),
}
WITHOUT_BUS = ("fingerprint", "build", "merge", "diff", "verify", "config")
FILTERS: dict[str, tuple[str, ...]] = {
    "alerts, a site": ("alerts", "--site", "nobody.example"),
    "verdicts, a page": ("verdicts", "--url", NOWHERE),
    "verdicts, a site": ("verdicts", "--site", "nobody.example"),
    "neighborhoods, a prefix": ("neighborhoods", "--under", NOWHERE),
    "labels discover, thresholds": ("labels", "discover", "--pages", "1000000"),
}


@pytest.mark.parametrize("arguments", NAMED.values(), ids=NAMED)
def test_what_is_named_and_not_there_is_2(tried: Tried, arguments: tuple[str, ...]) -> None:
    on_bus = () if set(arguments) & set(WITHOUT_BUS) else ("--bus", tried.bus)
    done = tried.here(*arguments, *on_bus)
    assert (done.code, done.out) == (WRONG_USE, ""), done.err
    (said,) = done.err.splitlines()[-1:]
    assert said.startswith("reusewatch: ") or "Invalid value" in done.err
    assert any(word in done.err for word in ("gone", "nobody", "ffff"))
    assert "Traceback" not in done.err
    assert not (tried.directory / "x.pack").exists()


@pytest.mark.parametrize("arguments", FILTERS.values(), ids=FILTERS)
def test_a_filter_that_nothing_fits_is_an_answer(tried: Tried, arguments: tuple[str, ...]) -> None:
    done = tried.run(*arguments, "--json")
    assert (done.code, done.out) == (OK, ""), done.err


@pytest.mark.parametrize("verb", ["clusters", "neighborhoods", "phrases"])
def test_a_bus_without_a_state_is_3(tried: Tried, verb: str) -> None:
    done = tried.here(verb, "--bus", "local:empty")
    assert (done.code, done.out) == (UNREACHABLE, ""), done.err
    assert "replay something, or name --bus" in done.err
