"""The rules: what Prometheus keeps of the metrics, and when somebody is told.

Each rule says nothing where nothing comes: rates have a least number of pages, ages a stream that
moves. `team` is who is told: `operations` for what does not run, `findings` for what was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Where the runbook stands, from the root of the project.
RUNBOOK = "deploy/README.md"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A figure that Prometheus keeps. Named level:metric:operation, as its users do."""

    name: str
    expr: str


@dataclass(frozen=True, slots=True)
class Alerting:
    """A rule that tells somebody: `means`, `look` and `do` are its runbook."""

    name: str
    expr: str
    wait: str
    severity: Literal["critical", "warning", "info"]
    team: Literal["operations", "findings"]
    summary: str
    means: str
    look: str
    do: str

    @property
    def description(self) -> str:
        """The runbook in one line."""
        return f"{self.means} Look at: {self.look} Do: {self.do}"

    @property
    def runbook_url(self) -> str:
        """Its section."""
        return f"{RUNBOOK}#{self.name.lower()}"


RECORDED = (
    Recorded("stage:reusewatch_pages:rate5m", "sum by (stage) (rate(reusewatch_pages_total[5m]))"),
    Recorded("kind:reusewatch_alerts:rate5m", "sum by (kind) (rate(reusewatch_alerts_total[5m]))"),
    Recorded(
        "stage:reusewatch_lag_seconds:max",
        "max by (stage) (max_over_time(reusewatch_lag_seconds[2m]))",
    ),
    Recorded(
        "stage:reusewatch_dead_letters:ratio_rate10m",
        "sum by (stage) (rate(reusewatch_dead_letters_total[10m]))"
        " / (sum by (stage) (rate(reusewatch_pages_total[10m]))"
        " + sum by (stage) (rate(reusewatch_dead_letters_total[10m])) > 0)",
    ),
    Recorded(
        "finding:reusewatch_findings:ratio_rate30m",
        "sum by (finding) (rate(reusewatch_findings_total[30m]))"
        ' / on () group_left () (sum (rate(reusewatch_pages_total{stage="index"}[30m])) > 0)',
    ),
    Recorded(
        "finding:reusewatch_findings:ratio_rate1d",
        "sum by (finding) (rate(reusewatch_findings_total[1d]))"
        ' / on () group_left () (sum (rate(reusewatch_pages_total{stage="index"}[1d])) > 0)',
    ),
    Recorded(
        "instance:reusewatch_window_span:seconds",
        'max without (end) (reusewatch_window_timestamp_seconds{end="newest"})'
        ' - max without (end) (reusewatch_window_timestamp_seconds{end="oldest"})',
    ),
)

# Of the last day: a stage is missing also where all of its processes ended at once.
_KAFKA = 'on () (count(max_over_time(reusewatch_build_info{stage!="local"}[1d])) > 0)'

