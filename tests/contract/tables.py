"""What users' scripts rely on, as data, held against the command itself.

Names in these tables may be joined by others. Taking one away breaks somebody's script, and needs
a major version.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from reusewatch.crawler.demo.brand import whole_web
from reusewatch.crawler.demo.truth import planted
from reusewatch.streams.verbs import schemas
from tests.command import Done, run

OK, FOUND_DAMAGE, WRONG_USE, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 130

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
HEX = re.compile(r"[0-9a-f]+")

KINDS = {
    "duplicate", "labeled-page", "labeled-content", "near-duplicate", "quilt", "phrase-host",
    "partial-copy",
    "bad-neighborhood", "discovered-content", "crawl-trap",
}  # fmt: skip
ALERT = {
    "id", "kind", "state", "severity", "url", "prefix", "site", "figure", "threshold", "labels",
    "donors", "evidence", "fetched_at", "detected_at", "detector", "labels_version",
}  # fmt: skip
DONOR = {"url", "share", "fetched_at"}
EVIDENCE = {"start", "end", "text", "donor", "donor_start", "donor_end", "label"}
VERDICT = {
    "url", "site", "fetched_at", "exact", "contains", "labels", "near_duplicate", "quilt",
    "popular_shingles", "truncated", "obfuscated", "detector", "labels_version",
}  # fmt: skip
SUMMARY = {
    "records", "pages", "skipped", "damaged", "dead_letters", "alerts", "seconds",
}  # fmt: skip
DEAD_LETTER = {"reason", "source", "offset", "url", "detail", "at"}
NEIGHBORHOOD = {"prefix", "files", "badness", "chunk_ratio", "open"}
CLUSTER = {"cluster", "representative", "size", "sites", "diameter", "urls"}
SIMILAR = {"url", "mwo", "b", "c"}
PHRASE = {"phrase", "documents", "sites"}
COVER = {"url", "size", "popular_shingles", "foreign", "donors"}
PHRASE_HOST = {"host", "pages", "mean", "deviation", "alike"}
LABEL = {"name", "files", "chunks", "version", "scheme", "source"}
KEPT_OUT = {"prefix", "kind", "since", "expires", "alert"}
CHECK = {"check", "ok", "found", "wanted", "do"}
SETTING = {"name", "value", "from"}

COMMANDS = [
    [], ["demo"], ["replay"], ["crawl"], ["work"], ["alerts"], ["alerts", "show"],
    ["alerts", "summary"], ["verdicts"], ["prune"],
    ["dead-letters"], ["prefixes"], ["notify"],
    ["topics"], ["topics", "create"], ["topics", "check"], ["doctor"], ["config"],
    ["clusters"], ["similar"], ["phrases"], ["cover"],
    ["neighborhoods"], ["fingerprint"], ["labels"], ["labels", "build"],
    ["labels", "show"], ["labels", "merge"], ["labels", "diff"], ["labels", "verify"],
    ["labels", "push"], ["labels", "remove"], ["labels", "rollback"], ["labels", "preview"],
    ["labels", "discover"], ["labels", "propose-stops"],
]  # fmt: skip

# topic → key, schema, content type
TOPICS: dict[str, tuple[str | None, str, str]] = {
    "pages": (None, "page/2", "application/msgpack"),
    "fingerprints": (None, "fingerprints/2", "application/vnd.apache.arrow.stream"),
    "verdicts": ("id", "verdict/1", "application/json"),
    "alerts": ("id", "alert/1", "application/json"),
    "dead-letters": (None, "dead-letter/1", "application/json"),
    "label-packs": (None, "label-pack/1", "application/octet-stream"),
    "neighborhoods": (None, "neighborhood-part/1", "application/json"),
    "moments": (None, "moments/1", "application/json"),
}
CLOUD_EVENT = {"ce_specversion", "ce_id", "ce_type", "ce_source", "ce_time"}

# What the demo plants, by kind of alert.
PLANTED = Counter(str(one.kind) for one in planted(whole_web()))
DEMO_ALERTS = PLANTED.total()
# Of these, what is found with no labels and the default settings.
# (A quilt of pages of a site that were fetched after it is none: nobody says whose they are.)
UNLABELED_ALERTS = -1 + sum(
    PLANTED[kind] for kind in ("duplicate", "near-duplicate", "partial-copy", "quilt", "crawl-trap")
)
DEMO_PACK, DEMO_LABEL = ".demo/alder-bank.pack", "alder-bank"
DEMO_CONFIG = ("--config", ".demo/reusewatch.toml")


@dataclass(frozen=True)
class Tried:
    """A directory where the demo ran, and a damaged archive was replayed beside it."""

    directory: Path
    demo: Done
    damaged: Done
    bus: str = "local:.demo/state"

    def run(self, *arguments: str) -> Done:
        """A command on the bus of the demo."""
        return self.here(*arguments, "--bus", self.bus)

    def here(self, *arguments: str) -> Done:
        """A command in the demo's directory."""
        return run(*arguments, cwd=self.directory)

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """The demo's alerts of a kind."""
        return [one for one in self.demo.objects if one["kind"] == kind]


def only_objects(done: Done, fields: set[str]) -> list[dict[str, Any]]:
    """What was printed: objects of these fields at least, and nothing on stderr."""
    assert done.code == OK, done.err
    assert done.err == ""
    assert done.out.endswith("\n") or not done.out
    for one in done.objects:
        assert fields <= one.keys(), fields - one.keys()
    return done.objects


def valid(name: str, objects: list[dict[str, Any]]) -> None:
    """As the published schema says."""
    validator = Draft202012Validator(schemas.schema_of(name))
    for one in objects:
        validator.validate(one)


def printable(text: str) -> bool:
    """Nothing that a terminal obeys but the ends of lines and tabs."""
    return all(char.isprintable() for char in text.replace("\n", "").replace("\t", ""))
