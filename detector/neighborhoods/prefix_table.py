"""The prefixes that are remembered: those a page leads to, and those that leave for others.

Those seen longest ago leave, and come back with sums of their own; those that are open are
remembered as such. Of the pages of one directory all lead to the same prefixes, which are looked up
once. Counts nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.neighborhoods.prefix_sums import PrefixSums, columns_of, restored
from reusewatch.detector.neighborhoods.prefixes import DIRECTORIES, directory_of, neighborhoods_of
from reusewatch.detector.text_column import packed, unpacked


class PrefixTable:
    """So many prefixes with their sums: `nodes`, those seen last at the end."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.nodes: OrderedDict[str, PrefixSums] = OrderedDict()
        # By directory, what leads from a page's URL to its prefixes; of these none has left.
        self._known: dict[str, tuple[frozenset[str], tuple[PrefixSums, ...]]] = {}
        # What was reported of each, and whether it was sure.
        self._left_open: OrderedDict[str, tuple[int, bool]] = OrderedDict()

    def seen(self, prefix: str, turn: int) -> PrefixSums:
        """This prefix, seen now; where it is new or has come back, with this turn."""
        node = self.nodes.get(prefix)
        if node is not None:
            self.nodes.move_to_end(prefix)
            return node
        left = self._left_open.pop(prefix, None)
        told, sure = left or (0, False)
        node = PrefixSums(prefix, turn, open=left is not None, told=told, sure=sure)
        self.nodes[prefix] = node
        return node

    def of_page(self, url: str, turn: int) -> tuple[PrefixSums, ...]:
        """The prefixes of a page, those that are new with this turn; nothing of a page in a trap,
        and where that takes more than to add them. They do not count as seen."""
        end = url.rfind("/") + 1
        known = self._known.get(url[:end])
        if known is not None:
            components, nodes = known
            name = url[end:]
            if name not in components and "?" not in name and "#" not in name:
                return nodes
        trap, touched = neighborhoods_of(url)
        nodes = () if trap is not None else self._with(touched, turn)
        directory, shared = directory_of(url)
        if nodes and shared is not None:
            if len(self._known) >= DIRECTORIES:
                self._known.clear()
            self._known[directory] = shared.components, nodes
        return nodes

    def _with(self, touched: tuple[str, ...], turn: int) -> tuple[PrefixSums, ...]:
        """These prefixes, where no other has to leave for them."""
        nodes = self.nodes
        new = [prefix for prefix in touched if prefix not in nodes]
        if new:
            if len(nodes) + len(new) > self._most:
                return ()
            if any(prefix in self._left_open for prefix in new):
                return ()
            nodes.update((prefix, PrefixSums(prefix, turn)) for prefix in new)
        return tuple([nodes[prefix] for prefix in touched])

    def evict(self) -> list[PrefixSums]:
        """The prefixes that are too many leave, those seen longest ago first."""
        gone = []
        while len(self.nodes) > self._most:
            prefix, node = self.nodes.popitem(last=False)
            if node.open:
                self._leave_open(prefix, node.told, node.sure)
            gone.append(node)
        if gone:
            self._known.clear()
        return gone

    def hold_open(self, prefix: str, told: int, *, sure: bool) -> None:
        """This one was open before a restart, and that was reported of it last."""
        node = self.nodes.get(prefix)
        if node is not None:
            node.open, node.told, node.sure = True, told, sure
        else:
            self._leave_open(prefix, told, sure)

    def _leave_open(self, prefix: str, told: int, sure: bool) -> None:
        self._left_open[prefix] = told, sure
        if len(self._left_open) > self._most:
            self._left_open.popitem(last=False)

    def save(self) -> dict[str, NDArray[Any]]:
        """Prefixes with their sums, and those that left while they were open."""
        return {
            **columns_of(self.nodes.values()),
            "left_open": packed(self._left_open),
            "left_told": np.array(list(self._left_open.values()), np.int64).reshape(-1, 2),
        }

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `save` gave; what is too much leaves with the next `evict`."""
        self.nodes = OrderedDict((node.prefix, node) for node in restored(saved))
        self._known.clear()
        left = list(unpacked(saved["left_open"]))
        told_of = saved["left_told"].tolist()
        self._left_open = OrderedDict(
            (prefix, (told, bool(sure))) for prefix, (told, sure) in zip(left, told_of, strict=True)
        )
