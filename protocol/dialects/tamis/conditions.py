"""A predicate with computed conditions as one rail, in which no condition is negated but those of constraints.

Law: the rail holds wherever the predicate does. A computed condition has two values, as every other: it does not hold
where an attribute is absent or of another kind, or arithmetic has no result. So its negation may hold of any message,
and its rail is `true`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tamis.protocol import limits
from tamis.protocol.dialects.decide import ValueTest, Widened
from tamis.protocol.dialects.folding import in_any_case, on_folded
from tamis.protocol.dialects.networks import inside
from tamis.protocol.dialects.patterns import matches
from tamis.protocol.dialects.rails import ALWAYS, Rail, every, holds, present, undecided
from tamis.protocol.dialects.tamis.program import emitting, like_pieces
from tamis.protocol.dialects.tree import Attribute, Call, Literal
from tamis.protocol.filters import Op
from tamis.protocol.language import kinds
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.language.needs import need_at, need_of, unquoted
from tamis.protocol.language.reading import Reading
from tamis.protocol.language.tree import FOLDED, Computed, Constant, Junction, Leaf, Nested, Node
from tamis.protocol.values import ValueKind


@dataclass(slots=True)
class Conditions:
    """The conditions of one text."""

    text: str
    reading: Reading
    first: Computed | None = None
    """The first computed condition; None if the text has none."""
    _needs: dict[str, None] = field(default_factory=dict)
    _warnings: list[str] = field(default_factory=list)

    def rail(self) -> Rail:
        """Return the rail of the whole text."""
        return Rail(self._node(self.reading.tree, negated=False, depth=0), tuple(self._needs))

    def warnings(self) -> tuple[str, ...]:
        return tuple(self._warnings[: limits.DISJUNCTS_MAX])

    def _node(self, node: Node, *, negated: bool, depth: int) -> Node:
        match node:
            case Leaf():
                constraint = self.reading.constraint(node)
                return Leaf(constraint.negate() if negated else constraint, node.at)
            case Constant(value):
                return Constant(value is not negated, node.at)
            case Nested(child, negates):
                if depth == limits.PREDICATE_DEPTH_MAX:
                    problem = f"parentheses and `not` nest at most {limits.PREDICATE_DEPTH_MAX} deep"
                    raise SyntaxMistake(node.at, problem)
                return self._node(child, negated=negated is not negates, depth=depth + 1)
            case Junction(children, conjunctive):
                parts = tuple(self._node(child, negated=negated, depth=depth) for child in children)
                return Junction(parts, conjunctive is not negated, node.at)
            case Computed():
                return self._computed(node, negated=negated)

    def _computed(self, condition: Computed, *, negated: bool) -> Nested:
        self.first = self.first or condition
        test = condition.test
        kinds.check_all(test, self.reading.kind)
        self._needs[need_at(test, self.text)] = None
        if right := unquoted(test):
            self._warnings.append(f"`{right.name}` is an attribute here; a string stands in quotes")
        rail = _rail(test)
        holding = Nested(rail.node, False, condition.at)
        if not negated:
            return holding
        return Widened(ALWAYS.node, False, condition.at, Nested(holding, True, condition.at))


def _rail(test: Call) -> Rail:
    """Return where the condition holds."""
    match test:
        case Call("like", (Attribute(name), *pattern)):
            return matches(name, like_pieces(pattern), need_of(test))
        case Call("in network", (Attribute(name), Literal(network))):
            return inside(name, str(network))
        case Call(op, (Attribute(name), Literal(str(text)))) if op in FOLDED:
            return in_any_case(name, FOLDED[op], text, need_of(test))
    return undecided(every(*_operands(test)), need_of(test), ValueTest(emitting(test)), _indexed(test))


def _indexed(test: Call) -> Node | None:
    match test:
        case Call("=", (Call("lower", (Attribute(name),)), Literal(str(text)))):
            return on_folded(name, Op.EQ, text)
    return None


def _operands(call: Call) -> Iterator[Rail]:
    """Yield that the attributes exist, and are texts where no other value serves."""
    for place, part in enumerate(call.parts):
        if isinstance(part, Call):
            yield from _operands(part)
        elif isinstance(part, Attribute):
            is_text = kinds.takes(call, place) is ValueKind.STRING
            yield holds(part.name, Op.PREFIX, "") if is_text else present(part.name)
