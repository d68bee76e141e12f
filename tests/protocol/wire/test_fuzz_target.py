"""The fuzz target runs on its seeds, and on a few thousand changes of them: the long run is `make fuzz`."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.frames import SEEDS, target

TELLING = (0, 1, 0x7F, 0x80, 0x91, 0xC0, 0xDD, 0xFF)


def test_the_seeds_pass() -> None:
    for seed in SEEDS:
        target(seed)


@pytest.mark.slow
def test_changed_seeds_pass() -> None:
    chance = random.Random(20_031)
    for _ in range(3_000):
        data = bytearray(chance.choice(SEEDS[:-1]))
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.choice(
                (0, 1, 0x7F, 0x80, 0x91, 0xC0, 0xDD, 0xFF, chance.randrange(256))
            )
        target(bytes(data[: chance.randint(1, len(data))] if chance.random() < 0.1 else data))
