"""Every engine gives the twin's answer, whatever the table, the message and the question."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis.native import ENGINES, Batch, InterfaceKind, Table
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import encode_attributes
from tamis.protocol.wire.packed_filters import encode_filter
from tests.native.twin import Grouping, TwinTable, link_of
from tests.strategies import attributes, attributes_near, filters, spaces_near

# A scene takes a while to draw, and longer on a busy machine; that is no fault of what is tested.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

INTERFACES = 5
LINKS = 3


@dataclass(frozen=True)
class Scene:
    entries: list[tuple[Filter, int]]
    spaces: list[Filter]
    clients: frozenset[int]
    messages: list[dict[str, Value]]
    candidates: frozenset[int] | None
    grouping: Grouping | None


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    interface = st.integers(0, INTERFACES - 1)
    entries = draw(st.lists(st.tuples(filters(max_size=3), interface), max_size=8))
    near = attributes_near(*(chosen for chosen, _ in entries))
    return Scene(
        entries,
        draw(st.lists(spaces_near(*(chosen for chosen, _ in entries)), max_size=2)),
        draw(st.frozensets(interface)),
        draw(st.lists(near | attributes(), min_size=1, max_size=4)),
        draw(st.none() | st.frozensets(st.integers(0, INTERFACES + 1))),
        draw(st.none() | st.lists(st.none() | st.integers(0, LINKS - 1), max_size=INTERFACES)),
    )


def built(engine: str, scene: Scene) -> tuple[Table, TwinTable]:
    table, twin = Table(engine, spaces=scene.spaces), TwinTable(clients=scene.clients)
    for interface in scene.clients:
        table.set_interface(interface, InterfaceKind.CLIENT)
    for chosen, interface in scene.entries:
        twin.held[table.add(chosen, interface)] = (chosen, interface)
    table.validate()
    return table, twin


def bitset(candidates: frozenset[int]) -> bytes:
    return sum(1 << link for link in candidates).to_bytes(2, "little")


def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=f"no engine 'quantum'; one of {', '.join(ENGINES)}"):
        Table("quantum")


@patient
@given(scene=scenes())
def test_every_answer_is_the_twins(engine: str, scene: Scene) -> None:
    """One scene, every question: drawing it costs more than asking."""
    table, twin = built(engine, scene)
    for message in scene.messages:
        assert table.match(message) == twin.match(message)
        check_links(table, twin, scene, message)
        check_which(table, twin, scene, message)
        check_all(table, twin, scene, message)
    check_batch(table, scene)


def check_links(table: Table, twin: TwinTable, scene: Scene, message: dict[str, Value]) -> None:
    """Under candidates, as ids and as a bitset, and a grouping."""
    expected = twin.match(message, scene.candidates, scene.grouping)
    assert table.match(message, scene.candidates, scene.grouping) == expected
    assert table.match(encode_attributes(message), scene.candidates, scene.grouping) == expected
    if scene.candidates is not None:
        assert table.match(message, bitset(scene.candidates), scene.grouping) == expected


def check_which(table: Table, twin: TwinTable, scene: Scene, message: dict[str, Value]) -> None:
    """Every link that matched, with a filter of its own that did."""
    which = table.match_which(message, scene.candidates, scene.grouping)
    assert list(which) == twin.match(message, scene.candidates, scene.grouping)
    matched = {handle: interface for interface, handle in twin.match_all(message)}
    for link, handle in which.items():
        assert link_of(matched[handle], scene.grouping) == link


def check_all(table: Table, twin: TwinTable, scene: Scene, message: dict[str, Value]) -> None:
    """Every matching filter of the clients."""
    of_clients = [row for row in twin.match_all(message) if row[0] in scene.clients]
    assert table.match_all(message) == of_clients
    if scene.candidates is not None:
        assert table.match_all(message, scene.candidates) == [row for row in of_clients if row[0] in scene.candidates]


def check_batch(table: Table, scene: Scene) -> None:
    """What single matches give."""
    packed = [encode_attributes(message) for message in scene.messages]
    expected = [table.match(message, scene.candidates, scene.grouping) for message in packed]
    assert table.match_batch(packed, scene.candidates, scene.grouping) == expected
    assert table.match_batch(Batch.of(packed), scene.candidates, scene.grouping) == expected


@patient
@given(scene=scenes())
def test_a_table_emptied_again_matches_nothing(engine: str, scene: Scene) -> None:
    table, twin = built(engine, scene)
    for handle in twin.held:
        table.remove(handle)
        table.validate()
    while table.settle(1):
        table.validate()
    assert [table.match(message) for message in scene.messages] == [[]] * len(scene.messages)
    stats = table.stats()
    assert (stats.filters, stats.constraints, stats.active, stats.tombstones, stats.interfaces) == (0, 0, 0, 0, 0)


@patient
@given(scene=scenes())
def test_engines_agree_on_the_checksum(scene: Scene) -> None:
    messages = Batch.of(encode_attributes(message) for message in scene.messages)
    measured = [built(engine, scene)[0].measure(messages) for engine in ENGINES]
    assert len({(each.checksum, each.matched) for each in measured}) == 1
    twin = built(next(iter(ENGINES)), scene)[1]
    assert measured[0].matched == sum(len(twin.match(message)) for message in scene.messages)


def test_a_batch_names_the_malformed_message(engine: str) -> None:
    table = Table(engine)
    table.add(Filter(), 3)
    good = encode_attributes({"a": 1})
    with pytest.raises(Refused, match="message 1: malformed"):
        table.match_batch([good, b"\xc1", good])
    assert table.match_batch([good, good]) == [[3], [3]]


def test_a_batch_of_more_rows_than_its_room(engine: str) -> None:
    table = Table(engine)
    for interface in range(300):
        table.add(Filter(), interface)
    assert table.match_batch([b"\x80"] * 700) == [list(range(300))] * 700


@pytest.mark.slow
def test_all_may_have_more_rows_than_its_room(engine: str) -> None:
    table = Table(engine)
    table.set_interface(0, InterfaceKind.CLIENT)
    handles = [table.add(Filter((Constraint("a", Op.EXISTS),)), 0) for _ in range(70_000)]
    assert table.match_all({"a": 1}) == sorted((0, handle) for handle in handles)


def test_equal_filters_of_one_interface_are_counted_apart(engine: str) -> None:
    table, chosen = Table(engine), Filter((Constraint("a", Op.GT, (3,)),))
    first, second = table.add(chosen, 7), table.add(chosen, 7)
    assert first != second
    table.remove(first)
    assert table.match({"a": 4}) == [7]
    table.remove(second)
    assert table.match({"a": 4}) == []


def test_a_pattern_that_occurs_twice_counts_once(engine: str) -> None:
    table = Table(engine)
    table.add(Filter((Constraint("a", Op.CONTAINS, ("ab",)), Constraint("b", Op.EQ, (1,)))), 0)
    assert table.match({"a": "abab"}) == []
    assert table.match({"a": "abab", "b": 1}) == [0]


def test_a_new_string_constant_is_seen_by_values_matched_before(engine: str) -> None:
    table, message = Table(engine), {"a": "hello"}
    table.add(Filter((Constraint("a", Op.PREFIX, ("he",)),)), 0)
    assert table.match(message) == [0]
    ending = table.add(Filter((Constraint("a", Op.SUFFIX, ("llo",)),)), 1)
    table.add(Filter((Constraint("a", Op.CONTAINS, ("llo",)),)), 2)
    assert table.match(message) == [0, 1, 2]
    table.remove(ending)
    assert table.match(message) == [0, 2]


def test_thousands_of_interfaces(engine: str) -> None:
    table = Table(engine)
    for interface in range(5_000):
        table.add(Filter((Constraint("a", Op.GE, (interface,)),)), interface)
    assert table.match({"a": 1_234}) == list(range(1_235))
    assert table.match({"a": 4_999}, candidates=[7, 4_998, 6_000]) == [7, 4_998]
    assert table.match({"a": 1_234}, grouping=[i % 8 for i in range(5_000)]) == list(range(8))
    assert table.match({"a": 5}, grouping=[i % 8 for i in range(5_000)]) == list(range(6))


def test_stats_count_what_the_table_holds(engine: str) -> None:
    table = Table(engine)
    table.add(Filter((Constraint("a", Op.GT, (3,)), Constraint("b", Op.EQ, ("x",)))), 0)
    table.add(Filter((Constraint("a", Op.GT, (3,)),)), 4)
    table.add(Filter(), 9)
    stats = table.stats()
    assert (stats.filters, stats.constraints, stats.interfaces) == (3, 3, 3)
    assert stats.names == (0 if engine == "linear" else 2)  # it keeps none apart
    assert 0 < stats.hot_memory_bytes <= stats.memory_bytes
    assert stats.bytes_per_constraint == stats.memory_bytes / 3


def test_a_handle_that_is_not_in_use_is_refused(engine: str) -> None:
    table = Table(engine)
    handle = table.add(Filter(), 0)
    table.remove(handle)
    for absent in (handle, handle + 1, 2**32 - 1):
        with pytest.raises(KeyError):
            table.remove(absent)
    table.validate()


def test_an_interface_past_the_bound_is_refused(engine: str) -> None:
    table = Table(engine)
    with pytest.raises((Refused, RuntimeError)):
        table.add(Filter(), 16_777_216)
    assert table.stats().filters == 0
    table.validate()


def test_a_closed_table_says_so(engine: str) -> None:
    with Table(engine) as table:
        table.add(Filter(), 0)
    with pytest.raises(ValueError, match="closed"):
        table.match({})
    table.close()


def test_many_at_once_are_added_and_removed(engine: str) -> None:
    table = Table(engine)
    filters = [Filter((Constraint("a", Op.EQ, (i,)),)) for i in range(20)]
    handles = table.add_many(Batch.of(map(encode_filter, filters)), array("I", range(20)))
    assert table.match({"a": 7}) == [7]
    table.remove_many(handles[:10])
    assert [table.match({"a": i}) for i in (7, 17)] == [[], [17]]
    timed, nanoseconds = table.measure_add(Batch.of(map(encode_filter, filters[:10])), array("I", range(10)))
    assert len(nanoseconds) == len(timed) == 10
    assert table.match({"a": 7}) == [7]
    assert len(table.measure_remove(timed)) == 10
    assert table.match({"a": 7}) == []
    table.validate()


def test_many_of_which_one_is_refused_are_not_added(engine: str) -> None:
    table = Table(engine)
    good = encode_filter(Filter((Constraint("a", Op.EXISTS),)))
    with pytest.raises(Refused):
        table.add_many(Batch.of([good, good, b"\xc1", good]), array("I", range(4)))
    assert table.stats().filters == 0
    with pytest.raises(ValueError, match="4 filters need 4 interfaces, not 3"):
        table.add_many(Batch.of([good] * 4), array("I", range(3)))
    with pytest.raises(ValueError, match="array of type I"):
        table.add_many(Batch.of([good]), array("Q", [0]))


def test_removing_many_stops_at_one_that_is_absent(engine: str) -> None:
    table = Table(engine)
    handles = [table.add(Filter(), interface) for interface in range(3)]
    with pytest.raises(KeyError):
        table.remove_many(array("I", [handles[0], 9_999, handles[1]]))
    assert table.match({}) == [1, 2]
