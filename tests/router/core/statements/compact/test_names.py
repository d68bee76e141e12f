"""A NameIndex answers like a sorted list of all (name, place), whatever is added and removed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.router.core.statements.compact.names import LINES_MAX, NameIndex, Place

NAMES = st.text(st.sampled_from("\0\x01 ab0é\U0001f600"), min_size=1, max_size=4)
NAMED = st.lists(
    st.tuples(NAMES, st.builds(Place, st.integers(0, 3), st.sampled_from((0, 1, 16, 2**64 - 1)))), max_size=300
)


def agrees(index: NameIndex, rows: set[tuple[str, Place]], first: int) -> None:
    names = sorted({name for name, _ in rows})
    in_order = [name for name, _ in sorted(rows)]
    expected = [(number, name) for number, name in enumerate(in_order) if name not in in_order[:number]]
    assert list(index.listed()) == expected
    assert list(index.listed(first)) == [each for each in expected if each[0] >= first]
    for name in ["a", "\0", *names[:20]]:
        assert sorted(index.places(name)) == sorted(place for other, place in rows if other == name)
        assert index.behind(name, 3) == [other for other in names if other > name][:3]


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), NAMED), max_size=6), st.integers(0, 400))
def test_it_answers_like_a_sorted_list(changes: list[tuple[bool, list[tuple[str, Place]]]], first: int) -> None:
    index, rows = NameIndex(), set[tuple[str, Place]]()
    for is_added, named in changes:
        if is_added:
            index.add(named)
            rows.update(named)
        else:
            some = [*named[: len(named) // 2], *sorted(rows)[::2]]
            index.remove(some)
            rows.difference_update(some)
        agrees(index, rows, first)


def test_blocks_stay_of_a_size_in_any_order_of_additions() -> None:
    numbers = range(3_000)
    for order in (numbers, numbers[::-1], sorted(numbers, key=lambda number: number * 7_919 % 3_001)):
        index = NameIndex()
        for number in order:
            index.add([(f"name-{number:05}", Place(0, number))])
        sizes = [len(block.split(b"\xfe")) for block in index._blocks]
        assert (sum(sizes), max(sizes) <= LINES_MAX, len(sizes) < 4 * 3_000 / LINES_MAX) == (3_000, True, True)
        for number in order[:-1]:
            index.remove([(f"name-{number:05}", Place(0, number))])
        assert len(index._blocks) == 1


def test_a_change_during_a_listing_neither_repeats_nor_skips_what_was_there() -> None:
    index = NameIndex()
    index.add([(f"{number:04}", Place(0, number)) for number in range(0, 1_000, 2)])
    seen = []
    for at, (_, name) in enumerate(index.listed()):
        seen.append(name)
        index.add([(f"{at:04}x", Place(1, at))])
    assert [name for name in seen if "x" not in name] == [f"{number:04}" for number in range(0, 1_000, 2)]
    assert len(seen) == len(set(seen))
