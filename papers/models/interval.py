"""The filter structure of paper 003 (PrimAS and DAS, section 4.1), to the letter: the twin of the engine `interval`.

    cuts          after 5    before 20   end         x > 5 and x < 20: filter 9
    edges      (.. 5]   (5 .. 20)   [20 ..]          x < 20:           filter 7
    sets         {7}      {7 9}        {}

Law: an attribute is an axis of half-open intervals between cuts, and each interval has the set of filters that reach
across it. A message intersects the sets of its values, axis by axis, and stops where nothing is left (`lists`); or it
follows one path of the tree that remembers what was intersected (`tree`). A step is an axis looked at, a place of four
bytes of a list that is read (a pointer, or 32 bits of a list of bits), or a filter that is left at the end.

Steps depend on the form of the sets, and that on the order in which filters came and went; the engine does the same in
the same order, so that both count alike. The limits of the engine (reach, axes, edges) and its slices are not here.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value

DENSE_FROM: Final = 1 / 32
"""Share of the filters from which on bits take no more than pointers."""
SEARCH_FROM: Final = 32
"""How many times as long a list of pointers is searched for each of the other, and not merged."""
TYPE: Final = "type"

Cut = tuple[int, Value, bool]
"""Kind of the value, the value, and whether the cut is after it; kinds are booleans, numbers, strings and the end."""
Span = tuple[Cut, Cut]

FIRST: Final[Cut] = (0, False, False)
NUMBERS: Final[Cut] = (1, float("-inf"), False)
STRINGS: Final[Cut] = (2, "", False)
END: Final[Cut] = (3, "", False)
_BOUNDS: Final = (FIRST, NUMBERS, STRINGS, END)
_INTERVALS: Final = frozenset({Op.EXISTS, Op.EQ, Op.IN, Op.BETWEEN, Op.GT, Op.GE, Op.LT, Op.LE, Op.PREFIX})


# --- filters as spans ------------------------------------------------------------------------------------------------


def cut(value: Value, after: bool) -> Cut:
    return (0 if isinstance(value, bool) else 2 if isinstance(value, str) else 1, value, after)


def spans_of(constraint: Constraint) -> list[Span]:
    """The intervals of a constraint, which rise; it is plain and of `_INTERVALS`."""
    values = constraint.operands
    match constraint.op:
        case Op.EXISTS:
            return [(FIRST, END)]
        case Op.BETWEEN:
            return [(cut(values[0], False), cut(values[1], True))]
        case Op.GT | Op.GE:
            low = cut(values[0], constraint.op is Op.GT)
            return [(low, _BOUNDS[low[0] + 1])]
        case Op.LT | Op.LE:
            high = cut(values[0], constraint.op is Op.LE)
            return [(_BOUNDS[high[0]], high)]
        case Op.PREFIX:
            return [(cut(values[0], False), _behind(str(values[0])))]
        case _:
            return sorted((cut(value, False), cut(value, True)) for value in values)


def _behind(prefix: str) -> Cut:
    """Before the first text behind all that begin with the prefix: its last character one higher."""
    text = prefix.rstrip(chr(sys.maxunicode))
    if not text:
        return END
    after = ord(text[-1]) + 1
    return (2, text[:-1] + chr(0xE000 if after == 0xD800 else after), False)  # surrogates are no characters


def axes_of(filter_: Filter, by_type: bool) -> tuple[str | None, dict[str, list[Span]]] | None:
    """The type of a filter, if structures go by it, and its spans on each axis; None: it is no intervals."""
    kind: str | None = None
    axes: dict[str, list[Span]] = {}
    for constraint in filter_.constraints:
        if constraint.negated or constraint.op not in _INTERVALS:
            return None
        value = constraint.operands[0] if constraint.op is Op.EQ else None
        if by_type and kind is None and constraint.name == TYPE and isinstance(value, str):
            kind = value
            continue
        before = axes.get(constraint.name, [(FIRST, END)])
        both = ((max(a[0], b[0]), min(a[1], b[1])) for a in before for b in spans_of(constraint))
        axes[constraint.name] = sorted(span for span in both if span[0] < span[1])
    return kind, axes


# --- sets ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class FilterSet:
    """Seats of filters, as a list of pointers or of bits. Hysteresis: it becomes bits at the share `dense_from` of all
    filters, and pointers again below half of that."""

    seats: set[int] = field(default_factory=set)
    is_bits: bool = False

    def add(self, seat: int, filters: int, dense_from: float) -> None:
        self.seats.add(seat)
        self.is_bits = self.is_bits or len(self.seats) >= dense_from * filters

    def remove(self, seat: int, filters: int, dense_from: float) -> None:
        self.seats.remove(seat)
        self.is_bits = self.is_bits and bool(self.seats) and 2 * len(self.seats) >= dense_from * filters


class IntervalAxis:
    """The cuts of one attribute, and the set behind each; `edges[i]` ends at `cuts[i]`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cuts: list[Cut] = [END]
        self.sets = [FilterSet()]
        self.held = [1]
        self.cares: set[int] = set()

    def find(self, place: Cut) -> int:
        return bisect_left(self.cuts, place)

    def hold(self, place: Cut) -> None:
        at = self.find(place)
        if self.cuts[at] != place:
            self.cuts.insert(at, place)
            self.sets.insert(at, FilterSet(set(self.sets[at].seats), self.sets[at].is_bits))
            self.held.insert(at, 0)
        self.held[at] += 1

    def release(self, place: Cut) -> None:
        at = self.find(place)
        self.held[at] -= 1
        if self.held[at] == 0:
            del self.cuts[at], self.sets[at], self.held[at]

    def across(self, span: Span) -> range:
        first = 0 if span[0] == FIRST else self.find(span[0]) + 1
        return range(first, self.find(span[1]) + 1)

    @property
    def left(self) -> float:
        """The mean of the sets."""
        return sum(len(each.seats) for each in self.sets) / len(self.sets)


