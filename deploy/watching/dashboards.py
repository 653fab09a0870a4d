"""The dashboards: what was found, for the analyst; how the stream is, for the operator; what the
index holds and what it judges by."""

from __future__ import annotations

from deploy.watching.panels import Dashboard, Panel, Query, Row

_R = "$__rate_interval"


def _quantiles(metric: str, by: str = "") -> tuple[Query, ...]:
    labels, legend = (f"le, {by}", f"{{{{{by}}}}} ") if by else ("le", "")
    return tuple(
        Query(
            f"histogram_quantile({share}, sum by ({labels}) (rate({metric}_bucket[{_R}])))",
            f"{legend}{name}",
        )
        for share, name in ((0.5, "median"), (0.95, "95 %"))
    )


FINDINGS = Dashboard(
    "reusewatch-findings", "reusewatch / Findings",
    "What was found in the crawl, and how much of it that is.",
    (
        Row("Of the time shown", (
            Panel(
                "Pages judged", "Pages that the index judged in the time shown.", "short",
                (Query('sum(increase(reusewatch_pages_total{stage="index"}[$__range]))', "pages"),),
                "stat", 6,
            ),
            Panel(
                "Share of pages, by what was found",
                "Of the pages judged in the time shown, how many are copies, near-copies, labeled, "
                "or made of parts of others. A page can be several.", "percentunit",
                (Query(
                    "sum by (finding) (increase(reusewatch_findings_total[$__range]))"
                    ' / on () group_left () sum(increase(reusewatch_pages_total{stage="index"}'
                    "[$__range]))", "{{finding}}"),),
                "bargauge", 9, most=1,
            ),
            Panel(
                "Alerts, by kind", "Alerts sent in the time shown. `reusewatch alerts` shows them.",
                "short",
                (Query("sum by (kind) (increase(reusewatch_alerts_total[$__range]))", "{{kind}}"),),
                "bargauge", 9,
            ),
        )),
        Row("Over time", (
            Panel(
                "Share of pages, by what was found",
                "A jump says that the crawl has come into mirrors, a trap, or generated pages.",
                "percentunit",
                (Query(
                    f"sum by (finding) (rate(reusewatch_findings_total[{_R}]))"
                    ' / on () group_left () sum(rate(reusewatch_pages_total{stage="index"}'
                    f"[{_R}]))", "{{finding}}"),),
            ),
            Panel(
                "Alerts a minute, by kind",
                "Alerts sent. Those on quilts and partial copies come once a page has settled.",
                "cpm",
                (Query(f"60 * sum by (kind) (rate(reusewatch_alerts_total[{_R}]))", "{{kind}}"),),
                stacked=True,
            ),
            Panel(
                "From arrival to alert",
                "How long it took from a page's arrival on the bus to the alerts of its batch.",
                "s", _quantiles("reusewatch_alert_seconds"),
            ),
            Panel(
                "What changed afterwards",
                "Pages that turned out to be the copy when an older original was read, and alerts "
                "that were taken back.", "cpm",
                (Query(
                    "60 * sum by (event) (rate(reusewatch_events_total"
                    f'{{event=~"turned|withdrawn"}}[{_R}]))', "{{event}}"),),
            ),
        )),
        Row("What the crawl spends", (
            Panel(
                "Pages a second", "What the crawl gives to the bus, and what the index judges.",
                "ops",
                (Query(f'sum(rate(reusewatch_pages_total{{stage="index"}}[{_R}]))', "judged"),
                 Query(f"sum(rate(reusewatch_crawl_pages_total[{_R}])) or vector(0)", "crawled")),
            ),
            Panel(
                "Requests and responses that came to no page, by reason",
                "What the crawl asked for, or got, and did not give on. Crawls on Kafka with a "
                "metrics port only.", "cpm",
                (Query(
                    f"60 * sum by (reason) (rate(reusewatch_crawl_drops_total[{_R}])) > 0"
                    " or vector(0)", "{{reason}}"),),
                stacked=True,
            ),
        )),
        Row("What steering does", (
            Panel(
                "Requests that steering decided on, by finding and what was done",
                "Of crawls that are steered and have a metrics port. A dry run says what it would "
                "have done.", "cpm",
                (Query(
                    "60 * sum by (kind, done) (rate(reusewatch_crawl_steered_total"
                    f"[{_R}])) > 0 or vector(0)", "{{kind}}, {{done}}"),),
                stacked=True,
            ),
            Panel(
                "Different URLs a minute that steering saved",
                "Kept out, each counted once, however many links lead there.", "cpm",
                (Query(f"60 * sum(rate(reusewatch_crawl_saved_total[{_R}])) or vector(0)",
                       "saved"),),
            ),
        )),
    ),
)  # fmt: skip

