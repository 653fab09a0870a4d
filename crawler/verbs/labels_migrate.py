"""The verb `labels migrate`: a pack of another hash scheme, built again under this one.

Hashes cannot be turned into others: what they were made of has to be read again. So a pack names
its sources, and how it was built of them; where they are at hand, all of its labels are built anew.
The pack of before is only looked at, and stays.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from reusewatch.crawler.labeling.packing import Kept, build_pack
from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.verbs.seen_blocks import Seen, Wanted
from reusewatch.detector.labels.format import Built, PackLabel
from reusewatch.streams import kernels
from reusewatch.streams.console import fail, say
from reusewatch.streams.opening import bus_to_read
from reusewatch.streams.running.label_settings import label_store, stop_list
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs.labels import opened, show_summary
from reusewatch.streams.verbs.options import BUS_AND_STATE, JsonOption, with_settings


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "migrate",
        help="A pack of another hash scheme, built again under this one, from the sources that it "
        "names, or from those that are given here. NAME is a file, or a label of the pack that is "
        "in force.\n\n"
        "Example: reusewatch labels migrate old.pack -o new.pack",
    )(migrate)


@with_settings(*BUS_AND_STATE)
def migrate(
    settings: Settings,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="PACK")],
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE…")] = None,
    json: JsonOption = False,
) -> None:
    """Migrate a pack."""
    path, labels = _found(settings, name)
    read = opened(path, None)
    chosen = [label for label in read.labels if labels is None or label.name in labels]
    if read.scheme == settings.scheme.name:
        fail(f"{path} is of hash scheme {read.scheme} already: push it as it is", 2)
    if sources and len(chosen) > 1:
        fail(f"{path} has {len(chosen)} labels: name one of them, and its sources", 2)
    _check(path, chosen, sources or [])
    kernels.prepare(say)
    try:
        folder = tempfile.TemporaryDirectory(prefix=".migrate-", dir=output.parent)
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror}", 3)
    with folder:
        parts = [Path(folder.name) / str(at) for at in range(len(chosen))]
        told = [
            _build(settings, label, sources or [], part, places=len(read.pages) > 0)
            for label, part in zip(chosen, parts, strict=True)
        ]
        _join(parts, output, settings)
    summary = {"pack": str(output), "scheme": settings.scheme.name, "before": read.scheme,
               "labels": [label.name for label in chosen]}  # fmt: skip
    for field in ("pages", "files", "distinct", "grams"):
        summary[field] = sum(one[field] for one in told)
    show_summary(summary | {"bytes": output.stat().st_size}, json=json)
    if damaged := sum(one["left_out"].get("damaged", 0) for one in told):
        fail(f"{damaged} records were damaged and are not in the pack", 1)


def _found(settings: Settings, name: str) -> tuple[Path, frozenset[str] | None]:
    """The pack that is meant, and which of its labels; all, where it was named itself."""
    if Path(name).is_file():
        return Path(name), None
    store = label_store(settings)
    current = store.current()
    if current is None or current.pack is None:
        fail(f"labels migrate: {name} is no file, and no pack is in force on {settings.bus}", 2)
    path = store.directory / current.pack
    names = [label.name for label in opened(path, None).labels]
    if name not in names:
        fail(f"labels migrate: {name} is no file, and the pack in force has {', '.join(names)}", 2)
    return path, frozenset({name})


def _check(path: Path, labels: list[PackLabel], sources: list[str]) -> None:
    """Say of every label what is missing, before hours are spent on the first."""
    for label in labels:
        built = label.built
        if sources or (built is not None and built.from_bus):
            continue
        if built is None or not built.sources:
            fail(
                f"{path} does not say what {label.name} was built of (it is of before, was merged, "
                f"or built with --no-places): name it, `reusewatch labels migrate {path} SOURCE… "
                "-o PACK`",
                2,
            )
        gone = [one for one in built.sources if not _is_here(one)]
        if gone:
            fail(
                f"{', '.join(gone)}: {label.name} was built of it, and it is not here: go where it "
                "was built, or name where it is now behind NAME",
                2,
            )


def _is_here(source: str) -> bool:
    directory, equals, _ = source.partition("=http")
    return Path(source).exists() or bool(equals and Path(directory).is_dir())


def _build(
    settings: Settings, label: PackLabel, sources: list[str], output: Path, *, places: bool
) -> dict[str, Any]:
    from reusewatch.streams.labels.matching import all_stop_chunks

    built = label.built or Built(gram_share=label.gram_share, unit=settings.chunks)
    sources = sources or [*built.sources]
    seen = Seen(bus_to_read(settings, say=say), settings.scheme, built.unit,
                Wanted(built.site, built.under)) if built.from_bus else None  # fmt: skip
    fresh = msgspec.structs.replace(
        label, files=0, chunks=0, grams=0, gram_share=0.0,
        built=msgspec.structs.replace(built, sources=tuple(sources)) if places else None,
    )  # fmt: skip
    return build_pack(
        fresh, sources, output, scheme=settings.scheme, say=say, unit=built.unit,
        stops=all_stop_chunks(settings.scheme, stop_list(settings)), min_length=label.longer_than,
        limits=Limits(max_body_bytes=settings.max_body_bytes),
        wanted=None if built.urls is None else frozenset(built.urls), more=seen,
        kept=Kept(built.gram_share, places),
    )  # fmt: skip


def _join(parts: list[Path], output: Path, settings: Settings) -> None:
    from reusewatch.detector.labels.merging import merge
    from reusewatch.detector.labels.pack import open_pack

    try:
        if len(parts) == 1:
            parts[0].replace(output)
        else:
            merge([open_pack(part, settings.scheme) for part in parts], output)
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror}", 3)
