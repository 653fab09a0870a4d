"""Pages like a given one on the stream: the stage's answers against MWO by the definition."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.hashing import hex_of
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.similar.weighted_pages import WeightedPages
from reusewatch.detector.window.adding import WEB_BEGINS_US
from reusewatch.streams import topics
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.questions import BadQuestion
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.similarity import PASSES, Similarity
from reusewatch.streams.wire import page_message
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.stages.making import NOW, as_message, blocks_of, zero

WORDS = [f"word{n}" for n in range(40)]


def fetches(count: int, seed: int = 1) -> list[Fetch]:
    rng = random.Random(seed)
    return [Fetch(n, n % 3, n, rng.randrange(5)) for n in range(count)]


def stage_of(max_pages: int = 1000, passes: int = PASSES) -> IndexStage:
    return IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=10_000,
        similarity=Similarity(SCHEME, max_pages=max_pages, passes=passes),
    )  # fmt: skip


def fed(stage: IndexStage, seen: Sequence[Fetch]) -> IndexStage:
    for sent in blocks_of(seen, 4):
        stage.process([as_message(sent)])
    return stage


def ask(stage: IndexStage, **parameters: str) -> dict[str, Any]:
    (row,) = stage.answer("similar", parameters)
    return row


def terms_of(seen: Sequence[Fetch]) -> dict[str, dict[int, float]]:
    """Each page's weighted terms, as its fingerprint has them."""
    found = {}
    for sent in blocks_of(seen, 4):
        block: pa.RecordBatch = read_block(as_message(sent), SCHEME)
        for row in block.select(["url", "terms", "term_weights"]).to_pylist():
            found[row["url"]] = dict(zip(row["terms"], row["term_weights"], strict=True))
    return found


def overlap(one: dict[int, float], other: dict[int, float]) -> float:
    """MWO: Σ min(w, w′)."""
    return sum(min(weight, other[term]) for term, weight in one.items() if term in other)


@settings(max_examples=20)
@given(
    st.integers(1, 25), st.integers(0, 100), st.sampled_from([0.2, 0.5, 0.9]),
    st.sampled_from([0, PASSES]),
)  # fmt: skip
def test_answers_are_those_of_the_definition(
    count: int, seed: int, threshold: float, passes: int
) -> None:
    seen = fetches(count, seed)
    stage, terms = fed(stage_of(passes=passes), seen), terms_of(seen)
    asked = seen[seed % count].url
    found = ask(stage, url=asked, threshold=str(threshold), top="100")
    wanted = {
        url: overlap(terms[asked], other)
        for url, other in terms.items()
        if url != asked and overlap(terms[asked], other) >= threshold - 1e-7
    }
    assert {one["url"] for one in found["answers"]} == set(wanted)
    for one in found["answers"]:
        assert one["mwo"] == pytest.approx(wanted[one["url"]], abs=1e-5)
    values = [one["mwo"] for one in found["answers"]]
    assert values == sorted(values, reverse=True)


def test_a_page_that_is_given_by_its_terms_is_answered_alike() -> None:
    seen = fetches(20)
    stage, terms = fed(stage_of(), seen), terms_of(seen)
    given = terms[seen[0].url]
    found = ask(
        stage, terms=",".join(map(hex_of, given)), threshold="0.9",
        weights=",".join(f"{weight:.9g}" for weight in given.values()),
    )  # fmt: skip
    by_url = ask(stage, url=seen[0].url, threshold="0.9")
    assert {one["url"] for one in found["answers"]} == {
        seen[0].url, *(one["url"] for one in by_url["answers"]),
    }  # fmt: skip
    assert found["answers"][0]["b"] is None
    assert by_url["answers"][0]["c"] == 384


def test_pages_without_words_agree_in_no_sketch() -> None:
    """Their addresses alone are alike: an absent simhash must not count as 384 agreeing bits."""
    seen = fetches(2)
    making, stage = FingerprintStage(SCHEME, zero), stage_of()
    empty = [msgspec.structs.replace(page_of(fetch), body=b"") for fetch in seen]
    made = making.process([as_message(page_message(page)) for page in empty]).messages
    stage.process([as_message(sent) for sent in made])
    found = ask(stage, url=empty[0].url, threshold="0.1")
    assert [(one["b"], one["c"]) for one in found["answers"]] == [(0, 0)]


@pytest.mark.parametrize("passes", [0, PASSES])
def test_asked_before_or_after_the_answer_is_the_same(passes: int) -> None:
    seen = fetches(40)
    late, early = fed(stage_of(passes=passes), seen), stage_of(passes=passes)
    fed(early, seen[:16])
    ask(early, url=seen[0].url)
    fed(early, seen[16:])
    for fetch in seen[::7]:
        assert ask(early, url=fetch.url) == ask(late, url=fetch.url)


