"""Every module can be the first one that is imported: no circle of imports waits for its turn."""

from __future__ import annotations

import subprocess
import sys

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
