"""The finite part of a space: a filter that all its valid messages satisfy."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol import limits
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.spaces import Space, SpaceSet, space_from
from tamis.protocol.spaces.finite import finite_part, finite_parts
from tests.protocol.spaces.space_strategies import fitting, spaces


@given(data=st.data(), space=spaces())
def test_a_valid_message_satisfies_it(data: st.DataObject, space: Space) -> None:
    part = finite_part(space, "type")
    message = data.draw(fitting(space))
    assert part is None or filter_matches(part, message | {"type": space.name})
    assert part is None or not filter_matches(part, message)


def test_names_of_the_fewest_values_come_first_and_others_are_left_out() -> None:
    trades = space_from(
        "trades",
        {
            "attributes": {
                "issue": "string",
                "price": {"fixed": [0, 10000], "digits": 2},
                "step": {"fixed": [0, 1], "digits": 1},
                "hour": {"integer": [-1, 1]},
                "day": {"integer": [1, 257]},
                "side": {"one_of": ["sell", "buy"]},
                "late": "boolean",
                "desk": {"one_of": ["a", "b"], "optional": True},
            }
        },
    )
    tenths = (0, *(tenth / 10 for tenth in range(1, 10)), 1)
    assert finite_part(trades, "kind") == Filter(
        (
            Constraint("kind", Op.EQ, ("trades",)),
            Constraint("late", Op.IN, (False, True)),
            Constraint("side", Op.IN, ("sell", "buy")),
            Constraint("hour", Op.IN, (-1, 0, 1)),
            Constraint("step", Op.IN, tenths),
        )
    )


def test_a_space_without_finite_names_has_no_part_and_one_of_many_has_some_of_them() -> None:
    free = space_from("free", {"attributes": {"issue": "string"}})
    many = space_from("many", {"attributes": {f"a{i}": "boolean" for i in range(20)}})
    (part,) = finite_parts(SpaceSet({"free": free, "many": many}))
    assert len(part.constraints) == limits.CONSTRAINTS_MAX
