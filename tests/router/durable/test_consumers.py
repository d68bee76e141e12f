"""Consumers are found by durable subscription and by connection, and nothing stays of one that has left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.router.durable.consumers import Consumer, Consumers

STEPS = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)), max_size=40)


@given(STEPS)
def test_they_are_what_a_plain_table_has(steps: list[tuple[int, int, int]]) -> None:
    consumers, plain = Consumers(), dict[Consumer, int]()
    for connection, id_, number in steps:
        consumer = connection, id_
        if consumer in plain:
            assert consumers.remove(consumer) == f"client{connection}"
            del plain[consumer]
        else:
            consumers.add(consumer, number, f"client{connection}")
            plain[consumer] = number
        for each in (1, 2, 3):
            assert sorted(consumers.of_connection(each)) == sorted(one for one in plain if one[0] == each)
            assert sorted(consumers.of_durable(each)) == sorted(one for one in plain if plain[one] == each)
            assert consumers.count(each) == len(consumers.of_durable(each))
            assert consumers.durable_of((connection, each)) == plain.get((connection, each))
    for consumer in plain:
        consumers.remove(consumer)
    assert not consumers._durables
    assert not consumers._consumers
