"""The meaning of conditions of CEL, as rails.

Law: an error (an absent attribute, an operator that takes no such values) is what is neither true nor false: `&&` and
`||` are commutative over errors, as Kleene's tables are over unknown. Null, lists and maps have no value: `has`, `size`
and comparisons with `null` ask for them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.dialects.cel.values import Kind, kind, settled
from tamis.protocol.dialects.events import LENGTH, MEMBERS, NULL
from tamis.protocol.dialects.rails import (
    ALWAYS,
    Rail,
    Rails,
    all_of,
    any_of,
    complement,
    constant,
    every,
    holds,
    if_present,
    opposite,
    present,
    some,
    two_valued,
    undecided,
)
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal, located
from tamis.protocol.filters import Op
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.values import Value, kind_of

ORDER: Final = {"<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE}
COMPARED: Final = ("==", "!=", *ORDER)
_CONTRARY: Final = {"<": Op.GE, "<=": Op.GT, ">": Op.LE, ">=": Op.LT}
_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_HOLDS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
TEXTUAL: Final = {"prefix": Op.PREFIX, "suffix": Op.SUFFIX, "contains": Op.CONTAINS}
_TEXTUAL_HOLDS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "prefix": str.startswith,
    "suffix": str.endswith,
    "contains": str.__contains__,
}
_WRITTEN: Final = {"prefix": "startsWith", "suffix": "endsWith", "choice": "? :"}


class CelMeaning:
    """The conditions of one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def condition(self, node: Expression, depth: int = 0) -> Rails:
        if depth > limits.PREDICATE_DEPTH_MAX:
            raise SyntaxMistake(node.at, f"parentheses and `!` nest at most {limits.PREDICATE_DEPTH_MAX} deep")
        match node:
            case Literal(bool(value)):
                return constant(value)
            case Attribute(name):
                return Rails(holds(name, Op.EQ, True), lambda: holds(name, Op.EQ, False))
            case Call("group", (inner,)):
                return self.condition(inner, depth + 1)
            case Call("not", (inner,)):
                return opposite(self.condition(inner, depth + 1))
            case Call("and", parts):
                return all_of([self.condition(part, depth + 1) for part in parts])
            case Call("or", parts):
                return any_of([self.condition(part, depth + 1) for part in parts])
            case Call("choice", parts):
                return _chosen(*(self.condition(part, depth + 1) for part in parts))
        return self._test(node, depth)

    def _test(self, node: Expression, depth: int) -> Rails:
        match node:
            case Call("has", (Attribute(name),)):
                return two_valued(some(present(name), *_containers(name), present(f"{name}{NULL}")))
            case Call("in", (subject, *values)):
                return self._among(settled(subject), listed(values, node.at), node.at, depth)
            case Call(op, (owner, part)) if op in TEXTUAL:
                return self._textual(node, settled(owner), settled(part), depth)
            case Call(op, (left, right)) if op in COMPARED:
                for side, other in ((left, right), (right, left)):
                    if is_null(side):
                        return _beside_null(op, other)
                return self._compared(op, settled(left), settled(right), node.at, depth)
        raise SyntaxMistake(node.at, "expected a condition such as `price > 10`, found a value")

    def _among(self, subject: Expression, values: list[Value], at: int, depth: int) -> Rails:
        match subject:
            case Literal(value):
                return constant(any(_is_equal(value, each) for each in values))
            case Attribute(name):
                return if_present(name, holds(name, Op.IN, *values))
        return self._open(at, depth, subject)

    def _textual(self, node: Call, owner: Expression, part: Expression, depth: int) -> Rails:
        for side in (owner, part):
            if kind(side) not in (Kind.TEXT, None):
                raise SyntaxMistake(side.at, f"`{_WRITTEN.get(node.op, node.op)}` is of texts")
        match owner, part:
            case Literal(str(whole)), Literal(str(piece)):
                return constant(_TEXTUAL_HOLDS[node.op](whole, piece))
            case Attribute(name), Literal(str(piece)):
                true = holds(name, TEXTUAL[node.op], piece)
                return Rails(true, lambda: every(holds(name, Op.PREFIX, ""), complement(true)))
        return self._open(node.at, depth, owner, part, what=f"`{_WRITTEN.get(node.op, node.op)}`")

    def _compared(self, op: str, one: Expression, other: Expression, at: int, depth: int) -> Rails:
        for side in (one, other):
            if op in ORDER and kind(side) is Kind.BOOLEAN:
                raise SyntaxMistake(side.at, f"`{op}` compares numbers or texts; booleans have == and != alone")
        match one, other:
            case Literal(a), Literal(b):
                return constant(_settle(op, a, b))
            case Attribute(name), Literal(value):
                return _in_range(name, op, value)
            case Literal(value), Attribute(name):
                return _in_range(name, _MIRRORED[op], value)
        return self._open(at, depth, one, other)

    def _open(self, at: int, depth: int, *values: Expression, what: str = "") -> Rails:
        """Return the rails of what a program decides: the values are there."""
        attributes = [value for value in values if isinstance(value, Attribute)]
        calls = [value for value in values if isinstance(value, Call)]
        if not what and len(attributes) == 2:
            what = "the comparison of two attributes"
        elif not what:
            special = [call.op for call in calls if call.op in ("size", "choice")]
            what = f"`{_WRITTEN.get(special[0], special[0])}`" if special else "arithmetic"
        rail = undecided(every(*(self._needed(value, depth) for value in values)), f"{what} {located(self.text, at)}")
        return Rails(rail, rail)

    def _needed(self, node: Expression, depth: int) -> Rail:
        """Return where a value may be no error."""
        match node:
            case Attribute(name):
                return present(name)
            case Call("size", (Attribute(name),)):
                return some(holds(name, Op.PREFIX, ""), *_containers(name))
            case Call("choice", (condition, one, other)):
                chosen = self.condition(condition, depth + 1)
                return some(
                    every(chosen.true, self._needed(one, depth + 1)),
                    every(chosen.false, self._needed(other, depth + 1)),
                )
            case Call(_, parts):
                return every(*(self._needed(part, depth + 1) for part in parts))
        return ALWAYS


