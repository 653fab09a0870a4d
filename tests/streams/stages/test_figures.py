"""What a finding is told with: how many pages, and how severe on a page that was cut."""

from __future__ import annotations

import msgspec

from reusewatch.streams.stages.judging_rules import Rules
from tests.streams.stages.test_near_order import alerts_of, page, said, stage_of, verdicts_of


def test_a_duplicate_counts_the_pages_that_have_its_words() -> None:
    stage = stage_of(Rules())
    sent = [alerts_of(said(stage, [page(n, n, 0)])) for n in (0, 1, 2, 4, 5)]
    assert [[alert.figure for alert in alerts] for alerts in sent] == [[], [2], [3], [4], [5]]
    at_once = alerts_of(said(stage_of(Rules()), [page(n, n, 0) for n in (0, 1, 2, 4, 5)]))
    assert [alert.figure for alert in at_once] == [2, 3, 4, 5]


def test_an_earlier_page_that_comes_late_is_counted_as_well() -> None:
    stage = stage_of(Rules())
    said(stage, [page(1, 5, 0)])
    (alert,) = alerts_of(said(stage, [page(0, 1, 0)]))
    assert (alert.url, alert.figure) == (page(1, 5, 0).url, 2)


def test_a_finding_on_a_page_that_was_cut_is_more_severe() -> None:
    hidden = b"<p>" + b" ".join(b"h%d" % (n % 5000) for n in range(1_000_001)) + b"</p>"
    first, second = page(0, 0, 0), page(1, 86_400, 0)
    long = [msgspec.structs.replace(one, body=hidden + one.body) for one in (first, second)]
    sent = said(stage_of(Rules()), long)
    (alert,) = alerts_of(sent)
    assert (alert.severity, alert.truncated) == ("critical", True)
    assert verdicts_of(sent)[second.url].truncated


def test_a_finding_on_a_page_whose_words_dodge_is_more_severe_in_either_order() -> None:
    first, second = page(0, 0, 0), page(1, 86_400, 0)
    wide = second.body.translate(None)
    for letter in b"abcdefghijklmnopqrstuvwxyz":
        wide = wide.replace(b" %c" % letter, b" " + chr(letter + 0x1D3B9).encode())
    hides = msgspec.structs.replace(second, body=b"<p>" + wide)
    for order in ([first, hides], [hides, first]):
        sent = said(stage_of(Rules()), order[:1]), said(stage_of(Rules()), order)
        (alert,) = alerts_of(sent[1])
        assert (alert.url, alert.severity) == (hides.url, "critical")
        assert alert.obfuscated == verdicts_of(sent[1])[hides.url].obfuscated > 0.5
        assert verdicts_of(sent[1])[first.url].obfuscated == 0


def test_a_finding_on_a_page_whose_download_broke_off_is_as_severe_as_others() -> None:
    seen = page(0, 0, 0), page(1, 86_400, 0)
    cut = [msgspec.structs.replace(one, truncated=True) for one in seen]
    (alert,) = alerts_of(said(stage_of(Rules()), cut))
    assert (alert.severity, alert.truncated) == ("warning", True)
