"""What an opened bus is told of its messages."""

from __future__ import annotations

import pytest

from reusewatch.streams.kafka import KafkaBus
from reusewatch.streams.opening import open_bus
from reusewatch.streams.settings import Settings


@pytest.mark.parametrize(
    ("wanted", "packed", "found"),
    [("lz4", False, "lz4"), ("lz4", True, None), ("zstd", True, "zstd"), ("none", True, None)],
)
def test_what_is_packed_is_not_compressed_once_more(
    wanted: str, packed: bool, found: str | None
) -> None:
    settings = Settings(bus="kafka://127.0.0.1:1", kafka_compression=wanted)  # type: ignore[arg-type]
    bus = open_bus(settings, packed=packed, in_flight_bytes=5, linger=0.5)
    assert isinstance(bus, KafkaBus)
    said = bus.config.compression, bus.config.in_flight_bytes, bus.config.linger
    assert said == (found, 5, 0.5)
