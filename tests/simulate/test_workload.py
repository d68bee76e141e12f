"""The judge reads filters by himself; here both readings are compared over everything that can be said."""

from __future__ import annotations

from random import Random

from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Op
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.simulate.faults.workload import CONTENTS, wishes
from tamis.simulate.oracle.meaning import contents_of
from tamis.simulate.twin.table import Matches, PureTable


def test_judge_and_routers_read_filters_alike() -> None:
    seen = set()
    for wish in wishes(300, Random(1)):
        filter_ = decode_filter(wish.packed)
        expected = [filter_matches(filter_, attributes) for attributes in CONTENTS]
        bits = contents_of(wish.plain, CONTENTS)
        assert [bool(bits >> number & 1) for number in range(len(CONTENTS))] == expected, wish.plain
        seen.update((op, negated) for _, op, _, negated in wish.plain)
    assert {op for op, _ in seen} == {op.value for op in Op}
    assert ("exists", True) in seen
    assert ("contains", True) in seen


def test_operators_mean_what_the_language_says() -> None:
    one = [{"n": 3, "s": "abc", "b": True}]
    holds = [
        ("n", "=", (3,)),
        ("n", "<=", (3.0,)),
        ("n", "in", ("3", 3)),
        ("n", "between", (3, 4)),
        ("s", "suffix", ("",)),
        ("s", "contains", ("bc",)),
        ("b", "!=", (False,)),
        ("b", "exists", ()),
    ]
    fails = [("n", "=", ("3",)), ("n", "=", (True,)), ("b", "=", (1,)), ("x", "!=", (3,)), ("s", "prefix", ("b",))]
    for constraint in holds:
        assert contents_of([(*constraint, False)], one) == 1, constraint
        assert contents_of([(*constraint, True)], one) == 0, constraint
    for constraint in fails:
        assert contents_of([(*constraint, False)], one) == 0, constraint


def test_the_table_follows_installs() -> None:
    first, second, *_ = {wish.packed: wish for wish in wishes(50, Random(2))}.values()
    bits = {wish.packed: contents_of(wish.plain, CONTENTS) for wish in (first, second)}
    table = PureTable(Matches(CONTENTS))
    table.install(7, {1: first.packed, 2: second.packed}, ())
    assert table.wanted_by(7) == bits[first.packed] | bits[second.packed]
    table.install(7, {2: first.packed}, (1,))  # an id that is there already has another filter from now on
    assert table.wanted_by(7) == bits[first.packed]
    table.install(5, {1: first.packed}, ())
    content = bits[first.packed].bit_length() - 1
    assert table.matching(content) == (5, 7)
    table.install(7, {}, (2,))
    assert table.matching(content) == (5,)
    assert table.filters == {5: {1: first.packed}}
