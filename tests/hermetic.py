"""Tests read what stands in the repository, or what they make: nothing that some machines have.

Here a hook refuses, in the process of the tests, documentation and the pages of installed packages:
a test that reads these fails wherever it is run, and not only where they are missing. `.ci/run`
hides the folders from the processes that tests start as well.
"""

from __future__ import annotations

import os
import sys
import sysconfig

DOCUMENTATION = ("/usr/share/doc/", "/usr/share/gtk-doc/", "/usr/share/info/", "/usr/share/man/")
_PACKAGES = sysconfig.get_paths()["purelib"]
_READING = ("open", "os.listdir", "os.scandir")


class NotOurs(Exception):
    """A test that reads what only some machines have."""


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """The audit hook (PEP 578)."""
    if event in _READING and arguments and isinstance(arguments[0], (str, os.PathLike)):
        path = os.fspath(arguments[0])
        if isinstance(path, str) and _is_of_the_machine(path):
            raise NotOurs(
                f"{path} is not on every machine: a test reads what stands in the repository, or "
                "what it makes; see tests/real_pages.py for pages"
            )


def _is_of_the_machine(path: str) -> bool:
    if f"{path}/".startswith(DOCUMENTATION):
        return True
    return path.startswith(_PACKAGES) and path.removesuffix(".gz").endswith((".html", ".htm"))


def install() -> None:
    """For the rest of this process: a hook cannot be taken away."""
    sys.addaudithook(refuse)
