"""One scheme decides every hash."""

from __future__ import annotations

import pytest
from hypothesis import given

from reusewatch.detector.errors import SchemeMismatch
from reusewatch.detector.hashing import HashScheme
from tests.detector.sketching.strategies import schemes, words


@given(schemes)
def test_numbers_are_odd_distinct_and_repeatable(scheme: HashScheme) -> None:
    numbers = scheme.numbers("min-wise", 88)
    assert all(int(number) & 1 for number in numbers)
    assert len(set(numbers.tolist())) == 88
    assert numbers.tolist() == HashScheme(scheme.key).numbers("min-wise", 88).tolist()


def test_purposes_and_keys_do_not_share_numbers() -> None:
    drawn = [
        set(HashScheme(key).numbers(purpose, 50).tolist())
        for key in (1, 2)
        for purpose in ("sequence", "projection")
    ]
    assert len(set.union(*drawn)) == 200


def test_numbers_cannot_be_overwritten() -> None:
    with pytest.raises(ValueError, match="read-only"):
        HashScheme().numbers("sequence", 2)[0] = 0


@given(words)
def test_a_name_tells_keys_apart_and_hides_them(key: int) -> None:
    scheme = HashScheme(key)
    scheme.require(scheme.name, "a label pack")
    assert f"{key:x}" not in scheme.name or key < 1 << 32
    with pytest.raises(SchemeMismatch, match="label pack"):
        scheme.require(HashScheme(key ^ 1).name, "a label pack")
