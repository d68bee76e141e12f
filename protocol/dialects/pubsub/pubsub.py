"""Filters of Google Cloud Pub/Sub: `attributes:region AND attributes.kind != "test"`.

Law: two-valued. `!=` holds of an absent attribute, too. Every attribute is a text, as in Pub/Sub.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.grammars import Grammar
from tamis.protocol.dialects.rails import ALWAYS, Rails, all_of, any_of, holds, opposite, present, two_valued
from tamis.protocol.dialects.tree import Attribute, Call, Expression, Literal
from tamis.protocol.dialects.widen import translated, within_limits
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Op
from tamis.protocol.language import literals
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.values import Value


class FilterBuilder:
    """One method for each rule of filter.lark; each gets what the rule's parts became."""

    def conjunction(self, parts: list[Expression]) -> Call:
        return Call("and", tuple(parts), parts[0].at)

    def disjunction(self, parts: list[Expression]) -> Call:
        return Call("or", tuple(parts), parts[0].at)

    def negation(self, parts: list[Any]) -> Call:
        return Call("not", (parts[1],), parts[0].start_pos)

    def group(self, parts: list[Any]) -> Call:
        return Call("group", (parts[1],), parts[0].start_pos)

    def existence(self, parts: list[Attribute]) -> Call:
        return Call("exists", (parts[0],), parts[0].at)

    def comparison(self, parts: list[Any]) -> Call:
        key, operator, value = parts
        return Call(str(operator), (key, value), key.at)

    def prefix(self, parts: list[Any]) -> Call:
        parenthesis, key, value = parts
        return Call("prefix", (key, value), parenthesis.start_pos)

    def key(self, parts: list[Any]) -> Attribute:
        (token,) = parts
        name = literals.read_quoted(token, token.start_pos) if token.type == "STRING" else str(token)
        if not name:
            raise SyntaxMistake(token.start_pos, "the name of an attribute is not empty")
        return Attribute(name, token.start_pos)

    def value(self, parts: list[Any]) -> Literal:
        return Literal(literals.read_quoted(parts[0], parts[0].start_pos), parts[0].start_pos)


def translate(text: str) -> Translated:
    return translated(_condition(GRAMMAR.parse(text), 0)) if text.strip() else within_limits(ALWAYS)


def attributes(event: Mapping[str, Any]) -> dict[str, Value]:
    """Return the attributes of a message: {"region": "eu"}."""
    if not isinstance(event, Mapping) or not all(isinstance(value, str) for value in event.values()):
        raise Refused("an event is an object of attributes, all of them texts")
    return dict(event)


def _condition(node: Expression, depth: int) -> Rails:
    if depth > limits.PREDICATE_DEPTH_MAX:
        raise SyntaxMistake(node.at, f"parentheses and NOT nest at most {limits.PREDICATE_DEPTH_MAX} deep")
    match node:
        case Call("and", parts):
            return all_of([_condition(part, depth + 1) for part in parts])
        case Call("or", parts):
            return any_of([_condition(part, depth + 1) for part in parts])
        case Call("not", (inner,)):
            return opposite(_condition(inner, depth + 1))
        case Call("group", (inner,)):
            return _condition(inner, depth + 1)
        case Call("exists", (Attribute(name),)):
            return two_valued(present(name))
        case Call("=", (Attribute(name), Literal(value))):
            return two_valued(holds(name, Op.EQ, value))
        case Call("!=", (Attribute(name), Literal(value))):
            return opposite(two_valued(holds(name, Op.EQ, value)))
        case Call("prefix", (Attribute(name), Literal(value))):
            return two_valued(holds(name, Op.PREFIX, value))
    raise AssertionError("the grammar has no other form")


GRAMMAR: Final = Grammar(
    package="tamis.protocol.dialects.pubsub",
    file="filter.lark",
    builder=FilterBuilder(),
    expected={
        "_ATTRIBUTES": 'a condition, such as `attributes:NAME`, `attributes.NAME = "text"` or `hasPrefix(...)`',
        "COMPARISON": "`=` or `!=`",
        "NAME": "the name of an attribute",
        "STRING": 'a "text"',
        "LPAR": "`(`",
        "_COLON": "`:` or `.`",
        "_COMMA": "`,`",
        "_RPAR": "AND, OR or `)`",
        "_AND": "AND, OR or the end",
        "_OR": "OR or the end",
    },
    quote='"',
    inside='\\"',
    words=("AND", "OR", "NOT", "attributes", "hasPrefix"),
    hints={
        "AND": "AND and OR do not mix without parentheses; words are in capitals",
        "OR": "AND and OR do not mix without parentheses; words are in capitals",
        "NOT": "words are in capitals",
        "=": "equality is written with one `=`",
        ":": "`attributes:NAME` stands alone; write `attributes.NAME` to compare",
        "!": "write `NOT`, or `!=` between an attribute and a text",
        "HASSUFFIX": "Pub/Sub has no `hasSuffix`: prefixes are all it finds",
        "'": 'a text stands in double quotes: "a"',
        "<": "texts are compared by = and != alone",
        ">": "texts are compared by = and != alone",
    },
)
DIALECT: Final = Dialect("pubsub", "filters of Google Cloud Pub/Sub", translate, attributes)
