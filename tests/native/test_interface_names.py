from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tamis.native import InterfaceNames


@given(names=st.lists(st.integers() | st.text(max_size=3)))
def test_every_name_has_one_id_and_comes_back(names: list[int | str]) -> None:
    known = InterfaceNames()
    ids = [known.id_of(name) for name in names]
    assert [known.name_of(interface) for interface in ids] == names
    assert sorted(set(ids)) == list(range(len(known)))
    assert [known.id_of(name) for name in names] == ids


def test_a_number_and_its_text_are_two_names_and_numbers_sort_first() -> None:
    known = InterfaceNames()
    ids = [known.id_of(name) for name in ("7", 10, "a", 7, 10)]
    assert known.sorted_names(set(ids)) == [7, 10, "7", "a"]
