"""The callbacks that grammars of SQL have beside those of message selectors, and what is written in place of a mistake.

Law: as selector.py: each test is in the tree in one form, so `!=` is `<>`, and EXISTS a test of null.
"""

from __future__ import annotations

from typing import Any, Final

from tamis.protocol.dialects.sql.selector import SelectorBuilder
from tamis.protocol.dialects.tree import Call, Literal
from tamis.protocol.language.mistake import SyntaxMistake

DIGITS_MAX: Final = 25
WORDS: Final = ("AND", "OR", "NOT", "IN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE", "EXISTS")
EXPECTED: Final = {
    "NAME": "an attribute, a number, a 'text', TRUE or FALSE",
    "COMPARISON": "an operator (= <> < <= > >= + - * / % IN LIKE IS), AND, OR or the end",
    "LPAR": "`(`",
    "STRING": "a 'text'",
    "NULL": "NULL",
    "_AND": "AND or OR",
    "_RPAR": "`)`",
    "_COMMA": "`,` or `)`",
}
HINTS: Final = {
    "BETWEEN": "write `x >= 1 AND x <= 2`",
    "==": "write `=`",
    "&&": "write `AND`",
    "||": "write `OR`",
    "!": "write `NOT`",
    "=": "equality is written with one `=`",
    ">": "write `>=`, or `<>` for what is not equal",
    "NULL": "write `x IS NULL`, or `x IS NOT NULL`",
    "CONTAINS": "write `x LIKE '%a%'`",
    ".": "a number has digits on both sides of its point",
}


class SqlBuilder(SelectorBuilder):
    def comparison(self, parts: list[Any]) -> Call:
        left, operator, right = parts
        return Call("<>" if operator == "!=" else str(operator), (left, right), operator.start_pos)

    def membership(self, parts: list[Any]) -> Call:
        value, word, _, *constants = parts
        return Call("in", (value, *constants), word.start_pos)

    def existence(self, parts: list[Any]) -> Call:
        word, _, inner = parts
        return Call("not", (Call("is null", (inner,), word.start_pos),), word.start_pos)

    def number(self, parts: list[Any]) -> Literal:
        (token,) = parts
        if len(token) > DIGITS_MAX and token.isdigit():
            raise SyntaxMistake(token.start_pos, "this integer is outside 64 bits")
        value = int(token) if token.isdigit() else float(token)
        if value == float("inf"):
            raise SyntaxMistake(token.start_pos, "this number is beyond the largest float, about 1.8e308")
        return Literal(value, token.start_pos)


def undoubled(token: Any, *marks: str) -> str:  # noqa: ANN401 - a token
    """Return the name that stands between two marks, in which these are written twice."""
    name = str(token)[1:-1]
    for mark in marks:
        name = name.replace(mark * 2, mark)
    if not name:
        raise SyntaxMistake(token.start_pos, "the name of an attribute is not empty")
    return name
