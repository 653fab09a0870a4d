"""What a module of the detector imports, as its text says."""

from __future__ import annotations

import pytest

from reusewatch.detector.compiling.sources import _imported, _sources


@pytest.mark.parametrize(
    ("text", "imports"),
    [
        (b"from reusewatch.detector.window.index import add", ["reusewatch.detector.window.index"]),
        (b"x = 1\n    import reusewatch.detector.ragged\n", ["reusewatch.detector.ragged"]),
        (b"from reusewatch.streams.bus import Bus", []),
        (b'_ROOT = "reusewatch.detector"', []),
        (b"reusewatch.detector", []),
        (b"", []),
    ],
)
def test_what_stands_behind_from_or_import_is_imported(text: bytes, imports: list[str]) -> None:
    assert list(_imported(text)) == imports


def test_what_modules_import_is_there() -> None:
    sources = _sources()
    named = {name for source in sources.values() for name in source.imports}
    assert len(named) > 1
    assert {
        name for name in named if name not in sources and f"{name}.__init__" not in sources
    } == (set())
