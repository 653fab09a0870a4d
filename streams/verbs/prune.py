"""The verb `prune`: what a local bus holds, and what it can do without.

A process that is at work on the bus has it locked; the setting `local_bytes` bounds it there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reusewatch.streams.console import fail, print_aligned, print_json
from reusewatch.streams.local import DATABASE, LocalBus, pruning
from reusewatch.streams.local.database import connect, now_ms, told
from reusewatch.streams.settings import Settings
from reusewatch.streams.settings.keeping import Keep, keep_of
from reusewatch.streams.verbs.options import JsonOption, with_settings


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "prune",
        help="Make a local bus smaller: the oldest verdicts and dead letters leave, and the space "
        "is given back. Findings, labels and all that recovery needs stay.\n\n"
        "Example: reusewatch prune --keep 30d --keep 2GB",
    )(prune)


@with_settings("bus")
def prune(
    settings: Settings,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep", metavar="AGE|SIZE",
            help="30d: what came within 30 days (m, h, d, w). 2GB: as much as fits in bus.sqlite "
            "(kB, MB, GB, TB). Both may be given. Without it: the setting local_bytes.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Prune a local bus."""
    directory = _directory(settings)
    try:
        kept = keep_of(keep or [])
    except ValueError as error:
        fail(f"--keep {error}: an age such as 30d, or a size such as 2GB, is expected", 2)
    if not keep:
        kept = Keep(bytes=settings.local_bytes)
    bus = LocalBus(directory)
    bus.lock()
    try:
        found = pruned(directory, kept)
    finally:
        bus.close()
    _show(found, json=json)
    if kept.bytes is not None and found["kept"].get(DATABASE, 0) > kept.bytes:
        fail(
            f"{directory / DATABASE} takes more than {kept.bytes:,} bytes without any verdict or "
            "dead letter: what it holds now is not pruned",
            1,
        )


def _directory(settings: Settings) -> Path:
    if not settings.bus.startswith("local:"):
        fail(
            f"prune: {settings.bus} is no local bus. Kafka's own retention bounds its topics: "
            "`reusewatch topics check`",
            2,
        )
    directory = Path(settings.bus.removeprefix("local:"))
    # Not made for the purpose: a slip of the pen would be answered with an empty bus.
    if not (directory / DATABASE).exists():
        fail(f"prune: there is no bus in {directory}; --bus names another", 2)
    return directory


def pruned(directory: Path, keep: Keep) -> dict[str, Any]:
    """Prune, and give the space back to the disk; what left, and what there is now."""
    before = sum(pruning.sizes(directory).values())
    with told(directory):
        database = connect(directory)
        try:
            removed = dict.fromkeys(pruning.PRUNED, 0)
            if keep.seconds is not None:
                removed = pruning.remove_older(database, now_ms() - keep.seconds * 1000)
            if keep.bytes is not None:
                for topic, count in pruning.keep_within(database, keep.bytes).items():
                    removed[topic] += count
            database.execute("VACUUM")
            # Or the write-ahead log stays as large as the whole database was.
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            database.close()
    kept = pruning.sizes(directory)
    return {"removed": removed, "before": before, "after": sum(kept.values()), "kept": dict(kept)}


def _show(found: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json(found)
        return
    rows = [(f"{topic} removed", f"{count:,}") for topic, count in found["removed"].items()]
    rows += [("bytes before", f"{found['before']:,}"), ("bytes now", f"{found['after']:,}")]
    rows += [(f"of these {name}", f"{size:,}") for name, size in found["kept"].items() if size]
    print_aligned(rows, indent="")
