"""The options that set settings: written out once, shown and obeyed as if each verb had them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs.options import (
    BUS,
    BUS_AND_STATE,
    JsonOption,
    Resolving,
    with_settings,
)


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer(rich_markup_mode=None)

    @made.command()
    @with_settings(*BUS_AND_STATE, "workers")
    def one(
        page: Annotated[str, typer.Argument()], settings: Settings, json: JsonOption = False
    ) -> None:
        typer.echo(f"{page} {settings.bus} {settings.state} {settings.workers} {json}")

    @made.command()
    @with_settings(*BUS)
    def other(resolving: Resolving) -> None:
        resolved = resolving()
        typer.echo(f"{resolved.settings.bus} {resolved.origins['bus']}")

    return made


def test_a_verb_is_handed_what_its_options_set(app: typer.Typer) -> None:
    ran = CliRunner().invoke(app, ["one", "p", "--bus", "local:x", "--workers", "3", "--json"])
    assert ran.output == f"p local:x {Settings().state} 3 True\n"


def test_a_verb_may_ask_where_a_setting_came_from(app: typer.Typer, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('bus = "local:y"\n')
    ran = CliRunner().invoke(app, ["other", "--config", str(file)])
    assert ran.output == f"local:y {file}\n"


def test_help_lists_a_verbs_own_options_then_the_shared_ones_then_json(app: typer.Typer) -> None:
    shown = CliRunner().invoke(app, ["one", "--help"]).output
    options = ("--workers", "--bus", "--state", "--topic-prefix", "--config", "--json")
    places = [shown.index(option) for option in options]
    assert places == sorted(places)


def test_a_setting_that_no_option_sets_is_refused_when_the_verb_is_made() -> None:
    with pytest.raises(ValueError, match="no option sets nonsense"):
        with_settings("nonsense")
