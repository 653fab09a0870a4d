"""Which posting of the same gram came before another, and what else is known of a posting.

Most grams are in one document: their posting has none before it, and takes no room to say so. A bit
says which have one; of these the places stand side by side in a ring of their own, in the order of
the postings, so that a count of bits leads to each. All bits of 64 postings are one record, with
what leads to their documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import intrinsic, part, types
from reusewatch.detector.quilts.store import BLOCK, END_DOCUMENT, END_LINK, STORE

_ONE = np.uint64(1)


def _population(typing: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


_ones = intrinsic(_population)
"""How many bits of a word are set: one instruction of the machine."""


@part(types.uint64(types.int64), inline=True)
def _bit(at: Any) -> Any:
    return _ONE << types.uint64(at % BLOCK)


@part(types.int64(STORE, types.int64), inline=True)
def document_at(store: Any, at: Any) -> Any:
    """The document of the posting at a place of the ring."""
    block = at // BLOCK
    begun = store.blocks[block].begins & ((_bit(at) << _ONE) - _ONE)
    document = types.int64(store.blocks[block].document) + _ones(begun)
    while document >= store.documents.size:
        document -= store.documents.size
    return document


@part(types.boolean(STORE, types.int64), inline=True)
def is_followed(store: Any, at: Any) -> Any:
    """Whether a posting is not its gram's newest; who knows one that is need not ask the table."""
    return store.blocks[at // BLOCK].followed & _bit(at) != 0


@part(types.boolean(STORE, types.int64), inline=True)
def is_mixed(store: Any, at: Any) -> Any:
    """Of a gram's newest posting, whether it may be that documents of several sites hold the gram:
    without that, one site has it to itself."""
    return store.blocks[at // BLOCK].mixed & _bit(at) != 0


@part(types.boolean(STORE, types.int64), inline=True)
def is_linked(store: Any, at: Any) -> Any:
    """Whether a posting of the same gram came before."""
    return store.blocks[at // BLOCK].linked & _bit(at) != 0


@part(types.int64(STORE, types.int64), inline=True)
def before(store: Any, at: Any) -> Any:
    """The place of the posting of the same gram that came before; its own where none did."""
    block, bit = at // BLOCK, _bit(at)
    linked = store.blocks[block].linked
    if not linked & bit:
        return at
    link = types.int64(store.blocks[block].link) + _ones(linked & (bit - _ONE))
    return types.int64(store.links[link if link < store.links.size else link - store.links.size])


@part(types.void(STORE, types.int64), inline=True)
def open_block(store: Any, at: Any) -> None:
    """A place is about to be written to: the first of a block begins it anew."""
    if at % BLOCK == 0:
        block = at // BLOCK
        store.blocks[block].document = store.numbers[END_DOCUMENT] % store.documents.size
        store.blocks[block].link = store.numbers[END_LINK] % store.links.size
        store.blocks[block].begins = store.blocks[block].linked = np.uint64(0)
        store.blocks[block].followed = store.blocks[block].mixed = np.uint64(0)


@part(types.void(STORE, types.int64), inline=True)
def begin_document(store: Any, at: Any) -> None:
    """At this place the next document begins; of a block's first one it is known."""
    if at % BLOCK:
        store.blocks[at // BLOCK].begins |= _bit(at)


@part(types.void(STORE, types.int64), inline=True)
def mark_mixed(store: Any, at: Any) -> None:
    """Documents of several sites may hold the gram of which this is the newest posting."""
    store.blocks[at // BLOCK].mixed |= _bit(at)


@part(types.void(STORE, types.int64, types.int64), inline=True)
def follow(store: Any, at: Any, then: Any) -> None:
    """The posting that is written at a place is of the same gram as an older one, the newest until
    now. Links of a block stand in the order of its places: no older posting is linked later."""
    end = store.numbers[END_LINK]
    store.links[end % store.links.size] = then
    store.numbers[END_LINK] = end + 1
    store.blocks[at // BLOCK].linked |= _bit(at)
    store.blocks[then // BLOCK].followed |= _bit(then)
