"""Turn the parser's error into a readable mistake, at the position where the writer would look.

Law: no terminal name is shown. The mistake is at a complete but misplaced token; for a text that ends too early it is
at what was left open, or else behind the last token.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import TYPE_CHECKING

from tamis.protocol.language import literals, suggest
from tamis.protocol.language.expression import Literal
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.language.suggest import Position
from tamis.protocol.shown import shown

if TYPE_CHECKING:
    from lark import Token

# The two terminals that identify a position when both may follow, tried in this order; the rest follow a condition.
_PLACES = (
    ("TRUE", "EXISTS", Position.CONDITION),
    ("TRUE", "_RBRACE", Position.LIST_ITEM),
    ("TRUE", "NAME", Position.VALUE),
    ("TRUE", "NUMBER", Position.CONSTANT),
    ("NAME", "NUMBER", Position.OPERAND),
    ("NAME", "NAME", Position.NAME),
    ("OPERATOR", "OPERATOR", Position.OPERATOR),
    ("IN", "LIKE", Position.NEGATED),
    ("LBRACE", "LBRACE", Position.LIST),
    ("_COMMA", "_RBRACE", Position.LIST_END),
    ("_COMMA", "_RPAR", Position.ARGUMENTS_END),
    ("_AND", "_AND", Position.BETWEEN_AND),
    ("STRING", "STRING", Position.TEXT),
)
_ADDRESS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}")
_NUMBER_LIKE = re.compile(r"[+-]?\.?[0-9][\w.]*")


def about_token(
    token: Token, expected: Collection[str], open_tokens: Collection[Token], before: object = None
) -> SyntaxMistake:
    """Return the mistake for a token that is not allowed at its position. `open_tokens` precede it and do not form a
    complete part yet; `before` is the part directly before it, as far as that was understood."""
    unclosed = [kept for kept in open_tokens if kept.type == "LPAR"]
    place = _place(expected, Position.END_OF_GROUP if unclosed else Position.END)
    if place is Position.OPERATOR and isinstance(before, Literal):
        written = _shortened(literals.write_value(before.value))
        hint = suggest.for_token(Position.CONDITION, "NUMBER", written)
        return SyntaxMistake(before.at, f"expected {Position.CONDITION.value}, found `{written}`", hint)
    if token.type != "$END":
        hint = suggest.for_token(place, token.type, str(token))
        return SyntaxMistake(token.start_pos or 0, f"expected {place.value}, found `{_shortened(str(token))}`", hint)
    if place is Position.END_OF_GROUP:
        return SyntaxMistake(unclosed[-1].start_pos or 0, "this `(` is never closed")
    hint = "" if token.end_pos else "`true` is the predicate that matches everything"
    return SyntaxMistake(token.end_pos or 0, f"expected {place.value}, but the text ends here", hint)


def about_character(text: str, at: int) -> SyntaxMistake:
    """Return the mistake for a character at which no token starts."""
    char = text[at]
    if char in "\"'`":
        return _about_quote(text, at)
    number = _NUMBER_LIKE.match(text, at)
    if number:
        return SyntaxMistake(at, f"{_shortened(number[0])} is not a number", _number_hint(number[0]))
    name = unicodedata.name(char, "")
    said = char if char.isprintable() else f"U+{ord(char):04X}"
    problem = f"the character `{said}`{f' ({name})' if name and not char.isascii() else ''} has no meaning here"
    return SyntaxMistake(at, problem, suggest.for_character(char))


def _place(expected: Collection[str], end: Position) -> Position:
    if {"_AND", "_OR"} <= set(expected):
        return end
    return next((place for one, other, place in _PLACES if one in expected and other in expected), end)


def _about_quote(text: str, at: int) -> SyntaxMistake:
    try:
        literals.quoted_end(text, at)
    except SyntaxMistake as mistake:
        return mistake
    raise AssertionError(f"quoted text at {at} is complete, but no token")  # the two patterns disagree: a bug


def _number_hint(number: str) -> str:
    if _ADDRESS.fullmatch(number):
        return f'an address is a string: "{number}"; a network is written as {number}/32'
    if number[0] in "+.":
        return suggest.for_character(number[0])
    if number.lstrip("-0").isdigit():
        return f'write {number.lstrip("-0")}, or "{number}" for a string'
    return f'a string stands in quotes: "{number}"; a name that starts with a digit in backticks: `{number}`'


def _shortened(token: str) -> str:
    return shown(token if len(token) <= 40 else token[:37] + "...")
