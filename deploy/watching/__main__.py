"""Write rules, dashboards and the runbook anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from deploy.watching import written
from deploy.watching.dashboards import DASHBOARDS
from deploy.watching.panels import Dashboard, as_json
from reusewatch.streams.verbs import tables

DEPLOY = Path(__file__).resolve().parents[1]


def _dashboard(dashboard: Dashboard) -> str:
    return json.dumps(as_json(dashboard), indent=2, ensure_ascii=False) + "\n"


FILES: Mapping[str, Callable[[], str]] = {
    "prometheus/recording.yml": written.recording,
    "prometheus/alerting.yml": written.alerting,
    **{
        f"grafana/{name}.json": partial(_dashboard, dashboard)
        for name, dashboard in DASHBOARDS.items()
    },
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
