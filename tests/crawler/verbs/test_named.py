"""What a command loads before it does anything, and what the lists of verbs say without loading."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_group

from reusewatch.crawler.cli import app
from reusewatch.streams.verbs.named import Listed
from tests.benchmarks.corpus import Response, write
from tests.command import environment

# Each of them takes longer to load than all that `--help` needs.
HEAVY = {
    "fastwarc", "kafka", "llvmlite", "numba", "numpy", "prometheus_client", "publicsuffixlist",
    "pyarrow", "pydantic", "requests", "resiliparse", "rich.console", "scrapy", "sqlite3",
    "tldextract",
}  # fmt: skip
_LOADED = """
import sys
from reusewatch.crawler.__main__ import main
sys.argv = ["reusewatch", *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    print(ended.code, *sys.modules, file=sys.stderr)
"""
_THREADS = """
import os, sys
from reusewatch.crawler.__main__ import main
sys.argv = ["reusewatch", "--version"]
try:
    main()
except SystemExit:
    before = len(os.listdir("/proc/self/task"))
    import numpy
    print(1 + len(os.listdir("/proc/self/task")) - before)
"""
_HUGE = """
import sys
from reusewatch.crawler.__main__ import main
sys.argv = ["reusewatch", "clusters", "--bus", "local:nowhere"]
try:
    main()
except SystemExit:
    from numpy._core.multiarray import _get_madvise_hugepage
    print(_get_madvise_hugepage())
"""


def loaded_by(*arguments: str, cwd: Path) -> tuple[str, set[str]]:
    """How a command ended in a process of its own, and the modules that are loaded by then."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, *arguments], cwd=cwd, env=environment(),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    code, *modules = done.stderr.splitlines()[-1].split()
    return code, set(modules)


@pytest.mark.parametrize("arguments", [("--help",), ("labels", "--help"), ("labels", "sho")])
def test_what_lists_verbs_loads_none_of_them(arguments: tuple[str, ...], tmp_path: Path) -> None:
    code, modules = loaded_by(*arguments, cwd=tmp_path)
    assert code == ("2" if "--help" not in arguments else "0")
    assert not modules & HEAVY
    assert not [name for name in modules if ".verbs." in name and "labels" not in name
                and not name.endswith("named")]  # fmt: skip


def test_a_replay_loads_nothing_for_metrics_processes_and_masks_that_nobody_wants(
    tmp_path: Path,
) -> None:
    write([Response("https://a.example/", b"<p>A page of a few words.")], tmp_path / "a.warc.gz")
    code, modules = loaded_by("replay", "a.warc.gz", "--bus", "local:bus", cwd=tmp_path)
    assert code == "0"
    served = {"prometheus_client", "starlette", "uvicorn"}
    assert not modules & {"multiprocessing.context", "numpy.ma", *served}


@pytest.mark.parametrize(("said", "wanted"), [(None, "False"), ("1", "True")])
def test_arrays_of_a_moment_get_no_huge_pages(
    said: str | None, wanted: str, tmp_path: Path
) -> None:
    more = {} if said is None else {"NUMPY_MADVISE_HUGEPAGE": said}
    done = subprocess.run(
        [sys.executable, "-c", _HUGE], cwd=tmp_path, env={**environment(), **more},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split()[-1:] == [wanted], done.stderr


@pytest.mark.parametrize(("said", "wanted"), [(None, 1), ("2", 2)])
def test_no_threads_multiply_matrices(said: str | None, wanted: int, tmp_path: Path) -> None:
    """With numpy come as many threads as it is told, or one for each processor, and none else."""
    more = {} if said is None else {"OPENBLAS_NUM_THREADS": said}
    done = subprocess.run(
        [sys.executable, "-c", _THREADS], cwd=tmp_path, env={**environment(), **more},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split()[-1:] == [str(min(wanted, os.cpu_count() or 1))], done.stderr


def listed(group: TyperGroup, path: str) -> list[tuple[str, Listed]]:
    """All verbs below a group, each as it stands in its list."""
    found = []
    for name, verb in group.commands.items():
        if isinstance(verb, Listed):
            found.append((f"{path} {name}", verb))
            below = verb.loaded(f"{path} {name}")
            found += listed(below, f"{path} {name}") if isinstance(below, TyperGroup) else []
    return found


VERBS = dict(listed(get_group(app), "reusewatch"))


def test_all_verbs_are_listed() -> None:
    assert {"reusewatch replay", "reusewatch labels build", "reusewatch topics"} <= set(VERBS)


@pytest.mark.parametrize("path", VERBS)
def test_the_list_says_of_a_verb_what_the_verb_says_of_itself(path: str) -> None:
    verb = VERBS[path]
    itself = verb.loaded(path)
    assert itself.name == path.rsplit(maxsplit=1)[-1]
    assert verb.get_short_help_str(1000) == itself.get_short_help_str(1000)


# Refused before anything is read: who made a slip waits for no compiler and no columns.
REFUSED = [
    ("work", "nothing"), ("clusters", "--top", "0"), ("neighborhoods", "--top", "0"),
    ("labels", "push"), ("labels", "remove"), ("alerts", "--kind", "nothing"),
    ("replay", "--nothing"), ("similar",), ("fingerprint",), ("doctor", "--nothing"),
    ("phrases", "--top", "0"), ("cover",), ("cover", "http://a.example/", "--foreign", "all"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_what_is_refused_loads_no_stage(arguments: tuple[str, ...], tmp_path: Path) -> None:
    code, modules = loaded_by(*arguments, cwd=tmp_path)
    assert code == "2"
    assert not modules & HEAVY - {"sqlite3"}
