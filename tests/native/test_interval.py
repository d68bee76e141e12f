"""The engine `interval` beside its twin: what matches, and the steps to the last one, however filters come and go."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.native import ENGINES, InterfaceKind, Table
from tamis.papers.models.interval import IntervalTwin, axes_of
from tamis.protocol.covering import covers
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.filters import EVERYTHING, Constraint, Filter, Op
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import encode_filter
from tests.strategies import attributes, filters

DENSE_FROM = {0: 0.0, 3_125: 1 / 32, 25_000: 0.25, 100_000: 1.0, 100_001: 2.0}
"""As the engine has it, and as a share; 2 is never, as long as there are few filters."""


@dataclass
class Both:
    """A table with a client for each filter, and the twin."""

    form: str
    dense_from: int
    order: bool = True
    by_type: bool = True
    table: Table = field(init=False)
    twin: IntervalTwin = field(init=False)
    held: dict[int, int] = field(default_factory=dict)  # interface -> handle

    def __post_init__(self) -> None:
        options: dict[str, int | str] = {
            "form": self.form,
            "dense_from": self.dense_from,
            "reorder": "filters" if self.order else "off",
            "partition": "type" if self.by_type else "off",
        }
        self.table = Table("interval", options=options)
        self.twin = IntervalTwin(
            DENSE_FROM[self.dense_from], order=self.order, by_type=self.by_type, as_tree=self.form == "tree"
        )

    def add(self, interface: int, filter_: Filter) -> None:
        if axes_of(filter_, self.by_type) is not None:
            self.table.set_interface(interface, InterfaceKind.CLIENT)
            self.held[interface] = self.table.add(filter_, interface)
            assert self.twin.add(interface, filter_)

    def remove(self, interface: int) -> None:
        self.table.remove(self.held.pop(interface))
        self.twin.remove(interface)

    def ask(self, message: dict[str, Value]) -> int:
        """Compare, and the steps; a table counts each attribute as one, too."""
        before = self.table.stats().steps
        found = set(self.table.match(message))
        taken = self.table.stats().steps - before - len(message)
        assert (found, taken) == self.twin.match(message)
        return taken


FORMS = [("lists", 3_125), ("lists", 0), ("lists", 25_000), ("lists", 100_001), ("tree", 3_125), ("tree", 100_001)]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "dense_from"), FORMS)
@given(chosen=st.lists(filters(), max_size=10), messages=st.lists(attributes(), max_size=3), data=st.data())
def test_any_filters(
    form: str, dense_from: int, chosen: list[Filter], messages: list[dict[str, Value]], data: st.DataObject
) -> None:
    both = Both(form, dense_from, order=data.draw(st.booleans()), by_type=data.draw(st.booleans()))
    for interface, filter_ in enumerate(chosen):
        both.add(interface, filter_)
    for message in messages * 2:
        both.ask(message)
    for interface in data.draw(st.permutations(sorted(both.held))):
        both.remove(interface)
        for message in messages[:1]:
            both.ask(message)
    both.table.validate()
    assert both.table.used == 0


def building(dice: random.Random) -> Filter:
    """A profile of a building: a type, and up to five ranges."""
    made = [Constraint("type", Op.EQ, (dice.choice(["room", "lift", "door"]),))] if dice.random() < 0.8 else []
    for name in ("floor", "celsius", "lux", "power", "door"):
        low = dice.randrange(20)
        if dice.random() < 0.5:
            op = dice.choice([Op.EQ, Op.BETWEEN, Op.LT, Op.GT, Op.IN])
            operands = {Op.BETWEEN: (low, low + dice.randrange(9)), Op.IN: (low, low + 3, low + 7.5)}
            made.append(Constraint(name, op, operands.get(op, (low,))))
    return Filter(tuple(made))


def reading(dice: random.Random) -> dict[str, Value]:
    names = [name for name in ("floor", "celsius", "lux", "power", "door") if dice.random() < 0.9]
    return {"type": dice.choice(["room", "lift", "door", "roof"])} | {
        name: dice.choice([dice.randrange(22), dice.randrange(44) / 2]) for name in names
    }


@pytest.mark.slow
@pytest.mark.parametrize(("form", "dense_from"), FORMS)
def test_many_filters_that_come_and_go(form: str, dense_from: int) -> None:
    dice = random.Random(7)
    both = Both(form, dense_from)
    for step in range(900):
        if step % 300 < 200 or not both.held:
            both.add(step, building(dice))
        else:
            both.remove(dice.choice(sorted(both.held)))
        if step % 10 == 0:
            message = reading(dice)
            both.ask(message)
            both.ask(message)
        if step % 100 == 0:
            both.table.validate()
    both.table.settle(10**6)


def test_a_value_that_no_filter_speaks_of_is_rejected_at_once() -> None:
    """The axis that leaves the fewest comes first; a value outside of all intervals ends the match there."""
    both = Both("lists", 3_125)
    for i in range(200):
        both.add(i, Filter((Constraint("a", Op.GT, (0,)), Constraint("b", Op.EQ, (i,)))))
    assert both.ask({"a": 5, "b": 1_000}) == 1
    assert both.ask({"a": 5}) == 1
    arrival = Both("lists", 3_125, order=False)
    for i in range(200):
        arrival.add(i, Filter((Constraint("a", Op.GT, (0,)), Constraint("b", Op.EQ, (i,)))))
    assert arrival.ask({"a": 5, "b": 1_000}) == 2


def test_messages_say_what_comes_first() -> None:
    """By the filters `a` leaves fewest, as it has many values; the messages have the one that most filters want."""
    table = Table("interval:reorder=messages")
    for i in range(100):
        a = Constraint("a", Op.EQ, (1 if i < 60 else i,))
        table.add(Filter((a, Constraint("b", Op.BETWEEN, (i, i + 9)))), i)

    def steps() -> int:
        before = table.stats().steps
        assert table.match({"a": 1, "b": 1_000}) == []
        return table.stats().steps - before - 2

    table.settle(1)
    assert [steps() for _ in range(100)] == [2] * 100
    table.settle(1)
    assert steps() == 1
    table.validate()


def test_a_tree_takes_one_step_an_axis_once_it_is_known() -> None:
    tables = {form: Table("interval", options={"form": form}) for form in ("lists", "tree", "whole")}
    for table in tables.values():
        for i in range(300):
            names = [Constraint(name, Op.BETWEEN, (i % 7 + k, i % 7 + k + 3)) for k, name in enumerate("abcd")]
            table.add(Filter(tuple(names)), i)
    tables["whole"].settle(10**7)
    message: dict[str, Value] = {"a": 4, "b": 5, "c": 6, "d": 20}

    def steps(form: str) -> int:
        before = tables[form].stats().steps
        assert tables[form].match(message) == []
        return tables[form].stats().steps - before - len(message)

    assert steps("whole") <= 4
    assert steps("tree") == steps("lists") > 4
    assert steps("tree") <= 4
    for table in tables.values():
        table.validate()


def test_a_tree_past_its_bound_begins_anew_and_answers_stay_right() -> None:
    """A MiB is soon full where every message takes a path of its own."""
    dice = random.Random(3)
    table, plain = Table("interval:form=tree:tree_bytes=1048576"), Table("linear")
    for i in range(400):
        low = [dice.randrange(900) for _ in range(3)]
        made = Filter(tuple(Constraint(name, Op.BETWEEN, (x, x + 100)) for name, x in zip("abc", low, strict=True)))
        table.add(made, i)
        plain.add(made, i)
    most = 0
    before = table.stats().memory_bytes
    for _ in range(1_500):
        message: dict[str, Value] = {name: dice.randrange(1_000) for name in "abc"}
        assert table.match(message) == plain.match(message)
        most = max(most, table.stats().memory_bytes - before)
    assert 300_000 < most < 1_200_000
    assert table.used < before


def test_a_wide_filter_leaves_in_slices() -> None:
    """It reaches across 20,000 edges that came after it; its handle is free again once the last one is clear."""
    table = Table("interval")
    wide = table.add(Filter((Constraint("x", Op.GT, (0,)),)), 0)
    for i in range(10_000):
        table.add(Filter((Constraint("x", Op.EQ, (i,)),)), 1 + i % 50)
    assert table.match({"x": 5}) == [0, 6]
    table.remove(wide)
    assert table.match({"x": 5}) == [6]
    assert table.stats().tombstones == 1
    table.validate()
    for _ in range(10):
        table.settle(4_000)
        table.validate()
    assert table.stats().tombstones == 0


def test_what_reaches_too_far_is_counted() -> None:
    """Past 4,096 edges a filter goes to the counting core, and nothing else changes."""
    table, updates = Table("interval"), []
    for i in range(2_050):
        table.add(Filter((Constraint("x", Op.EQ, (i,)),)), i)
    for low in (5, 0):
        table.add(Filter((Constraint("x", Op.GE, (low,)), Constraint("x", Op.LE, (2_049,)))), 3_000 + low)
        assert set(table.match({"x": 2_000})) == {2_000} | {3_000 + each for each in (5, 0) if each >= low}
        updates.append(table.stats().updates)
    assert updates[0] == 0 < updates[1]
    table.validate()


def test_what_would_be_one_axis_too_many_is_counted() -> None:
    table = Table("interval")
    for i in range(40):
        table.add(Filter((Constraint(f"a{i}", Op.EQ, (1,)),)), i)
    assert table.match({f"a{i}": 1 for i in range(40)}) == list(range(40))
    assert table.stats().updates == 40 - 32
    table.validate()


def test_each_type_has_a_structure_of_its_own() -> None:
    """Filters of other types cost a message nothing, however many they are."""
    steps = {}
    for partition in ("type", "off"):
        table = Table("interval", options={"partition": partition})
        for i in range(2_000):
            kind = Constraint("type", Op.EQ, (f"t{i % 100}",))
            table.add(Filter((kind, Constraint("x", Op.GT, (i // 100,)))), i)
        assert table.match({"type": "t7", "x": 2}) == [7, 107]
        steps[partition] = table.stats().steps
        table.validate()
    assert steps["type"] < 10 < steps["off"]


# --- which filters cover others, read off the sets and the cuts (paper 003, 4.1.4) ------------------------------------

MOST = 10_000


@given(
    chosen=st.lists(filters(), max_size=8),
    others=st.lists(filters(), max_size=4),
    by_type=st.booleans(),
    messages=st.lists(attributes(), max_size=8),
)
def test_answers_are_right_and_miss_nothing_that_the_rules_know(
    chosen: list[Filter], others: list[Filter], by_type: bool, messages: list[dict[str, Value]]
) -> None:
    """The rules compare regions, in Python; an answer beyond them is tried with messages."""
    table = Table("interval", options={"partition": "type" if by_type else "off"})
    held = {table.add(filter_, i): filter_ for i, filter_ in enumerate(chosen)}
    read = {handle: axes for handle, filter_ in held.items() if (axes := axes_of(filter_, by_type)) is not None}
    assert {handle for handle in held if table.compares(handle)} == read.keys()
    for asked in (*chosen, *others):
        packed, axes = encode_filter(asked), axes_of(asked, by_type)
        above, under = table.covering(packed, MOST), table.covered(packed, MOST)
        assert {*above, *under} <= read.keys()
        assert len(set(above)) == len(above)
        assert len(set(under)) == len(under)
        for each in messages:
            assert not filter_matches(asked, each) or all(filter_matches(held[other], each) for other in above)
            assert filter_matches(asked, each) or not any(filter_matches(held[other], each) for other in under)
        if axes is None or not all(axes[1].values()):
            continue  # it is no intervals, or never matches: other answers may be missing
        for other, (kind, parts) in read.items():
            is_compared = all(parts.values())
            if is_compared and kind in (None, axes[0]) and covers(held[other], asked):
                assert other in above
            if is_compared and axes[0] in (None, kind) and covers(asked, held[other]):
                assert other in under


@given(chosen=st.lists(filters(), max_size=12), by_type=st.booleans())
def test_answers_are_those_of_the_paper_s_structure(chosen: list[Filter], by_type: bool) -> None:
    """Within one type: the model reads what a filter covers off the sets alone."""
    table, twin = Table("interval", options={"partition": "type" if by_type else "off"}), IntervalTwin(by_type=by_type)
    held = [(table.add(each, 0), each) for each in chosen]
    compared = {handle: axes_of(each, by_type) for handle, each in held if twin.add(handle, each)}
    for handle, each in held:
        axes = compared.get(handle)
        if axes is None or not all(axes[1].values()):
            continue
        under = {other for other in table.covered(encode_filter(each), MOST) if compared[other][0] == axes[0]}
        never = {other for other, other_axes in compared.items() if not all(other_axes[1].values())}
        assert under - {handle} - never == twin.covered(handle) - never


def celsius(op: Op, low: int, *more: Constraint) -> Filter:
    return Filter((Constraint("celsius", op, (low,)), *more))


def test_a_filter_of_all_types_covers_filters_of_one() -> None:
    room_type, any_text = Constraint("type", Op.EQ, ("room",)), Constraint("type", Op.PREFIX, ("ro",))
    made = {
        "warm": celsius(Op.GT, 20),
        "warm room": celsius(Op.GT, 20, room_type),
        "hot room": celsius(Op.GT, 25, room_type),
        "hot hall": celsius(Op.GT, 25, Constraint("type", Op.EQ, ("hall",))),
        "named": celsius(Op.GT, 20, any_text),
        "counted": celsius(Op.NE, 3),
    }
    with Table("interval") as table:
        handles = {name: table.add(filter_, 0) for name, filter_ in made.items()}
        names = {handle: name for name, handle in handles.items()}

        def asked(question: Callable[[bytes, int], list[int]], filter_: Filter) -> set[str]:
            return {names[handle] for handle in question(encode_filter(filter_), MOST)}

        assert asked(table.covered, made["warm"]) == {*made} - {"counted"}
        assert asked(table.covered, made["warm room"]) == {"warm room", "hot room"}
        assert asked(table.covered, made["named"]) == {"named", "warm room", "hot room"}
        assert asked(table.covered, made["hot hall"]) == {"hot hall"}
        assert asked(table.covered, made["counted"]) == set()
        assert asked(table.covering, made["warm"]) == {"warm"}
        assert asked(table.covering, made["hot room"]) == {"warm", "warm room", "hot room", "named"}
        assert asked(table.covering, made["hot hall"]) == {"warm", "hot hall"}
        pattern = Constraint("site", Op.CONTAINS, ("x",))
        assert asked(table.covering, celsius(Op.GT, 26, pattern)) == {"warm"}  # by its intervals
        assert asked(table.covered, celsius(Op.GT, 10, pattern)) == set()
        table.remove(handles["hot room"])
        assert asked(table.covered, made["warm"]) == {*made} - {"counted", "hot room"}
        assert not table.compares(handles["hot room"])
        assert not table.compares(handles["counted"])


def test_only_an_engine_that_compares_answers() -> None:
    assert [name for name, engine in ENGINES.items() if engine.compares] == ["interval"]
    with Table("counting") as table:
        assert not table.compares(table.add(celsius(Op.GT, 20), 0))
        with pytest.raises(RuntimeError):
            table.covering(encode_filter(celsius(Op.GT, 20)), 1)


def test_a_question_takes_a_bounded_number_of_steps() -> None:
    """Past the bound filters are left out; the answers are right, and those about few filters are complete."""
    with Table("interval") as table:
        for i in range(9_000):
            table.add(Filter((Constraint("x", Op.EQ, (i,)),)), 0)
        assert 5_000 < len(table.covered(encode_filter(EVERYTHING), MOST)) < 9_000
        below = encode_filter(Filter((Constraint("x", Op.LT, (20,)),)))
        assert len(table.covered(below, MOST)) == 20
        assert len(table.covered(below, 7)) == 7
        assert len(table.covering(encode_filter(Filter((Constraint("x", Op.EQ, (5,)),))), MOST)) == 1


@pytest.mark.slow
def test_a_filter_that_would_have_too_many_bytes_written_is_counted() -> None:
    """1,500 sets of 1,500 pointers each, 9 MB: of a seat that is taken again nearly all of it may have to be moved."""
    edges, size = 1_500, 1_500

    def band(low: int, high: int) -> Filter:
        return Filter((Constraint("x", Op.BETWEEN, (low, high)),))

    with Table("interval", options={"dense_from": 100_001}) as table:
        cuts = [table.add(band(at, at), 0) for at in range(edges // 2)]
        wide = [table.add(band(-1, edges), 0) for _ in range(size)]
        message: dict[str, Value] = {"x": 3}
        assert table.match(message) == [0]
        assert table.stats().updates == 0
        table.remove(wide.pop(0))
        assert (
            table.stats().tombstones == 1
        )  # its ids stand first, so that nearly all of each set is moved: a slice is not enough
        while table.settle(1_000):
            pass
        late = table.add(band(-2, edges + 1), 1)
        assert table.match(message) == [0, 1]
        assert table.stats().updates > 0
        table.validate()
        for handle in (*cuts, *wide, late):
            table.remove(handle)
        while table.settle(1_000):
            pass
        table.validate()
        assert table.stats().filters == 0
