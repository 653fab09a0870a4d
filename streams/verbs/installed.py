"""Verbs that need more than a crawl host has: there where it is installed, and else a stand-in.

A stand-in is in the list of `--help` as well, takes any arguments, and names the extra to install.
"""

from __future__ import annotations

from importlib import import_module

import typer

from reusewatch.streams.extras import HOW, NotInstalled, needed_for

# `--help` as well is told what to install: the stand-in knows no options of the verb.
_ANY = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def register(app: typer.Typer, module: str, verb: str) -> None:
    """Add the verb of this module, or what says that it is not installed."""
    try:
        with needed_for(f"`reusewatch {verb}`"):
            part = import_module(module)
    except NotInstalled as error:
        _stand_in(app, verb, str(error))
    else:
        part.register(app)


def _stand_in(app: typer.Typer, verb: str, why: str) -> None:
    @app.command(verb, help=f"Not installed here: {HOW}", context_settings=_ANY)
    def tell(context: typer.Context) -> None:
        raise NotInstalled(why)
