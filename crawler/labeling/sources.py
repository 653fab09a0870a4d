"""What a user names to be labeled: an archive, a tree of files, one file, or another label pack."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.replaying.sources import is_archive
from reusewatch.detector.labels.format import MAGIC

# Where a page stood matters for its links only, and there are none in chunks.
NOWHERE = "http://localhost/"


@dataclass(frozen=True, slots=True)
class LabelSource:
    """One SOURCE of `labels build`; `url` is where a tree was served."""

    kind: Literal["archive", "tree", "file", "pack"]
    name: str
    url: str = ""


def label_source(text: str) -> LabelSource:
    """What a SOURCE is. Raises SourceError for what is not there, before anything is read."""
    directory, equals, url = text.rpartition("=")
    if equals and url.startswith(("http://", "https://")):
        if not Path(directory).is_dir():
            raise SourceError(f"{text}: there is no directory {directory}; DIR=URL is expected")
        return LabelSource("tree", directory, url)
    path = Path(text)
    if path.is_file():
        return LabelSource(_kind_of(path), text)
    if path.is_dir() and not any(is_archive(str(one)) for one in path.rglob("*") if one.is_file()):
        return LabelSource("tree", text, NOWHERE)
    return LabelSource("archive", text)


def _kind_of(path: Path) -> Literal["archive", "file", "pack"]:
    with path.open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC:
            return "pack"
    return "archive" if is_archive(str(path)) else "file"
