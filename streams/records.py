"""The records that travel: Page, Verdict, Alert, Label, DeadLetter, and state kept on the bus.

Frozen, and valid once built. Field names are the interface that users' scripts read: add freely,
never rename. `VERSIONS` is what `schema` headers say; a newer version than ours is refused.
"""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from typing import Annotated, Literal

import msgspec
import xxhash
from msgspec import Meta

from reusewatch.streams.alert_kinds import KINDS, Severity

VERSIONS = {
    "page": 2,
    "fingerprints": 2,
    "verdict": 1,
    "alert": 1,
    "label": 1,
    "label-manifest": 1,
    "label-pack": 1,
    "dead-letter": 1,
    "neighborhood-part": 1,
    "moments": 1,
}

Kind = Annotated[str, Meta(extra_json_schema={"enum": sorted(KINDS)})]
# How a crawl trap is known: by the path of one URL, or by what came before it.
TrapKind = Literal["deep", "loop", "repeated", "growing", "permuted", "session", "calendar"]
# Who found something, as alerts and verdicts say it.
DETECTOR = f"reusewatch/{version('reusewatch')}"

# Said by the schemas; a reader takes what it is given.
Hash64 = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{16}$"})]
Hash128 = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{32}$"})]
_RFC3339 = {"format": "date-time", "pattern": "^[0-9]{4}-[0-9-]+T[0-9:.]+Z$"}
Time = Annotated[datetime, Meta(extra_json_schema=_RFC3339)]

# Statuses of pages; the others are of errors.
FINE = range(200, 300)
# From this share of its words on a page hides what it has: pages of real sites have next to none.
HIDES = 0.02
# A page whose archive names no date. It is matched, and never taken for a donor.
UNDATED = datetime.fromtimestamp(0, UTC)


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Root of all records: immutable values."""


STDIN = "-"
"""The source of pages that came from standard input: nobody can read them again."""


class Origin(Record, frozen=True, kw_only=True):
    """Where a page came from, and can be read again: an archive and the offset of its record; of a
    live crawl its place on the bus (`spool:NAME`, `kafka:TOPIC/PARTITION`), while it is kept."""

    source: str
    # None: it cannot be read again.
    offset: int | None = None
    # The record's WARC-Record-ID, without its brackets.
    record_id: str | None = None


class Sighting(Record, frozen=True, kw_only=True):
    """The page that a revisit record refers to: same payload, not stored again."""

    url: str
    fetched_at: Time | None = None


class Page(Record, frozen=True, kw_only=True):
    """A page as it was fetched. `body` is decoded from its content encoding, and not further."""

    id: Hash64
    url: str
    site: str
    host: str
    fetched_at: Time
    content_type: str
    body: bytes
    origin: Origin
    ip: str | None = None
    status: int | None = None
    charset: str | None = None
    charset_from: Literal["bom", "header", "meta", "detected", "given"] | None = None
    truncated: bool = False
    # Set on a revisit: the body is empty, and the payload that of the page named.
    revisit_of: Sighting | None = None
    # Set when the page was too large for the bus: the body is read again from `origin`.
    by_reference: bool = False
    # Set where the archive is damaged before the page, so that another page may have forged it. It
    # is judged, and never taken for a donor.
    salvaged: bool = False
    # Set in messages on Kafka: the body is an LZ4 frame of what it was.
    packed: Literal["lz4"] | None = None


class Exact(Record, frozen=True, kw_only=True):
    """The earliest other page with the same file, and with the same token sequence."""

    file: str | None = None
    text: str | None = None


Relation = Literal["same-site", "other-site"]


class NearDuplicate(Record, frozen=True, kw_only=True):
    """The best near-duplicate of a page."""

    url: str
    b: int
    c: int
    relation: Relation
    cluster: Hash64 | None = None
    # Minimum weight overlapping, where the terms of both pages are kept.
    mwo: float | None = None
    # How alike both are without what many other pages of their sites have too; null until the page
    # has settled, where no alert is wanted, and where the grams of one are not kept.
    own: float | None = None


class Quilt(Record, frozen=True, kw_only=True):
    """How much of a page is stitched from others (Najork 2012)."""

    patch_fraction: float
    cover: int
    sources: int
    foreign: float
    attributed: float


class Within(Record, frozen=True, kw_only=True):
    """Another page, and the shares of both pages' words that they have in common."""

    url: str
    here: float
    there: float


