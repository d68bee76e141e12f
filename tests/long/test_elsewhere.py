"""Messages published at other routers of a ring are stored or in an unknown range, whatever fails."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.long.elsewhere import HOME, NAMES, Had, Verdict, is_sound, judged, soaked, some_troubles
from tests.long.test_strategies import STRATEGIES
from tests.long.trouble import killed, restarted

SEED = 11


def verdict(numbers: dict[int, int], *unknowns: tuple[int, int]) -> Verdict:
    """Judge a consumer that had these numbers of r0, at these positions, of the five that were confirmed."""
    had = Had({"r0": numbers, "r3": {}}, set(unknowns))
    return judged({"r0": 5, "r3": 0}, {"r0": set(range(5)), "r3": set()}, had)


def test_the_judge_finds_nothing_where_all_is_there_or_under_an_unknown_range() -> None:
    assert verdict({0: 10, 1: 11, 2: 12, 3: 13, 4: 14}).untold == []
    assert verdict({0: 10, 1: 11, 3: 13, 4: 15}, (12, 12)).untold == []
    assert verdict({2: 12, 3: 13}, (1, 11), (14, 20)).untold == []


@pytest.mark.parametrize(
    ("unknowns", "untold"),
    [
        ([], [("r0", 2)]),
        ([(1, 11)], [("r0", 2)]),
        ([(13, 20)], [("r0", 2)]),
        ([(5, 12)], []),
    ],
)
def test_an_unknown_range_elsewhere_covers_nothing(
    unknowns: list[tuple[int, int]], untold: list[tuple[str, int]]
) -> None:
    found = verdict({0: 10, 1: 11, 3: 13, 4: 14}, *unknowns)
    assert (found.missing, found.untold, is_sound(found)) == (1, untold, not untold)


def test_the_judge_finds_a_message_that_nobody_published() -> None:
    assert not is_sound(verdict({0: 10, 1: 11, 2: 12, 3: 13, 4: 14, 7: 15}))


@pytest.mark.slow
async def test_a_ring_whose_routers_are_killed_loses_nothing_without_an_unknown_range(tmp_path: Path) -> None:
    print(f"seed {SEED}")
    troubles = [killed(HOME), killed("r1")]
    found = await soaked(tmp_path, "advertise", troubles, random.Random(SEED), print, with_log=[HOME])
    print(found)
    assert is_sound(found)
    assert found.missing > 0, "a killed router loses what came meanwhile"
    assert found.unknowns > 0


@pytest.mark.slow
async def test_a_ring_of_routers_that_store_loses_nothing_when_they_are_killed(tmp_path: Path) -> None:
    print(f"seed {SEED}")
    troubles = [killed(HOME), killed("r1"), killed("r0"), killed(HOME)]
    found = await soaked(tmp_path, "advertise", troubles, random.Random(SEED), print)
    print(found)
    assert is_sound(found)
    assert (found.missing, found.unknowns) == (0, 0)


@pytest.mark.long
@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_each_strategy_under_eight_troubles(tmp_path: Path, strategy: str) -> None:
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    found = await soaked(tmp_path, strategy, some_troubles(chance, 8), chance, print)
    print(found)
    assert is_sound(found)
    assert found.had > found.published / 2


@pytest.mark.long
@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_rolling_restart_leaves_unknown_ranges_and_loses_nothing_without_one(
    tmp_path: Path, strategy: str
) -> None:
    print(f"seed {SEED}")
    troubles = [restarted(name) for name in NAMES]
    found = await soaked(tmp_path, strategy, troubles, random.Random(SEED), print, is_consumed=False)
    print(found)
    assert is_sound(found)
    assert found.unknowns > 0
    assert found.had > found.published / 2
