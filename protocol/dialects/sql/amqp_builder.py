"""The callbacks of amqp_sql.lark, which build the tree of a filter, and the names of AMQP.

Law: a name with a section is that of a field of AMQP, under one form of its section: header, properties, or none for
application properties.
"""

from __future__ import annotations

from typing import Any, Final

from tamis.protocol.dialects.grammars import Grammar
from tamis.protocol.dialects.sql.selector import SelectorBuilder
from tamis.protocol.dialects.tree import Attribute, Call, Literal
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.nearest import did_you_mean
from tamis.protocol.shown import shown

HEADER: Final = "header."
PROPERTIES: Final = "properties."
FIELDS: Final = (
    "message_id",
    "user_id",
    "to",
    "subject",
    "reply_to",
    "correlation_id",
    "content_type",
    "content_encoding",
    "absolute_expiry_time",
    "creation_time",
    "group_id",
    "group_sequence",
    "reply_to_group_id",
)
_WORDS: Final = ("AND", "OR", "NOT", "IN", "LIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE", "EXISTS")
_RESERVED: Final = frozenset((*_WORDS, "LOWER", "UPPER", "LEFT", "RIGHT", "SUBSTRING", "UTC", "DATE"))
_SECTIONS: Final = {"h": HEADER, "header": HEADER, "p": PROPERTIES, "properties": PROPERTIES}
_OWN: Final = ("a", "application_properties")
_DIGITS_MAX: Final = 25


class AmqpSqlBuilder(SelectorBuilder):
    """One method for each rule that message selectors do not have, or have in another form."""

    def comparison(self, parts: list[Any]) -> Call:
        left, operator, right = parts
        return Call("<>" if operator == "!=" else str(operator), (left, right), operator.start_pos)

    def membership(self, parts: list[Any]) -> Call:
        value, word, _, *constants = parts
        return Call("in", (value, *constants), word.start_pos)

    def existence(self, parts: list[Any]) -> Call:
        word, _, inner = parts
        return Call("not", (Call("is null", (inner,), word.start_pos),), word.start_pos)

    def function(self, parts: list[Any]) -> Call:
        word = parts[0]
        if word == "UTC":
            hint = "compare with a time that the text names"
            raise SyntaxMistake(word.start_pos, "`UTC()` reads the clock, and a filter its message alone", hint)
        raise SyntaxMistake(word.start_pos, f"the function `{word}` is not here", "publish what it makes")

    def binary(self, parts: list[Any]) -> Literal:
        problem = "a value is no binary, so there are no binary constants"
        raise SyntaxMistake(parts[0].start_pos, problem, "publish a text, and compare with one")

    def attribute(self, parts: list[Any]) -> Attribute:
        (token,) = parts
        if token.upper() in _RESERVED:
            word, at = token.upper(), token.start_pos
            meant = "`x IS NULL`" if word == "NULL" else word
            raise SyntaxMistake(at, f"`{token}` is a word of the language", f"write {meant}, or [{token}] for the name")
        return Attribute(str(token), token.start_pos)

    def field(self, parts: list[Any]) -> Attribute:
        (token,) = parts
        section, _, name = token.partition(".")
        if section in _OWN:
            return Attribute(name, token.start_pos)
        if section not in _SECTIONS:
            problem = f"filters have the sections header, properties and application_properties, not `{section}`"
            raise SyntaxMistake(token.start_pos, problem + did_you_mean(section, (*_SECTIONS, *_OWN)))
        fields = ("priority",) if _SECTIONS[section] == HEADER else FIELDS
        if name not in fields:
            problem = f"filters know no field `{name}` of the section {_SECTIONS[section][:-1]}"
            raise SyntaxMistake(token.start_pos, problem + did_you_mean(name, fields))
        return Attribute(_SECTIONS[section] + name, token.start_pos)

    def delimited(self, parts: list[Any]) -> Attribute:
        (token,) = parts
        name = str(token)[1:-1].replace("[[", "[").replace("]]", "]")
        if not name:
            raise SyntaxMistake(token.start_pos, "the name of an attribute is not empty")
        if name.startswith((HEADER, PROPERTIES)):
            problem = f"`{shown(name)}` is the name of a field, and no application property has it"
            raise SyntaxMistake(token.start_pos, problem)
        return Attribute(name, token.start_pos)

    def number(self, parts: list[Any]) -> Literal:
        (token,) = parts
        if len(token) > _DIGITS_MAX and token.isdigit():
            raise SyntaxMistake(token.start_pos, "this integer is outside 64 bits")
        value = int(token) if token.isdigit() else float(token)
        if value == float("inf"):
            raise SyntaxMistake(token.start_pos, "this number is beyond the largest float, about 1.8e308")
        return Literal(value, token.start_pos)


_VALUE: Final = "an attribute, a number, a 'text', TRUE or FALSE"
GRAMMAR: Final = Grammar(
    package="tamis.protocol.dialects.sql",
    file="amqp_sql.lark",
    builder=AmqpSqlBuilder(),
    expected={
        "NAME": _VALUE,
        "COMPARISON": "an operator (= <> < <= > >= + - * / % IN LIKE IS), AND, OR or the end",
        "LPAR": "`(`",
        "STRING": "a 'text'",
        "NULL": "NULL",
        "_AND": "AND or OR",
        "_RPAR": "`)`",
        "_COMMA": "`,` or `)`",
    },
    words=_WORDS,
    quote="'",
    inside="twice: 'it''s'",
    hints={
        **dict.fromkeys(_WORDS, "words are in capitals"),
        "BETWEEN": "write `x >= 1 AND x <= 2`",
        "==": "write `=`",
        "&&": "write `AND`",
        "||": "write `OR`",
        "!": "write `NOT`",
        "=": "equality is written with one `=`",
        ">": "write `>=`, or `<>` for what is not equal",
        "NULL": "write `x IS NULL`, or `x IS NOT NULL`",
        "(": "words are in capitals: EXISTS, IN, NOT",
        ".": "a number has digits on both sides of its point",
        "[": "inside a name in brackets a bracket is written twice",
        '"': "a text ends with the mark that it begins with",
    },
)
