"""What a look-up of a hash answers: a place, from 0 on, or that there is none.

Apart from the table itself, whose kernels are compiled when it is imported.
"""

from __future__ import annotations

ABSENT = -1
"""In place of a place: the hash is in no set."""
