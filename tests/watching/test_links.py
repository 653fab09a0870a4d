"""What `make watch` prints can be opened."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.serving import Health
from tests.streams.running.asked import Idle, no_prefixes
from tests.watching.stack import Pace, monitored
from tests.watching.workers import Stack, Workers


def test_every_link_answers(tmp_path: Path) -> None:
    meters = Meters("index", "s")
    with (
        closing(Health(meters, "127.0.0.1", 0, Idle(), prefixes=no_prefixes())) as health,
        closing(Workers(tmp_path, "kafka://127.0.0.1:1")) as workers,
        monitored(tmp_path / "monitors", Pace()) as monitors,
    ):
        address = f"127.0.0.1:{health.port}"
        workers.running[address] = "index", subprocess.Popen([sys.executable, "-c", ""])
        monitors.start([address])
        links = Stack("", workers, monitors).links()
        assert [name for name, _ in links] == ["index", "Prometheus", "Alertmanager"]
        for _, url in links:
            with urlopen(url) as answer:
                assert answer.status == 200
