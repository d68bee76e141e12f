"""Reuse under covering: what a list of keys leaves out, and what finds it nevertheless."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.papers.models.covered_lookups import Box, CoveredTree

LINE = {0: [1], 1: [0, 2], 2: [1]}
WIDE: Box = [(0.0, 1.0)]
NARROW: Box = [(0.4, 0.6)]


def test_a_list_of_keys_leaves_out_what_is_covered() -> None:
    """Both subscriptions are at 2; 0 hears of the wide one alone."""
    tree = CoveredTree(LINE, [WIDE, NARROW], [2, 2], covering=True)
    assert tree.told(2, 1) == tree.told(1, 0) == {0}
    assert tree.never([0.5], 0).delivered == {0, 1}
    assert tree.always([0.5], 0).delivered == {0}
    assert tree.partial([0.5], 0, 5, complete_lists=True).delivered == {0}
    assert tree.partial([0.5], 0, 5, complete_lists=False).delivered == {0, 1}
    plain = CoveredTree(LINE, [WIDE, NARROW], [2, 2], covering=False)
    assert plain.always([0.5], 0).delivered == {0, 1}
    assert plain.always([0.5], 0).matches == 2
    assert plain.never([0.5], 0).matches == 2 + 2 + 1


intervals = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda ends: (float(min(ends)), float(max(ends))))


@given(
    st.lists(st.tuples(intervals, st.integers(0, 3)), max_size=12),
    st.integers(0, 5),
    st.integers(0, 3),
    st.integers(0, 4),
    st.booleans(),
)
def test_lists_that_nobody_takes_for_complete_lose_nothing(
    held: list[tuple[tuple[float, float], int]], value: int, entry: int, limit: int, covering: bool
) -> None:
    star = {0: [1, 2], 1: [0], 2: [0, 3], 3: [2]}
    tree = CoveredTree(star, [[interval] for interval, _ in held], [home for _, home in held], covering)
    wanted = {number for number, (interval, _) in enumerate(held) if interval[0] <= value <= interval[1]}
    assert tree.never([value], entry).delivered == wanted
    assert tree.partial([value], entry, limit, complete_lists=False).delivered == wanted
    if not covering:
        assert tree.always([value], entry).delivered == wanted
        assert tree.partial([value], entry, limit, complete_lists=True).delivered == wanted