class Verdict(Record, frozen=True, kw_only=True):
    """What is known of one page. Keyed by the page's id; a later verdict replaces an earlier."""

    id: Hash64
    url: str
    site: str
    fetched_at: Time
    exact: Exact
    contains: float | None = None
    # The share of its grams that stand on labeled pages; null where they are too few to matter.
    labeled_grams: float | None = None
    labels: tuple[str, ...] = ()
    near_duplicate: NearDuplicate | None = None
    quilt: Quilt | None = None
    within: Within | None = None
    popular_shingles: int | None = None
    truncated: bool = False
    # Why nothing is said: an error page is no page by itself, and what a revisit refers to is not
    # known (yet: when that page is seen, there is a new verdict).
    not_judged: Literal["error-page", "revisit"] | None = None
    # Whether damage stands before the page in its archive: another page may have forged it.
    salvaged: bool = False
    # The share of its words that had to be unfolded (letters of two alphabets in one word, letters
    # in disguise) or were hidden in lines of text.
    obfuscated: float = 0.0
    # Null where only its content is known any more: it was judged anew from the window.
    origin: Origin | None = None
    detector: str
    labels_version: str | None = None
    scheme: str


class Donor(Record, frozen=True, kw_only=True):
    """A page that the subject shares content with."""

    url: str
    share: float
    fetched_at: Time
    # Where it can be read again, and the hash of what was read there.
    origin: Origin | None = None
    file_hash: Hash64 | None = None
    # Whether the subject links to it, or to another page of its site.
    linked: bool = False


class Evidence(Record, frozen=True, kw_only=True):
    """A span of the subject's body and where it stands in the donor's."""

    start: int | None = None
    end: int | None = None
    text: str | None = None
    donor: str | None = None
    donor_start: int | None = None
    donor_end: int | None = None
    # Of a labeled page, which is the donor where its label has kept where it stood: where it can
    # be read again, and the hash of what was read there.
    donor_origin: Origin | None = None
    donor_hash: Hash64 | None = None
    label: str | None = None
    # The places are near, and not exact: of a sample of what both pages have in common.
    approximate: bool = False
    # Where the subject is a prefix: a page under it, and the share of its chunks that is labeled.
    url: str | None = None
    contains: float | None = None


class Direction(Record, frozen=True, kw_only=True):
    """Where the original stands: at the first donor, at the subject, or it is not known; and why.

    The gap is the time from the donor's first sighting to the subject's.
    """

    original: Literal["there", "here", "unknown"]
    by: Literal["owned", "declared", "first-seen"] | None = None
    gap_seconds: int | None = None


class Mapped(Record, frozen=True, kw_only=True):
    """Two prefixes behind which the same stands: of a mirror, and of what it mirrors."""

    here: str
    there: str


class Differs(Record, frozen=True, kw_only=True):
    """Words that only one of two near-duplicates has."""

    only_here: tuple[str, ...]
    only_there: tuple[str, ...]


# Why there is no evidence: it was not made yet, which `alerts show` does; it is not known where a
# page stood; it cannot be read again, or is another by now; both have no run of words in common.
EvidenceMissing = Literal[
    "budget", "no origin", "retention", "archive gone", "crawl without keep_pages", "changed",
    "no common run",
]  # fmt: skip


# An alert without one could never be withdrawn.
AlertId = Annotated[Hash128, Meta(min_length=1)]


class Alert(Record, frozen=True, kw_only=True):
    """One finding. The id is made of kind, subject and content: found twice, it is the same."""

    id: AlertId
    kind: Kind
    state: Literal["open", "closed"] = "open"
    severity: Severity
    url: str | None
    prefix: str | None = None
    site: str
    figure: float
    threshold: float
    labels: tuple[str, ...] = ()
    donors: tuple[Donor, ...] = ()
    # Of the first donor; None where no other page is meant.
    direction: Direction | None = None
    # Where content stands that was discovered; some of them.
    sites: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    evidence_missing: EvidenceMissing | None = None
    # Of labeled content: what the figure is a share of, the page's chunks or its grams.
    figure_of: Literal["chunks", "grams"] | None = None
    # Whether the figure is an estimate: of discovered content, on how many pages it is (within some
    # per cent), once these are more than the threshold asked for.
    approximate: bool = False
    # Of the first donor, where both pages were read again.
    within: Within | None = None
    # The hash of what was read at `origin`.
    file_hash: Hash64 | None = None
    fetched_at: Time
    detected_at: Time
    detector: str
    labels_version: str | None = None
    scheme: str
    # Where the page came from; null of a prefix.
    origin: Origin | None = None
    page_id: Hash64 | None = None
    ip: str | None = None
    # Of a near-duplicate: agreeing supershingles and bits, and what the pages do not share.
    b: int | None = None
    c: int | None = None
    relation: Relation | None = None
    # As in the verdict.
    own: float | None = None
    differs: Differs | None = None
    # Of a prefix: files that count, and the share of all their chunks that is labeled.
    files: int | None = None
    chunk_ratio: float | None = None
    # Of a bad neighborhood: by which figure, the share of labeled content, or that of pages that
    # are copies of others'; and how many are.
    reused_by: Literal["labels", "reuse"] | None = None
    reused: int | None = None
    # Of a crawl trap.
    trap: TrapKind | None = None
    # Of a mirror, where its pages have their paths by a rule.
    mapping: Mapped | None = None
    # Of a host of popular phrases: the deviation of its pages' popular shingles; the figure is
    # their mean.
    deviation: float | None = None
    # As in the verdict of the page: the finding is told as `info`, whatever it is.
    salvaged: bool = False
    # As in the verdict of the page, too: more words than are read, or a body that was cut. Words in
    # front of a copy are a way to hide it, so of those the finding is told a step more severe.
    truncated: bool = False
    # As in the verdict of the page; from a 50th on the finding is told a step more severe.
    obfuscated: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind}: the kinds are {', '.join(KINDS)}")


