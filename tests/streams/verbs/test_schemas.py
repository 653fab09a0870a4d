"""The published schemas are those of the records."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from reusewatch.streams.records import VERSIONS
from reusewatch.streams.verbs import schemas


def test_what_is_published_is_current() -> None:
    published = {path.name: path.read_text("utf-8") for path in schemas.DIRECTORY.iterdir()}
    assert published == dict(schemas.files()), "run `make schemas`"


def test_they_are_written_by_running_the_module(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "reusewatch.streams.verbs.schemas", tmp_path / "new"], check=True
    )
    assert {path.name for path in (tmp_path / "new").iterdir()} == dict(schemas.files()).keys()


@pytest.mark.parametrize("name", schemas.RECORDS)
def test_each_is_a_schema_that_demands_every_field(name: str) -> None:
    made = json.loads((schemas.DIRECTORY / f"{name}.json").read_text("utf-8"))
    Draft202012Validator.check_schema(made)
    assert made["title"] == f"{name}/{VERSIONS[name]}"
    for part in (made, *made.get("$defs", {}).values()):
        assert set(part["required"]) == set(part["properties"])
