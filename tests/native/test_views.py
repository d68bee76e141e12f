"""A view is a grouping that is registered once and named by an id."""

from __future__ import annotations

import pytest

from tamis.native import OutOfMemory, Table
from tamis.native._tm import ffi, lib
from tamis.native.query import TableView
from tamis.protocol.filters import Constraint, Filter, Op

LINKS = [0, 1, None, 1]


@pytest.fixture
def table(engine: str) -> Table:
    """Interface i wants values of `a` from i on."""
    made = Table(engine)
    for interface in range(len(LINKS)):
        made.add(Filter((Constraint("a", Op.GE, (interface,)),)), interface)
    return made


def test_a_view_answers_as_its_grouping_does(table: Table) -> None:
    with table.view(LINKS) as view:
        for value in range(-1, 5):
            assert table.match({"a": value}, grouping=view) == table.match({"a": value}, grouping=LINKS)
        assert table.match({"a": 9}, grouping=view) == [0, 1]
        assert table.match({"a": 9}, candidates=[1], grouping=view) == [1]


def test_a_view_stays_while_filters_come_and_go(table: Table) -> None:
    with table.view(LINKS) as view:
        handle = table.add(Filter(), 1)
        assert table.match({}, grouping=view) == [1]
        table.remove(handle)
        assert table.match({}, grouping=view) == []


def test_views_are_told_apart(table: Table) -> None:
    first, second = table.view([0, 0, 0, 0]), table.view([3, 2, 1, 0])
    assert first.id != second.id
    assert table.match({"a": 1}, grouping=first) == [0]
    assert table.match({"a": 1}, grouping=second) == [2, 3]
    first.close()
    assert table.match({"a": 1}, grouping=second) == [2, 3]
    assert table.view([1]).id not in (0, second.id)


def result_of_match(table: Table, view: int) -> int:
    query = ffi.new("tm_query *", {"view": view, "group_count": 4})
    hits = ffi.new("tm_hits *", {"groups": (links := ffi.new("uint32_t[]", 4)), "capacity": len(links)})
    return int(lib.tm_table_match(table.c, ffi.NULL, 0, query, hits))


def test_a_view_that_was_dropped_is_no_view(table: Table) -> None:
    view = table.view(LINKS)
    number = view.id
    assert result_of_match(table, number) == lib.TM_OK
    view.close()
    view.close()
    assert result_of_match(table, number) == lib.TM_MISUSED
    assert lib.tm_table_drop_view(table.c, number) == lib.TM_ABSENT
    assert lib.tm_table_view_groups(table.c, number, ffi.new("uint32_t *")) == ffi.NULL


def test_views_are_counted_in_the_memory_of_the_table(table: Table) -> None:
    before = table.stats().memory_bytes
    views = [table.view([0] * 10_000) for _ in range(10)]
    assert table.stats().memory_bytes - before > 10 * 40_000
    for view in views:
        view.close()
    assert table.stats().memory_bytes - before < 40_000


def test_without_memory_there_is_no_view(table: Table) -> None:
    before = table.stats().memory_bytes
    for n in (1, 2):
        table.fail_allocation(n)
        with pytest.raises(OutOfMemory):
            table.view(LINKS)
        table.fail_allocation(0)
        table.validate()
    assert table.stats().memory_bytes - before < 1_000
    with table.view(LINKS) as view:
        assert table.match({"a": 9}, grouping=view) == [0, 1]


def test_a_view_goes_with_its_table(engine: str) -> None:
    table = Table(engine)
    view: TableView = table.view(LINKS)
    table.close()
    view.close()
    assert view.id == 0
