"""The callbacks of jms.lark, which build the tree of a selector, and the literals of JMS.

Law: a `NOT` inside a test is a call of its own around it, so that each test is in the tree in one form.
"""

from __future__ import annotations

import math
from typing import Any, Final

from tamis.protocol.dialects.grammars import Grammar
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal
from tamis.protocol.language.mistake import SyntaxMistake

WORDS: Final = ("AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE")


class SelectorBuilder:
    """One method for each rule; each gets what the rule's parts became, a token where there is no rule."""

    def disjunction(self, parts: list[Expression]) -> Call:
        return Call("or", tuple(parts), parts[0].at)

    def conjunction(self, parts: list[Expression]) -> Call:
        return Call("and", tuple(parts), parts[0].at)

    def opposite(self, parts: list[Any]) -> Call:
        return Call("not", (parts[1],), parts[0].start_pos)

    def group(self, parts: list[Any]) -> Call:
        return Call("group", (parts[1],), parts[0].start_pos)

    def comparison(self, parts: list[Any]) -> Call:
        left, operator, right = parts
        return Call(str(operator), (left, right), operator.start_pos)

    def between(self, parts: list[Any]) -> Call:
        value, word, low, high = parts
        return Call(
            "and", (Call(">=", (value, low), word.start_pos), Call("<=", (value, high), word.start_pos)), value.at
        )

    def membership(self, parts: list[Any]) -> Call:
        value, word, _, *texts = parts
        return Call("in", (value, *map(_text, texts)), word.start_pos)

    def like(self, parts: list[Any]) -> Call:
        value, word, *texts = parts
        return Call("like", (value, *map(_text, texts)), word.start_pos)

    def is_null(self, parts: list[Any]) -> Call:
        return Call("is null", (parts[0],), parts[1].start_pos)

    def is_not_null(self, parts: list[Any]) -> Call:
        return _negated(self.is_null(parts))

    def not_between(self, parts: list[Any]) -> Call:
        return _negated(self.between([parts[0], *parts[2:]]))

    def not_membership(self, parts: list[Any]) -> Call:
        return _negated(self.membership([parts[0], *parts[2:]]))

    def not_like(self, parts: list[Any]) -> Call:
        return _negated(self.like([parts[0], *parts[2:]]))

    def arithmetic(self, parts: list[Any]) -> Call:
        left, operator, right = parts
        return Call(str(operator), (left, right), operator.start_pos)

    def negative(self, parts: list[Any]) -> Call:
        return Call("negative", (parts[1],), parts[0].start_pos)

    def positive(self, parts: list[Any]) -> Call:
        return Call("positive", (parts[1],), parts[0].start_pos)

    def attribute(self, parts: list[Any]) -> Attribute:
        return Attribute(str(parts[0]), parts[0].start_pos)

    def number(self, parts: list[Any]) -> Literal:
        return Literal(_number(str(parts[0]), parts[0].start_pos), parts[0].start_pos)

    def text(self, parts: list[Any]) -> Literal:
        return _text(parts[0])

    def truth(self, parts: list[Any]) -> Literal:
        return Literal(parts[0].type == "TRUE", parts[0].start_pos)


def _negated(call: Call) -> Call:
    return Call("not", (call,), call.at)


def _text(token: Any) -> Literal:  # noqa: ANN401 - a token
    written = str(token)
    return Literal(written[1:-1].replace(written[0] * 2, written[0]), token.start_pos)


def _number(token: str, at: int) -> int | float:
    """Return the number that a literal of Java denotes: 7, 0x1F, 017, 7L, 7.0, .5, 7E3, 7d."""
    if token[:2] in ("0x", "0X"):
        return int(token.rstrip("lL"), 16)
    if token.rstrip("lL").isdigit():
        digits = token.rstrip("lL")
        if len(digits) > 1 and digits[0] == "0" and set(digits) & {"8", "9"}:
            raise SyntaxMistake(at, f"`{token}` begins with 0, which makes it octal, and has an 8 or 9")
        if len(digits) > _DIGITS_MAX:
            raise SyntaxMistake(at, "this integer is outside 64 bits")
        return int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10)
    number = float(token.rstrip("fFdD"))
    if math.isinf(number):
        raise SyntaxMistake(at, "this number is beyond the largest float, about 1.8e308")
    return number


_DIGITS_MAX: Final = 25
_VALUE: Final = "an attribute, a number, a 'text', TRUE or FALSE"
GRAMMAR: Final = Grammar(
    package="tamis.protocol.dialects.sql",
    file="jms.lark",
    builder=SelectorBuilder(),
    expected={
        "NAME": _VALUE,
        "COMPARISON": "an operator (= <> < <= > >= + - * / BETWEEN IN LIKE IS), AND, OR or the end",
        "LPAR": "`(` and a list of texts",
        "STRING": "a 'text'",
        "NULL": "NULL",
        "_AND": "AND or OR",
        "_RPAR": "`)`",
        "_COMMA": "`,` or `)`",
    },
    words=WORDS,
    quote="'",
    inside="twice: 'it''s'",
    hints={
        '"': "a text stands in single quotes: 'a'",
        "!=": "write `<>`",
        "==": "write `=`",
        "&&": "write `AND`",
        "||": "write `OR`",
        "!": "write `NOT`",
        "%": "there is no remainder in JMS",
        "=": "equality is written with one `=`",
        ">": "write `>=`, or `<>` for what is not equal",
        "[": "a list stands in parentheses: ('a', 'b')",
        "NULL": "write `x IS NULL`, or `x IS NOT NULL`",
        "CONTAINS": "write `x LIKE '%a%'`",
        "STARTS": "write `x LIKE 'a%'`",
        "ENDS": "write `x LIKE '%a'`",
        "(": "selectors have no functions",
        ",": "BETWEEN has AND between its bounds, and a list stands in parentheses",
    },
)
