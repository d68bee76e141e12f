"""PackedPages are a dict whose rows are not empty."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.router.core.statements.compact.pages import SLOTS, PackedPages

NUMBERS = st.one_of(st.integers(0, 3 * SLOTS), st.sampled_from((2**32, 2**64 - SLOTS, 2**64 - 1)))
ROWS = st.lists(st.tuples(NUMBERS, st.binary(min_size=1, max_size=300)), max_size=40)


@given(st.lists(st.tuples(ROWS, st.lists(NUMBERS, max_size=20)), max_size=5))
def test_they_are_a_dict(changes: list[tuple[list[tuple[int, bytes]], list[int]]]) -> None:
    pages, rows = PackedPages(), dict[int, bytes]()
    for put, gone in changes:
        pages.update(put)
        rows.update(put)
        for number in gone:
            assert pages.pop(number, None) == rows.pop(number, None)
        assert (len(pages), pages, dict(pages.items())) == (len(rows), rows, rows)
        assert sorted(pages) == sorted(rows)
        for number in (*range(SLOTS), 2**64 - 1):
            assert (number in pages, pages.get(number)) == (number in rows, rows.get(number))


def test_a_row_that_is_not_there_is_a_key_error() -> None:
    pages = PackedPages([(1, b"x")])
    for number in (0, 1 + SLOTS):
        with pytest.raises(KeyError):
            pages[number]
        with pytest.raises(KeyError):
            del pages[number]
    assert dict(pages) == {1: b"x"}


def test_what_is_removed_during_an_iteration_is_left_out_from_the_next_page_on() -> None:
    pages = PackedPages((number, b"x") for number in range(3 * SLOTS))
    seen = []
    for number in pages:
        seen.append(number)
        if number == 0:
            for gone in range(3 * SLOTS - 1):
                del pages[gone]
    assert seen == [*range(SLOTS), 3 * SLOTS - 1]