STREAM = Dashboard(
    "reusewatch-stream", "reusewatch / Stream health",
    "Whether every stage is at work, keeps up, and loses nothing.",
    (
        Row("Now", (
            Panel("Rules that fire", "Alerts of our rules that fire now; each has a runbook.",
                  "short",
                  (Query('count(ALERTS{alertname=~"Reusewatch.+", alertstate="firing"})'
                         " or vector(0)", "firing"),), "stat", 4, 5),
            Panel("Workers that judge",
                  "Processes that read and are through with recovery. An index that stands by is "
                  "not among them.", "short",
                  (Query("sum by (stage) (reusewatch_ready)", "{{stage}}"),), "stat", 8, 5),
            Panel("Left of recovery",
                  "Messages that a worker reads again before it judges anything new.", "short",
                  (Query("sum by (stage) (reusewatch_recovery_records)", "{{stage}}"),),
                  "stat", 6, 5),
            Panel("Versions", "What runs: version and hash scheme. There should be one.", "short",
                  (Query('count by (version, scheme, python) (reusewatch_build_info)',
                         "{{version}} {{scheme}} {{python}}"),), "stat", 6, 5),
        )),
        Row("Does it keep up", (
            Panel("Pages a second, by stage", "Pages that each stage processed.", "ops",
                  (Query(f"sum by (stage) (rate(reusewatch_pages_total[{_R}]))", "{{stage}}"),)),
            Panel("Lag in seconds, by stage",
                  "The age of what a stage read last, in its slowest partition; 0 where nothing "
                  "waits.", "s",
                  (Query("max by (stage) (reusewatch_lag_seconds)", "{{stage}}"),)),
            Panel("Messages that wait, by stage and topic", "Messages that nobody has read yet.",
                  "short",
                  (Query("sum by (stage, topic) (reusewatch_lag_records)",
                         "{{stage}} {{topic}}"),)),
            Panel("Since a message was last processed, by stage",
                  "Rises while nothing comes, too: read it with the messages that wait.", "s",
                  (Query("time() - max by (stage, topic)"
                         " (reusewatch_last_progress_timestamp_seconds)", "{{stage}} {{topic}}"),)),
            Panel("Time of a batch, by stage", "How long a stage takes for one batch.", "s",
                  _quantiles("reusewatch_batch_seconds", "stage")),
            Panel("From arrival to output, by stage",
                  "From a page's arrival on the bus to what a stage made of it.", "s",
                  _quantiles("reusewatch_latency_seconds", "stage")),
            Panel("Time of a commit, by stage", "How long it takes to make a batch last.", "s",
                  _quantiles("reusewatch_commit_seconds", "stage")),
            Panel("Time of a snapshot, by stage", "The stage stands still for so long.", "s",
                  _quantiles("reusewatch_snapshot_seconds", "stage")),
        )),
        Row("Does it lose anything", (
            Panel("Dead letters a minute, by reason",
                  "Records that could not be processed; `reusewatch dead-letters` shows them.",
                  "cpm",
                  (Query("60 * sum by (stage, reason)"
                         f" (rate(reusewatch_dead_letters_total[{_R}])) or vector(0)",
                         "{{stage}} {{reason}}"),), stacked=True),
            Panel("Broker away, and partitions that moved",
                  "Times that the bus was waited for or connected anew, and that partitions were "
                  "assigned or revoked.", "short",
                  (Query(f"sum by (stage) (increase(reusewatch_bus_troubles_total[{_R}]))"
                         " or vector(0)", "{{stage}} broker"),
                   Query(f"sum by (stage, reason) (increase(reusewatch_rebalances_total[{_R}]))",
                         "{{stage}} {{reason}}"))),
            Panel("Not sent again after a restart",
                  "What was made again while recovering, and had been sent before.", "cpm",
                  (Query(f"60 * sum by (stage) (rate(reusewatch_muted_total[{_R}])) or vector(0)",
                         "{{stage}}"),)),
            Panel("Events a minute",
                  "What else happened, by name; deploy/README.md has the meaning of each.", "cpm",
                  (Query(f"60 * sum by (event) (rate(reusewatch_events_total[{_R}])) > 0"
                         " or vector(0)", "{{event}}"),)),
        )),
        Row("What it reads and writes", (
            Panel("Messages a second, by topic", "Read, and written.", "ops",
                  (Query(f"sum by (topic) (rate(reusewatch_records_in_total[{_R}]))",
                         "{{topic}} read"),
                   Query(f"sum by (topic) (rate(reusewatch_records_out_total[{_R}]))",
                         "{{topic}} written"))),
            Panel("Bytes a second, by topic", "Read, and written, before compression.", "Bps",
                  (Query(f"sum by (topic) (rate(reusewatch_bytes_in_total[{_R}]))",
                         "{{topic}} read"),
                   Query(f"sum by (topic) (rate(reusewatch_bytes_out_total[{_R}]))",
                         "{{topic}} written"))),
            Panel("Processors in use", "CPU seconds a second of each process.", "short",
                  (Query(f"rate(process_cpu_seconds_total[{_R}])", "{{instance}}"),)),
            Panel("Memory", "What each process has in memory.", "bytes",
                  (Query("process_resident_memory_bytes", "{{instance}}"),)),
        )),
        Row("Crawls", (
            Panel("Requests, responses and pages a second",
                  "Of crawls on Kafka with a metrics port.", "ops",
                  (Query(f"sum(rate(reusewatch_crawl_requests_total[{_R}])) or vector(0)",
                         "requests"),
                   Query(f"sum(rate(reusewatch_crawl_responses_total[{_R}])) or vector(0)",
                         "responses"),
                   Query(f"sum(rate(reusewatch_crawl_pages_total[{_R}])) or vector(0)", "pages"))),
            Panel("What waits in a crawl",
                  "Requests for their turn, and responses for the bus to take them.", "short",
                  (Query("sum(reusewatch_crawl_scheduled) or vector(0)", "requests"),
                   Query("sum(reusewatch_crawl_waiting) or vector(0)", "responses"))),
            Panel("Lost, and no page", "Responses that did not come to the bus, and those that "
                  "could not be made a page.", "short",
                  (Query("sum(increase(reusewatch_crawl_lost_total"
                         f"[{_R}])) or vector(0)", "lost"),
                   Query("sum(increase(reusewatch_crawl_dead_letters_total"
                         f"[{_R}])) or vector(0)", "no page"))),
            Panel("Since the last response", "How long ago a crawl got its last response.", "s",
                  (Query("time() - max by (instance)"
                         " (reusewatch_crawl_last_response_timestamp_seconds) or vector(0)",
                         "{{instance}}"),)),
        )),
    ),
)  # fmt: skip

