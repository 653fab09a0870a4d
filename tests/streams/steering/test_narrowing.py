"""Only what is known of a place keeps a crawl out of it, held to a count of its files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reusewatch.streams.records import Alert, Evidence
from reusewatch.streams.steering.narrowing import LEAST_FILES, narrowed
from tests.streams.made_alerts import bad

HOST = "http://h.example/"
THRESHOLD = 0.25
# A file: its directory, and whether all of it is bad.
FILES = st.lists(
    st.tuples(st.sampled_from(["", "a/", "a/b/", "a/c/", "d/"]), st.booleans()), max_size=120
)


def told(prefix: str, files: list[bool]) -> Alert:
    return bad(prefix=prefix, figure=sum(files) / len(files), threshold=THRESHOLD, files=len(files))


def open_ones(files: list[tuple[str, bool]]) -> dict[str, list[bool]]:
    by_prefix = {
        p: [b for d, b in files if d.startswith(p)] for p in {d for d, _ in files} | {"", "a/"}
    }
    return {
        prefix: found
        for prefix, found in by_prefix.items()
        if len(found) >= LEAST_FILES and sum(found) / len(found) >= THRESHOLD
    }


@given(FILES)
def test_a_prefix_stands_for_the_files_that_no_open_one_below_it_has(
    files: list[tuple[str, bool]],
) -> None:
    opened = open_ones(files)
    kept = {alert.prefix for alert in narrowed(told(f"{HOST}{p}", f) for p, f in opened.items())}
    for prefix in opened:
        others = [one for one in opened if one != prefix and one.startswith(prefix)]
        rest = [
            b for d, b in files
            if d.startswith(prefix) and not any(d.startswith(one) for one in others)
        ]  # fmt: skip
        stands = not others or (
            len(rest) >= LEAST_FILES and sum(rest) / len(rest) >= THRESHOLD - 1e-9
        )
        assert (f"{HOST}{prefix}" in kept) == stands


def test_what_is_good_beside_a_bad_directory_is_crawled() -> None:
    only = [True] * 13
    kept = narrowed([told(HOST, only), told(f"{HOST}teller/", only)])
    assert [alert.prefix for alert in kept] == [f"{HOST}teller/"]


def test_a_host_whose_worst_files_are_all_of_one_directory_says_nothing_beyond_it() -> None:
    def of(*paths: str) -> list[Alert]:
        evidence = tuple(Evidence(url=f"{HOST}{path}") for path in paths)
        return narrowed([bad(prefix=HOST, figure=0.6, files=12, evidence=evidence)])

    assert of("a/1", "a/2", "a/b/3") == []
    for paths in (("a/1", "b/2"), ("a/1", "top"), ("a1", "a2"), ("a/1",), ()):
        assert len(of(*paths)) == 1
