"""Turn a tree into a disjunction of filters in normal form: `not` is pushed to the leaves, and `and` multiplied out.

Law: memory and work are bounded while the product is formed, not after. Every conjunction is normalized as soon as it
exists, so those that contradict themselves or repeat another never count as disjuncts; and the work of forming them is
itself counted, so a text cannot cause unbounded work with disjuncts that are dropped. The limit on constraints is on
those written (a repeated one counts once), so it does not depend on the normal form of a part. Recursion is as deep as
the text nests, at most PREDICATE_DEPTH_MAX levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tamis.protocol import limits
from tamis.protocol.errors import NeverMatches
from tamis.protocol.filters import EVERYTHING, Constraint, Filter, Predicate
from tamis.protocol.language.format import format_filter
from tamis.protocol.language.mistake import BeyondLimits, Contradiction, SyntaxMistake
from tamis.protocol.language.tree import Computed, Constant, Junction, Leaf, Nested, Node
from tamis.protocol.normal import normalize, normalize_all

_SPLIT = "split it into several predicates, or write `x in {...}` for several values of one attribute"

Read = Callable[[Leaf], Constraint]
"""Returns the meaning of a condition, or raises the mistake in it."""

Disjuncts = dict[Filter, Filter]
"""The distinct filters of a disjunction: the normal form of each, and its constraints as written."""

_TRUE: Disjuncts = {EVERYTHING: EVERYTHING}


@dataclass(frozen=True, slots=True)
class Compiled:
    """A predicate in normal form, and a sentence for each alternative that was dropped because it can never match."""

    predicate: Predicate
    warnings: tuple[str, ...] = ()


def read_plainly(leaf: Leaf) -> Constraint:
    """Return the meaning of a condition outside any space."""
    if leaf.mistake is not None:
        raise leaf.mistake
    return leaf.constraint


def compile_tree(tree: Node, disjuncts_max: int, read: Read = read_plainly) -> Compiled:
    """Return the predicate of `tree`; `read` returns the meaning of each condition, or raises the mistake in it."""
    few = _few(tree, disjuncts_max, read)
    if few is not None:
        return Compiled(few)
    expansion = _Expansion(disjuncts_max, read)
    disjuncts = expansion.expand(tree, negated=False, depth=0)
    if not disjuncts and expansion.dropped:
        reason, at = next(iter(expansion.dropped.values()))
        raise Contradiction(at, f"this can never match: {reason}")
    warnings = [f"dropped {format_filter(filter_)}: {reason}" for filter_, (reason, _) in expansion.dropped.items()]
    return Compiled(Predicate(tuple(disjuncts)), _first(warnings))


# --- few conditions --------------------------------------------------------------------------------------------------


class _StepByStep(Exception):
    """There are many conditions, or something is to be said of one."""


def _few(tree: Node, disjuncts_max: int, read: Read) -> Predicate | None:
    """Return the predicate of a tree of few conditions, normalized once; None if it is the expansion that tells what is
    wrong or dropped. What this takes is within the bounds of the expansion."""
    try:
        written = _written(tree, False, 0, disjuncts_max, read)
        return Predicate(normalize_all(written))
    except (_StepByStep, SyntaxMistake, NeverMatches):
        return None


def _written(node: Node, negated: bool, depth: int, most: int, read: Read) -> list[list[Constraint]]:
    """Return the conditions of each alternative, of which there are at most `most`."""
    match node:
        case Leaf():
            constraint = read(node)
            return [[constraint.negate() if negated else constraint]]
        case Nested(child, negates) if depth < limits.PREDICATE_DEPTH_MAX:
            return _written(child, negated is not negates, depth + 1, most, read)
        case Junction(children, conjunctive):
            parts = (_written(child, negated, depth, most, read) for child in children)
            return _multiplied(parts, most) if conjunctive is not negated else _gathered(parts, most)
    raise _StepByStep


def _multiplied(parts: Iterable[list[list[Constraint]]], most: int) -> list[list[Constraint]]:
    found: list[list[Constraint]] = [[]]
    for part in parts:
        if len(found) * len(part) > most:
            raise _StepByStep
        found = [one + other for one in found for other in part]
        if not all(map(_is_one_step, found)):
            raise _StepByStep
    return found


def _gathered(parts: Iterable[list[list[Constraint]]], most: int) -> list[list[Constraint]]:
    found: list[list[Constraint]] = []
    for part in parts:
        found += part
        if len(found) > most:
            raise _StepByStep
    return found


def _is_one_step(conditions: list[Constraint]) -> bool:
    if len(conditions) == 1:
        return True
    operands = sum([len(constraint.operands) for constraint in conditions])
    return len(conditions) <= limits.CONSTRAINTS_MAX and operands < limits.IN_VALUES_MAX


# --- any conditions --------------------------------------------------------------------------------------------------


class _Expansion:
    """The expansion of one text: its bounds, the work so far, and the conjunctions that contradict themselves."""

    def __init__(self, disjuncts_max: int, read: Read) -> None:
        self.disjuncts_max = disjuncts_max
        self.read = read
        self.steps = 0
        self.dropped: dict[Filter, tuple[str, int]] = {}  # the reason, and where in the text it arose

    def expand(self, node: Node, negated: bool, depth: int) -> Disjuncts:
        match node:
            case Leaf():
                constraint = self.read(node)
                condition = Filter((constraint.negate() if negated else constraint,))
                return self._product(_TRUE, {condition: condition}, node.at)
            case Constant(value):
                return _TRUE if value is not negated else {}
            case Computed():
                from tamis.protocol.language.needs import not_exact  # few texts need it

                raise not_exact(node)
            case Nested(child, negates, at):
                if depth == limits.PREDICATE_DEPTH_MAX:
                    raise BeyondLimits(at, f"parentheses and `not` nest at most {limits.PREDICATE_DEPTH_MAX} deep")
                return self.expand(child, negated is not negates, depth + 1)
            case Junction(children, conjunctive):
                # De Morgan: a negated conjunction is the disjunction of its negated parts, and vice versa.
                join = self._all if conjunctive is not negated else self._any
                return join((self.expand(child, negated, depth), child.at) for child in children)

    def _any(self, parts: Iterable[tuple[Disjuncts, int]]) -> Disjuncts:
        found: Disjuncts = {}
        for part, at in parts:
            found.update(part)
            if len(found) > self.disjuncts_max:
                raise BeyondLimits(at, f"more than {self.disjuncts_max} alternatives, the limit", _SPLIT)
        return found

    def _all(self, parts: Iterable[tuple[Disjuncts, int]]) -> Disjuncts:
        found = _TRUE
        for part, at in parts:
            found = part if found is _TRUE else self._product(found, part, at)
        return found

    def _product(self, left: Disjuncts, right: Disjuncts, at: int) -> Disjuncts:
        found: Disjuncts = {}
        for one in left.values():
            for other in right.values():
                self._add_conjunction(found, one, other, at)
                if len(found) > self.disjuncts_max:
                    problem = (
                        f"this expands to more than {self.disjuncts_max} filters, the limit: "
                        f"{len(left)} alternatives before it, times {len(right)} here"
                    )
                    raise BeyondLimits(at, problem, _SPLIT)
        return found

    def _add_conjunction(self, found: Disjuncts, one: Filter, other: Filter, at: int) -> None:
        """Add the conjunction of `one` and `other` to `found`; if they contradict each other, note it at `at`
        instead."""
        constraints = dict.fromkeys(one.constraints + other.constraints)
        operands = sum(len(constraint.operands) for constraint in constraints)
        self._count_steps(1 + operands // limits.IN_VALUES_MAX, at)
        if len(constraints) > limits.CONSTRAINTS_MAX:
            problem = f"with this, {len(constraints)} constraints must hold at once"
            raise BeyondLimits(at, f"{problem}; a filter has at most {limits.CONSTRAINTS_MAX}")
        both = Filter(tuple(constraints))
        try:
            found.setdefault(normalize(both), both)
        except NeverMatches as error:
            self.dropped.setdefault(both, (str(error), at))
            # Finding the fewest that contradict each other is what makes this case expensive.
            self._count_steps(len(constraints) ** 2, at)

    def _count_steps(self, steps: int, at: int) -> None:
        self.steps += steps
        if self.steps > limits.EXPANSION_STEPS_MAX:
            raise BeyondLimits(at, "this takes too much work to expand: most of its combinations are dropped", _SPLIT)


def _first(warnings: list[str]) -> tuple[str, ...]:
    """Return the first few warnings; a product can drop thousands of alternatives."""
    shown = limits.DISJUNCTS_MAX
    rest = [f"{len(warnings) - shown} more dropped"] if len(warnings) > shown else []
    return (*warnings[:shown], *rest)
