"""Write rules, dashboards and the runbook anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from deploy.watching import written
from reusewatch.streams.verbs import tables

DEPLOY = Path(__file__).resolve().parents[1]
FILES: Mapping[str, Callable[[], str]] = {
    "prometheus/recording.yml": written.recording,
    "prometheus/alerting.yml": written.alerting,
}


def main() -> None:
    """Write all of them."""
    for name, made in FILES.items():
        (DEPLOY / name).write_text(made(), "utf-8")
    readme = DEPLOY / "README.md"
    text = tables.replaced(readme.read_text("utf-8"), "runbook", written.runbook())
    readme.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
