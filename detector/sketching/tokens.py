"""A batch of scanned pages as the sketches take it: columns of tokens, and where pages start.

Holds token hashes, never text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.fields import Field
from reusewatch.detector.ragged import Ragged, as_column


@dataclass(frozen=True, slots=True, eq=False)
class TokenBatch:
    """Tokens of many pages: hash, field, block number and length in characters of each.

    Characters are the code points of the word that was hashed; `fields.ALONE` may be added to them.
    """

    tokens: Ragged
    fields: NDArray[np.uint8]
    blocks: NDArray[np.uint32]
    lengths: NDArray[np.uint32]

    def __post_init__(self) -> None:
        for name, kind in (("fields", np.uint8), ("blocks", np.uint32), ("lengths", np.uint32)):
            column = as_column(getattr(self, name), kind)
            if column.shape != self.tokens.values.shape:
                raise ValueError(f"{column.size} {name} for {self.tokens.values.size} tokens")
            object.__setattr__(self, name, column)
        if self.fields.size and int(self.fields.max()) >= len(Field):
            raise ValueError(f"there is no field {int(self.fields.max())}")

    def __len__(self) -> int:
        return len(self.tokens)
