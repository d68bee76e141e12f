"""What is known of an expression: two predicates, of the events of which it may be true, and may be false.

Law: a rail is never narrower than its half of the truth. If it needs nothing, it is exact. `opposite` swaps the two, so
that three-valued logic needs no operator of its own: an event in neither rail makes the expression unknown. Rails have
no negation in them (a negated condition is a leaf), so a part that is left out only widens them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tamis.protocol import limits
from tamis.protocol.dialects.decide import Meant, condition, widened
from tamis.protocol.filters import PATTERN_OPS, Constraint, Op, Predicate
from tamis.protocol.language.tree import Computed, Constant, Junction, Leaf, Nested, Node
from tamis.protocol.values import Value


@dataclass(frozen=True, slots=True)
class Rail:
    """A predicate as a tree. `needs` tells in words what it leaves undecided; empty if it is exact. Where something is
    undecided, the tree has a Widened node, which also has what is meant."""

    node: Node
    needs: tuple[str, ...] = ()


Later = Callable[[], Rail]
"""Makes a rail when it is asked for."""


class Rails:
    """Both rails. Most filters need one of the two, so each may be given as what makes it, once."""

    __slots__ = ("_false", "_true")

    def __init__(self, true: Rail | Later, false: Rail | Later) -> None:
        self._true = true
        self._false = false

    @property
    def true(self) -> Rail:
        if not isinstance(self._true, Rail):
            self._true = self._true()
        return self._true

    @property
    def false(self) -> Rail:
        if not isinstance(self._false, Rail):
            self._false = self._false()
        return self._false


ALWAYS: Final = Rail(Constant(True, 0))
NEVER: Final = Rail(Constant(False, 0))
UNKNOWN: Final = Rails(NEVER, NEVER)


# --- one rail --------------------------------------------------------------------------------------------------------


def holds(name: str, op: Op, *operands: Value) -> Rail:
    """Return where one condition holds. What exceeds a limit is widened; a name that no message can have is absent."""
    if len(name.encode()) > limits.NAME_BYTES_MAX:
        return NEVER
    if op is Op.IN:
        return _membership(name, operands)
    bytes_max = limits.PATTERN_BYTES_MAX if op in PATTERN_OPS else limits.OPERAND_BYTES_MAX
    for operand in operands:
        if isinstance(operand, str) and len(operand.encode()) > bytes_max:
            return _shortened(name, op, operand)
    return Rail(Leaf(Constraint(name, op, operands), 0))


def present(name: str) -> Rail:
    return holds(name, Op.EXISTS)


def every(*rails: Rail) -> Rail:
    """Return where all of these hold."""
    return _joined(rails, True)


def some(*rails: Rail) -> Rail:
    """Return where at least one of these holds."""
    return _joined(rails, False)


def complement(rail: Rail) -> Rail:
    """Return where `rail` does not hold. Of one that is not exact that may be anywhere."""
    if not rail.needs:
        return Rail(_negated(rail.node))
    return Rail(widened(ALWAYS.node, Nested(rail.node, True, 0)), rail.needs)


def undecided(wider: Rail, need: str, meant: Meant = None, indexed: Node | None = None) -> Rail:
    """Return `wider`, which leaves something undecided; a program can say it if it is given what is `meant`. `indexed`:
    see Widened."""
    needs = _distinct((*wider.needs, need)) if wider.needs else (need,)
    return Rail(widened(wider.node, meant, indexed), needs)


def of_predicate(predicate: Predicate) -> Rail:
    conjunctions = (every(*(Rail(Leaf(each, 0)) for each in filter_.constraints)) for filter_ in predicate.filters)
    return some(*conjunctions)


# --- both rails ------------------------------------------------------------------------------------------------------


def constant(value: bool | None) -> Rails:
    """Return the rails of a value that is known; None is unknown."""
    return UNKNOWN if value is None else Rails(ALWAYS, NEVER) if value else Rails(NEVER, ALWAYS)


def two_valued(true: Rail) -> Rails:
    """Return the rails of what is false wherever it is not true."""
    return Rails(true, lambda: complement(true))


def if_present(name: str, true: Rail) -> Rails:
    """Return the rails of what is unknown where the attribute is absent, and false wherever else it is not true."""
    return Rails(true, lambda: every(present(name), complement(true)))


def opposite(rails: Rails) -> Rails:
    return Rails(lambda: rails.false, lambda: rails.true)


def all_of(parts: Iterable[Rails]) -> Rails:
    kept = tuple(parts)
    return Rails(lambda: every(*[part.true for part in kept]), lambda: some(*[part.false for part in kept]))


def any_of(parts: Iterable[Rails]) -> Rails:
    kept = tuple(parts)
    return Rails(lambda: some(*[part.true for part in kept]), lambda: every(*[part.false for part in kept]))


def one_of_two(left: Rails, right: Rails) -> Rails:
    """Return the rails of an exclusive or."""
    return Rails(
        lambda: some(every(left.true, right.false), every(left.false, right.true)),
        lambda: some(every(left.true, right.true), every(left.false, right.false)),
    )


# --- inside ----------------------------------------------------------------------------------------------------------


def _joined(rails: tuple[Rail, ...], conjunctive: bool) -> Rail:
    kept: list[Rail] = []
    needs: list[str] = []
    for rail in rails:
        if not isinstance(rail.node, Constant):
            kept.append(rail)
        elif rail.node.value is not conjunctive:
            if not rail.needs:
                return Rail(rail.node)
            kept.append(rail)
        needs += rail.needs
    if len(kept) > 1:
        kept = _united(kept, conjunctive)
    node: Node = kept[0].node if kept else Constant(conjunctive, 0)
    if len(kept) > 1:
        node = Junction(tuple([rail.node for rail in kept]), conjunctive, 0)
    return Rail(node, _distinct(needs) if needs else ())


def _negated(node: Node) -> Node:
    match node:
        case Leaf(constraint):
            return Leaf(constraint.negate(), node.at)
        case Constant(value):
            return Constant(not value, node.at)
        case Nested(child, negates):
            return child if negates else _negated(child)
        case Junction(children, conjunctive):
            return Junction(tuple(map(_negated, children)), not conjunctive, node.at)
        case Computed():
            raise AssertionError("a rail has the conditions of constraints")


def _united(rails: list[Rail], conjunctive: bool) -> list[Rail]:
    """Return rails with the values of one attribute in one condition: `x = 1 or x = 2` is `x in {1, 2}`, and
    `not x = 1 and not x = 2` is `not (x in {1, 2})`."""
    by_name: dict[str, list[Constraint]] = {}
    found: list[Rail | str] = []  # a name where the condition on it belongs
    for rail in rails:
        constraint = rail.node.constraint if isinstance(rail.node, Leaf) else None
        if constraint is None or constraint.op not in (Op.EQ, Op.IN) or constraint.negated is not conjunctive:
            found.append(rail)
        elif constraint.name in by_name:
            by_name[constraint.name].append(constraint)
        else:
            by_name[constraint.name] = [constraint]
            found.append(constraint.name)
    if len(found) == len(rails):
        return rails
    united: list[Rail] = []
    for each in found:
        if isinstance(each, Rail):
            united.append(each)
        else:
            united += _listed(each, [value for one in by_name[each] for value in one.operands], conjunctive)
    return united


def _listed(name: str, values: Sequence[Value], negated: bool = False) -> list[Rail]:
    step = limits.IN_VALUES_MAX
    parts = (tuple(values[at : at + step]) for at in range(0, len(values), step))
    return [Rail(Leaf(Constraint(name, Op.IN if len(part) > 1 else Op.EQ, part, negated), 0)) for part in parts]


def _membership(name: str, values: tuple[Value, ...]) -> Rail:
    long = [each for each in values if isinstance(each, str) and len(each.encode()) > limits.OPERAND_BYTES_MAX]
    short = [each for each in values if each not in long] if long else values
    return some(*_listed(name, short), *[_shortened(name, Op.EQ, each) for each in long])


def _shortened(name: str, op: Op, operand: str) -> Rail:
    """Return what remains of a condition whose text is too long for one: its first or last bytes."""
    size, written = limits.PATTERN_BYTES_MAX, operand.encode()
    start, end = (part.decode(errors="ignore") for part in (written[:size], written[-size:]))
    wider, part = {
        Op.EQ: (Op.PREFIX, start),
        Op.PREFIX: (Op.PREFIX, start),
        Op.SUFFIX: (Op.SUFFIX, end),
        Op.CONTAINS: (Op.CONTAINS, start),
    }.get(op, (Op.PREFIX, ""))
    meant = condition(name, op, operand)
    return undecided(holds(name, wider, part), f"a text of {len(written)} bytes", meant)


def _distinct(needs: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(needs))
