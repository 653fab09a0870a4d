"""Thresholds from what was seen: one standard deviation over the mean (Ardi, Heidemann 2014, §3.1).

Shares are added up as whole numbers of 2^-32, so that sums are exact: in any order, merged from any
parts, and with what was taken back, mean and deviation are the same. Until enough was seen, the
paper's own figures stand in: 0.144 for pages (§5.3), 0.163 for neighborhoods (§6.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, sqrt

PAPER_PAGES = 0.144
PAPER_NEIGHBORHOODS = 0.163
# The paper's figure is of contains over all chunks, by which a copied page has a third or less.
# Over those that can be labeled it has nearly 1: then this is a prefix of which a third is copied.
MATCHABLE_NEIGHBORHOODS = 0.3
SHARE_BITS = 32
_ONE = 1 << SHARE_BITS
_NEARLY = 1 - 2**-22
# The square of 1.6449: one normal variable in twenty is above that.
_Z_SQUARED, _Z_UNIT = 27_055, 10_000


def share(part: int, whole: int) -> int:
    """A share as a whole number of 2^-32, rounded down; 0 of nothing.

    >>> share(1, 4) == 1 << 30, share(0, 0)
    (True, 0)
    """
    return (part << SHARE_BITS) // whole if whole else 0


@dataclass(slots=True)
class Moments:
    """Count, mean and standard deviation of shares; what was added can be taken back."""

    count: int = 0
    total: int = 0
    squares: int = 0

    def add(self, share: int) -> None:
        """One more share."""
        self.count += 1
        self.total += share
        self.squares += share * share

    def remove(self, share: int) -> None:
        """Take back a share that was added."""
        self.count -= 1
        self.total -= share
        self.squares -= share * share

    def merge(self, other: Moments) -> None:
        """Add all that another has seen."""
        self.count += other.count
        self.total += other.total
        self.squares += other.squares

    @property
    def possible(self) -> bool:
        """Whether shares can add up to this: what somebody else says of them may be anything."""
        return (
            0 <= self.count < 1 << 48
            and 0 <= self.total <= self.count << SHARE_BITS
            and self.total**2 <= self.squares * self.count <= (self.count**2) << 2 * SHARE_BITS
        )

    @property
    def mean(self) -> float:
        """The mean; 0 of nothing."""
        return self.total / self.count / _ONE if self.count else 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation of what was seen (not an estimate for what was not)."""
        if not self.count:
            return 0.0
        return isqrt(self.count * self.squares - self.total * self.total) / self.count / _ONE


@dataclass(frozen=True, slots=True)
class Threshold:
    """Above which share something is reported.

    `fixed` overrules all; before `warm_up` pages were seen, `paper` is used. The paper's rule
    follows what it should find: with much copying it rises until it hides copying, and above
    `most` it does not go. It has no lower bound either: where next to nothing is labeled, next to
    nothing crosses it. `least` gives one.
    """

    paper: float
    fixed: float | None = None
    warm_up: int = 1000
    least: float = 0.0
    most: float = 1.0

    def of(self, seen: Moments, pages: int | None = None) -> float:
        """The threshold, by what was seen; `pages` where the shares are not those of pages."""
        if self.fixed is not None:
            return self.fixed
        if (seen.count if pages is None else pages) < max(self.warm_up, 1):
            return self.paper
        return min(max(seen.mean + seen.deviation, self.least), self.most)

    def at_least(self, seen: Moments, pages: int) -> float:
        """What `of` is not below, in 2^-32, and by next to nothing: in numbers that are rounded,
        which takes a third of the time."""
        if self.fixed is not None or pages < max(self.warm_up, 1) or not seen.count:
            return self.of(seen, pages) * _ONE - 1.0
        mean = seen.total / seen.count
        # Rounding moves the square by 2^-51 of the mean of squares, so the root of it by 2^-25 of
        # mean and deviation together; and the threshold counts as whole numbers, rounded down.
        square = max(seen.squares / seen.count - mean * mean, 0.0)
        return min((mean + sqrt(square)) * _NEARLY, self.most * _ONE) - 1.0


def surely_above(total: int, count: int, threshold: float) -> bool:
    """Whether a mean is above a threshold beyond what chance does, by a lower confidence bound.

    `total` are `count` shares in 2^-32. One-sided, 95 %: Wilson's score bound for a share, which
    holds for any values between 0 and 1, since none vary more than those that are 0 or 1. In whole
    numbers, so that it is the same wherever and in whatever order the shares were added up.

    >>> surely_above(share(4, 10) * 10, 10, 0.163), surely_above(share(2, 10) * 10, 10, 0.163)
    (True, False)
    >>> surely_above(share(2, 10) * 500, 500, 0.163)
    True
    """
    limit = int(threshold * _ONE)
    over = total - count * limit
    return over > 0 and over * over * _Z_UNIT > _Z_SQUARED * count * limit * (_ONE - limit)
