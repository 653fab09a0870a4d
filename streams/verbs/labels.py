"""The verbs of the labeled dataset: what is in packs, and what is in force.

`crawler.verbs.labels` lists them, beside those that read pages.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reusewatch.detector.errors import BadPack, DamagedPack
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import kernels
from reusewatch.streams.console import (
    Share,
    fail,
    harmless,
    print_json,
    print_line,
    say,
)
from reusewatch.streams.labels import changes
from reusewatch.streams.labels.changes import NoChange
from reusewatch.streams.labels.table import LabelTable
from reusewatch.streams.opening import bus_to_read, open_bus
from reusewatch.streams.running.label_settings import label_store, stop_list
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import label_words
from reusewatch.streams.verbs.listing import Asked, Column, Listing, lists
from reusewatch.streams.verbs.options import BUS, BUS_AND_STATE, JsonOption, with_settings

if TYPE_CHECKING:
    from reusewatch.detector.labels.pack import LabelPack
    from reusewatch.streams.labels.pushing import Desk

app = typer.Typer(rich_markup_mode=None)

PackArgument = Annotated[Path, typer.Argument(metavar="PACK")]
OutOption = Annotated[Path, typer.Option("-o", "--output", metavar="PACK")]


def register(root: typer.Typer) -> None:
    """Add the verbs."""
    root.add_typer(app)


def opened(path: Path, scheme: HashScheme | None) -> LabelPack:
    """A pack that a command names; ends the command where there is none."""
    from reusewatch.detector.labels.pack import open_pack

    try:
        return open_pack(path, scheme)
    except DamagedPack:
        raise
    except BadPack as error:
        fail(str(error), 2)
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}; `labels build` makes a pack", 2)


def show_summary(found: dict[str, Any], *, json: bool) -> None:
    """A summary, for scripts or for people."""
    if json:
        print_json(found)
        return
    for name, value in found.items():
        print_line(f"{name.replace('_', ' '):19} {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {key}" for key, count in value.items()) or "-"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, bool) or value in (None, ""):
        return "-" if value in (None, "") else str(value).lower()
    return harmless(f"{value:,}" if isinstance(value, int | float) else str(value))


@app.command(
    help="The labels of a pack; without one, those in force.\n\n"
    "Example: reusewatch labels show wikipedia.pack --json"
)
@with_settings(*BUS)
@lists()
def show(
    settings: Settings,
    asked: Asked,
    pack: Annotated[Path | None, typer.Argument(metavar="[PACK]")] = None,
) -> None:
    """Show labels."""
    if pack is None:
        rows = list(_in_force(LabelTable.read(bus_to_read(settings)), settings.scheme))
    else:
        read = opened(pack, None)
        rows = [
            {"name": x.name, "files": x.files, "chunks": x.chunks, "version": read.version,
             "scheme": read.scheme, "source": x.source, "severity": x.severity, "note": x.note,
             "homes": list(x.homes), "grams": x.grams, "gram_share": x.gram_share,
             "pages": int((read.pages.labels == at).sum()), "bytes": pack.stat().st_size}
            for at, x in enumerate(read.labels)
        ]  # fmt: skip
    columns = ("name", "files", "chunks", "grams", "severity", "version", "source", "homes")
    nothing = f"no labels are in force on {settings.bus}: `reusewatch labels push PACK`"
    Listing(columns, fold=("source", "version", "homes")).show(rows, asked, nothing)


def _in_force(table: LabelTable, scheme: HashScheme) -> Iterator[dict[str, Any]]:
    """What the pack counts and what the changes beside it do, by name."""
    manifest = table.manifest
    version = table.version(scheme)
    # What was pushed before an upgrade is of the scheme of then.
    name_of_scheme = manifest.scheme if manifest else scheme.name
    removed = set(manifest.removed) if manifest else set()
    rows: dict[str, dict[str, Any]] = {}
    for label in manifest.pack.labels if manifest and manifest.pack else ():
        rows[label.name] = {
            "name": label.name, "files": label.files, "chunks": label.chunks, "version": version,
            "scheme": name_of_scheme, "source": label.source, "severity": label.severity,
            "note": "", "homes": list(label.homes), "grams": label.grams,
        }  # fmt: skip
    severities = table.overlay().severities
    for name, unit, count in table.names():
        row = rows.setdefault(
            name,
            {"name": name, "files": 0, "chunks": 0, "version": version, "scheme": name_of_scheme,
             "source": "", "severity": severities.get(name, "warning"), "note": "", "homes": [],
             "grams": 0},
        )  # fmt: skip
        row["note"] = "with changes since the pack"
        row[f"{unit}s"] += count
    yield from (row for name, row in rows.items() if name not in removed)


@app.command(
    help="Packs as one; a hash stands under every name that any of them gives it.\n\n"
    "Example: reusewatch labels merge old.pack new.pack -o all.pack"
)
def merge(
    packs: Annotated[list[Path], typer.Argument(metavar="PACK…")],
    output: OutOption,
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="NAME", help="Leave a label out.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Merge packs."""
    from reusewatch.detector.labels.merging import merge as merged

    read = [opened(path, None) for path in packs]
    for one in read:
        if one.skipped:
            say(f"merge: {one.path} holds {', '.join(map(harmless, one.skipped))}, which this "
                "version does not know: it is not in the merged pack")  # fmt: skip
    try:
        made = merged(read, output, drop=frozenset(without or ()))
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror}", 3)
    show_summary(
        {"pack": str(output), "version": made.version, "files": made.files, "chunks": made.chunks,
         "grams": made.grams, "pages": made.pages,
         "labels": [label.name for label in made.labels], "bytes": output.stat().st_size},
        json=json,
    )  # fmt: skip


