"""What several tests stand on. Kernels are compiled before a test, and not within its time."""

from __future__ import annotations

from streams import kernels
from tests.broker import broker, kafka_config

kernels.prepare()

__all__ = ["broker", "kafka_config"]
