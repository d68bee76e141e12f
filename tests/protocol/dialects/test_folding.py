"""Predicates for the index of a router: on the folded texts of an event they match whatever the filter wants."""

from __future__ import annotations

import json
from random import Random

import pytest

from tamis.protocol import dialects
from tamis.protocol.dialects.decide import for_index
from tamis.protocol.dialects.folding import in_any_case
from tamis.protocol.dialects.rails import NEVER, every, holds, some
from tamis.protocol.dialects.verdict import verdict
from tamis.protocol.dialects.widen import within_limits
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.filters import Op
from tamis.protocol.limits import NAME_BYTES_MAX
from tamis.protocol.residual.cases import FOLDED_MARK, folded, lower
from tamis.protocol.values import Value

TEXTS = ("bob", "BOB", "Bobby", "straße", "STRASSE", "ΣΊΣΥΦΟΣ", "σίσυφος", "\u212aelvin", "Kelvin", "", "x" * 1_500)
OPERATORS = ("equals-ignore-case", "prefix", "suffix", "exact")


def indexed_attributes(attributes: dict[str, Value]) -> dict[str, Value]:
    return attributes | {
        f"{name}{FOLDED_MARK}": folded(value) for name, value in attributes.items() if isinstance(value, str)
    }


def drawn_condition(random: Random) -> object:
    text, operator = random.choice(TEXTS[:-1]), random.choice(OPERATORS)
    if operator == "exact":
        return text
    return {operator: text if operator == "equals-ignore-case" else {"equals-ignore-case": text or "b"}}


def test_what_a_filter_wants_is_found_by_the_index() -> None:
    random, dialect = Random(41), dialects.get("eventbridge")
    wanted = narrower = 0
    for _ in range(600):
        names = random.sample(["name", "other", "third"], random.randint(1, 3))
        pattern = {name: [drawn_condition(random) for _ in range(random.randint(1, 3))] for name in names}
        found = dialect.translate(json.dumps({"detail": pattern}))
        for _ in range(8):
            event = {
                name: random.choice([*TEXTS, 7, [random.choice(TEXTS), "y"]]) for name in ("name", "other", "third")
            }
            attributes = dict(dialect.attributes({"detail": event}))
            is_indexed = found.indexed is not None and predicate_matches(found.indexed, indexed_attributes(attributes))
            if verdict(found, attributes):
                assert found.indexed is None or is_indexed, (pattern, event)
                wanted += 1
            narrower += found.indexed is not None and predicate_matches(found.predicate, attributes) and not is_indexed
    assert wanted > 300
    assert narrower > 300, "the index has fewer candidates"


@pytest.mark.parametrize("op", [Op.EQ, Op.PREFIX, Op.SUFFIX])
@pytest.mark.parametrize("text", TEXTS)
def test_long_operands_keep_what_fits(op: Op, text: str) -> None:
    found = within_limits(in_any_case("name", op, text, "case"))
    assert found.residual is not None or len(text) > 1_024
    for value in (text, text.swapcase(), f"{text}x", f"x{text}"):
        if verdict(found, {"name": value}):
            assert found.indexed is not None
            assert predicate_matches(found.indexed, indexed_attributes({"name": value}))


def test_a_name_without_room_for_the_mark_is_not_indexed() -> None:
    longest = in_any_case("n" * (NAME_BYTES_MAX - 1), Op.EQ, "bob", "case")
    assert within_limits(longest).indexed is not None
    assert longest != NEVER
    assert within_limits(in_any_case("n" * NAME_BYTES_MAX, Op.EQ, "bob", "case")).indexed is None


def test_texts_with_the_same_lower_case_have_the_same_folded_text() -> None:
    characters = map(chr, (*range(0xD800), *range(0xE000, 0x110000)))
    assert [each for each in characters if folded(lower(each)) != folded(each)] == []


def test_a_part_that_stands_in_many_places_is_looked_at_once() -> None:
    rail = in_any_case("name", Op.EQ, "bob", "case")
    for number in range(200):
        other = holds(f"a{number}", Op.GT, 1)
        rail = some(every(other, rail), every(holds("b", Op.EQ, number), rail))
    assert for_index(rail.node) is not rail.node
