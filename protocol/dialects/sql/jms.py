"""Message selectors of JMS: `price > 10 AND symbol LIKE 'A%' AND region IS NOT NULL`.

Law: three-valued. A test of an absent attribute is unknown; of values of different kinds false, `<>` included. Numbers
are one kind. Texts and booleans are compared by = and <> alone. Arithmetic with attributes, and attributes beside each
other, are left to the residual.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.patterns import Piece, Wild, glob_of, matches, pieces_of
from tamis.protocol.dialects.rails import (
    ALWAYS,
    Rail,
    Rails,
    all_of,
    any_of,
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
from tamis.protocol.dialects.sql.selector import GRAMMAR
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal, names_in
from tamis.protocol.dialects.widen import translated, within_limits
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Op
from tamis.protocol.language.mistake import SyntaxMistake, place
from tamis.protocol.residual import Glob, Mixed
from tamis.protocol.values import Value, kind_of

_COMPARED: Final = {"=": Op.EQ, "<>": Op.NE, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE}
_MIRRORED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_HOLDS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: Final[Mapping[str, Callable[[Any, Any], Any]]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_EXTENSIONS: Final = {
    "xpath": ("`XPATH` reads the body of a message, and predicates its attributes alone", "publish what it reads"),
    "xquery": ("`XQUERY` reads the body of a message, and predicates its attributes alone", "publish what it reads"),
    "convert_string_expressions:": ("texts are not converted to numbers", "publish numbers, and leave the prefix away"),
    "hyphenated_props:": ("names with hyphens are not read", "publish names with `_`, and leave the prefix away"),
}
_EXTENSION: Final = re.compile(
    r"\s*((?:xpath|xquery)(?=\s*')|convert_string_expressions:|hyphenated_props:)", re.IGNORECASE
)


def translate(text: str) -> Translated:
    if not text.strip():
        return within_limits(ALWAYS)
    if extension := _EXTENSION.match(text):
        problem, hint = _EXTENSIONS[extension[1].lower()]
        raise SyntaxMistake(extension.start(1), f"{problem} (an extension of ActiveMQ)", hint)
    selector, tree = _Selector(text), GRAMMAR.parse(text)
    programs = SqlPrograms(lambda node: selector.value(node, 0), _glob, Mixed.NUMBERS_ONLY)
    return translated(selector.condition(tree, 0), decide=lambda: programs.program_of(tree))


def attributes(event: Mapping[str, Any]) -> dict[str, Value]:
    """Return the header fields and properties of a message; null is absent."""
    if not isinstance(event, Mapping):
        raise Refused("an event is an object of header fields and properties")
    return {name: value for name, value in event.items() if value is not None}


class _Selector:
    """The meaning of one selector."""

    def __init__(self, text: str) -> None:
        self.text = text

    def condition(self, node: Expression, depth: int) -> Rails:
        if depth > limits.PREDICATE_DEPTH_MAX:
            raise SyntaxMistake(node.at, f"parentheses and NOT nest at most {limits.PREDICATE_DEPTH_MAX} deep")
        match node:
            case Literal(bool(value)):
                return constant(value)
            case Attribute(name):
                return Rails(holds(name, Op.EQ, True), holds(name, Op.EQ, False))
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
            case Call("in", (value, *texts)):
                name = _attribute(value, "IN")
                return if_present(
                    name, holds(name, Op.IN, *(each.value for each in texts if isinstance(each, Literal)))
                )
            case Call("like", (value, *texts)):
                name = _attribute(value, "LIKE")
                return if_present(name, matches(name, _pattern(texts), f"'{_text(texts[0])}'"))
            case Call("is null", (value,)):
                return opposite(two_valued(present(_attribute(value, "IS NULL"))))
            case Call(op, (left, right)) if op in _COMPARED:
                return self._compared(op, left, right, node.at)
        raise SyntaxMistake(node.at, "expected a condition such as `price > 10`, found a value")

    def _compared(self, op: str, left: Expression, right: Expression, at: int) -> Rails:
        one, other = self.value(left, 0), self.value(right, 0)
        for side in (one, other):
            if isinstance(side, Literal) and op not in ("=", "<>") and isinstance(side.value, str | bool):
                raise SyntaxMistake(side.at, f"`{op}` compares numbers; texts and booleans have = and <> alone")
        match one, other:
            case Literal(a), Literal(b):
                return constant(kind_of(a) is kind_of(b) and _HOLDS[op](a, b))
            case Attribute(name), Literal(value):
                return if_present(name, self._in_range(name, _COMPARED[op], value, other.at))
            case Literal(value), Attribute(name):
                return if_present(name, self._in_range(name, _COMPARED[_MIRRORED[op]], value, one.at))
        both = isinstance(one, Attribute) and isinstance(other, Attribute)
        what = "the comparison of two attributes" if both else "arithmetic"
        line, column = place(self.text, at)
        where = f"at column {column}" if line == 1 else f"at line {line}, column {column}"
        names = dict.fromkeys((*names_in(one), *names_in(other)))
        rail = undecided(every(*map(present, names)), f"{what} {where}")
        return Rails(rail, rail)

    def _in_range(self, name: str, op: Op, value: Value, at: int) -> Rail:
        if isinstance(value, int) and not limits.INT_MIN <= value <= limits.INT_MAX:
            raise SyntaxMistake(at, f"integer {value} is outside 64 bits")
        return holds(name, op, value)

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
            case Call("+" | "-" | "*" | "/" as op, (left, right)):
                one, other = self._operand(left, depth), self._operand(right, depth)
                if not isinstance(one, Literal) or not isinstance(other, Literal):
                    return Call(op, (one, other), node.at)
                return Literal(_worked_out(op, one.value, other.value, node.at), node.at)
        raise SyntaxMistake(node.at, "expected a value, found a condition")

    def _operand(self, node: Expression, depth: int) -> Expression:
        value = self.value(node, depth + 1)
        if isinstance(value, Literal) and isinstance(value.value, str | bool):
            raise SyntaxMistake(value.at, "arithmetic is of numbers")
        return value


def _glob(texts: Sequence[Expression]) -> Glob:
    return glob_of(_pattern(texts))


def _pattern(texts: Sequence[Expression]) -> tuple[Piece, ...]:
    """Return the pattern of a LIKE, given its text and perhaps its escape."""
    pattern, *escapes = texts
    mark = _text(escapes[0]) if escapes else ""
    if escapes and len(mark) != 1:
        raise SyntaxMistake(escapes[0].at, "ESCAPE takes a text of one character")
    return pieces_of(_pieces(_text(pattern), mark, pattern.at))


def _text(node: Expression) -> str:
    return str(node.value) if isinstance(node, Literal) else ""


def _attribute(node: Expression, op: str) -> str:
    while isinstance(node, Call) and node.op == "group":
        node = node.parts[0]
    if not isinstance(node, Attribute):
        raise SyntaxMistake(node.at, f"{op} takes the name of an attribute")
    return node.name


def _worked_out(op: str, one: Any, other: Any, at: int) -> int | float:  # noqa: ANN401 - numbers
    """Return a result of arithmetic, of two integers an integer, as in Java."""
    try:
        if op != "/":
            found = _ARITHMETIC[op](one, other)
        elif isinstance(one, int) and isinstance(other, int):
            found = abs(one) // abs(other) * (1 if (one < 0) is (other < 0) else -1)
        else:
            found = one / other
        if abs(found) <= limits.INT_MAX or (isinstance(found, float) and abs(found) < float("inf")):
            return found  # type: ignore[no-any-return]
    except (ZeroDivisionError, OverflowError):
        pass
    raise SyntaxMistake(at, "this arithmetic has no result: it divides by 0, or exceeds 64 bits")


def _pieces(pattern: str, escape: str, at: int) -> Iterator[Piece]:
    chars = iter(pattern)
    for char in chars:
        if char == escape:
            literal = next(chars, "")
            if literal not in ("%", "_", escape) or not literal:
                raise SyntaxMistake(at, f"`{escape}` escapes only `%`, `_` and itself in this pattern")
            yield literal
        else:
            yield {"%": Wild.ANY, "_": Wild.ONE}.get(char, char)


DIALECT: Final = Dialect("jms", "message selectors of JMS", translate, attributes)
