"""The forwarding table of papers 000 and 004: its answers are those of the definition, and its work adds up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.papers.models.forwarding import ForwardingTable, determinants
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tests.strategies import attributes, filters


@pytest.mark.slow
@given(st.lists(st.lists(filters(), max_size=4), max_size=4), attributes(), st.integers(0, 5))
def test_answers_are_those_of_the_definition(
    predicates: list[list[Filter]], message: dict[str, Value], rounds: int
) -> None:
    table = ForwardingTable(dict(enumerate(predicates)))
    expected = {
        i for i, own in enumerate(predicates) if any(filter_matches(each, message) for each in own if each.constraints)
    }
    plain, cut = table.forward(message, circuit=False), table.forward(message, rounds)
    negated = any(constraint.negated for own in predicates for each in own for constraint in each.constraints)
    if not negated:  # a constraint that an absent attribute satisfies is not of the papers
        assert plain.interfaces == expected
        assert cut.interfaces == expected
        assert plain.skipped == 0
        assert cut.updates + cut.skipped <= plain.updates


def test_work_by_hand() -> None:
    """Two filters of interface 1 and one of interface 2; a = 1 satisfies one constraint of each."""
    one, two = Constraint("a", Op.EQ, (1,)), Constraint("b", Op.GT, (0,))
    table = ForwardingTable({1: [Filter((one,)), Filter((one, two))], 2: [Filter((two,))]})
    found = table.forward({"a": 1, "b": 5})
    assert (found.interfaces, found.updates, found.skipped) == (frozenset({1, 2}), 2, 2)
    assert table.forward({"a": 1, "b": 5}, circuit=False).updates == 4
    assert table.determinants == [("a", frozenset({1})), ("b", frozenset({2}))]
    assert table.forward({"b": 5}, rounds=1).skipped == 1
    assert determinants({1: []}) == []
