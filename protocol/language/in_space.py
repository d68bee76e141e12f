"""Predicates on the messages of a space: a violation of the space is refused, a valid predicate becomes a plain one.

    trades: price > 10.005 and side >= "sell"
            type = "trades" and price >= 10.01 and side = "sell"

Law: on messages of the space the plain predicate has the meaning of the text under the space's own order of values; it
matches no other message. Matching therefore needs no knowledge of the space. An attribute that a closed space does not
declare, a value of another kind and one outside the domain are mistakes, at their position.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

from tamis.protocol.filters import ORDER_OPS, PATTERN_OPS, Constraint, Op
from tamis.protocol.language.compile import Compiled, compile_tree, read_plainly
from tamis.protocol.language.expression import Attribute
from tamis.protocol.language.literals import RESERVED, write_value
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.language.tree import Junction, Leaf, Node, Placed
from tamis.protocol.nearest import nearest
from tamis.protocol.spaces import ChoiceDomain, FixedDomain, IntegerDomain, Space, SpaceSet, Violation
from tamis.protocol.spaces.domains import Domain
from tamis.protocol.spaces.space import SPACE_NAME
from tamis.protocol.values import Value, ValueKind, kind_of

# A name with a colon behind it may be an attribute's: then an operator follows.
_PREFIX = re.compile(
    rf"\s*(?P<name>{SPACE_NAME.pattern}):(?=[\s(!`])"
    r"(?!\s*(?:[=<>~^$*]|!=|(?:prefix|suffix|contains|substring|between|in)(?![\w.:/@-])|like\s*[\"']))",
    re.IGNORECASE,
)


class SpacePrefix(NamedTuple):
    """The space that a text names, the offset of its name, and where the predicate begins."""

    name: str
    at: int
    end: int


def prefix_of(text: str) -> SpacePrefix | None:
    """Return the prefix of a text that names a space; None if it has none."""
    found = _PREFIX.match(text)
    if found is None or found["name"].lower() in RESERVED:
        return None
    return SpacePrefix(found["name"], found.start("name"), found.end())


def named(spaces: SpaceSet, name: str, at: int) -> Space:
    """Return the space of that name, which stands at `at`."""
    space = spaces.spaces.get(name)
    if space is None:
        known = f"the spaces are {spaces.known}" if spaces.spaces else "no spaces are known here"
        raise SyntaxMistake(at, f"no space `{name}`", _meant(name, spaces.spaces) or known)
    return space


def joined(space: Space, tree: Node, naming: str, at: int) -> Junction:
    """Return the tree of what satisfies `tree` and is of the space, which is named at `at` by the attribute
    `naming`."""
    return Junction((Leaf(Constraint(naming, Op.EQ, (space.name,)), at), tree), True, at)


def compile_in(space: Space, tree: Node, disjuncts_max: int, naming: str, at: int) -> Compiled:
    """Return the predicate for messages of `space` that satisfy `tree`; `naming` is the attribute that names it."""
    return compile_tree(joined(space, tree, naming, at), disjuncts_max, SpaceReader(space, naming))


@dataclass(frozen=True, slots=True)
class SpaceReader:
    """The meaning of conditions on messages of a space."""

    space: Space
    naming: str

    def __call__(self, leaf: Leaf) -> Constraint:
        name = leaf.constraint.name
        domain = self._domain(name, leaf.at)
        if domain is None:
            return read_plainly(leaf)
        for operand in leaf.operands:
            if kind_of(operand.content) is not domain.kind:
                raise _refused(name, operand, domain.allowed, Violation.KIND)
        match domain:
            case IntegerDomain() | FixedDomain():
                return _of_numbers(leaf, domain)
            case ChoiceDomain():
                return _of_choice(leaf, domain)
            case _:
                return read_plainly(leaf)

    def kind(self, attribute: Attribute) -> ValueKind | None:
        """Return the kind of an attribute in an expression; None if it may have any."""
        domain = self._domain(attribute.name, attribute.at)
        return None if domain is None else domain.kind

    def _domain(self, name: str, at: int) -> Domain | None:
        """Return the domain of an attribute that stands at `at`; None if it may have any value."""
        declared = self.space.attributes.get(name)
        if name == self.naming or (declared is None and self.space.is_open):
            return None
        if declared is None:
            hint = _meant(name, self.space.attributes) or f"its attributes are {self.space.declared}"
            raise SyntaxMistake(at, f"space {self.space.name} has no attribute `{name}`", hint)
        return declared.domain


# --- fixed-point numbers ---------------------------------------------------------------------------------------------


def _of_numbers(leaf: Leaf, domain: IntegerDomain | FixedDomain) -> Constraint:
    constraint = leaf.constraint
    is_order = constraint.op in ORDER_OPS or constraint.op is Op.BETWEEN
    violations = {operand: domain.violation(operand.content) for operand in leaf.operands}
    for operand, violation in violations.items():
        if violation is Violation.OUTSIDE or (violation is Violation.TOO_FINE and not is_order):
            raise _refused(constraint.name, operand, domain.allowed, violation)
    if not any(violations.values()):
        return constraint
    if constraint.op is Op.BETWEEN:
        return _between(leaf, domain)
    [operand] = leaf.operands
    if constraint.op in (Op.GT, Op.GE):
        return Constraint(constraint.name, Op.GE, (_next(domain, operand.content, up=True),))
    return Constraint(constraint.name, Op.LE, (_next(domain, operand.content, up=False),))


def _between(leaf: Leaf, domain: IntegerDomain | FixedDomain) -> Constraint:
    name = leaf.constraint.name
    low, high = leaf.operands
    first, last = _next(domain, low.content, up=True), _next(domain, high.content, up=False)
    if first > last:
        raise SyntaxMistake(low.at, f"no value of {name} lies between the two", f"{name} is {domain.allowed}")
    return Constraint(name, Op.BETWEEN, (first, last))


def _next(domain: IntegerDomain | FixedDomain, number: float, up: bool) -> int | float:
    """Return `number` if it has no more digits than the domain, otherwise the nearest such number above or below."""
    if domain.violation(number) is None:
        return number
    units = Fraction(number) * 10**domain.digits
    whole = ceil(units) if up else floor(units)
    return domain.value(whole) if isinstance(domain, FixedDomain) else whole


# --- one of several strings, in their own order -----------------------------------------------------------------------


def _of_choice(leaf: Leaf, domain: ChoiceDomain) -> Constraint:
    constraint = leaf.constraint
    if constraint.op in PATTERN_OPS:
        return constraint
    for operand in leaf.operands:
        if operand.content not in domain.ranks:
            hint = _meant(operand.content, domain.ranks)
            raise _refused(constraint.name, operand, domain.allowed, Violation.NOT_LISTED, hint)
    if constraint.op is Op.BETWEEN or constraint.op in ORDER_OPS:
        return Constraint(constraint.name, Op.IN, _chosen(leaf, domain))
    return constraint


def _chosen(leaf: Leaf, domain: ChoiceDomain) -> tuple[str, ...]:
    """Return the values that satisfy an order."""
    name = leaf.constraint.name
    ranks = [domain.ranks[operand.content] for operand in leaf.operands]
    first, last = _ends(leaf.constraint.op, ranks, len(domain.values))
    if first > last:
        at = leaf.operands[0].at
        if leaf.constraint.op is Op.BETWEEN:
            problem = f"between needs the lower bound first; {name} has the order {', '.join(domain.values)}"
        else:
            where = "before" if leaf.constraint.op is Op.LT else "after"
            problem = f"no value of {name} comes {where} {write_value(leaf.operands[0].content)}"
        raise SyntaxMistake(at, problem)
    return domain.values[first : last + 1]


def _ends(op: Op, ranks: list[int], count: int) -> tuple[int, int]:
    """Return the ranks of the first and of the last value that satisfy the order."""
    rank = ranks[0]
    ends = {
        Op.GT: (rank + 1, count - 1),
        Op.GE: (rank, count - 1),
        Op.LT: (0, rank - 1),
        Op.LE: (0, rank),
        Op.BETWEEN: (rank, ranks[-1]),
    }
    return ends[op]


# --- mistakes ---------------------------------------------------------------------------------------------------------


def _refused(name: str, operand: Placed, allowed: str, violation: Violation, hint: str = "") -> SyntaxMistake:
    value: Value = operand.content
    shown = write_value(value)
    shown = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + "..."
    return SyntaxMistake(operand.at, f"{name} is {allowed}: {shown} {violation.text}", hint)


_SHOWN = 40


def _meant(word: str, words: Iterable[str]) -> str:
    near = nearest(word[:_SHOWN], words)
    return f"did you mean `{near}`?" if near else ""