INDEX = Dashboard(
    "reusewatch-index", "reusewatch / Index and labels",
    "What the state holds, what leaves it, and what pages are judged by.",
    (
        Row("The state", (
            Panel("How full the state is, by stage",
                  "Rows against the bound. A full window is its normal state; full neighborhoods "
                  "forget prefixes.", "percentunit",
                  (Query("max by (stage) (reusewatch_state_rows / reusewatch_state_limit_rows)",
                         "{{stage}}"),), most=1),
            Panel("Rows of the state, by process", "Pages of the window, prefixes.", "short",
                  (Query("reusewatch_state_rows", "{{stage}} {{instance}}"),)),
            Panel("Bytes of the state, by process", "About; the process has more.", "bytes",
                  (Query("reusewatch_state_bytes", "{{stage}} {{instance}}"),)),
            Panel("Time that the window spans",
                  "Between the fetches of its oldest and its newest page: copies of what is older "
                  "are not seen.", "s",
                  (Query('max without (end) (reusewatch_window_timestamp_seconds{end="newest"})'
                         " - max without (end)"
                         ' (reusewatch_window_timestamp_seconds{end="oldest"})', "{{instance}}"),)),
            Panel("Age of the newest snapshot", "What a restart would have to read again.", "s",
                  (Query("time() - reusewatch_snapshot_timestamp_seconds",
                         "{{stage}} {{instance}}"),)),
            Panel("What leaves, or does not enter, a minute",
                  "Pages that left the window, and why; pages that were too old or had no date; "
                  "prefixes that were forgotten.", "cpm",
                  (Query("60 * sum by (event) (rate(reusewatch_events_total{event=~"
                         '"evicted|dismissed|over-share|late|misdated|prefix-evicted|'
                         f'page-forgotten"}}[{_R}]))', "{{event}}"),)),
        )),
        Row("Bounds that cut", (
            Panel("Candidates passed over, a page",
                  "Candidates and postings that were not looked at, since too many pages share "
                  "their key.", "short",
                  (Query('sum(rate(reusewatch_events_total{event="cut"}'
                         f'[{_R}])) / sum(rate(reusewatch_pages_total{{stage="index"}}[{_R}]))',
                         "candidates"),)),
            Panel("Pages not read to their end, and clusters that did not join",
                  "Pages with more words than are read; clusters kept apart by `max_cluster`.",
                  "cpm",
                  (Query("60 * sum by (event) (rate(reusewatch_events_total"
                         f'{{event=~"overlong|refused"}}[{_R}]))', "{{event}}"),)),
            Panel("Evidence a minute",
                  "Alerts whose pages were read again and aligned, and those where it was left to "
                  "who asks, or could not be.", "cpm",
                  (Query("60 * sum by (event) (rate(reusewatch_events_total"
                         f'{{event=~"evidence-.+"}}[{_R}])) or vector(0)', "{{event}}"),)),
            Panel("Discovery a minute", "Content that came to be common, and what was forgotten.",
                  "cpm",
                  (Query("60 * sum by (event) (rate(reusewatch_events_total"
                         f'{{event=~"discover.+"}}[{_R}])) or vector(0)', "{{event}}"),)),
            Panel("Popular shingles of a page",
                  "How many of a page's 84 shingles other pages have, too. Many: the crawl is in "
                  "pages that are made of common phrases.", "short",
                  _quantiles("reusewatch_popular_shingles"), width=24),
        )),
        Row("Labels and thresholds", (
            Panel("Hashes in the labeled dataset", "Files and chunks that pages are matched with.",
                  "short",
                  (Query("max by (unit) (reusewatch_labels)", "{{unit}}"),), "stat", 6),
            Panel("Versions of the labeled dataset",
                  "How many workers match with each. There should be one version.", "short",
                  (Query("count by (version) (reusewatch_labels_version_info) or vector(0)",
                         "{{version}}"),), "stat", 6),
            Panel("The line for pages (contains)",
                  "From which share of labeled paragraphs on a page is reported; it follows mean "
                  "and deviation of all pages.", "percentunit",
                  (Query('max(reusewatch_threshold_ratio{figure="contains"})', "reported from"),
                   Query('max(reusewatch_mean_ratio{figure="contains"})', "mean"),
                   Query('max(reusewatch_mean_ratio{figure="contains"}'
                         ' + reusewatch_deviation_ratio{figure="contains"})',
                         "mean and deviation"))),
            Panel("The line for neighborhoods (badness)",
                  "Above which mean of contains a URL prefix is reported.", "percentunit",
                  (Query('max(reusewatch_threshold_ratio{figure="badness"})', "reported above"),
                   Query('max(reusewatch_mean_ratio{figure="badness"})', "mean"),
                   Query('max(reusewatch_mean_ratio{figure="badness"}'
                         ' + reusewatch_deviation_ratio{figure="badness"})',
                         "mean and deviation"))),
        )),
    ),
)  # fmt: skip

DASHBOARDS = {"findings": FINDINGS, "stream-health": STREAM, "index-and-labels": INDEX}
"""By the name of the file."""
