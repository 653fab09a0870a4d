"""The verbs of the labeled dataset."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="labels", rich_markup_mode=None, no_args_is_help=True,
    help="The labeled dataset: known content, found while the crawl runs.\n\n"
    "Example: reusewatch labels discover crawl-*.warc.gz",
)  # fmt: skip


@app.callback()
def labels() -> None:
    """Known content."""
