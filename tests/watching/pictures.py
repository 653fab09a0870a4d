"""`python -m tests.watching.pictures FILE`: the main panels, drawn as Grafana would draw them.

The demo's pages come to a real broker over two minutes, as from a crawl; real workers judge them,
and a real Prometheus is asked what the dashboards' panels ask. Draws nothing that was not measured.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT
from subprocess import DEVNULL, Popen
from typing import Any

from tests.command import COMMAND
from tests.watching.stack import DEPLOY, Monitors, Pace, answered_for
from tests.watching.workers import Stack, at_work

# Dashboard and title of those that say most.
PANELS = (
    ("findings", "Share of pages, by what was found", "timeseries"),
    ("findings", "Alerts a minute, by kind", "timeseries"),
    ("stream-health", "Pages a second, by stage", "timeseries"),
    ("stream-health", "From arrival to output, by stage", "timeseries"),
)
_SECONDS, _STEP, _PARTS = 120, 2, 40
_UNITS = {"percentunit": (100.0, "%"), "cpm": (1.0, "a minute"), "ops": (1.0, "a second"),
          "s": (1.0, "seconds")}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drawn:
    """A panel with its lines: each its name, seconds since the beginning, and values."""

    title: str
    unit: str
    stacked: bool
    lines: Sequence[tuple[str, Sequence[float], Sequence[float]]]


def feed(stack: Stack) -> None:
    """The demo's archive in parts, each put there when its time has come, as a crawl does."""
    folder = stack.workers.directory / "crawl"
    folder.mkdir()
    records = members((stack.workers.directory / "demo" / "web.warc.gz").read_bytes())
    size = -(-len(records) // _PARTS)
    with Popen(
        [*COMMAND, "replay", "--follow", "crawl"], stdout=DEVNULL, stderr=DEVNULL,
        cwd=stack.workers.directory, env=stack.workers.environment, start_new_session=True,
    ) as replay:  # fmt: skip
        for number in range(_PARTS):
            partial = folder / f"{number:03}.partial"
            partial.write_bytes(b"".join(records[number * size : (number + 1) * size]))
            partial.rename(folder / f"{number:03}.warc.gz")
            time.sleep(_SECONDS / _PARTS)
        stack.await_judged()
        time.sleep(3 * _STEP)  # for the last figures to be scraped
        replay.send_signal(SIGINT)


def members(archive: bytes) -> list[bytes]:
    """The records, each a gzip member."""
    found = []
    while archive:
        member = zlib.decompressobj(31)
        member.decompress(archive)
        size = len(archive) - len(member.unused_data)
        found.append(archive[:size])
        archive = archive[size:]
    return found


def first_page(monitors: Monitors, since: float) -> float:
    """When the first was judged."""
    (found,) = monitors.ask(
        "query_range", query="sum(reusewatch_pages_total) > 0", start=str(since),
        end=str(time.time()), step=str(_STEP),
    )["result"]  # fmt: skip
    return float(found["values"][0][0])


def drawn(monitors: Monitors, begun: float) -> Iterator[Drawn]:
    """What Prometheus says of the panels since then."""
    for name, title, kind in PANELS:
        panels = json.loads((DEPLOY / "grafana" / f"{name}.json").read_text("utf-8"))["panels"]
        panel = next(one for one in panels if (one["title"], one["type"]) == (title, kind))
        factor, unit = _UNITS[panel["fieldConfig"]["defaults"]["unit"]]
        lines = [
            (named(target["legendFormat"], series["metric"]),
             [at - begun for at, _ in series["values"]],
             [factor * float(value) for _, value in series["values"]])
            for target in panel["targets"]
            for series in monitors.ask(
                "query_range", query=answered_for(target["expr"], "16s"), start=str(begun),
                end=str(time.time()), step=str(_STEP),
            )["result"]
        ]  # fmt: skip
        stacked = panel["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"] == "normal"
        yield Drawn(title, unit, stacked, lines)


def named(legend: str, labels: Mapping[str, str]) -> str:
    """A line's name: the legend, with the values of labels."""
    for label, value in labels.items():
        legend = legend.replace(f"{{{{{label}}}}}", value)
    return legend


def draw(panels: Sequence[Drawn], file: Path) -> None:
    """All of them beside each other."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # Text as text, and names that are always the same: the file is small, and differs little.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "reusewatch", "font.size": 8}):
        figure = Figure(figsize=(11, 6), layout="constrained")
        for panel, axes in zip(panels, figure.subplots(2, -(-len(panels) // 2)).flat, strict=True):
            _draw(panel, axes)
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


def _draw(panel: Drawn, axes: Any) -> None:
    lines = [line for line in panel.lines if any(value > 0 for value in line[2])]
    if panel.stacked:
        seconds = sorted({at for _, times, _ in lines for at in times})
        found = [dict(zip(times, values, strict=True)) for _, times, values in lines]
        heights = [[one.get(at, 0.0) for at in seconds] for one in found]
        axes.stackplot(seconds, heights, labels=[name for name, _, _ in lines], linewidth=0)
    else:
        for name, times, values in lines:
            axes.plot(times, values, label=name, linewidth=1.2)
    axes.set_title(panel.title, loc="left", fontweight="bold")
    axes.set(xlabel="seconds", ylabel=panel.unit, ylim=(0, None), xlim=(0, _SECONDS))
    axes.grid(visible=True, alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(fontsize="x-small", frameon=False, ncols=2)


def main(arguments: Sequence[str]) -> int:
    """Measure, and draw."""
    with tempfile.TemporaryDirectory(prefix="reusewatch-pictures-") as directory:
        with at_work(Path(directory), Pace("2s"), say) as stack:
            stack.make_demo()
            say(f"replaying the demo over {_SECONDS} s")
            begun = time.time()
            feed(stack)
            panels = list(drawn(stack.monitors, first_page(stack.monitors, begun)))
        draw(panels, Path(arguments[0]))
    say(f"drew {arguments[0]}")
    return 0


def say(text: str) -> None:
    """A line for whoever waits."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
