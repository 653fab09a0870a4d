"""What several tests stand on."""

from __future__ import annotations

from tests.broker import broker, kafka_config

__all__ = ["broker", "kafka_config"]
