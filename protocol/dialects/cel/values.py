"""Values of CEL expressions: their kinds as far as the text tells them, and arithmetic of literals.

Law: no operator takes an integer and a double. A whole number of a message is the one that its operand is, since 5 and
5.0 are one value; so a literal decides what arithmetic is of.
"""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.values import Value

ARITHMETIC: Final = ("+", "-", "*", "/", "%")
_OF_DOUBLES: Final[Mapping[str, Callable[[Any, Any], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


class Kind(enum.Enum):
    INTEGER = "integer"
    DOUBLE = "double"
    TEXT = "text"
    BOOLEAN = "boolean"


def kind(node: Expression) -> Kind | None:
    """Return the kind of a value that `value` returned; None if only the message tells it."""
    match node:
        case Literal(value):
            return {bool: Kind.BOOLEAN, int: Kind.INTEGER, float: Kind.DOUBLE, str: Kind.TEXT}[type(value)]
        case Call("size" | "%"):
            return Kind.INTEGER
        case Call("choice", (_, one, other)):
            return kind(one) if kind(one) is kind(other) else None
        case Call(_, parts):
            return next((found for part in parts if (found := kind(part))), None)
    return None


def value(node: Expression, depth: int = 0) -> Expression:
    """Return a value with operators of literals worked out, or raise the mistake in it."""
    if depth > limits.PREDICATE_DEPTH_MAX:
        raise SyntaxMistake(node.at, f"values nest at most {limits.PREDICATE_DEPTH_MAX} deep")
    match node:
        case Literal() | Attribute():
            return node
        case Call("group", (inner,)):
            return value(inner, depth + 1)
        case Call("negative", (inner,)):
            return _negative(node, value(inner, depth + 1))
        case Call("size", (inner,)):
            return _size(node, value(inner, depth + 1))
        case Call("choice", (condition, one, other)):
            return Call("choice", (condition, value(one, depth + 1), value(other, depth + 1)), node.at)
        case Call(op, (left, right)) if op in ARITHMETIC:
            return _arithmetic(op, value(left, depth + 1), value(right, depth + 1), node.at)
        case Call("null"):
            raise SyntaxMistake(node.at, "null is compared with a name, by == and != alone")
    raise SyntaxMistake(node.at, "expected a value, found a condition", "join conditions by && and ||")


def settled(node: Expression) -> Expression:
    """Return a value as `value` does, whose integers are inside 64 bits."""
    found = value(node)
    if isinstance(found, Literal):
        check_size(found.value, found.at)
    return found


def check_size(number: Value, at: int) -> None:
    if isinstance(number, int) and not limits.INT_MIN <= number <= limits.INT_MAX:
        raise SyntaxMistake(at, f"integer {number} is outside 64 bits")


def _operand(node: Expression) -> Kind | None:
    """Return the kind of an operand, whose alternatives are of one kind."""
    match node:
        case Call("choice", (_, one, other)) if _operand(one) is not _operand(other):
            raise SyntaxMistake(node.at, "calculate with two values of one kind: c ? 1 : 2", "write c ? a + 1 : b + 1")
    return kind(node)


def _negative(node: Call, inner: Expression) -> Expression:
    if _operand(inner) in (Kind.TEXT, Kind.BOOLEAN):
        raise SyntaxMistake(inner.at, "arithmetic is of numbers")
    if isinstance(inner, Literal):
        return Literal(-inner.value, node.at)  # type: ignore[operator]  # a number
    return Call("negative", (inner,), node.at)


def _size(node: Call, inner: Expression) -> Expression:
    if isinstance(inner, Literal) and isinstance(inner.value, str):
        return Literal(len(inner.value), node.at)
    if kind(inner) not in (Kind.TEXT, None) or (not isinstance(inner, Attribute) and kind(inner) is None):
        raise SyntaxMistake(inner.at, "`size` is of a text, a list or a map")
    return Call("size", (inner,), node.at)


def _arithmetic(op: str, one: Expression, other: Expression, at: int) -> Expression:
    kinds = {found for found in (_operand(one), _operand(other)) if found}
    if op == "+" and kinds == {Kind.TEXT}:
        if isinstance(one, Literal) and isinstance(other, Literal):
            return Literal(f"{one.value}{other.value}", one.at)
        return Call(op, (one, other), at)
    if kinds & {Kind.TEXT, Kind.BOOLEAN}:
        raise SyntaxMistake(at, f"`{op}` takes two numbers{', or two texts' if op == '+' else ''}")
    if len(kinds) > 1:
        raise SyntaxMistake(at, f"`{op}` takes two integers or two doubles", "write an integer as a double: 1.0")
    if op == "%" and kinds == {Kind.DOUBLE}:
        raise SyntaxMistake(at, "`%` takes two integers")
    if isinstance(one, Literal) and isinstance(other, Literal):
        return Literal(_worked_out(op, one.value, other.value, at), one.at)
    return Call(op, (one, other), at)


def _worked_out(op: str, one: Any, other: Any, at: int) -> int | float:  # noqa: ANN401 - numbers of one kind
    try:
        found = _of_integers(op, one, other) if isinstance(one, int) else _OF_DOUBLES[op](one, other)
        if limits.INT_MIN <= found <= limits.INT_MAX if isinstance(found, int) else math.isfinite(found):
            return found
    except ZeroDivisionError:
        pass
    raise SyntaxMistake(at, "this arithmetic has no result: it divides by 0, or exceeds 64 bits")


def _of_integers(op: str, one: int, other: int) -> int:
    if op in ("/", "%"):
        quotient = abs(one) // abs(other) * (1 if (one < 0) is (other < 0) else -1)
        return quotient if op == "/" else one - quotient * other
    return int(_OF_DOUBLES[op](one, other))
