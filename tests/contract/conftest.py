"""The demo, run once for all tests of the contract."""

from __future__ import annotations

import pytest

from tests.command import run
from tests.contract.tables import OK, Tried


@pytest.fixture(scope="session")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    directory = tmp_path_factory.mktemp("tried")
    demo = run("demo", "--json", cwd=directory)
    assert demo.code == OK, demo.err
    whole = (directory / ".demo" / "web.warc.gz").read_bytes()
    (directory / "cut.warc.gz").write_bytes(whole[: len(whole) // 2])
    # Beside nothing else: a crawl's own directory, to be followed.
    (directory / "crawl").mkdir()
    (directory / "crawl" / "web.warc.gz").write_bytes(whole)
    damaged = run("replay", "cut.warc.gz", "--bus", "local:cut", "--json", cwd=directory)
    return Tried(directory, demo, damaged)
