"""What contains is a share of: of the chunks that can be labeled, or of all, as in the paper (Ardi,
Heidemann 2014, §3.1 step 5), on real pages.

Copied: a manual that is labeled, crawled again: how much of each page is found. Licences: texts as
packages hold them, in five renderings, with half a page of other text before them. Innocent: pages
of another manual that share nothing with the first but what all such pages share.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from reusewatch.detector.labels.building import MIN_LENGTH, LabelBuilder
from reusewatch.detector.labels.contains import contained
from reusewatch.detector.labels.dataset import LabeledDataset
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.pack import open_pack
from reusewatch.detector.labels.places import ABSENT
from reusewatch.detector.mean_and_deviation import PAPER_PAGES
from reusewatch.detector.sketching.chunks import Chunks
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from tests import corpora
from tests.experiments.corpus import SCHEME
from tests.experiments.datasets import stop_chunks
from tests.experiments.report import Experiment, Row

LICENCES = Path("/usr/share/common-licenses")
_QUICK = 20
_SHARES = (PAPER_PAGES, 0.2, 0.3, 0.5)


def chunks_of(pages: Sequence[bytes], *, is_html: bool = True) -> Chunks:
    """The chunks of these pages."""
    documents = [Document(page, html=is_html) for page in pages]
    return fingerprints(documents, SCHEME).sketches.chunks


def dataset_of(chunks: Chunks) -> LabeledDataset:
    """A labeled dataset of all chunks over 100 characters, from a pack."""
    with TemporaryDirectory() as folder:
        with closing(LabelBuilder(Path(folder), SCHEME, stops=stop_chunks())) as made:
            made.add_chunks(made.label(PackLabel(name="known")), chunks)
            made.build(Path(folder) / "pack")
        return LabeledDataset(SCHEME, open_pack(Path(folder) / "pack", SCHEME))


def rows_of(name: str, chunks: Chunks, dataset: LabeledDataset) -> Iterator[Row]:
    """How much of the pages is found, by either denominator."""
    matched = dataset.match("chunks", chunks.hashes.values)
    stopped = stop_chunks().has_chunks(chunks.hashes.values)
    short = (chunks.lengths <= MIN_LENGTH) & (matched == ABSENT)
    for rule, left_out in (("paper", stopped), ("matchable", stopped | short)):
        found = contained(chunks.hashes, matched, left_out)
        some = found.total > 0
        ratios = found.ratios[some]
        yield {
            "pages": name, "contains": rule, "number": len(found), "counted": int(some.sum()),
            "any": float((ratios > 0).sum()) / len(found),
            "mean": float(ratios.mean()) if len(ratios) else 0.0,
            **{f"from {share}": float((ratios >= share).sum()) / len(found) for share in _SHARES},
        }  # fmt: skip


def renderings(text: str) -> dict[str, str]:
    """A text as it stands on pages."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    lines = text.splitlines()
    return {
        "copyright file": "<pre>\n" + html.escape(
            "\n".join(f" {line}" if line.strip() else " ." for line in lines)) + "\n</pre>",
        "pre": f"<pre>{html.escape(text)}</pre>",
        "paragraphs": "".join(f"<p>{html.escape(part)}</p>" for part in paragraphs),
        "markdown": "".join(f"<p>{html.escape(part)}<br><br>\n" for part in paragraphs),
        "comment": "<pre>/*\n"
        + html.escape("\n".join(f" * {line}" for line in lines))
        + "\n */</pre>",
    }  # fmt: skip


def _made(word: str) -> list[bytes]:
    """Pages of headings and paragraphs, half of them too short to be labeled."""
    return [
        "".join(
            f"<h2>{word} {page} {at}</h2><p>" + f"{word}{page} says {at} at length, " * 8 + "</p>"
            for at in range(4)
        ).encode()
        for page in range(_QUICK)
    ]


def _licences() -> list[str]:
    return [
        "\n\n".join(
            "\n".join([f"licence {number} grants {at} to who reads"] * 5) for at in range(4)
        )
        for number in range(3)
    ]


def run(output: Path, quick: bool) -> list[Row]:
    """A table; shares are of all pages."""
    known, innocent = _made("one"), _made("other")
    if not quick:
        known = list(corpora.pages(corpora.PYTHON_311).values())
        innocent = list(corpora.pages(corpora.POSTGRES_15).values())
    manual = chunks_of(known)
    labeled = dataset_of(manual)
    rows = [
        *rows_of("a manual copied whole", manual, labeled),
        *rows_of("another manual", chunks_of(innocent), labeled),
    ]
    files = [] if quick else sorted(LICENCES.iterdir())
    texts = [path.read_text("utf-8", "replace") for path in files] or _licences()
    licences = dataset_of(chunks_of([text.encode() for text in texts], is_html=False))
    frame = "<p>" + "</p><p>".join(f"{n} " + "words of its own " * 8 for n in range(5)) + "</p>"
    for name in renderings(""):
        pages = [(frame + renderings(text)[name]).encode() for text in texts]
        rows += rows_of(f"licences as {name}", chunks_of(pages), licences)
    rows += rows_of("a manual, licences labeled", manual, licences)
    rows += rows_of("another manual, licences labeled", chunks_of(innocent), licences)
    return rows


EXPERIMENT = Experiment("label_contains", run)
