"""How every command ends, and which error ends it how.

====  =====================================================================================
code  meaning
====  =====================================================================================
0     Done. A filter that nothing fits (`alerts --site S`, `verdicts --url U`) prints nothing.
1     Done, but something was damaged or did not hold; the last line on stderr names it.
2     Wrong usage or configuration. What was named is not there: a file, an archive, a pack, an
      alert's id, a label's name, a topic (`--topic-prefix`), a page of an archive (`fingerprint
      --url`) or of the window (`clusters --url`, `similar URL`) or of the bus (`cover URL`).
      Nothing is printed on stdout.
3     A part is unreachable: a broker, a worker, a directory that cannot be read or written.
130   Interrupted; it can be run again.
====  =====================================================================================

Loaded when a command fails: most do not, and need not wait for what can go wrong elsewhere.
"""

from __future__ import annotations

from reusewatch.crawler.errors import CrawlerError, SourceError
from reusewatch.detector.errors import DetectorError, SchemeMismatch
from reusewatch.streams.bus import BusError, BusMisnamed, Unreachable
from reusewatch.streams.dead_letter_limit import WorkerStopped
from reusewatch.streams.extras import NotInstalled
from reusewatch.streams.questions import BadQuestion, Unanswered
from reusewatch.streams.settings import SettingsError
from reusewatch.streams.stages.errors import Incompatible, SnapshotError
from reusewatch.streams.wire import WireError

UNREACHABLE = 3
_CODES: dict[type[Exception], int] = {
    SettingsError: 2,
    NotInstalled: 2,
    SourceError: 2,
    BadQuestion: 2,
    Incompatible: 2,
    SchemeMismatch: 2,
    Unanswered: UNREACHABLE,
    Unreachable: UNREACHABLE,
    BusMisnamed: 2,
    BusError: 1,
    CrawlerError: 1,
    DetectorError: 1,
    SnapshotError: 1,
    WireError: 1,
    WorkerStopped: 1,
}


def code_of(error: Exception) -> int | None:
    """What the command ends with; None where the error is our own mistake."""
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), None)
