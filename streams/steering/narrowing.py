"""Which bad neighborhoods say something of their own, and not only what one below them says.

The first pages of a host may all come out of one directory. Then every prefix above that directory
is as bad as it is, and who keeps out of the highest never sees what is good beside it. So a prefix
stands only for what is known of it beyond the open ones below: enough files, and bad ones. Figures
are as of when each was told last; where that makes the rest too small, the narrower stands. Told
late they make the rest too large: so a prefix whose worst files all stand in one directory below it
says nothing beyond that directory, whatever the figures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from reusewatch.detector.neighborhoods.prefixes import prefixes
from reusewatch.streams.records import Alert

# As many files as open a neighborhood by itself.
LEAST_FILES = 10


def narrowed(alerts: Iterable[Alert]) -> list[Alert]:
    """The open neighborhoods that stand for more than those below them."""
    found = {alert.prefix: alert for alert in alerts if alert.prefix}
    below: dict[str, list[Alert]] = defaultdict(list)
    for prefix, alert in found.items():
        # From the nearest on; the last is the prefix itself.
        above = (one for one in reversed(prefixes(prefix)[:-1]) if one in found)
        if (nearest := next(above, None)) is not None:
            below[nearest].append(alert)
    return [alert for prefix, alert in found.items() if _stands(alert, below[prefix])]


def _stands(alert: Alert, below: list[Alert]) -> bool:
    if _is_of_one_directory(alert):
        return False
    if not below or alert.files is None:
        return True
    files = alert.files - sum(one.files or 0 for one in below)
    if files < LEAST_FILES:
        return False
    badness = alert.figure * alert.files - sum(one.figure * (one.files or 0) for one in below)
    return badness / files >= alert.threshold


def _is_of_one_directory(alert: Alert) -> bool:
    """Whether the files that it names are several, and all in one directory below the prefix."""
    urls = [one.url for one in alert.evidence if one.url]
    rests = [url.removeprefix(alert.prefix or "").partition("/") for url in urls]
    directories = {name if slash else "" for name, slash, _ in rests}
    return len(urls) > 1 and len(directories) == 1 and directories != {""}
