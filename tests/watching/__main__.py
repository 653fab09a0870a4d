"""`python -m tests.watching`: broker, workers, Prometheus with our rules, Alertmanager, the demo.

All on loopback, until Ctrl-C, which ends everything; what they wrote is removed. Says where each
serves, and every alert of the rules as it begins and ends.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.corpora import NotFetched
from tests.deployed import BrokerFailed
from tests.watching.stack import Monitors, Pace
from tests.watching.workers import NotStarted, Stack, at_work

_LOOK_SECONDS = 2.0
_ENDING = (signal.SIGINT, signal.SIGTERM)


def say(text: str) -> None:
    """A line for whoever watches."""
    print(text, flush=True)  # noqa: T201


def watch(directory: Path) -> None:
    """Start everything, replay the demo, and say what fires until interrupted."""
    with at_work(directory, Pace(), say) as stack:
        _say_where(stack)
        _replay(stack)
        say("\nWhat fires from now on, until Ctrl-C. End one of the workers to see a rule at work.")
        _follow(stack.monitors)


def _say_where(stack: Stack) -> None:
    say(f"\n  Kafka           {stack.bus}")
    for name, url in stack.links():
        say(f"  {name:<15} {url}")
    processes = ", ".join(str(process.pid) for _, process in stack.workers.running.values())
    say(f"  Processes       {processes}, one for each worker")
    say("  Dashboards      deploy/grafana, for a Grafana with this Prometheus as data source\n")


def _replay(stack: Stack) -> None:
    say("replaying the demo")
    stack.make_demo()
    stack.workers.run("replay", "demo/web.warc.gz")
    stack.await_judged()
    found = stack.monitors.query("sum by (kind) (reusewatch_alerts_total) > 0")
    for labels, count in sorted(found, key=lambda one: -one[1]):
        say(f"  {count:5.0f} {labels['kind']}")


def _follow(monitors: Monitors) -> None:
    known: set[tuple[str, str]] = set()
    while True:
        now = {
            (alert["labels"]["alertname"], alert["annotations"]["summary"])
            for alert in monitors.ask("alerts")["alerts"]
            if alert["state"] == "firing"
        }
        for name, summary in sorted(now - known):
            say(f"fires    {name}: {summary}")
        for name, summary in sorted(known - now):
            say(f"is over  {name}: {summary}")
        known = now
        time.sleep(_LOOK_SECONDS)


def _interrupted(number: int, frame: object) -> None:
    """The first ends everything; a second one does not stop that."""
    for one in _ENDING:
        signal.signal(one, signal.SIG_IGN)
    raise KeyboardInterrupt


def main(arguments: Sequence[str]) -> int:
    """Until Ctrl-C."""
    # Also where whoever started this in the background has it ignore Ctrl-C.
    for number in _ENDING:
        signal.signal(number, _interrupted)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="reusewatch-watch-") as directory:
        try:
            watch(Path(directory))
        except KeyboardInterrupt:
            say("\nended")
        except (BrokerFailed, NotFetched, NotStarted) as error:
            print(error, file=sys.stderr)  # noqa: T201
            return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