@app.command(
    help="What came and what went from one pack to another, by label.\n\n"
    "Example: reusewatch labels diff old.pack new.pack --json"
)
@lists()
def diff(asked: Asked, old: PackArgument, new: PackArgument) -> None:
    """Compare packs."""
    from reusewatch.detector.labels.merging import diff as differences

    found = [dataclasses.asdict(x) for x in differences(opened(old, None), opened(new, None))]
    changes = (f"{how}_{what}" for what in ("files", "chunks", "homes")
               for how in ("added", "removed"))  # fmt: skip
    columns: list[Column] = ["name", *((change.replace("_", " "), change) for change in changes)]
    Listing(columns).show(found, asked, "the packs say the same")


@app.command(
    help="Read a pack from end to end; exit 1 where it is damaged.\n\n"
    "Example: reusewatch labels verify wikipedia.pack"
)
def verify(pack: PackArgument, json: JsonOption = False) -> None:
    """Verify a pack."""
    with suppress(DamagedPack):
        opened(pack, None)  # ends the command where it is no pack, rather than a damaged one
    damage = _damage(pack)
    found: dict[str, Any] = {"pack": str(pack), "ok": not damage, "damage": list(damage)}
    if not damage:
        read = opened(pack, None)
        found |= {"version": read.version, "scheme": read.scheme, "files": len(read.files),
                  "chunks": len(read.chunks), "labels": [x.name for x in read.labels],
                  "skipped": list(read.skipped), "grams": len(read.grams),
                  "pages": len(read.pages), "bytes": pack.stat().st_size}  # fmt: skip
    show_summary(found, json=json)
    if damage:
        fail(f"{pack} is damaged: fetch or build it anew", 1)


def _damage(pack: Path) -> tuple[str, ...]:
    from reusewatch.detector.labels.pack import verify as verified

    try:
        return verified(pack)
    except OSError as error:
        fail(f"{pack} cannot be read: {error.strerror}; `labels build` makes a pack", 2)


@app.command(
    help="Put a pack in force: what it says, and what discovery labels, from the next batch on.\n\n"
    "A small difference to the pack in force travels as such where that pack is at hand: in the "
    "state directory, or named with --since. Else the pack travels whole.\n\n"
    "Example: reusewatch labels push wikipedia.pack --bus kafka://127.0.0.1:9092"
)
@with_settings(*BUS_AND_STATE)
def push(
    settings: Settings,
    pack: PackArgument,
    whole: Annotated[bool, typer.Option("--whole", help="Send all of it again.")] = False,
    since: Annotated[
        Path | None,
        typer.Option("--since", metavar="PACK", help="The pack in force, to send the difference."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Push a pack."""
    read = opened(pack, settings.scheme)
    if damage := _damage(pack):
        raise DamagedPack(str(pack), "; ".join(damage))
    if since is not None:
        opened(since, settings.scheme)
    done = _desk(settings).push(pack, read, whole=whole, since=since)
    show_summary(done if json else label_words.in_force(done), json=json)


@app.command(
    help="Take a name out of the labeled dataset; pushing a pack that has it brings it back.\n\n"
    "Example: reusewatch labels remove wikipedia"
)
@with_settings(*BUS_AND_STATE)
def remove(
    settings: Settings,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    json: JsonOption = False,
) -> None:
    """Remove a label."""
    _change(settings, partial(_removed, name), json=json)


def _removed(name: str, *given: Any) -> changes.Change:
    table, scheme, now = given
    return changes.remove(table, name, scheme, now)


@app.command(
    help="Back to what was in force before the last push or removal; again, and it is undone.\n\n"
    "Example: reusewatch labels rollback"
)
@with_settings(*BUS_AND_STATE)
def rollback(
    settings: Settings,
    json: JsonOption = False,
) -> None:
    """Roll back."""
    _change(settings, changes.rollback, json=json)


def _change(settings: Settings, make: Any, *, json: bool) -> None:
    try:
        done = _desk(settings).change(make)
        show_summary(done if json else label_words.in_force(done), json=json)
    except NoChange as error:
        fail(f"labels: {error}", 2)


def _desk(settings: Settings) -> Desk:
    from reusewatch.streams.labels.pushing import Desk

    return Desk(open_bus(settings), label_store(settings), settings.scheme, say)


@app.command(
    help="What a push would flag of the pages whose fingerprints the bus holds.\n\n"
    "Example: reusewatch labels preview wikipedia.pack --json"
)
@with_settings(*BUS, "contains_threshold")
def preview(
    settings: Settings,
    pack: PackArgument,
    json: JsonOption = False,
) -> None:
    """Preview a pack."""
    read = opened(pack, settings.scheme)
    opened_bus = bus_to_read(settings)
    kernels.prepare(say)
    from reusewatch.streams.labels.matching import all_stop_chunks, matching_with
    from reusewatch.streams.labels.table import Overlay
    from reusewatch.streams.running.label_preview import preview as previewed
    from reusewatch.streams.running.topology import labeled_pages
    from reusewatch.streams.url_sets import UrlSet

    stops = all_stop_chunks(settings.scheme, stop_list(settings))
    summary = previewed(
        opened_bus, settings.scheme, matching_with(settings.scheme, read, Overlay(), stops),
        labeled_pages(settings), owned=UrlSet(settings.owned), max_pages=settings.window_pages,
    )  # fmt: skip
    if json:
        print_json(summary)
        return
    label_words.print_preview(summary)
    if examples := summary["examples"]:
        print_line(f"\nThe first {len(examples)} of the flagged, the most labeled first:")
        _EXAMPLES.show(examples)


_EXAMPLES = Listing(
    (("page", "url"), ("contains", lambda row: Share(row["contains"])), "labels"),
    fold=("page", "labels"),
)
