"""What a quilt is, and a partial copy, as thresholds (Najork 2012, §2 and §4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Foreign = Literal["domain", "ip", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuiltRules:
    """(k, m, c, θ)-quilted: k is that of the grams that are given.

    A gram is a patch gram where 1 < |docs(g)| ≤ `m`; a page is a quilt where at least `theta` of
    its grams are patch grams of donors, and the greedy cover has at least `c` sources. `phi` is
    the least share of the page's grams that a source must bring to be one. `foreign`: a donor is
    of another registered domain, or of another address, or any other page.

    `partial_share`: from this share of the subject's grams, or of the donor's, on, one donor makes
    a partial copy. `template`: a gram that more documents of the subject's own site hold than these
    is that site's template, and no patch, however many more documents the site has (else
    `site_peers` says what a template is). `least`: a page of fewer posted grams is not judged, and
    of fewer of a donor's no share is told.
    """

    m: int = 50
    c: int = 4
    theta: float = 0.5
    phi: float = 0.05
    foreign: Foreign = "domain"
    partial_share: float = 0.3
    template: int = 5
    least: int = 16

    def __post_init__(self) -> None:
        for name in ("m", "c", "template", "least"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is at least 1, not {getattr(self, name)}")
        for name in ("theta", "phi", "partial_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a share from 0 to 1, not {getattr(self, name)}")
