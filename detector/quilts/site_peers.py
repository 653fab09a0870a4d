"""A sample of each site's documents: what a page is compared with to see what is a template.

A site's own template is what stands on a large share of that site's pages; an article that two
hundred sites have stands once on each. So what counts is never how many documents hold a gram, but
how many of one site do (after Fetterly et al. 2005, §3.2, who count documents, by which everything
that is widely copied would be popular).

Of each site the documents with the smallest text hashes are a chain that begins with the greatest
of them: an unbiased sample, of the window's documents and not of their order, in bounded memory for
any number of sites. It keeps half as many again as are looked at, so that some may leave: the place
of a document that left is taken only by one that comes later.

Knows no page's content.
"""

from __future__ import annotations

from typing import Any

from reusewatch.detector.compiling.kernels import part, types
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.quilts.store import GONE, MAX_AGE, NEWEST, STORE
from reusewatch.detector.window.buckets import number_bits, put, swap, take, with_key

PEERS = 32
"""Documents of a site that are looked at: of what a quarter of its pages have, eight."""
CHAIN = 48
"""Documents of a site that are chained."""
LEAST, SHARE = 2, 4
PART_LEAST, PART_SHARE = 4, 8
"""A gram is a template's where other documents of the site hold it: two and a quarter of them; or,
as a large site has a part of one template beside others, four and an eighth."""


@part(types.boolean(types.int64, types.int64), inline=True)
def many(have: Any, of: Any) -> Any:
    """Whether so many other documents of a site make what they hold a template."""
    return (have >= LEAST and have * SHARE >= of) or (
        have >= PART_LEAST and have * PART_SHARE >= of
    )


@part(types.boolean(types.int64, types.int64, types.int64, types.int64), inline=True)
def popular(here: Any, of_here: Any, there: Any, of_there: Any) -> Any:
    """Whether a gram is a template of the one site, of the other, or of both together: so many
    other documents of each hold it. Together, since each may have few pages in the window."""
    return many(here, of_here) or many(there, of_there) or many(here + there, of_here + of_there)


@part(types.int64(STORE, types.uint64))
def first_peer(store: Any, site: Any) -> Any:
    """The document where the chain of a site begins; −1 if there is none."""
    return with_key(store.by_site, number_bits(store.by_site), store.documents.site, site)


@part(types.void(STORE, types.int64))
def join_site(store: Any, at: Any) -> None:
    """A document may stand for its site."""
    documents, slots = store.documents, store.by_site
    bits, hashed = number_bits(slots), mix(documents[at].site)
    rank, first = documents[at].text, first_peer(store, documents[at].site)
    documents[at].peer, documents[at].peers = -1, 0
    if first < 0:
        documents[at].peers = 1
        put(slots, bits, hashed, at)
        return
    # Most documents of a large site end here: one look, whatever its size.
    if documents[first].peers == CHAIN and documents[first].text <= rank:
        return
    last, then = types.int64(-1), types.int64(first)
    while then >= 0 and documents[then].text > rank:
        last, then = then, types.int64(documents[then].peer)
    documents[at].peer = then
    documents[at].peers = 1 + (types.int64(documents[then].peers) if then >= 0 else 0)
    if last < 0:
        swap(slots, bits, hashed, first, at)
        first = at
    else:
        documents[last].peer = at
    then = types.int64(first)
    while then != at:
        documents[then].peers += 1
        then = types.int64(documents[then].peer)
    if documents[first].peers > CHAIN:
        swap(slots, bits, hashed, first, types.int64(documents[first].peer))
        documents[first].peers = 0


@part(types.void(STORE, types.int64))
def leave_site(store: Any, at: Any) -> None:
    """A document leaves the chain of its site."""
    documents = store.documents
    if documents[at].peers == 0:
        return
    slots, hashed = store.by_site, mix(documents[at].site)
    then, each = types.int64(documents[at].peer), first_peer(store, documents[at].site)
    documents[at].peers = 0
    if each == at:
        if then >= 0:
            swap(slots, number_bits(slots), hashed, at, then)
        else:
            take(slots, number_bits(slots), hashed, at)
        return
    while each != at:
        documents[each].peers -= 1
        if documents[each].peer == at:
            documents[each].peer = then
            return
        each = types.int64(documents[each].peer)


@part(types.boolean(STORE, types.int64), inline=True)
def is_there(store: Any, document: Any) -> Any:
    """Whether a document has neither left nor become too old."""
    numbers = store.numbers
    if store.documents[document].flags & GONE:
        return False
    return numbers[MAX_AGE] < 0 or (
        store.documents[document].at >= numbers[NEWEST] - numbers[MAX_AGE]
    )


@part(types.int64(STORE, types.uint64))
def documents_of(store: Any, site: Any) -> Any:
    """How many documents of a site are there, as far as they are chained."""
    each, count = first_peer(store, site), 0
    if each >= 0 and store.numbers[MAX_AGE] < 0:
        # What left is in no chain: the first says how many there are. A walk of the chain, for each
        # document that an answer names, would cost more than all the rest.
        return types.int64(store.documents[each].peers)
    while each >= 0:
        count += is_there(store, each)
        each = types.int64(store.documents[each].peer)
    return count