# --- one event type --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Left:
    """Filters that are left, in the form in which they are; `is_all` before the first axis."""

    seats: frozenset[int]
    is_bits: bool
    is_all: bool = False


Node = tuple[int, Left]


class Structure:
    """The filters of one event type. Seats are given out again, the last one first."""

    def __init__(self, dense_from: float, order: bool) -> None:
        self.axes: list[IntervalAxis] = []
        self.filters: dict[int, tuple[int, dict[str, list[Span]]]] = {}  # by seat: handle and spans
        self._dense_from, self._order = dense_from, order
        self._free: list[int] = []
        self._seats = self._changes = 0
        self._tree: dict[tuple[Node, int | None], Node] = {}

    def add(self, handle: int, spans: dict[str, list[Span]]) -> int:
        seat = self._free.pop() if self._free else self._seats
        self._seats = max(self._seats, seat + 1)
        self.filters[seat] = (handle, spans)
        for name, parts in spans.items():
            axis = self._axis(name)
            axis.cares.add(seat)
            for part in parts:
                for place in part:
                    if place != FIRST:
                        axis.hold(place)
                for at in axis.across(part):
                    axis.sets[at].add(seat, len(self.filters), self._dense_from)
        self._note_change()
        return seat

    def remove(self, seat: int) -> None:
        _, spans = self.filters[seat]
        for name, parts in reversed(spans.items()):
            axis = self._axis(name)
            for part in reversed(parts):
                for at in axis.across(part):
                    axis.sets[at].remove(seat, len(self.filters), self._dense_from)
                for place in reversed(part):
                    if place != FIRST:
                        axis.release(place)
            axis.cares.remove(seat)
            if not axis.cares:
                self.axes.remove(axis)
        del self.filters[seat]
        self._free.append(seat)
        self._note_change()

    def _axis(self, name: str) -> IntervalAxis:
        for axis in self.axes:
            if axis.name == name:
                return axis
        self.axes.append(IntervalAxis(name))
        return self.axes[-1]

    def _note_change(self) -> None:
        self._tree.clear()
        self._changes += 1
        if self._changes * 8 >= len(self.filters) + 64:
            self.reorder()

    def reorder(self) -> None:
        """The axis that leaves the fewest filters comes first; equal ones stay as they are."""
        self._changes = 0
        if self._order:
            self.axes.sort(key=lambda axis: len(self.filters) - len(axis.cares) + axis.left)

    # --- match

    def match(self, message: Mapping[str, Value], as_tree: bool) -> tuple[set[int], int]:
        """The handles that match, and the steps that it takes to find them."""
        left, steps = Left(frozenset(self.filters), True, True), 0
        node = (0, left)
        for axis in self.axes:
            if not left.seats:
                break
            steps += 1
            edge = axis.find(cut(message[axis.name], True)) if axis.name in message else None
            if as_tree and (node, edge) in self._tree:
                node = self._tree[node, edge]
            else:
                met, places = self._meet(left, axis, axis.sets[edge] if edge is not None else FilterSet())
                steps += places
                self._tree[node, edge] = made = (node[0] + 1, met)
                node = made
            left = node[1]
        return {self.filters[seat][0] for seat in left.seats}, steps + len(left.seats)

    def _meet(self, left: Left, axis: IntervalAxis, met: FilterSet) -> tuple[Left, int]:
        """Those that stay on an axis, and the places that finding them out reads."""
        others = frozenset(self.filters) - axis.cares
        if not others and (not met.seats or left.is_all):
            return Left(frozenset(met.seats), met.is_bits), 0
        bits = 2 * -(-self._seats // 64)
        places = 0
        if left.is_bits and not left.is_all and len(left.seats) < self._dense_from * len(self.filters):
            places += len(left.seats)
            left = Left(left.seats, False)
        stay = left.seats & (met.seats | others)
        if left.is_bits:
            places += bits * (2 if others else 1) + (bits if met.is_bits else len(met.seats))
            return Left(stay, met.is_bits or bool(others)), places
        if met.is_bits:
            places += len(left.seats)
        elif len(met.seats) > SEARCH_FROM * len(left.seats):
            places += len(left.seats) * len(met.seats).bit_length()
        else:
            places += len(left.seats) + len(met.seats)
        return Left(stay, False), places

    # --- covering

    def covered(self, seat: int) -> set[int]:
        """The handles that the filter covers: on each of its axes they are in no set outside of its intervals."""
        inside = set(self.filters) - {seat}
        for name, parts in self.filters[seat][1].items():
            axis = self._axis(name)
            own = {at for part in parts for at in axis.across(part)}
            outside = (each.seats for at, each in enumerate(axis.sets) if at not in own)
            inside &= axis.cares.difference(*outside)
        return {self.filters[each][0] for each in inside}


# --- all event types -------------------------------------------------------------------------------------------------


class IntervalTwin:
    """Filters by handle: those that are intervals, in the structure of their type or in that of all others."""

    def __init__(
        self, dense_from: float = DENSE_FROM, *, order: bool = True, by_type: bool = True, as_tree: bool = False
    ) -> None:
        self._structures: dict[str | None, Structure] = {}
        self._places: dict[int, tuple[str | None, int]] = {}
        self._dense_from, self._order, self._by_type, self._as_tree = dense_from, order, by_type, as_tree

    def add(self, handle: int, filter_: Filter) -> bool:
        """Whether it is intervals; any other is not taken."""
        if (drafted := axes_of(filter_, self._by_type)) is None:
            return False
        kind, spans = drafted
        structure = self._structures.setdefault(kind, Structure(self._dense_from, self._order))
        self._places[handle] = (kind, structure.add(handle, spans))
        return True

    def remove(self, handle: int) -> None:
        kind, seat = self._places.pop(handle)
        self._structures[kind].remove(seat)
        if not self._structures[kind].filters:
            del self._structures[kind]

    def match(self, message: Mapping[str, Value]) -> tuple[set[int], int]:
        found: set[int] = set()
        steps = 0
        for structure in self._asked(message.get(TYPE)):
            matched, taken = structure.match(message, self._as_tree)
            found |= matched
            steps += taken
        return found, steps

    def _asked(self, kind: Value | None) -> Iterator[Structure]:
        if isinstance(kind, str) and kind in self._structures:
            yield self._structures[kind]
        if None in self._structures:
            yield self._structures[None]

    def covered(self, handle: int) -> set[int]:
        kind, seat = self._places[handle]
        return self._structures[kind].covered(seat)

    @property
    def structures(self) -> Mapping[str | None, Structure]:
        return self._structures
