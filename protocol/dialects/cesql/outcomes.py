"""What is known of a condition of CESQL, which is true, false or an error.

Law: an error in a part that is evaluated is one of the whole. AND does not evaluate what is behind a false part, nor OR
what is behind a true one, so that the order of the parts matters: `x = 1 OR y = 1` is true of an event without x never.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from tamis.protocol import limits
from tamis.protocol.dialects.rails import ALWAYS, NEVER, Later, Rail, Rails, complement, every, some, undecided
from tamis.protocol.dialects.widen import TOO_LARGE
from tamis.protocol.filters import Constraint, Op
from tamis.protocol.language.tree import Constant, Junction, Leaf, Node

_DEPTH_SEARCHED: Final = 4
_FALSES_MAX: Final = 128
"""Parts of an OR of which all are false; no filter has room for as many, but for values of one attribute."""

Reach = dict[object, Rail]
"""Conjuncts by what they say: that an attribute of this name exists, and whether that is all, or themselves."""


Behind = Reach | Callable[[], Reach]
"""A reach, or what makes it, once."""


class Outcomes(Rails):
    """Where a condition is true and where it is false. `behind_true` holds wherever it is true, and only where it is no
    error; `behind_false` the same of false: what is evaluated next in an AND and in an OR."""

    __slots__ = ("_behind_false", "_behind_true")

    def __init__(
        self, true: Rail | Later, false: Rail | Later, behind_true: Behind = dict, behind_false: Behind = dict
    ) -> None:
        super().__init__(true, false)
        self._behind_true = behind_true
        self._behind_false = behind_false

    @property
    def behind_true(self) -> Reach:
        if not isinstance(self._behind_true, dict):
            self._behind_true = self._behind_true()
        return self._behind_true

    @property
    def behind_false(self) -> Reach:
        if not isinstance(self._behind_false, dict):
            self._behind_false = self._behind_false()
        return self._behind_false


FAILS: Final = Outcomes(NEVER, NEVER, {NEVER: NEVER}, {NEVER: NEVER})


def settled(value: bool) -> Outcomes:
    """Return the outcomes of a constant."""
    return Outcomes(ALWAYS, NEVER) if value else Outcomes(NEVER, ALWAYS)


def where_defined(true: Rail, defined: Rail) -> Outcomes:
    """Return the outcomes of what is an error where it is not defined, and false wherever else it is not true."""
    return of_both(true, lambda: every(defined, complement(true)), lambda: defined)


def of_both(true: Rail | Later, false: Rail | Later, defined: Later) -> Outcomes:
    return Outcomes(true, false, lambda: _reach(defined()), lambda: _reach(defined()))


def contrary(one: Outcomes) -> Outcomes:
    return Outcomes(lambda: one.false, lambda: one.true, lambda: one.behind_false, lambda: one.behind_true)


def one_after_another(parts: Iterable[Outcomes]) -> Outcomes:
    """Return the outcomes of an OR."""
    kept = tuple(parts)
    found = Outcomes(
        lambda: _one_true(kept), lambda: _all_false(kept), lambda: _reach(found.true), lambda: _behind_all(kept)
    )
    return found


def _one_true(parts: Sequence[Outcomes]) -> Rail:
    """Return where a part is true, and none before it an error."""
    alternatives: list[Rail] = []
    reach: Reach = {}
    for part in parts:
        alternatives.append(_behind(reach, part.true))
        reach = reach | part.behind_false if part.behind_false else reach
    return some(*alternatives)


def _all_false(parts: Sequence[Outcomes]) -> Rail:
    false = every(*[part.false for part in parts[:_FALSES_MAX]])
    return undecided(false, TOO_LARGE) if parts[_FALSES_MAX:] else false


def _behind_all(parts: Sequence[Outcomes]) -> Reach:
    return {key: rail for part in parts for key, rail in part.behind_false.items()}


def exclusive(one: Outcomes, other: Outcomes) -> Outcomes:
    """Return the outcomes of an XOR."""
    true = some(every(one.true, other.false), every(one.false, other.true))
    false = some(every(one.true, other.true), every(one.false, other.false))
    reach = _defined(one) | _defined(other)
    return Outcomes(true, false, reach, reach)


def _defined(one: Outcomes) -> Reach:
    if one.behind_true is one.behind_false:
        return one.behind_true
    return _reach(some(every(*one.behind_true.values()), every(*one.behind_false.values())))


def _reach(rail: Rail) -> Reach:
    match rail:
        case Rail(Leaf(Constraint(name=name, op=Op.EXISTS, negated=False)), needs):
            return {(name, not needs): rail}
        case Rail(Constant(True), ()):
            return {}
    return {id(rail): rail}


def _behind(reach: Reach, rail: Rail) -> Rail:
    """Return where both hold. What the rail has in it is not said twice; what no filter has room for is left out."""
    if not reach or rail.node == NEVER.node:
        return rail
    said = {(name, True) for name in _names(rail.node)}
    kept = [each for key, each in reach.items() if key not in said]
    found = every(*kept[: limits.CONSTRAINTS_MAX], rail)
    return undecided(found, TOO_LARGE) if len(kept) > limits.CONSTRAINTS_MAX else found


def _names(node: Node, depth: int = 0) -> set[str]:
    """Return names of attributes that exist wherever the node holds. Deep in it none are looked for."""
    match node:
        case Leaf(Constraint(name=name, negated=False)):
            return {name}
        case Junction(children, conjunctive) if depth < _DEPTH_SEARCHED:
            sets = [_names(child, depth + 1) for child in children]
            return set().union(*sets) if conjunctive else set.intersection(*sets)
    return set()
