"""The callbacks of cesql.lark, which build the tree of an expression, and the literals of CESQL.

Law: parts in a row that are joined by one of AND, OR and XOR are parts of one call.
"""

from __future__ import annotations

import itertools
import re
from typing import Any, Final

from tamis.protocol.dialects.cesql.casts import INT32
from tamis.protocol.dialects.cesql.functions import FUNCTIONS
from tamis.protocol.dialects.grammars import Grammar
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.nearest import nearest
from tamis.protocol.shown import shown

INTEGER_END: Final = INT32.stop
"""The one integer outside 32 bits that a literal may have, behind a `-`."""
_DIGITS_MAX: Final = 10
_SHOWN: Final = 40
_NAME: Final = re.compile(r"[a-z0-9]+", re.ASCII)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)


class CesqlBuilder:
    """One method for each rule; each gets what the rule's parts became, a token where there is no rule."""

    def logic_chain(self, parts: list[Any]) -> Expression:
        found: Expression = parts[0]
        steps = zip(parts[1::2], parts[2::2], strict=True)
        for op, alike in itertools.groupby(steps, key=lambda step: step[0].lower()):
            words, others = zip(*alike, strict=True)
            found = Call(op, (found, *others), words[0].start_pos)
        return found

    def binary(self, parts: list[Any]) -> Call:
        left, operator, right = parts
        return Call("!=" if operator == "<>" else str(operator), (left, right), operator.start_pos)

    def like(self, parts: list[Any]) -> Call:
        value, word, pattern = parts
        return Call("like", (value, self.text([pattern])), word.start_pos)

    def not_like(self, parts: list[Any]) -> Call:
        return self._negated(self.like([parts[0], *parts[2:]]))

    def membership(self, parts: list[Any]) -> Call:
        value, word, _, *elements = parts
        return Call("in", (value, *elements), word.start_pos)

    def not_membership(self, parts: list[Any]) -> Call:
        return self._negated(self.membership([parts[0], *parts[2:]]))

    def opposite(self, parts: list[Any]) -> Call:
        return Call("not", (parts[1],), parts[0].start_pos)

    def negative(self, parts: list[Any]) -> Call:
        return Call("negative", (parts[1],), parts[0].start_pos)

    def group(self, parts: list[Any]) -> Call:
        return Call("group", (parts[1],), parts[0].start_pos)

    def exists(self, parts: list[Any]) -> Call:
        return Call("exists", (self.attribute(parts[1:]),), parts[0].start_pos)

    def function(self, parts: list[Any]) -> Call:
        name, _, *arguments = parts
        at, known = name.start_pos, FUNCTIONS.get(name.lower())
        if known is None:
            near = nearest(name.upper(), [each.upper() for each in FUNCTIONS])
            said = shown(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")
            raise SyntaxMistake(at, f"CESQL 1.0 has no function `{said}`", f"did you mean `{near}`?" if near else "")
        if known.parameters(len(arguments)) is None:
            raise SyntaxMistake(at, f"`{name.upper()}` takes {known.counts()} values, not {len(arguments)}")
        return Call(name.lower(), tuple(arguments), at)

    def attribute(self, parts: list[Any]) -> Attribute:
        name, at = str(parts[0]), parts[0].start_pos
        if not _NAME.fullmatch(name):
            hint = f"did you mean `{name.lower()}`?" if _NAME.fullmatch(name.lower()) else ""
            raise SyntaxMistake(at, "the name of an attribute has letters in lower case and digits alone", hint)
        return Attribute(name, at)

    def integer(self, parts: list[Any]) -> Literal:
        digits = parts[0].lstrip("0") or "0"
        if len(digits) > _DIGITS_MAX or int(digits) > INTEGER_END:
            raise SyntaxMistake(parts[0].start_pos, "this integer is outside 32 bits")
        return Literal(int(digits), parts[0].start_pos)

    def positive(self, parts: list[Any]) -> Literal:
        return self.integer(parts[1:])

    def text(self, parts: list[Any]) -> Literal:
        mark, inside = parts[0][0], parts[0][1:-1]
        value = _ESCAPE.sub(lambda found: mark if found[1] == mark else found[0], inside) if "\\" in inside else inside
        return Literal(value, parts[0].start_pos)

    def truth(self, parts: list[Any]) -> Literal:
        return Literal(parts[0].type == "TRUE", parts[0].start_pos)

    def _negated(self, call: Call) -> Call:
        return Call(f"not {call.op}", call.parts, call.at)


_VALUE: Final = "an attribute, a number, a 'text', TRUE, FALSE or a function"
CESQL_GRAMMAR: Final = Grammar(
    package="tamis.protocol.dialects.cesql",
    file="cesql.lark",
    builder=CesqlBuilder(),
    expected={
        "FUNCTION": _VALUE,
        "COMPARISON": "an operator (= != <> < <= > >= + - * / % LIKE IN), AND, OR, XOR or the end",
        "LOGIC": "AND, OR, XOR or the end",
        "_COMMA": "`,` or `)`",
        "_RPAR": "`)`",
        "LIKE": "LIKE or IN",
        "LPAR": "`(` and a list of values",
        "STRING": "a 'text'",
        "NAME": "the name of an attribute",
        "INTEGER": "an integer",
    },
    words=("AND", "OR", "XOR", "NOT", "IN", "LIKE", "EXISTS", "TRUE", "FALSE"),
    quote="'",
    inside="\\'",
    hints={
        '"': 'this text is not closed by "; inside a text the mark is written \\"',
        "=": "equality is written with one `=`",
        ">": "write `>=`, or `<>` for what is not equal",
        "[": "a list stands in parentheses: ('a', 'b')",
        ".": "numbers are integers, and names of attributes have no dots",
        "NULL": "write `EXISTS x`, or `NOT EXISTS x`",
        "&&": "write `AND`",
        "||": "write `OR`",
        "!": "write `NOT`",
        "IS": "write `EXISTS x`, or `NOT EXISTS x`",
        "BETWEEN": "write `x >= 1 AND x <= 9`",
    },
)
