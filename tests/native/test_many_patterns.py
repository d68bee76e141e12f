"""More patterns in one value than a match keeps at hand: they are found again, and every answer is the twin's."""

from __future__ import annotations

import itertools

import pytest

from tamis.native import Table
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.limits import MATCH_STEPS_MAX

LETTERS = "abcdefghijkl"
WORDS = ["".join(letters) for letters in itertools.product(LETTERS, repeat=3)]  # 1,728, each found in the value below
MESSAGE = {"x": "".join(WORDS), "y": "abc", "z": 1}


@pytest.mark.parametrize("engine", Table.engines())
def test_every_pattern_of_a_value_counts(engine: str) -> None:
    table = Table(engine, match_steps=MATCH_STEPS_MAX)  # `linear` searches the value once for each pattern
    filters = [Filter((Constraint("x", Op.CONTAINS, (word,)),)) for word in WORDS]
    filters += [
        Filter((Constraint("x", Op.CONTAINS, (word,)), Constraint("y", Op.PREFIX, (word[:2],)))) for word in WORDS
    ]
    filters += [
        Filter((Constraint("z", Op.EQ, (1,)), Constraint("x", Op.CONTAINS, (word[::-1] + end,))))
        for word, end in zip(WORDS, itertools.cycle("az"))
    ]
    for interface, filter_ in enumerate(filters):
        table.add(filter_, interface)
    expected = [number for number, filter_ in enumerate(filters) if filter_matches(filter_, MESSAGE)]
    assert len(expected) > len(WORDS)
    assert table.match(MESSAGE) == expected
    table.validate()
