"""The conditions of a program are all true exactly where the program is, and none is joined by `and` any more."""

from __future__ import annotations

from random import Random

import pytest

from tamis.protocol import dialects
from tamis.protocol.residual import Opcode, ResidualVerdict, conditions, in_words, run
from tests.native import residual_draw as draw

BUDGET = 100_000


@pytest.mark.parametrize(
    ("selector", "parts"),
    [
        ("price * qty > 1000", ["price * qty > 1000"]),
        ("sym = 'A' AND price * qty > 1000", ['sym = "A"', "price * qty > 1000"]),
        ("a + b > 1 AND NOT c = 2 AND d LIKE 'a_'", ["not c = 2", "a + b > 1", 'd like "a_"']),
        ("a * b > 1 AND (c > 1 OR d > 2 AND e > 3) AND f > 4", ["f > 4", "a * b > 1", "c > 1 or d > 2 and e > 3"]),
        ("a * b > 1 OR c > 1 AND d > 2", ["a * b > 1 or c > 1 and d > 2"]),
    ],
)
def test_a_selector_is_split_where_it_says_and(selector: str, parts: list[str]) -> None:
    program = dialects.get("jms").translate(selector).residual
    assert program is not None
    assert [in_words(part) for part in conditions(program)] == parts


def test_a_program_is_true_exactly_if_its_conditions_are() -> None:
    random, split = Random(3), 0
    for _ in range(2_000):
        program = draw.program(random)
        parts = conditions(program)
        split += len(parts) > 1
        assert len(parts) == 1 or all(part.code[-1].op is not Opcode.AND for part in parts[:1])
        for _ in range(3):
            message = draw.message(random)
            found = [run(part, message, BUDGET).verdict is ResidualVerdict.TRUE for part in parts]
            assert all(found) == (run(program, message, BUDGET).verdict is ResidualVerdict.TRUE), program
    assert split > 50
