"""Members of keeps are found by keep and by connection, and nothing stays of one that has left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.router.kept.members import KeepMembers, Member

STEPS = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)), max_size=40)


@given(STEPS)
def test_they_are_what_a_plain_table_has(steps: list[tuple[int, int, int]]) -> None:
    members, plain = KeepMembers(), dict[Member, int]()
    for connection, id_, number in steps:
        member = connection, id_
        if member in plain:
            assert members.remove(member) == f"client{connection}"
            del plain[member]
        else:
            members.add(member, number, f"client{connection}")
            plain[member] = number
        for each in (1, 2, 3):
            assert sorted(members.of_connection(each)) == sorted(one for one in plain if one[0] == each)
            assert sorted(members.of_keep(each)) == sorted(one for one in plain if plain[one] == each)
            assert members.count(each) == len(members.of_keep(each))
            assert members.keep_of((connection, each)) == plain.get((connection, each))
    for member in plain:
        members.remove(member)
    assert not members._keeps
    assert not members._members
