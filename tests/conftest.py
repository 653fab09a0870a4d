"""What several tests stand on. Kernels are compiled before a test, and not within its time."""

from __future__ import annotations

import signal

from reusewatch.streams import kernels
from tests.broker import broker, kafka_config

# Who starts the tests in the background has them ignore Ctrl-C, and their commands would as well.
signal.signal(signal.SIGINT, signal.default_int_handler)
kernels.prepare()

__all__ = ["broker", "kafka_config"]
