"""Which version of a page is meant, against a search through all that was seen."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.streams.urls import root_of
from tests.detector.window.window_pages import NOW, T0, Page, base_text, columns

TEXTS = [base_text(seed) for seed in range(4)]
seen_pages = st.lists(
    st.builds(
        lambda page, at, text: Page(page, page % 2, at, TEXTS[text], text + 1, path=f"?é{text}"),
        st.integers(1, 3), st.integers(0, 20), st.integers(0, 3),
    ),
    min_size=1, max_size=20,
)  # fmt: skip


def times_of(seen: list[Page]) -> dict[tuple[int, int], tuple[int, int]]:
    """Of each page with these words when it was seen first and last."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for one in seen:
        key = one.page, one.text.text
        first, last = found.get(key, (one.at, one.at))
        found[key] = min(first, one.at), max(last, one.at)
    return found


@given(seen_pages, st.integers(0, 20))
def test_a_page_is_found_as_it_was_and_as_it_is(seen: list[Page], at: int) -> None:
    index = NearDuplicateIndex(max_pages=100)
    index.add(columns(seen), now=NOW)
    known = times_of(seen)
    for page in (1, 2, 3):
        mine = {text: times for (of, text), times in known.items() if of == page}
        now = index.version_at(page, None)
        then = index.version_at(page, T0 + at)
        latest = max(mine.items(), key=lambda one: (one[1][1], one[0]), default=None)
        assert (None if now is None else now.text) == (None if latest is None else latest[0])
        there = [first for first, last in mine.values() if first <= at <= last]
        assert (None if then is None else then.first - T0) == max(there, default=None)
        assert index.versions_about([page], [T0 + at]) == [then or now]
    alone = [index.version_at(page, T0 + at) or index.version_at(page, None) for page in range(5)]
    assert index.versions_about(range(5), [T0 + at] * 5) == alone


@given(seen_pages)
def test_all_pages_of_sites_are_told_with_their_urls(seen: list[Page]) -> None:
    index = NearDuplicateIndex(max_pages=100)
    index.add(columns(seen), now=NOW)
    for sites in ({0}, {1}, {0, 1}, {7}):
        found = index.pages_of(sites)
        urls: dict[int, set[str]] = {}
        for one in seen:
            if one.site in sites:
                urls.setdefault(one.page, set()).add(one.url)
        assert [page for _, page, _ in found] == list(urls), "as they came"
        assert all(site == page % 2 and url in urls[page] for site, page, url in found)


@dataclass(frozen=True)
class OnSomeHost(Page):
    """A page of a site that has several hosts, some of which are told in odd ways."""

    @property
    def url(self) -> str:
        return HOSTS[self.site][self.page % len(HOSTS[self.site])] + f"{self.page}{self.path}"


HOSTS = (
    ("http://a.test/", "https://a.test/", "http://b.a.test:8080/", "http://b.a.test/"),
    ("http://u@c.test/", "http://[::1]/", "HTTP://c.test/", "http://c.test?"),
)


@given(st.lists(
    st.builds(
        lambda page, at, text: OnSomeHost(page, page % 2, at, TEXTS[text], 1, path=f"/?é{text}"),
        st.integers(1, 20), st.integers(0, 20), st.integers(0, 3),
    ),
    min_size=1, max_size=30,
))  # fmt: skip
def test_pages_of_hosts_are_told_with_when_they_were_first_seen(seen: list[Page]) -> None:
    index = NearDuplicateIndex(max_pages=100)
    index.add(columns(seen), now=NOW)
    hosts = {root_of(host): site for site in (0, 1) for host in HOSTS[site]} | {"http://d.test/": 1}
    found = index.pages_on(hosts, root_of)
    plain: dict[str, dict[int, int]] = {host: {} for host in hosts}
    for one in seen:
        mine = plain[root_of(one.url)]
        mine[one.page] = min(T0 + one.at, mine.get(one.page, T0 + one.at))
    assert found == plain
    assert index.pages_on({}, root_of) == {}
    urls = index.urls_of(range(25))
    assert urls.keys() == {one.page for one in seen}
    assert all(url in {one.url for one in seen if one.page == page} for page, url in urls.items())


@given(seen_pages, seen_pages)
def test_versions_are_held_whose_words_were_seen(seen: list[Page], asked: list[Page]) -> None:
    index = NearDuplicateIndex(max_pages=100)
    index.add(columns(seen), now=NOW)
    versions = [(one.page, one.text.text) for one in asked]
    held, found = index.settled(versions)
    assert held == [at for at, one in enumerate(versions) if one in times_of(seen)]
    told = [found.judged.seen(int(at)) for at in found.judged.pages["seen"]]
    assert [(one.page, one.text) for one in told] == [versions[at] for at in held]
