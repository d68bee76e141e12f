"""Filters that share all they could be found by and fail in a test without an index are passed by together."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tamis.native import Table
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import encode_filter

FILTERS = 3_000
STEPS = 900
SHARED = (Constraint("a", Op.PREFIX, ("v/",)), Constraint("b", Op.PREFIX, ("w/",)))

Failing = Callable[[int], tuple[Constraint, ...]]

FAILING: dict[str, tuple[Failing, Value]] = {
    "unequal": (lambda number: (Constraint(f"m{number % 5}", Op.NE, ("here",)),), "here"),
    "negated": (lambda number: (Constraint(f"m{number % 5}", Op.PREFIX, ("he",), negated=True),), "here"),
    "bound": (lambda number: (Constraint(f"m{number % 5}", Op.GT, (number,)),), 0),
    "fraction": (lambda number: (Constraint(f"m{number % 5}", Op.LE, (-number - 0.25,)),), 0),
    "text": (lambda number: (Constraint(f"m{number % 5}", Op.GE, (f"same begin {number:04d}",)),), "same begin"),
    "between": (lambda number: (Constraint("m0", Op.BETWEEN, (number + 1, 2 * number + 3)),), 0),
    "between of a few": (lambda number: (Constraint(f"m{number % 5}", Op.BETWEEN, (1 + number, 2 + 2 * number)),), 0),
    "decoys": (
        lambda number: (
            Constraint("m0", Op.NE, ("elsewhere",)),
            Constraint("m1", Op.NE, (f"not {number}",)),
            Constraint("m2", Op.NE, ("here",)),
        ),
        "here",
    ),
}


@pytest.mark.parametrize("shape", FAILING)
def test_what_fails_alike_is_passed_by_together(shape: str) -> None:
    failing, value = FAILING[shape]
    message: dict[str, Value] = {"a": "v/x", "b": "w/x"} | {f"m{k}": value for k in range(5)}
    table, plain = Table("tamis"), Table("linear")
    wanted = [encode_filter(Filter((*SHARED, *failing(number)))) for number in range(FILTERS)]
    handles = [[each.add(filter_, number) for each in (table, plain)] for number, filter_ in enumerate(wanted)]
    table.validate()
    before = table.stats().steps
    assert table.match(message) == plain.match(message) == []
    assert table.stats().steps - before < STEPS
    others = [message | {"m0": other, "m1": other} for other in (7, 1_000.5, "same begin 0500", "hello", True)]
    rng = random.Random(3)
    rng.shuffle(handles)
    for pair in handles[: FILTERS // 2]:
        for each, handle in zip((table, plain), pair, strict=True):
            each.remove(handle)
    table.validate()
    for other in others:
        assert sorted(table.match(other)) == sorted(plain.match(other))
    for number in range(FILTERS, FILTERS + 500):
        for each in (table, plain):
            each.add(Filter((*SHARED, *failing(number % FILTERS))), number)
    table.validate()
    for other in [message, *others]:
        assert sorted(table.match(other)) == sorted(plain.match(other))
    for pair in handles[FILTERS // 2 :]:
        table.remove(pair[0])
    table.validate()


STACKED: dict[str, Callable[[int], tuple[Value, Value]]] = {
    "nested": lambda number: (number, 9_999 - number),
    "stairs": lambda number: (10_001 + number, 10_002 + 20 * number),
    "fractions close": lambda number: (1 + number * 2.0**-40, 2 + number * 2.0**-40),
    "texts that begin alike": lambda number: (f"the same begin {number:05d}", f"the same begin {number + 7:05d}"),
}


@pytest.mark.parametrize("shape", STACKED)
def test_intervals_beside_the_value_are_not_looked_at(shape: str) -> None:
    ends = [STACKED[shape](number) for number in range(FILTERS)]
    table, plain = Table("tamis"), Table("linear")
    for number, (low, high) in enumerate(ends):
        for each in (table, plain):
            each.add(Filter((Constraint("x", Op.BETWEEN, (low, high)),)), 1_000 + number)
    table.validate()
    beside: Value = 10_000 if isinstance(ends[0][0], int | float) else "the same begin"
    before = table.stats().steps
    assert table.match({"x": beside}) == []
    assert table.stats().steps - before < 200
    for value in (ends[5][0], ends[9][1], ends[2_999][0], 5_000, 1.5):
        assert sorted(table.match({"x": value})) == sorted(plain.match({"x": value}))


def test_a_list_of_strings_is_chosen_before_patterns_that_many_share() -> None:
    shared = [Constraint(f"a{k:02d}", Op.CONTAINS, ("-v-",)) for k in range(12)]
    message: dict[str, Value] = {f"a{k:02d}": "some-v-text" for k in range(12)}
    table, plain = Table("tamis"), Table("linear")
    for number in range(FILTERS):
        wanted = Constraint("m", Op.IN, tuple(f"{number}-{k}" for k in range(10)))
        for each in (table, plain):
            each.add(Filter((*shared, wanted)), number)
    table.validate()
    before = table.stats().steps
    assert table.match(message | {"m": "none of them"}) == []
    assert table.stats().steps - before < 600
    for value in ("0-0", "7-3", f"{FILTERS - 1}-9"):
        assert table.match(message | {"m": value}) == plain.match(message | {"m": value})


@pytest.mark.slow
def test_short_intervals_are_looked_at_beside_the_value_alone() -> None:
    """Of 20,000 that follow each other, beyond the interfaces with cells, a chunk or two have one that reaches it."""
    count = 20_000
    table = Table("tamis")
    handles = [
        table.add(Filter((Constraint("x", Op.BETWEEN, (2 * number, 2 * number + 3)),)), 1_000 + number)
        for number in range(count)
    ]
    table.validate()
    for value in (0, 2 * count // 3, 2 * count):
        before = table.stats().steps
        found = [number for number in (value // 2 - 1, value // 2) if 0 <= number < count]
        assert sorted(table.match({"x": value})) == [1_000 + number for number in found]
        assert table.stats().steps - before < 10
    wide = [table.add(Filter((Constraint("x", Op.BETWEEN, (low, 2 * count)),)), 500) for low in (-1, 70)]
    table.validate()
    assert sorted(table.match({"x": 5_000})) == [500, 3_499, 3_500]
    for handle in (*wide, *handles[:3_000]):
        table.remove(handle)
    table.validate()
    assert table.match({"x": 5_000}) == []
    assert table.match({"x": 6_000}) == [4_000]


UNFOUND: dict[str, tuple[int, Failing, Value]] = {
    "one name, negated": (1, FAILING["negated"][0], "here"),
    "one name, unequal": (1, FAILING["unequal"][0], "here"),
    "two names, negated": (2, FAILING["negated"][0], "here"),
    "twelve names, unequal": (12, FAILING["unequal"][0], "here"),
    "twelve names, bound": (12, lambda number: (Constraint("m0", Op.GT, (number,)),), 0),
    "twelve names, bound on a text": (12, lambda number: (Constraint("m0", Op.GT, (f"same {number:04d}",)),), "same"),
}


@pytest.mark.parametrize("ends", ["equal", pytest.param("different", marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", UNFOUND)
def test_filters_of_ranges_that_hold_and_one_more_test_are_passed_by_together(shape: str, ends: str) -> None:
    """They have no value to be found by, and their ranges do not tell them apart."""
    names, failing, value = UNFOUND[shape]
    table, plain = Table("tamis"), Table("linear")
    message: dict[str, Value] = {f"a{k:02d}": FILTERS for k in range(names)} | {f"m{k}": value for k in range(5)}
    handles = []
    ranges = [Constraint(f"a{k:02d}", Op.GT, (0,)) for k in range(names)]
    for number in range(FILTERS):
        if ends == "different":
            ranges = [Constraint(f"a{k:02d}", Op.GT, (number,)) for k in range(names)]
        wanted = encode_filter(Filter((*ranges, *failing(number))))
        handles.append([each.add(wanted, number) for each in (table, plain)])
    table.validate()
    before = table.stats().steps
    assert table.match(message) == plain.match(message) == []
    assert table.stats().steps - before < STEPS
    rng = random.Random(3)
    others: list[dict[str, Value]] = [
        message | {"m0": other, "m1": other, "a00": rng.randrange(FILTERS)}
        for other in (7, 1_000.5, "same begin 0500", "hello", True, "same 1000")
    ]
    others.append({name: told for name, told in message.items() if name != "m2"})
    for other in others:
        assert sorted(table.match(other)) == sorted(plain.match(other))
    rng.shuffle(handles)
    for pair in handles[:-20]:
        for each, handle in zip((table, plain), pair, strict=True):
            each.remove(handle)
    table.validate()
    for other in others:
        assert sorted(table.match(other)) == sorted(plain.match(other))
    for pair in handles[-20:]:
        table.remove(pair[0])
    table.validate()


@pytest.mark.parametrize("by", ["contains", "booleans", "numbers"])
def test_filters_that_share_twelve_values_gather_under_one(by: str) -> None:
    """They do not spread over twelve buckets, in each of which a message would look at some."""
    shared = {
        "contains": (Op.CONTAINS, "-v-", "some-v-text"),
        "booleans": (Op.EQ, True, True),
        "numbers": (Op.EQ, 7, 7),
    }
    op, operand, value = shared[by]
    table, plain = Table("tamis"), Table("linear")
    message: dict[str, Value] = {f"a{k:02d}": value for k in range(12)} | {"m": "the text"}
    common = [Constraint(f"a{k:02d}", op, (operand,)) for k in range(12)]
    for number in range(FILTERS):
        failing = Constraint("m", Op.PREFIX, ("the text"[: 1 + number % 8],), negated=True)
        wanted = encode_filter(Filter((*common, failing)))
        for each in (table, plain):
            each.add(wanted, number)
    table.validate()
    before = table.stats().steps
    assert table.match(message) == plain.match(message) == []
    assert table.stats().steps - before < 2 * STEPS
    for other in (message | {"m": "the"}, message | {"m": "x"}, {k: v for k, v in message.items() if k != "a03"}):
        assert sorted(table.match(other)) == sorted(plain.match(other))


def test_a_between_is_made_before_patterns_that_as_many_filters_share() -> None:
    """It is two tests of its name, which is in no more filters for that."""
    shared = [Constraint(f"a{k:02d}", Op.PREFIX, ("v/",)) for k in range(12)]
    message: dict[str, Value] = {f"a{k:02d}": "v/x" for k in range(12)} | {"m": 0}
    table, plain = Table("tamis"), Table("linear")
    for number in range(FILTERS):
        wanted = Constraint("m", Op.BETWEEN, (number + 1, 2 * number + 3))
        for each in (table, plain):
            each.add(Filter((*shared, wanted)), number)
    table.validate()
    before = table.stats().steps
    assert table.match(message) == plain.match(message) == []
    assert table.stats().steps - before < 1.5 * STEPS
    for value in (1, 700, 2 * FILTERS):
        assert sorted(table.match(message | {"m": value})) == sorted(plain.match(message | {"m": value}))


ROWS: dict[str, tuple[Op, bool, Callable[[int], Value], list[Value]]] = {
    "not prefix": (Op.PREFIX, True, lambda at: "the-text-of-it"[: 1 + at], ["the-text", "the-", "x", 7]),
    "not suffix": (Op.SUFFIX, True, lambda at: "the-text-of-it"[at:], ["of-it", "t", "x", 7]),
    "prefixes that part": (Op.PREFIX, True, lambda at: "abcdefg"[: 1 + at // 2] + "h" * (at % 2), ["abh", "abc", "h"]),
    "bounds": (Op.GT, False, lambda at: 1 + at, [0, 1, 5, 5.5, 100]),
}


@pytest.mark.parametrize("row", ROWS)
def test_guards_that_fail_with_one_that_has_failed_are_not_tested(row: str) -> None:
    """Whatever order they come in, and whichever of them go."""
    op, negated, operand, values = ROWS[row]
    table, plain = Table("tamis"), Table("linear")
    places = [(name, at) for name in range(20) for at in range(14)]
    random.Random(5).shuffle(places)
    handles = []
    for number in range(len(places) * 12):
        name, at = places[number % len(places)]
        failing = Constraint(f"m{name:02d}", op, (operand(at),), negated=negated)
        wanted = encode_filter(Filter((SHARED[0], failing)))
        handles.append([each.add(wanted, number) for each in (table, plain)])
    table.validate()
    told: Value = "the-text-of-it" if negated else 0
    message: dict[str, Value] = {"a": "v/x"} | {f"m{name:02d}": told for name in range(20)}
    if row != "prefixes that part":
        before = table.stats().steps
        assert table.match(message) == plain.match(message) == []
        assert table.stats().steps - before < STEPS
    messages = [message | {f"m{name:02d}": value for name in range(0, 20, 3)} for value in values]
    rng = random.Random(6)
    rng.shuffle(handles)
    for first in range(0, len(handles), 400):
        for each in [message, *messages]:
            assert sorted(table.match(each)) == sorted(plain.match(each))
        for pair in handles[first : first + 400]:
            for each_table, handle in zip((table, plain), pair, strict=True):
                each_table.remove(handle)
        table.validate()
    assert table.match(message) == []


def test_families_of_boxes_whose_guards_fail_together_are_passed_by() -> None:
    """Those that came before enough others shared their guard, too."""
    table, plain = Table("tamis"), Table("linear")
    text = "the-text-of-it"
    message: dict[str, Value] = {f"a{k}": 7 for k in range(4)} | {f"m{k:02d}": text for k in range(20)}
    handles = []
    for number in range(FILTERS):
        ranges = (Constraint(f"a{k}", Op.GT, (0,)) for k in range(4))
        failing = Constraint(f"m{number % 20:02d}", Op.PREFIX, (text[: 1 + number * 5 % 14],), negated=True)
        wanted = encode_filter(Filter((*ranges, failing)))
        handles.append([each.add(wanted, number) for each in (table, plain)])
    table.validate()
    before = table.stats().steps
    assert table.match(message) == plain.match(message) == []
    assert table.stats().steps - before < 1.5 * STEPS
    others = [message | {f"m{k:02d}": told for k in range(0, 20, 3)} for told in ("the-text", "the-", "x", 7)]
    others.append({name: told for name, told in message.items() if name != "a1"})
    rng = random.Random(7)
    rng.shuffle(handles)
    for first in range(0, FILTERS, 500):
        for each in [message, *others]:
            assert sorted(table.match(each)) == sorted(plain.match(each))
        for pair in handles[first : first + 500]:
            for each_table, handle in zip((table, plain), pair, strict=True):
                each_table.remove(handle)
        table.validate()
