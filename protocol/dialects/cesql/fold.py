"""An expression with every cast written out, and with its constant parts worked out.

    x = 5 AND 1 < 2        ->  = (int (x), 5)
    x AND 'true'           ->  bool (x)
    x = y, x IN (1, 2)     ->  among (y, x), among (x, 1, 2)      the type of the attribute decides what is cast

Law: a folded expression has the value and the errors of the one that is written; `error` is one that is an error
whatever the event is, and holds the reason. Besides `among`, `bool`, `int`, `string`, `is_int` and `is_bool`, an
operator gets operands of the types that it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tamis.protocol import limits
from tamis.protocol.dialects.cesql.casts import CesqlType, cast_value, type_of_value
from tamis.protocol.dialects.cesql.expression import INTEGER_END
from tamis.protocol.dialects.cesql.functions import ARITHMETIC, CASTS, FUNCTIONS, ORDER, result
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal, located
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.shown import shown

_TESTS: Final = ("=", "like", "in", *ORDER)
_NEGATED: Final = {"!=": "=", "not like": "like", "not in": "in"}
_CASTS: Final = {name: to for to, name in CASTS.items()}
_SHOWN: Final = 40


def type_of(node: Expression) -> CesqlType | None:
    """Return the type of a folded expression, None if it is that of an attribute."""
    match node:
        case Literal(value):
            return type_of_value(value)
        case Attribute():
            return None
        case Call(op):
            if op in FUNCTIONS:
                return FUNCTIONS[op].gives
            return CesqlType.INTEGER if op in ARITHMETIC else CesqlType.BOOLEAN


def is_error(node: Expression) -> bool:
    return isinstance(node, Call) and node.op == "error"


class Folding:
    """The folding of one text; `warnings` tells what is probably not meant."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.warnings: list[str] = []

    def fold(self, node: Expression, depth: int = 0) -> Expression:
        if depth > limits.PREDICATE_DEPTH_MAX:
            raise SyntaxMistake(node.at, f"operators and parentheses nest at most {limits.PREDICATE_DEPTH_MAX} deep")
        match node:
            case Literal(value):
                if value == INTEGER_END and not isinstance(value, str):
                    raise SyntaxMistake(node.at, "this integer is outside 32 bits")
                return node
            case Call("group", (inner,)):
                return self.fold(inner, depth + 1)
            case Attribute() | Call("exists"):
                return node
        return self._call(node, depth)

    def _call(self, node: Call, depth: int) -> Expression:
        match node:
            case Call("negative", (Literal(int(value)),)) if not isinstance(value, bool):
                return Literal(-value, node.at)
            case Call("and" | "or"):
                return self._joined(node, depth)
            case Call(op, parts) if op in _NEGATED:
                return self._operation("not", [self.fold(Call(_NEGATED[op], parts, node.at), depth)], node.at)
        first = node.parts[0] if node.parts else None
        if node.op in _TESTS and isinstance(first, Call) and first.op == "not":
            self._warn(first, node.op)
        return self._operation(node.op, [self.fold(part, depth + 1) for part in node.parts], node.at)

    def cast(self, node: Expression, to: CesqlType | None) -> Expression:
        """Return an expression with a cast around it, where it needs one."""
        if to is None or is_error(node) or type_of(node) is to:
            return node
        if not isinstance(node, Literal):
            return Call(CASTS[to], (node,), node.at)
        value = cast_value(node.value, to)
        if value is None:
            said = shown(str(node.value)[:_SHOWN])
            return self._error(f"'{said}' {located(self.text, node.at)} is not {to.value}", node.at)
        return Literal(value, node.at)

    def _operation(self, op: str, parts: list[Expression], at: int) -> Expression:
        """Return an operation on folded operands all of which are evaluated."""
        for part in parts:
            if is_error(part):
                return part
        if op in ("=", "in"):
            subject, *others = reversed(parts) if op == "=" else parts
            target = type_of(subject)
            if target is None:
                return Call("among", (subject, *others), at)
            return self._worked_out(op, [subject, *(self.cast(each, target) for each in others)], at)
        if op in _CASTS:
            return self.cast(parts[0], _CASTS[op])
        return self._worked_out(op, [self.cast(*each) for each in zip(parts, _takes(op, len(parts)), strict=True)], at)

    def _worked_out(self, op: str, parts: Sequence[Expression], at: int) -> Expression:
        for part in parts:
            if is_error(part):
                return part
        values = [part.value for part in parts if isinstance(part, Literal)]
        if len(values) < len(parts):
            return Call(op, tuple(parts), at)
        value = result(op, values)
        if value is None:
            return self._error(f"`{_written(op)}` {located(self.text, at)} has no result", at)
        return Literal(value, at)

    def _joined(self, node: Call, depth: int) -> Expression:
        """Return a conjunction or a disjunction without the constants that change nothing, and without what is behind
        one that settles it."""
        kept: list[Expression] = []
        for part in node.parts:
            value = self.cast(self.fold(part, depth + 1), CesqlType.BOOLEAN)
            if isinstance(value, Literal) and value.value is (node.op == "and"):
                continue
            kept.append(value)
            if isinstance(value, Literal) or is_error(value):
                break
        if len(kept) > 1:
            return Call(node.op, tuple(kept), node.at)
        return kept[0] if kept else Literal(node.op == "and", node.at)

    def _error(self, reason: str, at: int) -> Call:
        return Call("error", (Literal(reason, at),), at)

    def _warn(self, negation: Call, op: str) -> None:
        where = located(self.text, negation.at)
        self.warnings.append(f"`NOT` {where} is read before `{_written(op)}`: write NOT (...) to negate the test")


def _written(op: str) -> str:
    return "-" if op == "negative" else op.upper()


def _takes(op: str, count: int) -> Sequence[CesqlType | None]:
    if op in FUNCTIONS:
        return FUNCTIONS[op].parameters(count) or ()
    if op in ARITHMETIC or op in ORDER:
        return [CesqlType.INTEGER] * count
    return [CesqlType.STRING if op == "like" else CesqlType.BOOLEAN] * count
