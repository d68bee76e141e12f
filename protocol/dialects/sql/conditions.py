"""The meaning of conditions in SQL, as rails; the dialects of SQL differ by their rules.

Law: three-valued. A test of an absent attribute is unknown. Numbers are one kind; booleans have no order. Arithmetic
with attributes, and attributes beside each other, are left to the residual, program.py.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.dialects.dialect import Translated
from tamis.protocol.dialects.patterns import Piece, glob_of, matches, pieces_of
from tamis.protocol.dialects.rails import (
    NEVER,
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
    two_valued,
    undecided,
)
from tamis.protocol.dialects.sql.program import SqlPrograms
from tamis.protocol.dialects.sql.rules import SqlRules, Unlike
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal, located, names_in
from tamis.protocol.dialects.widen import translated
from tamis.protocol.filters import Op
from tamis.protocol.language.likeness import like_parts
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.residual import Glob, Mixed
from tamis.protocol.values import Value, kind_of


def _quotient(one: Any, other: Any) -> int | float:  # noqa: ANN401 - numbers
    """Return a quotient, of two integers an integer if nothing is left, as the residual does."""
    is_whole = isinstance(one, int) and isinstance(other, int) and one % other == 0
    return one // other if is_whole else one / other  # type: ignore[no-any-return]


_COMPARED: Final = {"=": Op.EQ, "<>": Op.NE, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE}
_MIRRORED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CONTRARY: Final = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_HOLDS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
}
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


def translation(text: str, tree: Expression, rules: SqlRules) -> Translated:
    conditions = _Conditions(text, rules)
    order = Mixed.FALSE if rules.are_texts_ordered else Mixed.NUMBERS_ONLY
    programs = SqlPrograms(
        lambda node: conditions.value(node, 0), conditions.glob, order, rules.unlike, rules.is_like_unknown
    )
    return translated(conditions.condition(tree, 0), decide=lambda: programs.program_of(tree))


class _Conditions:
    """The conditions of one text."""

    def __init__(self, text: str, rules: SqlRules) -> None:
        self.text = text
        self.rules = rules

    def condition(self, node: Expression, depth: int) -> Rails:
        if depth > limits.PREDICATE_DEPTH_MAX:
            raise SyntaxMistake(node.at, f"parentheses and NOT nest at most {limits.PREDICATE_DEPTH_MAX} deep")
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
        return self._test(node)

    def _test(self, node: Expression) -> Rails:
        match node:
            case Call("in", (value, *constants)):
                return self._among(_attribute(value, "IN"), [*map(self.constant, constants)])
            case Call("like", (value, *texts)):
                return self._like(_attribute(value, "LIKE"), texts)
            case Call("is null", (value,)):
                return opposite(two_valued(present(_attribute(value, "IS NULL"))))
            case Call(op, (left, right)) if op in _COMPARED:
                return self._compared(op, left, right, node.at)
        raise SyntaxMistake(node.at, "expected a condition such as `price > 10`, found a value")

    def _compared(self, op: str, left: Expression, right: Expression, at: int) -> Rails:
        one, other = self.value(left, 0), self.value(right, 0)
        for side in (one, other):
            if isinstance(side, Literal) and not self.rules.are_texts_ordered:
                _check_order(op, side)
        match one, other:
            case Literal(a), Literal(b):
                return constant(self._holds(op, a, b))
            case Attribute(name), Literal(value):
                return self._in_range(name, op, value, other.at)
            case Literal(value), Attribute(name):
                return self._in_range(name, _MIRRORED[op], value, one.at)
        both = isinstance(one, Attribute) and isinstance(other, Attribute)
        what = "the comparison of two attributes" if both else "arithmetic"
        names = dict.fromkeys((*names_in(one), *names_in(other)))
        rail = undecided(every(*map(present, names)), f"{what} {located(self.text, at)}")
        return Rails(rail, rail)

    def _among(self, name: str, values: list[Value]) -> Rails:
        if self.rules.unlike is not Unlike.UNKNOWN:
            return if_present(name, holds(name, Op.IN, *values))
        if len({kind_of(value) for value in values}) > 1:
            return Rails(holds(name, Op.IN, *values), NEVER)
        true = holds(name, Op.IN, *values)
        return Rails(true, lambda: every(holds(name, Op.NE, values[0]), complement(true)))

    def _holds(self, op: str, one: Value, other: Value) -> bool | None:
        """Return the result of a comparison of two constants."""
        if kind_of(one) is not kind_of(other):
            return None if self.rules.unlike is Unlike.UNKNOWN else op == "<>" and self.rules.unlike is Unlike.UNEQUAL
        return (op in ("=", "<>") or not isinstance(one, bool)) and _HOLDS[op](one, other)

    def _in_range(self, name: str, op: str, value: Value, at: int) -> Rails:
        _check_size(value, at)
        if op == "<>" and self.rules.unlike is Unlike.UNEQUAL:
            return opposite(if_present(name, holds(name, Op.EQ, value)))
        if self.rules.unlike is Unlike.UNKNOWN:
            return Rails(holds(name, _COMPARED[op], value), lambda: holds(name, _COMPARED[_CONTRARY[op]], value))
        if isinstance(value, bool) and op not in ("=", "<>"):
            return if_present(name, NEVER)
        return if_present(name, holds(name, _COMPARED[op], value))

    def _like(self, name: str, texts: Sequence[Expression]) -> Rails:
        rail = matches(name, self._pattern(texts), f"'{_text(texts[0])}'")
        if self.rules.is_like_unknown:
            return Rails(rail, lambda: every(holds(name, Op.PREFIX, ""), complement(rail)))
        return if_present(name, rail)

    def constant(self, node: Expression) -> Value:
        value = self.value(node, 0)
        if not isinstance(value, Literal):
            raise SyntaxMistake(node.at, "IN takes constants", "compare with an attribute by `=`, and join by OR")
        _check_size(value.value, node.at)
        return value.value

    def glob(self, texts: Sequence[Expression]) -> Glob:
        return glob_of(self._pattern(texts))

    def _pattern(self, texts: Sequence[Expression]) -> tuple[Piece, ...]:
        """Return the pattern of a LIKE, given its text and perhaps its escape."""
        pattern, *escapes = texts
        mark = _text(escapes[0]) if escapes else ""
        if escapes and len(mark) != 1:
            raise SyntaxMistake(escapes[0].at, "ESCAPE takes a text of one character")
        return pieces_of(like_parts(_text(pattern), mark, pattern.at, self.rules.escapes_all))

    def value(self, node: Expression, depth: int) -> Expression:
        """Return a value with arithmetic of numbers worked out; of attributes it stays a call."""
        if depth > limits.PREDICATE_DEPTH_MAX:
            raise SyntaxMistake(node.at, f"arithmetic nests at most {limits.PREDICATE_DEPTH_MAX} deep")
        match node:
            case Literal() | Attribute():
                return node
            case Call("group", (inner,)):
                return self.value(inner, depth + 1)
            case Call("positive" | "negative" as sign, (inner,)):
                value = self._operand(inner, depth)
                if not isinstance(value, Literal):
                    return Call(sign, (value,), node.at)
                return Literal(-value.value if sign == "negative" else value.value, node.at)  # type: ignore[operator]
            case Call("+" | "-" | "*" | "/" | "%" as op, (left, right)):
                one, other = self._operand(left, depth), self._operand(right, depth)
                if not isinstance(one, Literal) or not isinstance(other, Literal):
                    return Call(op, (one, other), node.at)
                return Literal(self._worked_out(op, one.value, other.value, node.at), node.at)
        raise SyntaxMistake(node.at, "expected a value, found a condition")

    def _operand(self, node: Expression, depth: int) -> Expression:
        value = self.value(node, depth + 1)
        if isinstance(value, Literal) and isinstance(value.value, str | bool):
            raise SyntaxMistake(value.at, "arithmetic is of numbers")
        return value

    def _worked_out(self, op: str, one: Any, other: Any, at: int) -> int | float:  # noqa: ANN401 - numbers
        """Return a result of arithmetic; where quotients are cut, of two integers an integer, as in Java."""
        try:
            is_cut = op == "%" or (self.rules.are_quotients_cut and isinstance(one, int) and isinstance(other, int))
            found: int | float = _cut(op, one, other) if op in "/%" and is_cut else _ARITHMETIC[op](one, other)
            if abs(found) <= limits.INT_MAX or (isinstance(found, float) and abs(found) < float("inf")):
                return found
        except (ZeroDivisionError, OverflowError, ValueError):
            pass
        raise SyntaxMistake(at, "this arithmetic has no result: it divides by 0, or exceeds 64 bits")


def _check_order(op: str, side: Literal) -> None:
    if op not in ("=", "<>") and isinstance(side.value, str | bool):
        raise SyntaxMistake(
            side.at, f"`{op}` compares numbers; texts and booleans have = and <> alone", _unquoted(side.value)
        )


def _unquoted(value: Value) -> str:
    """Return the hint at a number that was written as a text."""
    is_number = isinstance(value, str) and _NUMBER.fullmatch(value)
    return f"a number stands without quotes: {value}" if is_number else ""


def _check_size(value: Value, at: int) -> None:
    if isinstance(value, int) and not limits.INT_MIN <= value <= limits.INT_MAX:
        raise SyntaxMistake(at, f"integer {value} is outside 64 bits")


def _text(node: Expression) -> str:
    return str(node.value) if isinstance(node, Literal) else ""


def _attribute(node: Expression, op: str) -> str:
    while isinstance(node, Call) and node.op == "group":
        node = node.parts[0]
    if not isinstance(node, Attribute):
        raise SyntaxMistake(node.at, f"{op} takes the name of an attribute")
    return node.name


def _cut(op: str, one: Any, other: Any) -> int | float:  # noqa: ANN401 - numbers
    """Return the quotient cut towards zero, or what is left of the first number."""
    if isinstance(one, float) or isinstance(other, float):
        return math.fmod(one, other)
    quotient = abs(one) // abs(other) * (1 if (one < 0) is (other < 0) else -1)
    return int(quotient if op == "/" else one - quotient * other)