def listed(values: list[Expression], at: int) -> list[Value]:
    """Return the values of a list that is written out."""
    if not values:
        raise SyntaxMistake(at, "a list has at least one value")
    found = []
    for each in values:
        if is_null(each):
            raise SyntaxMistake(each.at, "null is compared with a name, by == and != alone", "write x == null || ...")
        value = settled(each)
        if not isinstance(value, Literal):
            raise SyntaxMistake(each.at, "a list has constants alone", "compare by ==, and join by ||")
        found.append(value.value)
    return found


def is_null(node: Expression) -> bool:
    return isinstance(node, Call) and node.op == "null"


def _containers(name: str) -> list[Rail]:
    return [present(f"{name}{LENGTH}"), present(f"{name}{MEMBERS}")]


def _beside_null(op: str, other: Expression) -> Rails:
    if op in ORDER:
        raise SyntaxMistake(other.at, f"`{op}` compares numbers or texts, and null is none")
    if is_null(other):
        return constant(op == "==")
    if not isinstance(other, Attribute):
        raise SyntaxMistake(other.at, "null is compared with a name alone")
    name = other.name
    equal = Rails(present(f"{name}{NULL}"), some(present(name), *_containers(name)))
    return equal if op == "==" else opposite(equal)


def _in_range(name: str, op: str, value: Value) -> Rails:
    if op in ORDER:
        return Rails(holds(name, ORDER[op], value), lambda: holds(name, _CONTRARY[op], value))
    equal = if_present(name, holds(name, Op.EQ, value))
    return equal if op == "==" else opposite(equal)


def _settle(op: str, one: Value, other: Value) -> bool | None:
    """Return the result of a comparison of two constants; None is an error."""
    if op in ORDER:
        return _HOLDS[op](one, other) if kind_of(one) is kind_of(other) else None
    return _is_equal(one, other) is (op == "==")


def _is_equal(one: Value, other: Value) -> bool:
    return kind_of(one) is kind_of(other) and one == other


def _chosen(condition: Rails, one: Rails, other: Rails) -> Rails:
    return Rails(
        lambda: some(every(condition.true, one.true), every(condition.false, other.true)),
        lambda: some(every(condition.true, one.false), every(condition.false, other.false)),
    )