ALERTING = (
    Alerting(
        "ReusewatchDown", 'up{job="reusewatch"} == 0', "5m", "warning", "operations",
        "{{ $labels.instance }} does not answer",
        "Prometheus cannot read a process's metrics: it ended, or is not reachable.",
        "whether it runs, and its last lines on stderr, which say why it ended.",
        "start it again; it goes on where it was. If it was taken out of service, take it out of "
        "the targets.",
    ),
    Alerting(
        "ReusewatchNobodyJudges",
        "(sum by (stage) (reusewatch_ready) == 0"
        " unless sum by (stage) (reusewatch_recovery_records) > 0)"
        + "".join(
            f' or (absent(reusewatch_ready{{stage="{stage}"}}) and {_KAFKA})'
            for stage in ("fingerprint", "index")
        )
        + ' or (max by (stage) (max_over_time(reusewatch_ready{stage="neighborhoods"}[1d]))'
        f" unless sum by (stage) (reusewatch_ready)) and {_KAFKA}",
        "5m", "critical", "operations",
        "nobody does the work of the stage {{ $labels.stage }}",
        "No process of the stage reads and is through with recovery: nothing is judged, and the "
        "topic that it reads grows until its retention cuts it.",
        "`reusewatch doctor`, which says who reads what; stderr of the stage's processes.",
        "start a worker of the stage. One that ended with an error says on its last line what to "
        "mend.",
    ),
    Alerting(
        "ReusewatchWorkerStalled",
        "(time() - max by (instance, stage, topic, partition)"
        " (reusewatch_last_progress_timestamp_seconds) > 300)"
        " and max by (instance, stage, topic, partition) (reusewatch_lag_records) > 0",
        "1m", "critical", "operations",
        "{{ $labels.stage }} at {{ $labels.instance }} stands still on {{ $labels.topic }}/"
        "{{ $labels.partition }}",
        "Messages wait in a partition, and for five minutes none of them was processed.",
        "`/healthz` of the process, its stderr, `ReusewatchBusTroubles`, its CPU.",
        "restart the process: what it had not committed is done again. Where it stops at the same "
        "place again, its last line names the message.",
    ),
    Alerting(
        "ReusewatchLag",
        "min_over_time(stage:reusewatch_lag_seconds:max[10m]) > 600", "5m", "warning",
        "operations",
        "{{ $labels.stage }} is more than ten minutes behind",
        "For ten minutes on end what the stage read was older than ten minutes: it does not keep "
        "up with what comes.",
        "the dashboard Stream health: pages per second against records that wait, time of a batch, "
        "CPU.",
        "start more workers of `fingerprint` or `neighborhoods`, as many as there are partitions; "
        "the index is one process and needs a faster core. After a replay of much at once: wait.",
    ),
    Alerting(
        "ReusewatchDeadLetters",
        "stage:reusewatch_dead_letters:ratio_rate10m > 0.05"
        " and sum by (stage) (increase(reusewatch_dead_letters_total[10m])) > 20",
        "5m", "warning", "operations",
        "over 5 % of what {{ $labels.stage }} reads cannot be processed",
        "Many records are poison. Past `dead_letter_limit` the worker stops.",
        "`reusewatch dead-letters`, which names reason, source and offset of each.",
        "mend the source that they come from. Nothing of the rest is lost; what was poison can be "
        "replayed once it is mended.",
    ),
    Alerting(
        "ReusewatchSnapshotOld",
        "(time() - max by (instance, stage) (reusewatch_snapshot_timestamp_seconds) > 900)"
        " and sum by (instance, stage) (rate(reusewatch_pages_total[10m])) > 0",
        "5m", "warning", "operations",
        "the newest snapshot of {{ $labels.stage }} at {{ $labels.instance }} is older than 15 "
        "minutes",
        "Pages come, and the state was not saved: a restart would read all since then again.",
        "room and permissions of `--state`, stderr of the process, how long snapshots take.",
        "give the directory room. Snapshots that take minutes: raise `snapshot_seconds`, and the "
        "figure of this rule with it.",
    ),
    Alerting(
        "ReusewatchRecoveryLong", "reusewatch_recovery_records > 0", "30m", "warning",
        "operations",
        "{{ $labels.stage }} at {{ $labels.instance }} has been recovering for half an hour",
        "A worker reads again what was judged before it was started; it judges nothing new before "
        "it is through.",
        "whether the figure falls; what the event `recovered` or a warning about snapshots says.",
        "wait while it falls. To be quicker next time: a smaller `snapshot_seconds`, a `--state` "
        "that outlives the process, a second index that stands by.",
    ),
    Alerting(
        "ReusewatchLabelsDiffer",
        'count(count by (version) (reusewatch_labels_version_info{stage="fingerprint"})) > 1',
        "15m", "warning", "operations",
        "fingerprint workers match with {{ $value }} versions of the labeled dataset",
        "Some workers have not taken up the newest labels: pages are judged by which worker they "
        "came to.",
        "the event `labels-refused`, room for `labels` in the workers' `--state`.",
        "`reusewatch labels verify PACK`; restart the worker that is behind.",
    ),
    Alerting(
        "ReusewatchLabelsRefused",
        'increase(reusewatch_events_total{event="labels-refused"}[1h]) > 0', "0m", "warning",
        "operations",
        "{{ $labels.instance }} could not take up a labeled dataset",
        "A pack is damaged or of another hash scheme; the one before stays in force.",
        "stderr of the worker, which says what is wrong with it.",
        "`reusewatch labels verify PACK`, build it again, push it again.",
    ),
    Alerting(
        "ReusewatchStateFull",
        'reusewatch_state_rows{stage="neighborhoods"}'
        ' / reusewatch_state_limit_rows{stage="neighborhoods"} > 0.95',
        "30m", "warning", "operations",
        "{{ $labels.instance }} holds nearly as many URL prefixes as it may",
        "Prefixes that were seen longest ago leave, with their figures (the event "
        "`prefix-evicted`).",
        "how many hosts the crawl has; `reusewatch_state_bytes` against the machine's memory.",
        "raise `neighborhood_prefixes`, about 700 bytes each.",
    ),
    Alerting(
        "ReusewatchWindowYoung",
        "instance:reusewatch_window_span:seconds < 86400"
        ' and reusewatch_state_rows{stage="index"}'
        ' / reusewatch_state_limit_rows{stage="index"} > 0.99',
        "30m", "warning", "operations",
        "the full window at {{ $labels.instance }} spans less than a day",
        "Pages leave the window sooner than wanted: copies of what was fetched before are not "
        "seen.",
        "pages per second against `window_pages`; whether one site or a trap fills the window (the "
        "event `over-share`).",
        "raise `window_pages`, about 430 bytes each; change the day in this rule to what you want.",
    ),
    Alerting(
        "ReusewatchBusTroubles", "increase(reusewatch_bus_troubles_total[10m]) > 3", "0m",
        "warning", "operations",
        "{{ $labels.stage }} at {{ $labels.instance }} keeps losing the broker",
        "A worker waited for the broker, or connected anew, more than three times in ten minutes. "
        "Nothing is lost.",
        "`reusewatch doctor`; the broker's log, its disk, the network between.",
        "mend the broker; workers and crawls go on by themselves.",
    ),
    Alerting(
        "ReusewatchRebalancing",
        "sum by (stage) (increase(reusewatch_rebalances_total[15m])) > 20", "0m", "warning",
        "operations",
        "partitions of {{ $labels.stage }} move again and again",
        "Each move makes a worker stop, commit and recover; many of them and little else is done.",
        "which worker comes and goes (`ReusewatchDown`), whether a batch takes longer than "
        "`kafka_session_seconds`.",
        "give each process a `kafka_instance` of its own, so that a restart moves nothing; raise "
        "`kafka_session_seconds`.",
    ),
    Alerting(
        "ReusewatchCrawlStuck",
        "(time() - reusewatch_crawl_last_response_timestamp_seconds > 600)"
        " and (reusewatch_crawl_scheduled > 0 or reusewatch_crawl_waiting > 0)",
        "1m", "warning", "operations",
        "the crawl at {{ $labels.instance }} has had no response for ten minutes",
        "Requests wait for their turn, or responses for the bus, and nothing comes.",
        "`reusewatch_crawl_waiting`: above 0 the bus takes no pages; else the site, robots.txt or "
        "the network.",
        "see `on_trouble` for a bus that is away; else the crawl's own log.",
    ),
    Alerting(
        "ReusewatchCrawlLosesPages", "increase(reusewatch_crawl_lost_total[10m]) > 0", "0m",
        "critical", "operations",
        "the crawl at {{ $labels.instance }} loses pages",
        "Responses did not come to the bus, and will not.",
        "the crawl's last line, which says why; the broker.",
        "with `on_trouble = \"wait\"` or `\"spill\"` nothing is lost; crawl what is missing again.",
    ),
    Alerting(
        "ReusewatchNearDuplicatesJump",
        'finding:reusewatch_findings:ratio_rate30m{finding="near-duplicate"}'
        ' > 2 * finding:reusewatch_findings:ratio_rate1d{finding="near-duplicate"} + 0.05'
        ' and on () sum(increase(reusewatch_pages_total{stage="index"}[30m])) > 1000',
        "10m", "warning", "findings",
        "the share of near-duplicates has more than doubled",
        "Of the last half hour's pages far more are near-duplicates than of the day's: the crawl "
        "has come into mirrors, a trap of parameters, or generated pages.",
        "the dashboard Findings; `reusewatch alerts summary`, `reusewatch clusters`.",
        "keep the crawl out of what it found: `reusewatch prefixes`.",
    ),
    Alerting(
        "ReusewatchNeighborhoodsSurge",
        'sum(increase(reusewatch_alerts_total{kind="bad-neighborhood"}[1h])) > 20'
        ' and sum(increase(reusewatch_alerts_total{kind="bad-neighborhood"}[1h]))'
        ' > 4 * sum(increase(reusewatch_alerts_total{kind="bad-neighborhood"}[1d])) / 24',
        "0m", "warning", "findings",
        "bad neighborhoods surge",
        "More than 20 alerts on URL prefixes came in an hour, four times as many as in the day's "
        "mean hour.",
        "`reusewatch alerts --kind bad-neighborhood`, `reusewatch neighborhoods`; the thresholds "
        "on the dashboard Index and labels, and whether new labels were pushed.",
        "keep the crawl out of them, or roll back labels that match what they should not: "
        "`reusewatch labels rollback`.",
    ),
)  # fmt: skip
