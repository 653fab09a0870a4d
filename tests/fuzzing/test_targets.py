"""The fuzz targets hold for their seeds and for a few changes of each, without the engine."""

from __future__ import annotations

import importlib

import pytest

from tests.fuzzing import WATCHED

SEEDS, CHANGES = 20, 12


@pytest.mark.parametrize("name", WATCHED)
def test_a_target_takes_its_seeds_and_what_becomes_of_them(name: str) -> None:
    target = importlib.import_module(f"tests.fuzzing.{name}")
    seeds = list(target.seeds())
    seeds = seeds[:: max(len(seeds) // SEEDS, 1)]
    for seed in seeds:
        target.once(seed)
    for number in range(CHANGES if hasattr(target, "changed") else 0):
        target.once(target.changed(seeds[number % len(seeds)], number))
