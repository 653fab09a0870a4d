"""The stages by their names: where each serves its metrics, and where its state is kept.

A command that only refuses a wrong name, or asks a worker, loads this and no stage.
"""

from __future__ import annotations

from reusewatch.streams import topics

STAGES = ("fingerprint", "index", "neighborhoods")
# What judges the spools of a local bus, as `work` knows it.
LOCAL = "local"
# Where each stage serves its metrics unless told otherwise.
PORTS = {"fingerprint": 9461, "index": 9462, "neighborhoods": 9465}
# What the lock of a local bus says of the process that judges spools.
JUDGES = "judges what crawls bring"
# Where the state of stages that share their partitions is, on Kafka.
CHANGELOGS = {"neighborhoods": topics.NEIGHBORHOODS}
