"""What the stage `index` answers: classes of near-duplicates, pages like one, prefixes with copies.

Of the pages of the window, and of what is kept of them for that; never changes any of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.streams.questions import (
    MOST_URLS,
    BadQuestion,
    Parameters,
    Rows,
    no_questions,
    number,
)
from reusewatch.streams.stages.reusing import Reusing
from reusewatch.streams.stages.similarity import Similarity
from reusewatch.streams.urls import directory, place

if TYPE_CHECKING:
    from reusewatch.detector.window.index import NearDuplicateIndex
    from reusewatch.detector.window.sightings import Cluster

# Parts of the stage that a question needs beside the window.
ANSWERING: Mapping[str, tuple[str, ...]] = {"similar": ("terms",), "reused": ("reuse",)}
WINDOW = "window"
_TOP = 10


def is_needed(question: str, array: str) -> bool:
    """Whether an array of a snapshot, by its name, is looked at for a question."""
    return array.partition("/")[0] in (WINDOW, *ANSWERING.get(question, ()))


class IndexAnswers:
    """Answers from a window, and from the parts that keep terms and count copies."""

    def __init__(
        self,
        scheme: HashScheme,
        index: NearDuplicateIndex,
        similarity: Similarity | None,
        reusing: Reusing | None,
    ) -> None:
        self._scheme = scheme
        self._index = index
        self._similarity = similarity
        self._reusing = reusing

    def answer(self, name: str, parameters: Parameters) -> Rows:
        """`clusters`, `similar` or `reused`. A URL that is none is the asker's mistake."""
        try:
            if name == "clusters":
                return self._clusters(parameters)
            if name == "similar":
                return self._similar(parameters)
            return self._reused(parameters) if name == "reused" else no_questions(name, parameters)
        except BadPage as error:
            raise BadQuestion(str(error)) from error

    def _similar(self, parameters: Parameters) -> Rows:
        """Pages like one of the window, or like one whose terms are given."""
        if self._similarity is None:
            raise BadQuestion("similar: this worker keeps no terms; set similar_pages above 0")
        return self._similarity.similar(parameters, self._index)

    def _clusters(self, parameters: Parameters) -> Rows:
        """The largest classes of near-duplicates (`top`), or the one of a `url`."""
        url = parameters.get("url")
        if url is None:
            return _told(self._index.clusters(top=number(parameters, "top", _TOP)))
        page = int(place(url, self._scheme).page_id, 16)
        if not self._index.holds(page):
            raise BadQuestion(f"{url}: no such page is in the window; it left, or never came")
        return _told(self._index.clusters(page=page))

    def _reused(self, parameters: Parameters) -> Rows:
        """URL prefixes with copies of others' pages, of the window's pages: those with the largest
        share (`top`) of some pages at least (`files`), below a prefix (`under`), and those that are
        named (`also`), which are told alone where nobody says how many others."""
        if self._reusing is None:
            raise BadQuestion("reused: this worker counts no copies")
        under, named = parameters.get("under"), {*parameters.get("also", "").split()}
        top = 0 if named and "top" not in parameters else number(parameters, "top", _TOP)
        found = self._reusing.counted(
            self._index.pages_of, min_files=number(parameters, "files", 1),
            top=top, under=directory(under) if under else "", named=named,
        )  # fmt: skip
        return [
            {
                "prefix": one.prefix, "files": one.files, "reused": one.reused,
                "open": self._reusing.is_open(one.prefix),
            }
            for one in found
        ]  # fmt: skip


def _told(clusters: Iterable[Cluster]) -> Rows:
    """Clusters as rows; of their URLs, as many as an answer may have."""
    left, rows = MOST_URLS, []
    for cluster in clusters:
        urls = list(cluster.urls[:left])
        left -= len(urls)
        rows.append({
            "cluster": hex_of(cluster.cluster),
            "representative": cluster.representative.url,
            "size": cluster.size,
            "sites": cluster.sites,
            "diameter": cluster.diameter,
            "urls": urls,
            "urls_left_out": len(cluster.urls) - len(urls),
        })  # fmt: skip
    return rows