@pytest.mark.parametrize("passes", [0, 3])
@pytest.mark.parametrize("max_pages", [7, 1000])
def test_who_asks_again_and_again_is_answered_alike(passes: int, max_pages: int) -> None:
    """From one question on pages are filed; no answer may tell."""
    seen = fetches(50)
    filing, passing = stage_of(max_pages, passes), stage_of(max_pages)
    for begin in range(0, 50, 10):
        for stage in (filing, passing):
            fed(stage, seen[begin : begin + 10])
        url = seen[begin + 5].url
        answers = [ask(stage, url=url, threshold="0.3") for stage in (filing, passing)]
        for name in ("answers", "pages", "found"):
            assert answers[0][name] == answers[1][name]


@pytest.mark.parametrize("passes", [0, PASSES])
@pytest.mark.parametrize("asked_before", [False, True])
def test_a_saved_state_answers_alike(asked_before: bool, passes: int) -> None:
    seen = fetches(30)
    stage = fed(stage_of(passes=passes), seen[:20])
    if asked_before:
        ask(stage, url=seen[0].url)
    fed(stage, seen[20:])
    again = stage_of(passes=passes)
    again.restore(stage.save())
    assert ask(again, url=seen[3].url) == ask(stage, url=seen[3].url)


@pytest.mark.parametrize("passes", [0, PASSES])
def test_only_so_many_pages_are_kept(passes: int) -> None:
    seen = fetches(50)
    stage = fed(stage_of(max_pages=10, passes=passes), seen)
    found = ask(stage, url=seen[-1].url)
    assert found["pages"] == 10
    with pytest.raises(BadQuestion, match="similar_pages"):
        ask(stage, url=seen[0].url)


@pytest.mark.parametrize(
    "parameters",
    [{"url": "http://nowhere.example/"}, {"terms": "xyz"}, {"terms": "ff", "weights": "0.5,0.5"},
     {"terms": "ff", "weights": "1", "threshold": "2"},
     {"terms": "ff", "weights": "1", "simhash": "1", "supershingles8": "2"}],
)  # fmt: skip
def test_what_cannot_be_asked_is_told(parameters: dict[str, str]) -> None:
    with pytest.raises(BadQuestion):
        stage_of().answer("similar", parameters)


def test_a_verdict_tells_the_overlap_with_the_nearest_page() -> None:
    stage = stage_of()
    text = " ".join(random.Random(3).choices(WORDS, k=300))
    bodies = [f"<p>{text} today".encode(), f"<p>{text} tomorrow".encode()]
    found = near_verdicts(stage, bodies)
    assert found[1] is not None
    assert 0.9 < found[1]["mwo"] < 1


def test_the_overlap_of_two_pages_is_the_same_after_a_restart() -> None:
    terms = Ragged.of([[5, 6, 7], [6, 7, 9], [8]])
    weights = np.array([0.5, 0.25, 0.25, 0.5, 0.25, 0.25, 1.0], np.float32)
    urls = [f"https://a.example/{page}" for page in range(3)]
    pages = WeightedPages.of(range(3), [WEB_BEGINS_US] * 3, terms, weights, urls)
    kept = Similarity(SCHEME, max_pages=10)
    kept.add(pages, now=WEB_BEGINS_US)
    again = Similarity(SCHEME, max_pages=10)
    again.restore(kept.save())
    for one in (kept, again):
        assert [one.overlap(0, other) for other in (0, 1, 2, 3)] == [1.0, 0.5, 0.0, None]


def near_verdicts(stage: IndexStage, bodies: Sequence[bytes]) -> list[dict[str, Any] | None]:
    """`near_duplicate` of pages of one site each, fetched one after the other."""
    making = FingerprintStage(SCHEME, zero)
    found = []
    for number, body in enumerate(bodies):
        page = msgspec.structs.replace(page_of(Fetch(number, number, number, 0)), body=body)
        (block,) = making.process([as_message(page_message(page))]).messages
        for sent in stage.process([as_message(block)]).messages:
            if sent.topic == topics.VERDICTS:
                found.append(json.loads(sent.value or b"")["near_duplicate"])
    return found


def test_for_a_question_only_what_answers_it_is_taken_up() -> None:
    seen = fetches(30)
    stage = fed(stage_of(), seen)
    for question in ("similar", "clusters"):
        again = stage_of()
        again.restore(stage.save(), question=question)
        parameters = {"url": seen[3].url}
        assert again.answer(question, parameters) == stage.answer(question, parameters)
