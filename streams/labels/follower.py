"""The topic of labels, followed into the directory of this machine.

Every process that fingerprints follows all of it, in a thread of its own that the pages do not
wait for; the first that comes to a new pack puts it together for all. What cannot be put in force
is told, and what was in force stays.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from reusewatch.detector.errors import BadPack, SchemeMismatch
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.bus import Bus, Unreachable
from reusewatch.streams.labels.marking import InForce, Labeler
from reusewatch.streams.labels.parts import PackLost, assemble
from reusewatch.streams.labels.store import LabelStore, checksum_of
from reusewatch.streams.labels.table import LabelTable

# A dataset that changes all the time is put in force so often.
PUBLISH_SECONDS = 1.0
Stop = Callable[[], bool]


def put_in_force(
    bus: Bus,
    store: LabelStore,
    table: LabelTable,
    scheme: HashScheme,
    stop: Stop | None = None,
    *,
    check: bool = False,
) -> None:
    """Bring the directory to what the table says; who calls holds its lock.

    `check`: a pack that is there is read from end to end, and put together anew if it is damaged.
    Raises PackLost, BadPack or SchemeMismatch, and leaves in force what is.
    """
    manifest = table.manifest
    pack = manifest.pack if manifest else None
    if manifest is not None:
        scheme.require(manifest.scheme, f"what {topics.LABELS} says")
    if pack is not None:
        path = store.pack_path(pack)
        sound = path.exists() and path.stat().st_size == pack.size
        if not sound or (check and checksum_of(path) != pack.checksum):
            assemble(bus, pack, path, stop)
    before = manifest.previous.pack if manifest and manifest.previous else None
    keep = before if before is not None and store.pack_path(before).exists() else None
    store.publish(scheme, table.version(scheme), pack, table.overlay(), table.end, keep)


class Follower:
    """The thread, and what it last could not do."""

    def __init__(
        self,
        bus: Bus,
        store: LabelStore,
        scheme: HashScheme,
        *,
        say: Callable[[str], None],
        seconds: float = PUBLISH_SECONDS,
    ) -> None:
        self._bus = bus
        self._store = store
        self._scheme = scheme
        self._say = say
        self._seconds = seconds
        self._ending = threading.Event()
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._told: set[str] = set()
        self._published = 0
        self._published_at = 0.0
        self.refused = 0
        self._thread = threading.Thread(target=self._run, name="labels", daemon=True)
        self._thread.start()

    def ready(self, seconds: float) -> bool:
        """Whether what the topic held at the start is in force, or could not be. Waits so long.

        Raises what ended the thread.
        """
        self._ready.wait(seconds)
        if self._error is not None:
            raise self._error
        return self._ready.is_set()

    def close(self) -> None:
        """End the thread."""
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._publish(LabelTable.read(self._bus, self._ending.is_set), anew=True)
            self._ready.set()
            table = LabelTable()
            for message in self._bus.read(
                topics.LABELS, follow=True, stop=lambda: self._rest(table)
            ):
                table.take(message)
        except BaseException as error:  # it is the worker's to raise
            if not self._ending.is_set():
                self._error = error
        finally:
            self._ready.set()

    def _rest(self, table: LabelTable) -> bool:
        """All that there is was read: put it in force if it is news. Whether to end."""
        now = time.monotonic()
        if table.end > self._published and now >= self._published_at + self._seconds:
            self._publish(table, anew=False)
        return self._ending.is_set()

    def _publish(self, table: LabelTable, *, anew: bool) -> None:
        self._published, self._published_at = table.end, time.monotonic()
        if self._ending.is_set():
            return
        for reason in table.refused.values():
            self._refuse(reason)
        try:
            with self._store.locked(self._ending.is_set):
                # Another process of this machine may be ahead of us.
                current = None if anew else self._store.current()
                if current is None or current.end <= table.end:
                    put_in_force(
                        self._bus, self._store, table, self._scheme, self._ending.is_set, check=anew
                    )
            self._told = set(table.refused.values())
        except (PackLost, BadPack, SchemeMismatch) as error:
            self._refuse(str(error))
        except OSError as error:
            self._published = -1  # a full disk passes: tried again, and told once
            self._refuse(f"{self._store.directory}: {error.strerror or error}")
        except Unreachable:
            if not self._ending.is_set():
                raise

    def _refuse(self, reason: str) -> None:
        if reason not in self._told:
            self._told.add(reason)
            self.refused += 1
            self._say(f"labels: {reason}")


class Followed:
    """A follower beside a worker: nothing is processed before the labels are there.

    `show` takes what is in force, `refuse` how many changes could not be put in force.
    """

    def __init__(
        self,
        bus: Bus,
        labeler: Labeler,
        store: LabelStore,
        scheme: HashScheme,
        *,
        show: Callable[[InForce], None],
        refuse: Callable[[int], None],
        say: Callable[[str], None],
    ) -> None:
        self._labeler = labeler
        self._show = show
        self._refuse = refuse
        self._follower = Follower(bus, store, scheme, say=say)
        self._counted = 0
        self._say = say
        self._told: str | None = None

    def ready(self, seconds: float) -> bool:
        """Whether the topic was read; what is in force is shown, also while no page comes."""
        if not self._follower.ready(seconds):
            return False
        found = self._labeler.look()
        self._show(found)
        if found.trouble is not None and found.trouble != self._told:
            self._say(found.trouble)
        self._told = found.trouble
        if (refused := self._follower.refused) > self._counted:
            self._refuse(refused - self._counted)
            self._counted = refused
        return True

    def close(self) -> None:
        """End the follower."""
        self._follower.close()


def publish_local(
    bus: Bus, store: LabelStore, scheme: HashScheme, say: Callable[[str], None]
) -> None:
    """Put in force what a local bus holds; its packs are in the directory already."""
    try:
        with store.locked():
            table = LabelTable.read(bus)
            if table.manifest is None and not table.labels and store.current() is None:
                return
            for reason in table.refused.values():
                say(f"labels: {reason}")
            put_in_force(bus, store, table, scheme)
    except (PackLost, BadPack, SchemeMismatch) as error:
        say(f"labels: {error}")
