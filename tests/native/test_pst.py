"""The engine `pst` takes the steps of its twin of hubs and tests, one by one, and gives its answers in its order."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis.native import InterfaceKind, Table
from tamis.native._tm import lib
from tamis.papers.models.pst_hubs import HubTree
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import encode_filter
from tests.strategies import attributes, attributes_near, filters, spaces_near

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

INTERFACES = 6


@dataclass
class Pair:
    """A table and its twin, which are told and asked the same."""

    order: str = "auto"
    annotate: str = "on"
    delay: int = 0
    clients: frozenset[int] = frozenset()
    factor: int = 0
    spaces: tuple[Filter, ...] = ()
    table: Table = field(init=False)
    twin: HubTree = field(init=False)

    def __post_init__(self) -> None:
        options = {"order": self.order, "annotate": self.annotate, "delay": self.delay, "factor": self.factor}
        self.table = Table("pst", options=options, spaces=self.spaces)
        self.twin = HubTree(self.order, self.annotate == "on", self.delay, self.factor, self.spaces)
        for interface in self.clients:
            self.table.set_interface(interface, InterfaceKind.CLIENT)

    def add(self, filter_: Filter, interface: int) -> int:
        handle = self.table.add(filter_, interface)
        self.twin.add(filter_, interface, handle)
        return handle

    def remove(self, handle: int) -> None:
        self.table.remove(handle)
        self.twin.remove(handle)

    def settle(self, steps: int) -> None:
        self.table.settle(steps)
        self.twin.settle(steps)

    def steps(self, ask: Callable[[], object]) -> tuple[object, int]:
        before = self.table.stats().steps
        answer = ask()
        return answer, self.table.stats().steps - before

    def check(self, message: dict[str, Value], candidates: frozenset[int] | None, grouping: list[int | None]) -> None:
        for groups in (None, grouping):
            rows, steps = self.twin.match(message, candidates, groups)
            which = self.steps(lambda groups=groups: self.table.match_which(message, candidates, groups))
            assert which == (dict(sorted(rows)), steps)
            self.check_groups(message, candidates, groups)
        rows, steps = self.twin.match(message, candidates, clients=self.clients)
        assert self.steps(lambda: self.table.match_all(message, candidates)) == (sorted(rows), steps)

    def check_groups(
        self, message: dict[str, Value], candidates: frozenset[int] | None, grouping: list[int | None] | None
    ) -> None:
        """Where only groups are asked for, an engine knows how many there are to be found."""
        wanted = None
        if grouping is not None:
            known = range(1 + max((group for group in grouping if group is not None), default=-1))
            wanted = len(known) if candidates is None else len(candidates.intersection(known))
        rows, steps = self.twin.match(message, candidates, grouping, groups=wanted, which=False)
        found = self.steps(lambda: self.table.match(message, candidates, grouping))
        assert found == (sorted(group for group, _ in rows), steps)


@patient
@given(
    data=st.data(),
    order=st.sampled_from(["auto", "names"]),
    annotate=st.sampled_from(["on", "off"]),
    delay=st.sampled_from([0, 1, 2, 16]),
    factor=st.integers(0, 3),
)
def test_any_table_takes_the_steps_of_its_twin(
    data: st.DataObject, order: str, annotate: str, delay: int, factor: int
) -> None:
    interface = st.integers(0, INTERFACES - 1)
    entries = data.draw(st.lists(st.tuples(filters(max_size=3), interface), max_size=8))
    spaces = data.draw(st.lists(spaces_near(*(filter_ for filter_, _ in entries)), max_size=2)) if factor else []
    pair = Pair(order, annotate, delay, data.draw(st.frozensets(interface)), factor, tuple(spaces))
    handles = [pair.add(filter_, each) for filter_, each in entries]
    for handle in data.draw(st.sets(st.sampled_from(handles))) if handles else ():
        pair.remove(handle)
    pair.table.validate()
    near = attributes_near(*(filter_ for filter_, _ in entries))
    candidates = data.draw(st.none() | st.frozensets(st.integers(0, INTERFACES + 1)))
    grouping = data.draw(st.lists(st.none() | st.integers(0, 2), max_size=INTERFACES))
    for message in data.draw(st.lists(near | attributes(), min_size=1, max_size=3)):
        pair.check(message, candidates, grouping)


NAMES = [f"a{i}" for i in range(7)]


def _constraint(rng: random.Random, name: str) -> Constraint:
    op = rng.choice([Op.EQ, Op.EQ, Op.EQ, Op.GT, Op.GE, Op.LT, Op.LE, Op.BETWEEN, Op.IN, Op.NE, Op.EXISTS, Op.CONTAINS])
    number = rng.choice([rng.randrange(4), rng.randrange(4), rng.randrange(8) / 2])
    operands: dict[Op, tuple[Value, ...]] = {
        Op.EXISTS: (),
        Op.BETWEEN: (number, number + rng.randrange(3)),
        Op.IN: (number, number + 1, "x"),
        Op.CONTAINS: (rng.choice("xyz"),),
    }
    if op is Op.EQ and rng.random() < 0.3:
        return Constraint(name, op, (rng.choice(["x", "xyz", True]),), rng.random() < 0.2)
    return Constraint(name, op, operands.get(op, (number,)), rng.random() < 0.15)


def _filter(rng: random.Random, equalities: bool) -> Filter:
    chosen = [name for i, name in enumerate(NAMES) if rng.random() < 0.7 / (1 + abs(i - 3))]
    if equalities and rng.random() < 0.97:
        return Filter(tuple(Constraint(name, Op.EQ, (rng.randrange(3),)) for name in chosen))
    return Filter(tuple(_constraint(rng, name) for name in chosen for _ in range(rng.choice([1, 1, 1, 2]))))


def _message(rng: random.Random) -> dict[str, Value]:
    names = [name for name in rng.sample(NAMES, len(NAMES)) if rng.random() < 0.8]
    return {name: rng.choice([rng.randrange(5), rng.randrange(9) / 2, "xyz" * 5, True]) for name in names}


def _domain(name: str, *values: Value) -> Constraint:
    return Constraint(name, Op.IN, values)


SPACES = (
    Filter((Constraint("a0", Op.EQ, ("xyz" * 5,)), _domain("a5", 0, 1, 2, 3, 4), _domain("a3", 0.5, 1, True))),
    Filter((_domain("a3", 0, 1, 2), Constraint("a1", Op.LT, (4,)), _domain("a4", *range(5)), _domain("a2", 0, 1, 2))),
)
"""One of which few messages are, and one of which some are."""


@pytest.mark.parametrize(
    ("order", "annotate", "delay", "interfaces", "factor"),
    [
        ("auto", "on", 0, 5, 0),
        ("auto", "on", 3, 90, 0),
        ("names", "off", 16, 5, 0),
        ("auto", "off", 1, 5, 0),
        ("auto", "on", 0, 5, 1),
        ("auto", "on", 3, 40, 2),
        ("names", "off", 16, 5, 3),
        ("names", "on", 0, 3, 3),
    ],
)
@pytest.mark.parametrize("equalities", [False, True], ids=["mixed", "equalities"])
def test_tables_that_change_take_the_steps_of_their_twins(
    order: str, annotate: str, delay: int, interfaces: int, factor: int, equalities: bool
) -> None:
    """Enough filters for nodes that count their positions, and for names to be ranked again."""
    rng = random.Random(f"{order} {annotate} {interfaces}")
    pair = Pair(order, annotate, delay, frozenset({1, 3}), factor, SPACES)
    grouping = [rng.choice([None, 0, 1, 2, 3]) for _ in range(interfaces - 1)]
    handles: list[int] = []
    for step in range(420):
        if handles and rng.random() < (0.75 if step > 330 else 0.25):
            pair.remove(handles.pop(rng.randrange(len(handles))))
        else:
            handles.append(pair.add(_filter(rng, equalities), rng.randrange(interfaces)))
        if step % 40 == 0:
            pair.settle(rng.randrange(30))
            pair.table.validate()
            for message in (_message(rng), {name: rng.randrange(3) for name in NAMES}):
                pair.check(message, rng.choice([None, frozenset(range(interfaces // 2))]), grouping)


def test_interfaces_past_the_last_position_are_never_passed_over() -> None:
    pair = Pair()
    for interface in (3, 1_022, 1_023, 1_024, 5_000):
        pair.add(Filter((Constraint("a", Op.EQ, (1,)),)), interface)
    pair.table.validate()
    assert pair.table.match({"a": 1}) == [3, 1_022, 1_023, 1_024, 5_000]
    assert pair.table.match({"a": 1}, [5_000]) == [5_000]
    pair.check({"a": 1}, frozenset({5_000}), [0] * 4)


def test_names_that_most_filters_speak_of_are_tested_first() -> None:
    """All filters share the test of `z`, although `a` comes first in the alphabet: one step instead of one for each."""
    auto, names = Pair("auto"), Pair("names")
    for pair in (auto, names):
        for _ in range(8):
            pair.add(Filter((Constraint("z", Op.EQ, (2,)),)), 0)
        for i in range(32):
            pair.add(Filter((Constraint("z", Op.EQ, (1,)), Constraint("a", Op.GT, (i,)))), i)
        pair.settle(1_000)
    message: dict[str, Value] = {"a": 100, "z": 3}
    assert auto.steps(lambda: auto.table.match(message)) == ([], 2 + 1)
    assert names.steps(lambda: names.table.match(message))[1] > 60


def test_a_node_below_which_nobody_is_in_question_is_passed_over() -> None:
    on, off = Pair(annotate="on"), Pair(annotate="off")
    for pair in (on, off):
        for i in range(20):
            pair.add(Filter((Constraint("a", Op.EQ, (1,)), Constraint("b", Op.GT, (i,)))), i % 2)
    message: dict[str, Value] = {"a": 1, "b": 50}
    assert on.steps(lambda: on.table.match(message, [7])) == ([], 2)
    assert on.steps(lambda: on.table.match(message))[0] == [0, 1]
    assert on.steps(lambda: on.table.match(message))[1] < off.steps(lambda: off.table.match(message))[1] / 3


def _equal(**wanted: Value) -> Filter:
    return Filter(tuple(Constraint(name, Op.EQ, (value,)) for name, value in wanted.items()))


GRADES = Filter((_domain("kind", "x", "y"), _domain("grade", 1, 2, 3)))


def test_branches_for_all_values_are_a_yes_above_the_leaf() -> None:
    """With grades 1 to 3 at interface 0 nothing below is looked at; without one of them the test is."""
    pair = Pair("names", factor=1, spaces=(GRADES,))
    handles = [pair.add(_equal(grade=grade, kind="x"), 0) for grade in (1, 2, 3)]
    message: dict[str, Value] = {"kind": "x", "grade": 2}
    parts = {"attributes": 2, "space": 1, "interface": 1, "test": 1}
    yes = parts["attributes"] + parts["space"] + parts["interface"]
    assert pair.steps(lambda: pair.table.match(message)) == ([0], yes)
    assert pair.steps(lambda: pair.table.match_which(message)) == ({0: handles[1]}, yes + parts["test"])
    pair.remove(handles[0])
    pair.table.validate()
    assert pair.steps(lambda: pair.table.match(message)) == ([0], yes + parts["test"])
    assert pair.table.match({"kind": "x", "grade": 1}) == []
    assert pair.table.match({"kind": "x", "grade": 7}) == pair.table.match({"kind": "x"}) == []


def test_a_message_outside_of_its_space_is_matched_by_the_whole_tree() -> None:
    pair = Pair(factor=2, spaces=(GRADES,))
    pair.add(Filter((Constraint("grade", Op.GT, (2,)),)), 0)
    pair.add(Filter((Constraint("kind", Op.EXISTS, (), True),)), 1)
    assert pair.table.match({"kind": "y", "grade": 3}) == [0]
    assert pair.table.match({"kind": "z", "grade": 3}) == [0]
    assert pair.table.match({"grade": 3.5}) == [0, 1]
    assert pair.table.match({"grade": 2}) == [1]


def test_a_space_is_declared_before_filters_and_has_as_many_keys_as_there_is_room_for() -> None:
    wide = Filter((_domain("a", *range(200)), _domain("b", *range(100)), _domain("c", 1, 2)))
    pair = Pair(factor=3, spaces=(wide, wide))
    pair.add(_equal(c=1), 0)
    pair.table.validate()
    assert pair.steps(lambda: pair.table.match({"a": 1, "b": 2, "c": 1})) == ([0], 3 + 1 + 2)
    space = encode_filter(GRADES)
    assert lib.tm_table_space(pair.table.c, space, len(space)) == lib.TM_MISUSED
    pair.remove(0)
    assert lib.tm_table_space(pair.table.c, space, len(space)) == lib.TM_OK
    assert lib.tm_table_space(pair.table.c, space[:-1], len(space) - 1) == lib.TM_MALFORMED


def test_a_filter_is_charged_for_its_seats() -> None:
    plain, keyed = Pair(factor=0, spaces=(GRADES,)), Pair(factor=2, spaces=(GRADES,))
    for pair in (plain, keyed):
        pair.add(_equal(other=1), 0)
    assert keyed.table.used > 2 * plain.table.used
