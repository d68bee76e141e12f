"""A predicate text as a tree of five kinds of node, and the callbacks by which the parser builds it.

Law: every node knows the offset at which it starts in the text. A leaf holds a constraint that could be built, so all
that concerns one condition (kinds, bounds, lengths) is refused here, at the operand or the name that is wrong. The
order of two strings is left to the reader of the leaf, since a space may have an order of its own. The methods of
TreeBuilder are named after the rules of grammar.lark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tamis.protocol.errors import Refused
from tamis.protocol.filters import Constraint, Op
from tamis.protocol.language import literals, suggest
from tamis.protocol.language.expression import Call
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.values import Value

_SYNONYMS = {"==": Op.EQ, "<>": Op.NE, "^=": Op.PREFIX, "$=": Op.SUFFIX, "*=": Op.CONTAINS, "substring": Op.CONTAINS}
OPERATORS = {op.value: op for op in Op} | _SYNONYMS
FOLDED = {"~=": Op.EQ, "~^=": Op.PREFIX, "~$=": Op.SUFFIX}
"""The operators that ignore case, and what they are with it."""


class Placed(NamedTuple):
    """A name or a value, and the offset at which it starts."""

    content: Any
    at: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """One condition. `operands` are as written, in order. A `mistake` reports that two strings are in the wrong order;
    the constraint then has them in the right one."""

    constraint: Constraint
    at: int
    operands: tuple[Placed, ...] = ()
    mistake: SyntaxMistake | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    value: bool
    at: int


@dataclass(frozen=True, slots=True)
class Nested:
    """A tree in parentheses, or behind a `not`: the two constructions that count as a level of nesting."""

    child: Node
    negates: bool
    at: int


@dataclass(frozen=True, slots=True)
class Junction:
    """Two or more trees joined by `or` (alternatives) or by `and` (all must hold)."""

    children: tuple[Node, ...]
    conjunctive: bool
    at: int


@dataclass(frozen=True, slots=True)
class Computed:
    """A condition that a program decides: it computes with the values of attributes, or compares in a way that no
    operator of a constraint does. Its parts are values, never conditions."""

    test: Call
    at: int


Node = Leaf | Constant | Nested | Junction | Computed


class TreeBuilder:
    """The callbacks of the parser, one for each rule; each gets what the rule's parts became (a token where there is no
    rule)."""

    def disjunction(self, parts: list[Node]) -> Junction:
        return Junction(tuple(parts), False, parts[0].at)

    def conjunction(self, parts: list[Node]) -> Junction:
        return Junction(tuple(parts), True, parts[0].at)

    def negation(self, parts: list[Any]) -> Nested:
        token, child = parts
        return Nested(child, True, token.start_pos)

    def group(self, parts: list[Any]) -> Nested:
        token, child = parts
        return Nested(child, False, token.start_pos)

    def everything(self, parts: list[Any]) -> Constant:
        return Constant(True, parts[0].start_pos)

    def nothing(self, parts: list[Any]) -> Constant:
        return Constant(False, parts[0].start_pos)

    def comparison(self, parts: list[Any]) -> Leaf | Computed:
        name, token, value = parts
        op = OPERATORS.get(token.lower())
        if op is None:
            raise SyntaxMistake(token.start_pos, f"there is no operator `{token}`", suggest.for_operator(token))
        return _leaf(name, op, [value])

    def between(self, parts: list[Any]) -> Leaf | Computed:
        name, _, low, high = parts
        for bound in (low, high):
            _build(bound.at, name.content, Op.BETWEEN, (bound.content, bound.content))
        try:
            return Leaf(_build(low.at, name.content, Op.BETWEEN, (low.content, high.content)), name.at, (low, high))
        except SyntaxMistake as mistake:
            if not isinstance(low.content, str) or not isinstance(high.content, str):
                raise
            constraint = Constraint(name.content, Op.BETWEEN, (high.content, low.content))
            return Leaf(constraint, name.at, (low, high), mistake)

    def membership(self, parts: list[Any]) -> Leaf | Computed:
        name, _, brace, *values = parts
        for value in values:
            _build(value.at, name.content, Op.IN, (value.content,))
        constraint = _build(brace.start_pos, name.content, Op.IN, tuple(value.content for value in values))
        return Leaf(constraint, name.at, tuple(values))

    def existence(self, parts: list[Any]) -> Leaf:
        token, name = parts
        return Leaf(_leaf(name, Op.EXISTS, []).constraint, token.start_pos)

    def name(self, parts: list[Any]) -> Placed:
        (token,) = parts
        text = literals.read_quoted(token, token.start_pos) if token.type == "QUOTED_NAME" else str(token)
        # Built for its checks alone, so that a bad name is refused at its own place and not at an operand's.
        _build(token.start_pos, text, Op.EXISTS, ())
        return Placed(text, token.start_pos)

    def value(self, parts: list[Any]) -> Placed:
        (token,) = parts
        return Placed(_READ_VALUE[token.type](token, token.start_pos), token.start_pos)


_READ_VALUE: dict[str, Callable[[str, int], Value]] = {
    "NUMBER": literals.read_number,
    "STRING": literals.read_quoted,
    "TRUE": lambda _token, _at: True,
    "FALSE": lambda _token, _at: False,
}


def _leaf(name: Placed, op: Op, values: list[Placed]) -> Leaf:
    at = values[0].at if values else name.at
    return Leaf(_build(at, name.content, op, tuple(value.content for value in values)), name.at, tuple(values))


def _build(at: int, name: str, op: Op, operands: tuple[Value, ...]) -> Constraint:
    try:
        return Constraint(name, op, operands)
    except Refused as error:
        raise SyntaxMistake(at, str(error)) from None
