"""What routers state that want everything stands under numbers of its own, whatever else stood under its ids."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tamis.router.core.commands import Install
from tamis.router.core.statements.edges.edges import PACKED_EVERYTHING
from tamis.router.core.statements.edges.places import everything_of
from tamis.router.core.strategies.edges import EverythingApart

A, B = 1, 2
OTHERS = (b"one", b"two")
STATED = st.dictionaries(st.integers(1, 4), st.sampled_from((*OTHERS, PACKED_EVERYTHING)), max_size=4)


@given(st.lists(st.tuples(st.sampled_from((A, B)), STATED), max_size=8))
@example([(A, {1: b"one"}), (A, {1: PACKED_EVERYTHING}), (A, {})])
@example([(A, {1: PACKED_EVERYTHING}), (A, {1: b"one"}), (A, {1: PACKED_EVERYTHING})])
def test_the_table_has_what_is_stated_and_no_more(statements: list[tuple[int, dict[int, bytes]]]) -> None:
    """A router that is updated to a strategy that speaks for edges states everything under an id that it had before
    for a filter."""
    apart = EverythingApart()
    stated: dict[int, dict[int, bytes]] = {A: {}, B: {}}
    table: dict[int, dict[int, bytes]] = {}
    for issuer, filters in statements:
        before, stated[issuer] = stated[issuer], filters
        added = {id_: packed for id_, packed in filters.items() if before.get(id_) != packed}
        removed = tuple(id_ for id_ in before if id_ not in filters)
        for install in apart(Install(issuer, added, removed)):
            numbered = table.setdefault(install.issuer, {})
            numbered.update(install.added)
            for id_ in install.removed:
                numbered.pop(id_, None)
    for issuer, filters in stated.items():
        everything = {id_: packed for id_, packed in filters.items() if packed == PACKED_EVERYTHING}
        assert table.get(everything_of(issuer), {}) == everything
        assert table.get(issuer, {}) == {id_: packed for id_, packed in filters.items() if id_ not in everything}
