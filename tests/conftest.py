"""What several tests stand on. Kernels are compiled before a test, and not within its time."""

from __future__ import annotations

import os
import signal

from reusewatch.streams import kernels
from reusewatch.streams.console import say
from tests import hermetic
from tests.broker import broker, kafka_config

# Who starts the tests in the background has them ignore Ctrl-C, and their commands would as well.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Or each command that a test starts compiles every module of ours again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# With several workers, the process that starts them comes here first: it alone compiles.
kernels.prepare(say)
if not kernels.are_compiled(questions=True):
    kernels.prepare_questions(say)
hermetic.install()

__all__ = ["broker", "kafka_config"]
