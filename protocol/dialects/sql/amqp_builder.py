"""The callbacks of amqp_sql.lark, which build the tree of a filter, and the names of AMQP.

Law: a name with a section is that of a field of AMQP, under one form of its section: header, properties, or none for
application properties.
"""

from __future__ import annotations

from typing import Any, Final

from tamis.protocol.dialects.grammars import Grammar
from tamis.protocol.dialects.sql.builder import EXPECTED, HINTS, WORDS, SqlBuilder, undoubled
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
_RESERVED: Final = frozenset((*WORDS, "LOWER", "UPPER", "LEFT", "RIGHT", "SUBSTRING", "UTC", "DATE"))
_SECTIONS: Final = {"h": HEADER, "header": HEADER, "p": PROPERTIES, "properties": PROPERTIES}
_OWN: Final = ("a", "application_properties")


class AmqpSqlBuilder(SqlBuilder):
    """One method for each rule that message selectors do not have, or have in another form."""

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
        name = undoubled(token, "[", "]")
        if name.startswith((HEADER, PROPERTIES)):
            problem = f"`{shown(name)}` is the name of a field, and no application property has it"
            raise SyntaxMistake(token.start_pos, problem)
        return Attribute(name, token.start_pos)


GRAMMAR: Final = Grammar(
    package="tamis.protocol.dialects.sql",
    file="amqp_sql.lark",
    builder=AmqpSqlBuilder(),
    expected=EXPECTED,
    words=WORDS,
    quote="'",
    inside="twice: 'it''s'",
    hints={
        **dict.fromkeys(WORDS, "words are in capitals"),
        **HINTS,
        "(": "words are in capitals: EXISTS, IN, NOT",
        "[": "inside a name in brackets a bracket is written twice",
        '"': "a text ends with the mark that it begins with",
    },
)
