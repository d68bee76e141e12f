"""Whether two filters may meet: never wrongly denied, and denied where values exclude each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.covering.meets import may_meet
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Filter
from tamis.protocol.json_form import decode_filter
from tests.strategies import attributes_near, filters


@given(st.data())
def test_filters_that_a_message_satisfies_may_meet(data: st.DataObject) -> None:
    a, b = (data.draw(filters(max_size=3, name=st.sampled_from("ab"))) for _ in range(2))
    attributes = data.draw(attributes_near(a, b))
    if filter_matches(a, attributes) and filter_matches(b, attributes):
        assert may_meet(a, b)


@given(filters(), filters())
def test_it_does_not_matter_which_comes_first(a: Filter, b: Filter) -> None:
    assert may_meet(a, b) == may_meet(b, a)


@pytest.mark.parametrize(
    ("a", "b", "may"),
    [
        ([["x", "<", 3]], [["x", ">", 4]], False),
        ([["x", "<", 3]], [["x", ">", 2.5]], True),
        ([["x", "<", 3]], [["y", ">", 4]], True),
        ([["x", "=", "one"]], [["x", "=", "two"]], False),
        ([["x", "=", "one"]], [["x", "=", 1]], False),
        ([["x", "=", True]], [["x", "=", 1]], False),
        ([["x", "<", 3], ["y", "=", 1]], [["y", "=", 2]], False),
        ([], [["x", "=", 1]], True),
    ],
)
def test_it_is_denied_where_values_exclude_each_other(a: list[object], b: list[object], may: bool) -> None:
    assert may_meet(decode_filter(a), decode_filter(b)) is may
