"""The tree of `pst.py` as the engine `pst` keeps it: hubs and tests, with every operator of the language.

    hub    where filters end, and the tests that filters go on with; a chain of *-branches of the paper is one hub
    test   of a name: the hubs behind it by *label*, all that a filter says of the name
    key    values of the factored names of a space: a tree of its own, with the filters that allow these values

Law: `native/engines/pst/` takes the same steps, one by one, and gives the same answers in the same order; what a step
is stands in `tree_match.c`. What a constraint means is `protocol/evaluate.py`'s. This file is slow on purpose: sets are
computed again, and bounds are sorted lists.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from tamis.protocol.evaluate import constraint_holds
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.limits import OPERAND_BYTES_MAX
from tamis.protocol.values import Value, ValueKind, canonical, kind_of
from tamis.protocol.wire.packed_filters import OPCODES

POSITIONS: Final = 1_024
RANKED_FROM: Final = 16
MOVES_WITH_AN_ADD: Final = 4
MOVE_STEPS: Final = 4
KEYS_MAX: Final = 128
JOINT_TESTS_MAX: Final = 64
_WORK_BYTES: Final = 8
_IN_STEPS: Final = 4

Label = tuple[Constraint, ...]


# --- labels -----------------------------------------------------------------------------------------------------------


def _value_key(value: Value) -> tuple[int, int | bytes]:
    """Any order will do, so it is that of the engine: kinds, then bits or bytes."""
    if isinstance(value, str):
        return 3, value.encode()
    if isinstance(value, float):
        return 2, int.from_bytes(struct.pack(">d", value))
    return int(not isinstance(value, bool)), int(value) % 2**64


def _constraint_key(constraint: Constraint) -> tuple[object, ...]:
    operands = tuple(map(_value_key, constraint.operands))
    return (OPCODES[constraint.op], constraint.negated, len(operands), operands)


def labels_of(filter_: Filter) -> list[Label]:
    """One for each name that the filter speaks of."""
    by_name: dict[str, set[Constraint]] = {}
    for constraint in filter_.constraints:
        by_name.setdefault(constraint.name, set()).add(constraint)
    return [tuple(sorted(constraints, key=_constraint_key)) for constraints in by_name.values()]


def _is_equality(label: Label) -> bool:
    return len(label) == 1 and label[0].op is Op.EQ and not label[0].negated


def _lacks(label: Label) -> bool:
    return all(constraint.negated for constraint in label)


_LOW: Final = (Op.GT, Op.GE, Op.BETWEEN)
_HIGH: Final = (Op.LT, Op.LE)


def _bound(label: Label) -> Constraint | None:
    """The first lower bound that is a number, or else the first upper one."""
    for side in (_LOW, _HIGH):
        for constraint in label:
            is_number = constraint.operands and kind_of(constraint.operands[0]) is ValueKind.NUMBER
            if constraint.op in side and not constraint.negated and is_number:
                return constraint
    return None


def _text_bytes(value: Value) -> int:
    return len(value.encode()) if isinstance(value, str) else 0


def _steps_of(constraint: Constraint, value: Value) -> int:
    if constraint.op is Op.CONTAINS:
        return 1 + _text_bytes(value) // _WORK_BYTES
    if constraint.op is Op.IN:
        return _IN_STEPS + min(_text_bytes(value), OPERAND_BYTES_MAX) // _WORK_BYTES
    return 1


# --- the tree ---------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Hub:
    number: int
    test: HubTest | None = None
    label: Label = ()
    here: list[int] = field(default_factory=list)  # handles, the last one first; as all lists below
    plain: list[HubTest] = field(default_factory=list)
    lacking: list[HubTest] = field(default_factory=list)

    @property
    def tests(self) -> list[HubTest]:
        return self.plain + self.lacking


@dataclass(eq=False)
class HubTest:
    __test__ = False  # pytest: it is none of yours

    hub: Hub
    name: str
    values: int = 0  # that the name may have; 0: any
    equal: dict[Label, Hub] = field(default_factory=dict)
    low: list[tuple[Value, int, int, Hub]] = field(default_factory=list)
    high: list[tuple[Value, int, int, Hub]] = field(default_factory=list)
    other: list[Hub] = field(default_factory=list)

    def hubs(self) -> list[Hub]:
        return [*self.equal.values(), *(entry[-1] for entry in self.low + self.high), *self.other]

    def under(self, label: Label) -> Hub | None:
        return next((hub for hub in self.hubs() if hub.label == label), None)

    def side(self, bound: Constraint) -> list[tuple[Value, int, int, Hub]]:
        return self.low if bound.op in _LOW else self.high


def _entry(hub: Hub, bound: Constraint) -> tuple[Value, int, int, Hub]:
    is_strict = bound.op in (Op.GT, Op.LT)
    return bound.operands[0], int(is_strict == (bound.op in _LOW)), hub.number, hub


class KeyedSpace:
    """A space, as a filter that all its messages satisfy, with a root for each combination of the values of its first
    names of finite domain: at most `names` of them, and at most `keys_max` combinations."""

    def __init__(self, filter_: Filter, names: int, keys_max: int) -> None:
        self.constraints = filter_.constraints
        self.domains: dict[str, list[Value]] = {}
        for each in filter_.constraints:
            if each.op in (Op.EQ, Op.IN) and not each.negated and each.name not in self.domains:
                self.domains[each.name] = sorted(_distinct(each.operands), key=_mixed)
        self.factored: list[str] = []
        keys = 1
        for name, values in self.domains.items():
            if len(self.factored) < names and 1 < len(values) <= keys_max // keys:
                self.factored.append(name)
                keys *= len(values)
        self.roots: dict[tuple[object, ...], Hub] = {}

    def plant(self, first: int) -> None:
        self.roots = {key: Hub(first + place) for place, key in enumerate(self._keys(self.domains))}

    def _keys(self, allowed: Mapping[str, Iterable[Value]]) -> Iterable[tuple[object, ...]]:
        return product(*(map(_value_key, allowed[name]) for name in self.factored))

    def root(self, message: Mapping[str, Value]) -> Hub | None:
        if not all(constraint_holds(each, message) for each in self.constraints):
            return None
        return self.roots[tuple(_value_key(message[name]) for name in self.factored)]

    def share(self, labels: Iterable[Label]) -> tuple[list[Hub], list[Label]]:
        """The roots that a filter allows, and its labels that are tested there."""
        allowed, tested = dict(self.domains), list[Label]()
        for label in labels:
            name = label[0].name
            domain = self.domains.get(name, [])
            allowed[name] = [value for value in domain if _holds(label, {name: value})]
            if not domain or (name not in self.factored and len(allowed[name]) < len(domain)):
                tested.append(label)
        if not all(allowed[name] for name in self.domains):
            return [], []
        return [self.roots[key] for key in self._keys(allowed)], tested


def _distinct(values: Iterable[Value]) -> Iterable[Value]:
    """1 and 1.0 are one value, 1 and true are two."""
    return {_value_key(each): each for each in map(canonical, values)}.values()


def _mixed(value: Value) -> tuple[int, Value]:
    return (0 if isinstance(value, bool) else 2 if isinstance(value, str) else 1, value)


def _holds(label: Label, message: Mapping[str, Value]) -> bool:
    return all(constraint_holds(constraint, message) for constraint in label)


class HubTree:
    """As the engine `pst`, with handles that somebody else gives out."""

    def __init__(
        self,
        order: str = "auto",
        annotate: bool = True,
        delay: int = 0,
        factor: int = 0,
        spaces: Iterable[Filter] = (),
    ) -> None:
        self.order, self.annotated, self.delay = order, annotate, delay
        self.spaces: list[KeyedSpace] = []
        keys = 0
        for each in spaces:
            space = KeyedSpace(each, factor, KEYS_MAX - keys)
            if space.factored:
                space.plant(2 + keys)
                self.spaces.append(space)
                keys += len(space.roots)
        self._roots = 1 + keys
        self.interfaces: dict[int, int] = {}  # by handle
        self._forget()

    def _forget(self) -> None:
        self._ends: dict[int, list[Hub]] = {}  # where a filter ends: in the whole tree, then below its keys
        self._free_hubs: list[int] = []
        self._hubs_ever = 1 + self._roots
        self.root = Hub(1)
        self._filters_of: dict[str, int] = {}  # that speak of a name
        self._ranks: dict[str, int] = {}
        self._ranked_at = self._added = self._next = self._end = self._handles = 0

    # --- filters ----------------------------------------------------------------------------------------------------

    def add(self, filter_: Filter, interface: int, handle: int) -> None:
        labels = sorted(labels_of(filter_), key=self._rank)
        self.interfaces[handle] = interface
        self._handles = max(self._handles, handle + 1)
        self._ends[handle] = []
        self._enter(self._down(self.root, labels), handle, 0)
        for space in self.spaces:
            roots, tested = space.share(labels)
            for root in roots:
                self._enter(self._down(root, tested, space), handle, 1)
        for label in labels:
            name = label[0].name
            self._filters_of[name] = self._filters_of.get(name, 0) + 1
        self._added += 1
        if self.order == "auto" and self._added >= max(RANKED_FROM, self._ranked_at):
            self._ranks = dict(self._filters_of)
            self._ranked_at, self._added, self._next, self._end = len(self._ends), 0, 0, self._handles
        self.settle(MOVES_WITH_AN_ADD)

    def remove(self, handle: int) -> None:
        for label in self._path(self._ends[handle][0]):
            name = label[0].name
            self._filters_of[name] -= 1
            if not self._filters_of[name]:
                del self._filters_of[name]
                self._ranks.pop(name, None)
        while self._ends[handle]:
            self._prune(self._leave(handle, 0))
        del self.interfaces[handle], self._ends[handle]
        if not self._ends:
            self._forget()

    def settle(self, steps: int) -> None:
        taken = 0
        while self._next < self._end and taken < steps:
            handle, self._next = self._next, self._next + 1
            ends = self._ends.get(handle, [])
            taken += 1 if not ends else sum(self._move(handle, place) for place in range(len(ends)))

    def _move(self, handle: int, place: int) -> int:
        end = self._ends[handle][place]
        path = self._path(end)
        wanted = sorted(path, key=self._rank)
        if path == wanted:
            return 1
        root = self._root_of(end)
        hub = self._down(root, wanted, next((each for each in self.spaces if root in each.roots.values()), None))
        old = self._leave(handle, place)
        self._enter(hub, handle, place)
        self._prune(old)
        return MOVE_STEPS

    def _rank(self, label: Label) -> tuple[int, bytes]:
        return self.rank_of(label[0].name)

    def rank_of(self, name: str) -> tuple[int, bytes]:
        """Names come in the order of this key."""
        return -self._ranks.get(name, 0), name.encode()

    def _path(self, hub: Hub) -> list[Label]:
        labels: list[Label] = []
        while hub.test is not None:
            labels.insert(0, hub.label)
            hub = hub.test.hub
        return labels

    def _root_of(self, hub: Hub) -> Hub:
        while hub.test is not None:
            hub = hub.test.hub
        return hub

    def _enter(self, hub: Hub, handle: int, place: int) -> None:
        hub.here.insert(0, handle)
        self._ends[handle].insert(place, hub)

    def _leave(self, handle: int, place: int) -> Hub:
        hub = self._ends[handle].pop(place)
        hub.here.remove(handle)
        return hub

    # --- nodes ------------------------------------------------------------------------------------------------------

    def _down(self, hub: Hub, labels: Iterable[Label], space: KeyedSpace | None = None) -> Hub:
        for label in labels:
            name = label[0].name
            test = next((test for test in hub.tests if test.name == name), None)
            if test is None:
                test = HubTest(hub, name, len(space.domains.get(name, [])) if space is not None else 0)
                hub.plain.insert(0, test)
            hub = test.under(label) or self._make_hub(test, label)
        return hub

    def _make_hub(self, test: HubTest, label: Label) -> Hub:
        number = self._free_hubs.pop() if self._free_hubs else self._hubs_ever
        self._hubs_ever = max(self._hubs_ever, number + 1)
        hub = Hub(number, test, label)
        bound = _bound(label)
        if _is_equality(label):
            test.equal[label] = hub
        elif bound is not None:
            insort(test.side(bound), _entry(hub, bound), key=lambda entry: entry[:3])
        else:
            self._relist(test, lambda: test.other.insert(0, hub), label)
        return hub

    def _drop_hub(self, hub: Hub, test: HubTest) -> None:
        bound = _bound(hub.label)
        if _is_equality(hub.label):
            del test.equal[hub.label]
        elif bound is not None:
            test.side(bound).remove(_entry(hub, bound))
        else:
            self._relist(test, lambda: test.other.remove(hub), hub.label)
        self._free_hubs.append(hub.number)

    def _relist(self, test: HubTest, change: Callable[[], None], label: Label) -> None:
        """A test whose number of labels that lack has changed comes to the front of its list, which may be another."""
        change()
        if _lacks(label):
            (test.hub.plain if test in test.hub.plain else test.hub.lacking).remove(test)
            lacking = any(_lacks(hub.label) for hub in test.other)
            (test.hub.lacking if lacking else test.hub.plain).insert(0, test)

    def _prune(self, hub: Hub) -> None:
        while hub.test is not None and not hub.here and not hub.tests:
            test = hub.test
            self._drop_hub(hub, test)
            if test.hubs():
                return
            (test.hub.plain if test in test.hub.plain else test.hub.lacking).remove(test)
            hub = test.hub

    # --- what a match needs -----------------------------------------------------------------------------------------

    def below(self, node: Hub | HubTest) -> set[int]:
        """The positions of all filters below: the trits that are not No."""
        if isinstance(node, HubTest):
            return set().union(*(self.below(hub) for hub in node.hubs()))
        here = {min(self.interfaces[handle], POSITIONS - 1) for handle in node.here}
        return here.union(*(self.below(test) for test in node.tests))

    def sure(self, node: Hub | HubTest) -> set[int]:
        """The positions of which a filter below matches every message that comes here: the trits that are Yes."""
        if isinstance(node, HubTest):
            hubs = list(node.equal.values()) if len(node.equal) == node.values else []
            return set.intersection(*map(self.sure, hubs)) if hubs else set()
        here = {min(self.interfaces[handle], POSITIONS - 1) for handle in node.here}
        return here.union(*(self.sure(test) for test in node.tests))

    def names(self) -> set[str]:
        return set(self._filters_of)

    def match(
        self,
        message: Mapping[str, Value],
        candidates: Iterable[int] | None = None,
        grouping: Sequence[int | None] | None = None,
        *,
        clients: Iterable[int] | None = None,
        groups: int | None = None,
        which: bool = True,
    ) -> tuple[list[tuple[int, int]], int]:
        """(group, handle) of what matches, in order, and the steps. With `clients` every filter of these interfaces is
        wanted. `groups` is how many rows are enough, where that is known: for interfaces by a grouping. Not `which`:
        handles do not matter."""
        return _Search(self, message, candidates, grouping, clients, groups, which).run()


class _Search:
    def __init__(
        self,
        tree: HubTree,
        message: Mapping[str, Value],
        candidates: Iterable[int] | None,
        grouping: Sequence[int | None] | None,
        clients: Iterable[int] | None,
        groups: int | None,
        which: bool,
    ) -> None:
        self.which = which
        self.tree, self.message = tree, {name: canonical(value) for name, value in message.items()}
        self.candidates = None if candidates is None else set(candidates)
        self.grouping, self.clients = grouping, None if clients is None else set(clients)
        self.wanted = groups
        self.rows: list[tuple[int, int]] = []
        self.matched: set[int] = set()
        self.asked: dict[Label, bool] = {}
        self.steps, self.over = len(message), False
        interfaces = set(tree.interfaces.values())
        self.live = {min(each, POSITIONS - 1) for each in interfaces if self.is_open(each)}
        if any(each >= POSITIONS - 1 for each in interfaces):
            self.live.add(POSITIONS - 1)

    def run(self) -> tuple[list[tuple[int, int]], int]:
        if not self.tree.interfaces or self.wanted == 0:
            return [], self.steps
        root = self.root()
        below_key = self.tree.annotated and self.clients is None and not self.which and root is not self.tree.root
        self.is_sure = below_key and max(self.tree.interfaces.values()) < POSITIONS - 1
        if not self.is_live(root):
            return [], self.steps
        self.known = [name for name in self.message if name in self.tree.names()]
        sizes = [_text_bytes(self.message[name]) for name in self.known]
        self.steps += sum(size // _WORK_BYTES for size in sizes if size <= OPERAND_BYTES_MAX)
        self.hub(root)
        return self.rows, self.steps

    def root(self) -> Hub:
        for space in self.tree.spaces:
            self.steps += 1
            if (root := space.root(self.message)) is not None:
                return root
        return self.tree.root

    # --- what is undecided ------------------------------------------------------------------------------------------

    def group(self, interface: int) -> int | None:
        if self.grouping is None:
            return interface
        return self.grouping[interface] if interface < len(self.grouping) else None

    def is_open(self, interface: int) -> bool:
        group = self.group(interface)
        if group is None or (self.candidates is not None and group not in self.candidates):
            return False
        return interface in self.clients if self.clients is not None else group not in self.matched

    def is_live(self, node: Hub | HubTest) -> bool:
        return not self.tree.annotated or not self.live.isdisjoint(self.tree.below(node))

    def emit(self, interface: int, handle: int) -> None:
        group = interface if self.grouping is None else (self.grouping[interface] or 0)  # it is open, so it has one
        self.rows.append((group, handle))
        if self.clients is None:
            self.matched.add(group)
            if self.tree.annotated:
                decided = {each for each in self.live if each < POSITIONS - 1 and self.group(each) == group}
                self.live -= decided
                self.over = not self.live
        self.over |= self.wanted is not None and len(self.rows) >= self.wanted

    # --- nodes ------------------------------------------------------------------------------------------------------

    def filters(self, hub: Hub) -> None:
        if self.is_sure:
            while (left := self.live & self.tree.sure(hub)) and not self.over:
                self.steps += 1
                if self.is_open(min(left)):
                    self.emit(min(left), 0)
                self.live.discard(min(left))
            return
        for handle in hub.here:
            if self.over:
                return
            self.steps += 1
            if self.is_open(self.tree.interfaces[handle]):
                self.emit(self.tree.interfaces[handle], handle)

    def hub(self, hub: Hub) -> None:
        self.filters(hub)
        if not hub.tests or self.over:
            return
        if self.tree.delay and self.joins(hub, None):
            self.together([hub], None)
        else:
            self.tests(hub)

    def tests(self, hub: Hub) -> None:
        if len(hub.tests) <= len(self.known):
            self.look_at(hub.plain)
        else:
            by_name = {test.name: test for test in hub.plain}
            for name in self.known:
                if self.over:
                    return
                self.steps += 1
                if name in by_name:
                    self.test(by_name[name])
        self.look_at(hub.lacking)

    # --- hubs that are followed together ----------------------------------------------------------------------------

    def rank(self, name: str) -> tuple[int, bytes]:
        return self.tree.rank_of(name)

    def joins(self, hub: Hub, last: str | None) -> bool:
        """Has the hub tests, but few, and are they equalities of names behind `last`?"""
        return 0 < len(hub.tests) <= JOINT_TESTS_MAX and all(
            not (test.low or test.high or test.other) and (last is None or self.rank(last) < self.rank(test.name))
            for test in hub.tests
        )

    def left(self, hub: Hub, last: str | None) -> list[str]:
        names = [test.name for test in hub.tests]
        return [name for name in names if last is None or self.rank(last) < self.rank(name)]

    def together(self, hubs: Sequence[Hub], last: str | None) -> None:
        """Of two states that wait, the second goes first."""
        if self.over:
            return
        self.steps += 1
        name = min((name for hub in hubs for name in self.left(hub, last)), key=self.rank)
        tests = [test for hub in hubs for test in hub.tests if test.name == name]
        entered = [hub for test in tests if (hub := self.equal_hub(test)) is not None]
        for hub in entered:
            if self.over:
                return
            if self.is_live(hub):
                self.filters(hub)
                if hub.tests and not self.over and not self.joins(hub, name):
                    self.tests(hub)
        waiting = [hub for hub in entered if self.joins(hub, name)] + [hub for hub in hubs if self.left(hub, name)]
        for part in (waiting[self.tree.delay :], waiting[: self.tree.delay]):
            if part:
                self.together(part, name)

    # --- tests ------------------------------------------------------------------------------------------------------

    def equal_hub(self, test: HubTest) -> Hub | None:
        if test.name not in self.message or _text_bytes(self.message[test.name]) > OPERAND_BYTES_MAX:
            return None
        return test.equal.get((Constraint(test.name, Op.EQ, (self.message[test.name],)),))

    def look_at(self, tests: Iterable[HubTest]) -> None:
        for test in tests:
            if self.over:
                return
            self.steps += 1
            self.test(test)

    def test(self, test: HubTest) -> None:
        if not self.is_live(test):
            return
        if test.name not in self.message:
            self.absent(test)
            return
        value = self.message[test.name]
        equal = self.equal_hub(test)
        if equal is not None:
            self.visit(equal)
        if (test.low or test.high) and kind_of(value) is ValueKind.NUMBER and not self.over:
            self.steps += 1
            place = (value, 1, 0)
            for entry in test.low[: bisect_left(test.low, place, key=lambda entry: entry[:3])]:
                self.ask(entry[-1])
            for entry in test.high[bisect_left(test.high, place, key=lambda entry: entry[:3]) :]:
                self.ask(entry[-1])
        for hub in test.other:
            self.ask(hub)

    def absent(self, test: HubTest) -> None:
        left = sum(_lacks(hub.label) for hub in test.other)
        for hub in test.other:
            if self.over or left == 0:
                return
            self.steps += 1
            if _lacks(hub.label):
                left -= 1
                self.visit(hub)

    def ask(self, hub: Hub) -> None:
        if self.over:
            return
        self.steps += 1
        if hub.label not in self.asked:
            value, holds = self.message[hub.label[0].name], True
            for constraint in hub.label:
                if holds:
                    self.steps += _steps_of(constraint, value)
                    holds = constraint_holds(constraint, self.message)
            self.asked[hub.label] = holds
        if self.asked[hub.label]:
            self.visit(hub)

    def visit(self, hub: Hub) -> None:
        if self.is_live(hub):
            self.hub(hub)
