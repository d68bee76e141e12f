"""Turn a rail into a predicate that is within the limits of one.

Law: the predicate is never narrower than the rail, and equal to it where the limits allow. Where they do not, a
conjunct is left out, and alternatives are merged. Work and memory are bounded whatever the rail is: past the steps of
one expansion, conjuncts are left out unread, and alternatives become `true`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from tamis.protocol import limits
from tamis.protocol.covering.merge import merge
from tamis.protocol.dialects.decide import for_index, program_of
from tamis.protocol.dialects.dialect import Translated
from tamis.protocol.dialects.rails import Rail, Rails
from tamis.protocol.errors import NeverMatches, Refused
from tamis.protocol.filters import EVERYTHING, NOTHING, Filter, Predicate
from tamis.protocol.language.compile import compile_tree
from tamis.protocol.language.mistake import BeyondLimits, Contradiction
from tamis.protocol.language.tree import Constant, Junction, Leaf, Nested, Node
from tamis.protocol.normal import normalize
from tamis.protocol.residual import Program

TOO_LARGE: Final = "more alternatives or conditions than one predicate has"

_OPERANDS_OF_STEP: Final = 32
"""As many operands count as one step, since the work of a conjunction grows with them."""

_Disjuncts = dict[Filter, None]
_TRUE: Final[_Disjuncts] = {EVERYTHING: None}


Decide = Callable[[], Program | None]


def translated(rails: Rails, warnings: tuple[str, ...] = (), decide: Decide | None = None) -> Translated:
    """Return the translation of an expression, of which only that it is true matters."""
    return within_limits(rails.true, warnings, decide)


def within_limits(rail: Rail, warnings: tuple[str, ...] = (), decide: Decide | None = None) -> Translated:
    """Return the translation of a rail. `decide` makes the residual; without it the rail does."""
    found = _compiled(rail, warnings)
    if found.exact:
        return found
    residual = program_of(rail.node) if decide is None else decide()
    indexed = None if residual is None else indexed_of(rail.node)
    return Translated(found.predicate, found.needs, found.warnings, residual, indexed)


def indexed_of(rail: Node) -> Predicate | None:
    """Return the predicate of a rail for the index of a router, if that is not its predicate."""
    kept = for_index(rail)
    if kept is rail:
        return None
    try:
        return compile_tree(kept, limits.DISJUNCTS_MAX).predicate
    except (BeyondLimits, Contradiction):
        return None


def _compiled(rail: Rail, warnings: tuple[str, ...]) -> Translated:
    try:
        compiled = compile_tree(rail.node, limits.DISJUNCTS_MAX)
    except Contradiction as never:
        return Translated(NOTHING, (), (*warnings, never.problem))
    except BeyondLimits:
        predicate = Predicate(tuple(_Widening().expand(rail.node)))
        return Translated(predicate, (*rail.needs, TOO_LARGE), warnings)
    if not compiled.predicate.filters:
        return Translated(NOTHING, (), warnings)
    return Translated(compiled.predicate, rail.needs, (*warnings, *compiled.warnings))


class _Widening:
    """The expansion of one rail that is beyond the limits."""

    def __init__(self) -> None:
        self.steps = 0

    def expand(self, node: Node) -> _Disjuncts:
        self.steps += 1
        if self.steps > limits.EXPANSION_STEPS_MAX:
            return _TRUE
        match node:
            case Leaf(constraint):
                return self._matching(Filter((constraint,)))
            case Constant(value):
                return _TRUE if value else {}
            case Junction(children, True):
                return self._all(map(self.expand, children))
            case Junction(children, False):
                return self._any(map(self.expand, children))
            case Nested(child, False):
                return self.expand(child)
        raise AssertionError("a rail has no negation but in its leaves")

    def _all(self, parts: Iterable[_Disjuncts]) -> _Disjuncts:
        found = _TRUE
        for part in parts:
            if self.steps < limits.EXPANSION_STEPS_MAX:
                found = self._product(found, part)
        return found

    def _product(self, left: _Disjuncts, right: _Disjuncts) -> _Disjuncts:
        """Return the conjunction of the two, or `left` if that is more than a predicate holds."""
        found: _Disjuncts = {}
        for one in left:
            for other in right:
                self.steps += 1 + (_size(one) + _size(other)) // _OPERANDS_OF_STEP
                try:
                    found |= self._matching(Filter(one.constraints + other.constraints))
                except Refused:  # too many constraints
                    return left
                if len(found) > limits.DISJUNCTS_MAX or self.steps > limits.EXPANSION_STEPS_MAX:
                    return left
        return found

    def _any(self, parts: Iterable[_Disjuncts]) -> _Disjuncts:
        found: _Disjuncts = {}
        for part in parts:
            found |= part
        while len(found) > limits.DISJUNCTS_MAX:
            self.steps += len(found)
            if self.steps > limits.EXPANSION_STEPS_MAX:
                return _TRUE
            found = _halved(found)
        return found

    def _matching(self, filter_: Filter) -> _Disjuncts:
        try:
            return {normalize(filter_): None}
        except NeverMatches:
            self.steps += len(filter_.constraints) ** 2  # its reason is what makes this case expensive
            return {}


def _size(filter_: Filter) -> int:
    """Return the number of operands."""
    return sum(len(constraint.operands) for constraint in filter_.constraints)


def _halved(found: _Disjuncts) -> _Disjuncts:
    """Return half as many alternatives, each of which covers two that are similar."""
    kept = sorted(found, key=lambda filter_: [constraint.identity for constraint in filter_.constraints])
    pairs = zip(kept[::2], kept[1::2], strict=False)
    return {merge(one, other).filter: None for one, other in pairs} | dict.fromkeys(kept[len(kept) // 2 * 2 :])
