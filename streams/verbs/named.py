"""A group of verbs, each loaded when it is named: `--help` lists them all and loads none.

A verb stands in a table, with the module that has it and its line in the list. Such a module has a
function `register(app)`, which adds its verbs to an app. Verbs that need more than a crawl host
has say so: where the extra is missing, they are in the list as well, take any arguments, and tell
what to install.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from reusewatch.streams.extras import HOW, NotInstalled, missing

# `--help` as well is told what to install: the stand-in knows no options of the verb.
_ANY = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


@dataclass(frozen=True, slots=True)
class Named:
    """Where a verb is, what the list says of it, and whether it needs the extra."""

    module: str
    line: str
    extra: bool = False


class Listed(TyperCommand):
    """A verb as it stands in the list, before it is loaded."""

    def __init__(self, name: str, verb: Named) -> None:
        super().__init__(name, help=verb.line)
        self._name, self._verb = name, verb

    def get_short_help_str(self, limit: int = 45) -> str:
        """Its line; or what to install, so that nobody tries in vain."""
        if self._verb.extra and missing():
            self.help = f"Not installed here: {HOW}"
        return super().get_short_help_str(limit)

    def loaded(self, path: str) -> Any:
        """The verb itself; `path` is what people call it by, `reusewatch labels show`."""
        app = typer.Typer(rich_markup_mode=None)
        if self._verb.extra and (gone := missing()):
            _stand_in(app, self._name, f"`{path}` needs {gone[0]}, which is not installed: {HOW}")
        else:
            import_module(self._verb.module).register(app)
        return get_group(app).commands[self._name]


class NamedVerbs(TyperGroup):
    """The group; a subclass has the table, in the order of the list."""

    verbs: ClassVar[Mapping[str, Named]]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: Listed(name, verb) for name, verb in self.verbs.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that is called, or completed, is loaded here."""
        name, listed, rest = super().resolve_command(ctx, args)
        if isinstance(listed, Listed):
            return name, listed.loaded(f"{ctx.command_path} {name}"), rest
        return name, listed, rest


def _stand_in(app: typer.Typer, verb: str, why: str) -> None:
    @app.command(verb, context_settings=_ANY)
    def tell(context: typer.Context) -> None:
        raise NotInstalled(why)
