"""Names of headers that are no UTF-8 are read all the same, with replacement characters.

kafka-python reads a whole batch of records as soon as one of it is asked for, and raises where a
name is no UTF-8: at each poll anew, so that one message of a stranger would end every reader of
its partition for good. Brokers take such names. Patches one method of the client, once.
"""

from __future__ import annotations

from typing import Any

from kafka.record.default_records import DefaultRecordBatch

_Batch: Any = DefaultRecordBatch  # its types do not tell of this method
_read = _Batch._read_msg


class _Forgiving(bytearray):
    """The bytes of a batch, whose parts decode whatever they are. Slow: for such batches only."""

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        return _Forgiving(found) if isinstance(at, slice) else found

    def decode(self, encoding: str = "utf-8", errors: str = "replace") -> str:
        """The text, with replacement characters where there is none."""
        return bytes(self).decode(encoding, "replace")


def read_forgiving(batch: Any, *arguments: Any, **named: Any) -> Any:
    try:
        return _read(batch, *arguments, **named)
    except UnicodeDecodeError:
        # The batch stands where this record begins: its place moves on when a record was read.
        batch._buffer = _Forgiving(batch._buffer)
        return _read(batch, *arguments, **named)


def forgive() -> None:
    """From now on, in this process."""
    _Batch._read_msg = read_forgiving  # a second time changes nothing
