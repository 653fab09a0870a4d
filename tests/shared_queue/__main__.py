"""Two spiders with scrapy-redis's scheduler, one Redis, and the add-on: each page is fetched by one
of them, and both keep out of what was found and of traps. Ends with 1 where that does not hold.

Neither package is among our requirements: `make redis` provides both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from reusewatch.streams.local import LocalBus
from reusewatch.streams.wire import alert_message
from tests.command import environment
from tests.crawler.live.crawls import until
from tests.crawler.live.own import FOLLOWING, STAT, arguments
from tests.crawler.live.site import Answer, Site, serving
from tests.streams.made_alerts import bad

BAD, GOOD, TRAP = 40, 60, "/deep/" + "a/b/" * 5


@contextmanager
def redis(directory: Path) -> Iterator[str]:
    """A server of its own, on a socket in a directory."""
    socket = directory / "redis.sock"
    words = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(directory)]
    server = subprocess.Popen(["redis-server", *words], stdout=subprocess.DEVNULL)
    try:
        until(socket.exists)
        yield f"unix://{socket}"
    finally:
        server.terminate()
        server.wait()


def web() -> Site:
    good = [f"/good/{number}" for number in range(GOOD)]
    links = [*(f"/bad/{number}" for number in range(BAD)), TRAP, *good]
    pages = {link: Answer(f"<p>Words of {link}.".encode()) for link in links}
    return Site(
        pages | {"/": Answer("".join(f"<a href='{link}'>x</a>" for link in links).encode())}
    )


def begun(words: list[str], cwd: Path, env: dict[str, str]) -> subprocess.Popen[str]:
    """A spider."""
    return subprocess.Popen(
        [sys.executable, *words], cwd=cwd, env=env, text=True, stderr=subprocess.PIPE
    )


def main(directory: Path) -> int:
    with redis(directory) as address, serving(web()) as site:
        hood = replace(bad(prefix=site.url("/bad/")), detected_at=datetime.now(UTC))
        with closing(LocalBus(directory / "state").outlet()) as outlet:
            outlet.send(alert_message(hood))
        words = arguments(
            directory, [site.url("/")], FOLLOWING, REDIS_URL=address,
            SCHEDULER="scrapy_redis.scheduler.Scheduler",
            DUPEFILTER_CLASS="scrapy_redis.dupefilter.RFPDupeFilter",
            SCHEDULER_PERSIST=True,  # or who ends first empties the queue of the others
            REUSEWATCH_STEER="on", REUSEWATCH_STEER_SAMPLED=0, REUSEWATCH_TRAPS="on",
        )  # fmt: skip
        env = environment(PYTHONPATH=str(Path(os.environ["PYTHONPATH"]).resolve()))
        spiders = [begun(words, directory, env)]
        site.wait_for(2)
        spiders.append(begun(words, directory, env))
        said = [spider.communicate(timeout=120)[1] for spider in spiders]
        codes = [spider.returncode for spider in spiders]
    fetched = site.paths()
    # Start requests are sent by each, whatever was seen.
    wanted = {"/": 2} | {f"/good/{number}": 1 for number in range(GOOD)}
    stats = [dict(STAT.findall(text)) for text in said]
    print(f"{len(fetched)} pages were fetched, by each spider: "  # noqa: T201
          f"{[found.get('reusewatch/responses') for found in stats]}")  # fmt: skip
    if codes == [0, 0] and dict(fetched) == wanted and "enqueued/redis" in said[0]:
        return 0
    wrong = {path: fetched[path] for path in fetched | wanted if fetched[path] != wanted.get(path)}
    sys.stderr.write(f"{said[0]}\n{said[1]}\nfetched otherwise than wanted: {wrong}; {codes}\n")
    return 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(Path(made)))
