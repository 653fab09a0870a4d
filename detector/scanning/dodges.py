"""Words that dodge: what had to be folded to be a word, or was hidden, is counted.

Every word is folded (see `unicode_tables`); that alone says nothing of who wrote it, since accents,
fullwidth letters between Chinese ones and a formula's letters are folded too. Counted are words
that no ordinary text has: letters of two alphabets that look alike in one word; letters in disguise
(mathematical, circled) in words of three and more, and words of nothing but raised letters or
small capitals, which stand beside others as footnotes and in phonetics; marks that no letter of
an alphabet has; and, when their block is known, words of nothing but look-alikes in a block that is
otherwise Latin, and fullwidth words where no script is as wide. Never changes a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reusewatch.detector.compiling.kernels import Int, apart, part
from reusewatch.detector.scanning.scratch_memory import Work

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What the letters of a word say of it, as bits. A letter of ASCII has its own bit 6.
OTHER, ALIKE, GREEK, DRESSED, WIDE, LATIN, STRANGE, RAISED = (1 << at for at in range(1, 9))

# The counts, by place: of the page; of the block; the block's first token; whether all is shown.
FOLDED, HIDDEN, UNREAD, ALIKE_WORDS, WIDE_WORDS, OTHER_WORDS, FIRST, SHOWN = range(8)

# Shorter ones are variables, units and footnotes: x in italics, micrometres, a raised a.
_DRESSED_LETTERS = 3
_GREEK_LETTERS = 4


@part()
def note(work: Work, seen: Int, size: Int) -> None:
    """A word that is not of Latin letters alone was read."""
    apart()
    counts = work.dodges
    greek = (seen & GREEK) != 0 and size >= _GREEK_LETTERS
    dressed = DRESSED if (seen & LATIN) != 0 else DRESSED | RAISED
    if (seen & STRANGE) != 0 or ((seen & dressed) != 0 and size >= _DRESSED_LETTERS):
        counts[FOLDED] += 1
    elif (seen & LATIN) != 0:
        counts[FOLDED] += (seen & ALIKE) != 0 or (greek and (seen & OTHER) == 0)
    elif (seen & OTHER) != 0:
        counts[OTHER_WORDS] += 1
    elif (seen & WIDE) != 0:
        counts[WIDE_WORDS] += size > 1
    else:
        counts[ALIKE_WORDS] += (seen & ALIKE) != 0 or greek


@part()
def settle(
    work: Work, columns: NDArray[np.int32], width: Int, alone: Int, token: Int
) -> None:  # fmt: skip
    """A block with words in doubt ends before `token`; the last of its columns says by the bit
    `alone` which are of a script without spaces."""
    apart()
    counts = work.dodges
    # More words of Latin letters and digits than of another alphabet.
    if token - counts[FIRST] - counts[ALIKE_WORDS] > 2 * counts[OTHER_WORDS]:
        counts[FOLDED] += counts[ALIKE_WORDS]
    if counts[WIDE_WORDS] != 0:
        t = counts[FIRST]
        while t < token and (columns[width * t + width - 1] & alone) == 0:
            t += 1
        if t == token:
            counts[FOLDED] += counts[WIDE_WORDS]
    counts[ALIKE_WORDS] = counts[WIDE_WORDS] = counts[OTHER_WORDS] = 0
