"""The public suffix list that publicsuffixlist bundles, read as a whole and not line by line.

It has ten thousand rules: to look at each took longer than the pages of a small crawl. Here all
lines are put into one set as they stand. Comments are among them, and match no host.

What this module holds on to in publicsuffixlist: rules are looked up in `_publicsuffix`, from as
many labels on as `_maxlabel` says. Nothing is fetched.
"""

from __future__ import annotations

from typing import BinaryIO

from publicsuffixlist import PublicSuffixList

_END_OF_REGISTRIES = "// ===end icann domains==="
_MOST_LABELS = 127
"""Of any name (RFC 1035, §2.3.4: 255 bytes); so none is left out."""


class PublicSuffixes(PublicSuffixList):
    """The same answers; rules that are compared in punycode are read as ever."""

    def _parse(self, source: BinaryIO, accept_encoded_idn: bool, only_icann: bool = False) -> None:
        if accept_encoded_idn:
            super()._parse(source, accept_encoded_idn, only_icann=only_icann)  # type: ignore[no-untyped-call]
            return
        text = source.read().decode().lower()
        if only_icann:
            text = text.partition(_END_OF_REGISTRIES)[0]
        self._publicsuffix = frozenset(text.split("\n"))
        self._maxlabel = _MOST_LABELS