class Withdrawn(Record, frozen=True, kw_only=True):
    """An alert that was wrong, as those get it who may have seen it. On the bus: a tombstone."""

    id: AlertId
    state: Literal["withdrawn"] = "withdrawn"
    # Null where an older reusewatch withdrew it.
    kind: Kind | None = None
    withdrawn_at: Time


class LabelPlace(Record, frozen=True, kw_only=True):
    """Where something that is labeled stood: a page, or bytes of it, that came under this label."""

    url: str
    label: str
    start: int = 0
    end: int = 0
    origin: Origin | None = None
    file_hash: Hash64 = ""


class LabelFirst(Record, frozen=True, kw_only=True):
    """The page that had something first, as far as known: its site, and when it was fetched."""

    site: str
    fetched_at: Annotated[Time, Meta(tz=True)]


class Label(Record, frozen=True, kw_only=True):
    """A change of the labeled dataset: all that is known of one hash from now on.

    It stands under `name` and the `also` names, whatever the pack in force says of it; removed, it
    stands under none.
    """

    hash: Hash64
    unit: Literal["file", "chunk", "gram"]
    name: str
    removed: bool = False
    version: str
    also: tuple[str, ...] = ()
    severity: Severity = "warning"
    # From a pack that was pushed as its difference: the next pack that is pushed withdraws it.
    pushed: bool = False
    stood: LabelPlace | None = None
    # Of what was discovered: pages of this site, and those that were fetched no later, are free of
    # this label. Says nothing of who wrote it.
    first: LabelFirst | None = None


class PackLabel(Record, frozen=True, kw_only=True):
    """A label of a pack, and how many hashes stand under it."""

    name: str
    severity: Severity
    source: str
    files: int
    chunks: int
    homes: tuple[str, ...] = ()
    grams: int = 0


class PackNamed(Record, frozen=True, kw_only=True):
    """A label pack as it travels: a file of so many bytes, in so many parts."""

    version: str
    size: int
    parts: int
    checksum: Hash128
    files: int
    chunks: int
    labels: tuple[PackLabel, ...] = ()
    grams: int = 0


class LabelsBefore(Record, frozen=True, kw_only=True):
    """What a rollback goes back to: pack, removed names, and each changed hash as it was."""

    pack: PackNamed | None
    pushed: str | None
    removed: tuple[str, ...]
    labels: tuple[Label, ...]
    withdrawn: tuple[Hash64, ...]


class LabelManifest(Record, frozen=True, kw_only=True):
    """The labeled dataset in force: a pack, without the names that were removed, and the changes
    on the topic beside it. `pushed` is the version of the pack that was pushed last."""

    scheme: str
    pack: PackNamed | None
    pushed: str | None
    removed: tuple[str, ...] = ()
    at: Time
    previous: LabelsBefore | None = None


class NeighborhoodPart(Record, frozen=True, kw_only=True):
    """What must be known again of neighborhoods after a restart: what one page adds to them, that
    one is open, or that a trap was reported."""

    what: Literal["page", "open", "trap"]
    url: str
    at: Time
    page_id: Hash64 | None = None
    # Of what is open: the badness that was reported last, in 2^-32; 0 is not known.
    told: int = 0
    # Of what is open: whether labels with a home alone made it bad.
    sure: bool = False
    labeled: int = 0
    # Of these, the chunks whose label has a home.
    homed: int = 0
    total: int = 0
    labels: tuple[str, ...] = ()
    severity: Severity | None = None


class PartitionMoments(Record, frozen=True, kw_only=True):
    """Badness over the neighborhoods of one partition: how many, their sum in 2^-32, and the sum
    of squares, hexadecimal since it outgrows what JSON readers take for a number; and of how many
    pages."""

    partition: int
    count: int
    total: int
    squares: Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9a-f]+$"})]
    pages: int = 0


class DeadLetter(Record, frozen=True, kw_only=True):
    """What could not be processed, and why. Nothing leaves the stream without one.

    The id is made of reason, source, offset and URL: the same damage, replayed again, is the same
    letter.
    """

    id: Hash128 = ""
    reason: str
    source: str
    offset: int | None
    url: str | None
    detail: str
    at: Time

    def __post_init__(self) -> None:
        if not self.id:
            made_of = f"{self.reason}\n{self.source}\n{self.offset}\n{self.url}"
            name = xxhash.xxh3_128_hexdigest(made_of.encode("utf-8", "surrogatepass"))
            msgspec.structs.force_setattr(self, "id", name)
