"""Every setting, once: its name, its type and choices, its default, what it means.

To add a setting, add one field here. The tables, the template, the errors and the checks of
values are made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from reusewatch.detector.hashing import PUBLIC_KEY, Counts, HashScheme
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams.settings.keeping import Keep, keep_of

MIB = 1 << 20
_QUILTS = QuiltRules()

Positive = Annotated[int, msgspec.Meta(ge=1)]
Natural = Annotated[int, msgspec.Meta(ge=0)]
Supershingles = Annotated[int, msgspec.Meta(ge=1, le=6)]
Bits = Annotated[int, msgspec.Meta(ge=1, le=384)]
Sampled = Annotated[int, msgspec.Meta(ge=0, le=16)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
# Of less, blocks do not say which passages are labeled.
GramShare = Annotated[float, msgspec.Meta(ge=0.02, le=1)]
ShareOrNone = Annotated[float, msgspec.Meta(ge=0, le=1)]
# Below it, as many sites could be near to their share as would cost time to watch.
SiteShare = Annotated[float, msgspec.Meta(ge=0.05, le=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=1e9)]
# Above it, what waits for an answer of the broker would take it for dead.
# Less than what waits for an answer over the same connection.
Moment = Annotated[float, msgspec.Meta(ge=0, le=2)]
WholeSeconds = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
# A counter of discovery remembers as many pages; `labels discover` counts any number, offline.
Threshold = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Sites = Annotated[int, msgspec.Meta(ge=1, le=1000)]
Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class SettingsError(Exception):
    """A setting that cannot be: what, where it was set, and what it may be."""


# What uses a setting where the bus is Kafka. `judge` is a crawl with REUSEWATCH_JUDGE; what only
# `local` uses does nothing on Kafka.
Part = Literal[
    "crawl", "judge", "replay", "fingerprint", "index", "neighborhoods", "topics", "local"
]
COMMANDS: Mapping[Part, str] = {
    "crawl": "reusewatch crawl",
    "replay": "reusewatch replay",
    "fingerprint": "reusewatch work fingerprint",
    "index": "reusewatch work index",
    "neighborhoods": "reusewatch work neighborhoods",
    "topics": "reusewatch topics create",
    "local": "reusewatch replay --bus local:DIR",
}
STAGES: tuple[Part, ...] = ("fingerprint", "index", "neighborhoods")
INDEX: tuple[Part, ...] = ("index",)
CRAWL: tuple[Part, ...] = ("crawl",)
LOCAL: tuple[Part, ...] = ("local",)
ALL: tuple[Part, ...] = ("crawl", "judge", "replay", *STAGES, "topics")


def about(
    meaning: str,
    *,
    secret: bool = False,
    example: str | float | tuple[str, ...] | None = None,
    by: tuple[Part, ...] = INDEX,
) -> msgspec.Meta:
    """What a setting means.

    `by`: the parts that use it where the bus is Kafka. A secret is never shown, and never stands in
    reusewatch.toml. An example is for a setting that is not set by default: the template shows it.
    """
    return msgspec.Meta(description=meaning, extra={"secret": secret, "example": example, "by": by})


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. The field's name is the name in reusewatch.toml."""

    bus: Annotated[
        str,
        about(
            "Where pages and findings go: `local:DIR`, or `kafka://HOST:PORT[,HOST:PORT…]`.", by=ALL
        ),
    ] = "local:.reusewatch"
    state: Annotated[
        str,
        about(
            "The directory where Kafka workers keep their snapshots.",
            by=(*STAGES, "replay", "judge"),
        ),
    ] = ".reusewatch/state"
    topic_prefix: Annotated[str, about("Stands before the name of every topic.", by=ALL)] = (
        "reusewatch."
    )
    hash_key: Annotated[
        str,
        about(
            "The key of all hashes, a 64-bit number. Pages that were made to collide under the "
            "default key do not collide under a key of your own; who sees hashes made under it, "
            "as alerts show them, may still find collisions. Label packs are shared only under "
            "the same key.",
            secret=True,
            by=ALL,
        ),
    ] = f"{PUBLIC_KEY:#x}"
    simhash_counts: Annotated[
        Counts,
        about(
            "How often a word counts in a simhash: as often as it stands there, as in the `paper`, "
            "or `damped`, at most 4 times or the 32nd part of the page's words. Part of the "
            "hash scheme: with another value, stored state and label packs are made anew.",
            by=ALL,
        ),
    ] = "paper"

    workers: Annotated[Positive, about("Processes that read pages, on a local bus.", by=LOCAL)] = 1
    batch_pages: Annotated[
        Positive,
        about(
            "Pages that are judged together, as one block; one that follows a block cut short may "
            "have a quarter more.",
            by=LOCAL,
        ),
    ] = 512
    commit_seconds: Annotated[
        Seconds, about("The time between two commits.", by=(*STAGES, "crawl", "replay"))
    ] = 2.0
    snapshot_seconds: Annotated[
        Seconds, about("The time between two snapshots of the window.", by=STAGES)
    ] = 60.0
    dead_letter_limit: Annotated[
        Share,
        about(
            "A worker stops when more than this share of the last 1000 records is poison.",
            by=(*STAGES, "replay"),
        ),
    ] = 0.5
    local_bytes: Annotated[
        Positive | None,
        about(
            "The bytes that `bus.sqlite` of a local bus may come to use: beyond them the oldest "
            "verdicts and dead letters leave. Not set: they stay until `reusewatch prune`.",
            example=10_000_000_000,
            by=LOCAL,
        ),
    ] = None
    keep_pages: Annotated[
        str,
        about(
            "How much of the pages of live crawls a local bus keeps once they are judged, so that "
            "evidence can be cut from them: bytes (`2GB`), or time (`7d`). `0` keeps none. They "
            "are packed: a page of 25 kB takes about 6.",
            by=LOCAL,
        ),
    ] = "1GB"
    on_trouble: Annotated[
        Literal["stop", "wait", "spill", "go-on"],
        about(
            "What a live crawl does when the bus takes no pages. `wait` until the broker is back, "
            "or the disk has room; what no waiting mends (a wrong directory, no such topic) stops "
            "the crawl. `stop` it after half a minute. `spill`: put pages aside in `spill`, and "
            "send them once the broker is back. `go-on` without: pages are lost, and counted.",
            by=CRAWL,
        ),
    ] = "wait"
    spill: Annotated[
        str,
        about(
            'The directory where pages wait for the broker, with `on_trouble = "spill"`.', by=CRAWL
        ),
    ] = ".reusewatch/spill"
    max_body_bytes: Annotated[
        Positive,
        about("The largest body of a page, after decompression.", by=(*STAGES, "crawl", "replay")),
    ] = 32 * MIB

    archive_roots: Annotated[
        tuple[str, ...],
        about(
            "Directories below which archives may be opened because a message names one: for "
            "evidence, and for pages too large for the bus. What was replayed with this state "
            "directory may be opened anyway.",
            example=("/data/crawls",),
            by=(*STAGES, "replay"),
        ),
    ] = ()

    trust_dates: Annotated[
        tuple[str, ...],
        about(
            "Directories below which archives and trees are believed when they say when a page was "
            "fetched. Pages of others, and of a pipe unless `/` is named, count as fetched when "
            "the replay began: who made such an archive cannot date his copies before their "
            "originals.",
            example=("/data/crawls",),
            by=("replay",),
        ),
    ] = ("/",)

    window_pages: Annotated[
        Positive,
        about(
            "Pages that are remembered: about 430 bytes each, URLs of 60 characters.",
            by=("index", "neighborhoods"),
        ),
    ] = 1_000_000
    window_seconds: Annotated[
        Seconds | None,
        about(
            "How long pages are remembered, by their time of fetch. Not set: however long, until "
            "`window_pages` are there.",
            example=2_592_000.0,
        ),
    ] = None
    window_site_share: Annotated[
        SiteShare,
        about(
            "The share of the window that one site cannot exceed while others need the room: past "
            "it, its own oldest page leaves in place of another site's. A site that nobody else "
            "needs the room of may fill the window. 1: whoever was seen last longest ago leaves."
        ),
    ] = 0.25
    site: Annotated[
        Literal["registered-domain", "simple"],
        about("What is one site. `simple` is the host without its first name."),
    ] = "registered-domain"

    owned: Annotated[
        tuple[str, ...],
        about(
            "Whose pages are always the original, never a copy and no bad neighborhood: registered "
            "domains, hosts (with all their ports), or beginnings of URLs.",
            example=("example.org", "https://example.net/docs/"),
            by=("index", "neighborhoods", "judge"),
        ),
    ] = ()
    allowed: Annotated[
        tuple[str, ...],
        about(
            "Who may copy: pages there are reported as `info`. Named as in `owned`.",
            example=("partner.example",),
            by=("index", "judge"),
        ),
    ] = ()
    precedence_seconds: Annotated[
        WholeSeconds,
        about(
            "From which gap on the page that was seen first is taken for the original. Below it "
            "the direction is unknown, and the alert `info`."
        ),
    ] = 86_400

    alert_same_site: Annotated[bool, about("Alert on exact copies within one site too.")] = False
    policy: Annotated[
        Literal["across", "henzinger", "b", "c", "combined", "either"],
        about(
            "Which pairs are near-duplicates: by shared phrases (`b`), by the bits of their words "
            "(`c`), by both, by either; or `combined` within a site and between sites `c` "
            "(`henzinger`) or `either` (`across`)."
        ),
    ] = "across"
    b_similar: Annotated[
        Supershingles, about("How many of the 6 supershingles of two pages must agree.")
    ] = 2
    c_similar: Annotated[Bits, about("How many of the 384 bits of two pages must agree.")] = 372
    c_shared: Annotated[
        Sampled,
        about(
            "How many of 16 sampled phrases of two pages must agree where only their bits do. 0 is "
            "the paper's."
        ),
    ] = 8
    combined_c: Annotated[
        Bits, about("How many bits must agree where supershingles agree as well.")
    ] = 355
    alert_near_same_site: Annotated[
        bool, about("Alert on near-duplicates of the same site. Verdicts name them anyway.")
    ] = False
    alert_near_other_site: Annotated[bool, about("Alert on those of another site.")] = True
    near_mwo: Annotated[
        ShareOrNone, about("Near-duplicates whose weighted terms overlap by less do not alert.")
    ] = 0.0
    near_own: Annotated[
        ShareOrNone,
        about(
            "Near-duplicates do not alert that are less alike in what is their own: what is left "
            "of both without what many pages of one of their sites have. 0: all alert, and at "
            'once; so they do with `grams = "none"`.'
        ),
    ] = 0.3
    settle_pages: Annotated[
        Natural,
        about(
            "Parts of a page are looked for, and near-duplicates told, when so many later pages of "
            "its partition were judged: so that what they were taken from, and what of them is a "
            "template, is known whichever came first; in steps of 512 pages, or of "
            "so many where these are fewer. Copies never wait."
        ),
    ] = 2000
    settle_seconds: Annotated[
        Seconds, about("A stream that stands still for so long has what waits judged.", by=STAGES)
    ] = 30.0
    max_cluster: Annotated[Positive, about("The token sequences that a cluster may grow to.")] = (
        100_000
    )
    evidence_pairs: Annotated[
        Natural,
        about(
            "Near-duplicate alerts of a step of pages (512, or `settle_pages` where these are "
            "fewer) whose evidence is made with them: so many once as pages come and once as "
            "they settle; on Kafka for each partition. Both pages are read again for each; what "
            "is over it, `alerts show` makes. 0 leaves all to it."
        ),
    ] = 128
    similar_pages: Annotated[
        Natural,
        about(
            "Pages whose weighted terms are kept for `similar`: about 3 kB each on disk, beside "
            "the state; a worker that is asked more than 32 questions has them in memory, 10 kB "
            "each. 0 keeps none."
        ),
    ] = 50_000

    contains: Annotated[
        Literal["matchable", "paper"],
        about(
            "Of which paragraphs of a page the labeled ones are a share, stop chunks aside: of "
            "those long enough to be labeled, or of all, as in the paper. Pages that neighborhoods "
            "have counted keep their figure until they are seen again.",
            by=("index", "neighborhoods", "judge"),
        ),
    ] = "matchable"
    contains_threshold: Annotated[
        Share | None,
        about(
            "The share of labeled paragraphs from which on a page is reported. Not set: the mean "
            "of all pages plus one standard deviation, 0.144 at most.",
            example=0.3,
            by=("index", "judge"),
        ),
    ] = None
    labeled_grams: Annotated[
        GramShare,
        about(
            "The share of a page's grams, runs of five words, that stand on labeled pages, from "
            "which on it is reported, whatever its paragraphs are; with at least 16 of them. "
            "Label packs have grams unless they were built with `--no-grams`.",
            by=("index", "judge"),
        ),
    ] = 0.05
    chunks: Annotated[
        Literal["text", "raw"],
        about(
            "What a chunk is: a paragraph's words, or the bytes between paragraph tags.",
            by=("fingerprint", "judge"),
        ),
    ] = "text"
    stop_chunks: Annotated[
        str | None,
        about(
            "A TOML file of paragraphs that never count, beside the list that is shipped.",
            example="stop-chunks.toml",
            by=("fingerprint", "index", "judge"),
        ),
    ] = None
    grams: Annotated[
        Literal["all", "sampled", "none"],
        about(
            "Which word 5-grams of a page are kept, to find quilts and partial copies: all, one of "
            "eight by its value (all on pages of up to 256), or none: then neither is found.",
            by=("fingerprint", "index"),
        ),
    ] = "sampled"
    gram_bytes: Annotated[
        Positive,
        about(
            "The bytes that the grams of the window may take, about 1 kB for a page of 400 words "
            "where they are sampled; of more than 19 GB no use is made. The oldest pages leave "
            "first."
        ),
    ] = 128_000_000
    partial_share: Annotated[
        Share,
        about(
            "From which share on of a page, or of the other one, what two pages have in common is "
            "a partial copy."
        ),
    ] = _QUILTS.partial_share
    quilt_m: Annotated[
        Positive, about("A gram that more pages have than these is popular, and no patch.")
    ] = _QUILTS.m
    quilt_c: Annotated[Positive, about("A quilt has at least so many sources.")] = _QUILTS.c
    quilt_theta: Annotated[
        Share, about("At least this share of a quilt's grams stands on its sources.")
    ] = _QUILTS.theta
    quilt_phi: Annotated[
        ShareOrNone, about("The least share of a page's grams that each source brings.")
    ] = _QUILTS.phi
    quilt_foreign: Annotated[
        Literal["domain", "ip", "none"],
        about("Sources are pages of other registered domains, of other addresses, or any."),
    ] = _QUILTS.foreign

    phrase_pages: Annotated[
        Natural,
        about(
            "Pages, those fetched last, of which popular phrases are counted to find hosts that "
            "consist of such (`phrase-host`): about 100 bytes each, and 340 on disk. 0 looks for "
            "none."
        ),
    ] = 50_000

    discover: Annotated[
        Literal["off", "alert", "label"],
        about("Content that comes to be common: report it, or also put it into the labels."),
    ] = "alert"
    discover_pages: Annotated[
        Threshold, about("A paragraph is common on more pages than these.")
    ] = 100
    discover_file_pages: Annotated[
        Threshold, about("A whole file is common at more URLs than these.")
    ] = 100
    discover_sites: Annotated[
        Sites,
        about(
            "It is common on at least so many sites. All names under one hosting domain, such as "
            "`blogspot.com`, are one."
        ),
    ] = 5
    discover_label_sites: Annotated[
        Sites,
        about(
            'With `discover = "label"` it becomes a label once it is on so many registered '
            "domains, "
            "counted like `discover_sites`: a few domains are cheap, and could make a label "
            "of somebody's own words."
        ),
    ] = 20
    discover_length: Annotated[
        Natural, about("Characters. Shorter paragraphs are not counted.")
    ] = 100

    neighborhood_files: Annotated[
        Positive,
        about(
            "A URL prefix can be a bad neighborhood from so many files on.",
            by=("index", "neighborhoods"),
        ),
    ] = 10
    mirror_pages: Annotated[
        Positive, about("Pages of a host in the window from which on it may be told as a mirror.")
    ] = 20
    mirror_share: Annotated[
        Share, about("The share of a host's pages that have a copy on one other site: a mirror.")
    ] = 0.8
    badness_threshold: Annotated[
        Share | None,
        about(
            "The badness above which a prefix is reported. Not set: the mean of all prefixes "
            'plus one standard deviation, 0.3 at most (0.163 with `contains = "paper"`).',
            example=0.2,
            by=("index", "neighborhoods"),
        ),
    ] = None
    neighborhood_prefixes: Annotated[
        Positive,
        about(
            "URL prefixes that are kept, over all partitions. Those seen longest ago leave.",
            by=("neighborhoods",),
        ),
    ] = 200_000

    metrics_host: Annotated[
        str, about("The address where metrics and questions are served.", by=(*STAGES, "crawl"))
    ] = "127.0.0.1"
    question_hosts: Annotated[
        tuple[str, ...],
        about(
            "Names beside those of this machine under which workers may be asked questions; a "
            "request under another name is a browser's that was led here.",
            example=("index.internal",),
            by=(*STAGES, "crawl"),
        ),
    ] = ()
    metrics_port: Annotated[
        Port | None,
        about(
            "The port. Not set: 9461 for `fingerprint`, 9462 for `index`, 9465 for "
            "`neighborhoods`, none for a local bus. 0 takes a free one.",
            example=9461,
            by=(*STAGES, "crawl"),
        ),
    ] = None
    crawl_metrics_port: Annotated[
        Port | None,
        about(
            "The port of a live crawl, on either bus: on a local one `metrics_port` is of the "
            "process that judges. Not set: none there, on Kafka `metrics_port`. 0 takes a free "
            "one.",
            example=9470,
            by=CRAWL,
        ),
    ] = None

    log_format: Annotated[
        Literal["plain", "json"],
        about(
            "How a worker says that its state has changed, on stderr: lines for people, or JSON.",
            by=STAGES,
        ),
    ] = "plain"

    kafka_security: Annotated[
        Literal["plaintext", "tls", "sasl", "sasl+tls"], about("How brokers are spoken to.", by=ALL)
    ] = "plaintext"
    kafka_sasl: Annotated[
        Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"],
        about("How we log in, under `sasl` and `sasl+tls`.", by=ALL),
    ] = "PLAIN"
    kafka_username: Annotated[
        str | None, about("The login's name.", example="reusewatch", by=ALL)
    ] = None
    kafka_password: Annotated[str | None, about("The login's password.", secret=True, by=ALL)] = (
        None
    )
    kafka_token: Annotated[str | None, about("The token for OAUTHBEARER.", secret=True, by=ALL)] = (
        None
    )
    kafka_tls_ca: Annotated[
        str | None,
        about(
            "The file of certificates that are trusted. Not set: those of the machine.",
            example="/etc/ssl/certs/ca-certificates.crt",
            by=ALL,
        ),
    ] = None
    kafka_tls_certificate: Annotated[
        str | None,
        about("Our certificate, for brokers that ask for one.", example="client.crt", by=ALL),
    ] = None
    kafka_tls_key: Annotated[
        str | None, about("The file of our certificate's key.", example="client.key", by=ALL)
    ] = None
    kafka_tls_key_password: Annotated[
        str | None, about("The password of that file.", secret=True, by=ALL)
    ] = None
    kafka_tls_check_hostname: Annotated[
        bool, about("The broker's certificate must name the host that we connect to.", by=ALL)
    ] = True
    kafka_compression: Annotated[
        Literal["lz4", "zstd", "none"],
        about(
            "How messages are compressed; pages and fingerprints, which are LZ4 already, by `zstd` "
            "alone.",
            by=ALL,
        ),
    ] = "lz4"
    kafka_gather_seconds: Annotated[
        Moment,
        about(
            "A worker that keeps up waits so long for a batch to fill: pages of one batch cost "
            "less. With 0 it takes what there is.",
            by=STAGES,
        ),
    ] = 0.2
    kafka_partitions: Annotated[
        Positive | None,
        about(
            "Partitions of the topics that workers share, for `topics create`: 6 without it. Where "
            "it is set, `topics check` wants as many.",
            example=12,
            by=("topics",),
        ),
    ] = None
    kafka_replication: Annotated[
        Positive | None,
        about(
            "Copies of each partition, for `topics create`. Without it 3, or as many as there are "
            "brokers.",
            example=3,
            by=("topics",),
        ),
    ] = None
    kafka_instance: Annotated[
        str | None,
        about(
            "The name of this process in its group, another for each: a restart under the same "
            "name moves no partition.",
            example="fingerprint-1",
            by=STAGES,
        ),
    ] = None
    kafka_session_seconds: Annotated[
        Seconds,
        about(
            "A worker that is silent for so long is replaced. The broker bounds the value.",
            by=STAGES,
        ),
    ] = 45.0

    @property
    def kept_pages(self) -> Keep:
        """How much of judged pages is kept. ValueError where `keep_pages` says nothing."""
        return keep_of([self.keep_pages]) if self.keep_pages != "0" else Keep(bytes=0)

    @property
    def scheme(self) -> HashScheme:
        """The hash scheme under this deployment's key."""
        return HashScheme(int(self.hash_key, 0), self.simhash_counts)


# A heading stands before the setting that it names, in tables and in the template.
HEADINGS: Mapping[str, str] = {
    "bus": "Where things are",
    "workers": "Pace and limits",
    "window_pages": "The window",
    "owned": "Whose it is",
    "alert_same_site": "Copies and near-copies",
    "contains": "Known content",
    "grams": "Parts of pages",
    "discover": "Content that comes to be common",
    "neighborhood_files": "Neighborhoods",
    "metrics_host": "Metrics",
    "kafka_security": "Kafka",
}
