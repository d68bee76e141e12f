"""The kinds of expressions, as far as a text tells: what cannot hold for any message is a mistake in the text.

Law: a mistake is found only if no value of the attributes lets the condition hold. `of` tells the kind of an attribute
where a space declares it; elsewhere an attribute may have any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tamis.protocol.language.expression import Attribute, Call, Expression, KindOf, Literal, anything
from tamis.protocol.language.literals import write_value
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.values import ValueKind, kind_of

_TEXT: Final = ValueKind.STRING
_NUMBER: Final = ValueKind.NUMBER
_SAID: Final = {ValueKind.STRING: "string", ValueKind.NUMBER: "number", ValueKind.BOOLEAN: "boolean"}
_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Signature:
    takes: tuple[ValueKind, ...]
    gives: ValueKind


FUNCTIONS: Final = {
    "length": Signature((_TEXT,), _NUMBER),
    "lower": Signature((_TEXT,), _TEXT),
    "upper": Signature((_TEXT,), _TEXT),
    "trim": Signature((_TEXT,), _TEXT),
    "left": Signature((_TEXT, _NUMBER), _TEXT),
    "right": Signature((_TEXT, _NUMBER), _TEXT),
    "concat": Signature((_TEXT, _TEXT), _TEXT),
}
_OF_NUMBERS: Final = ("+", "-", "*", "/", "%", "negative")
_OF_TEXTS: Final = ("prefix", "suffix", "contains", "~=", "~^=", "~$=", "like", "in network")
_ORDERED: Final = ("<", "<=", ">", ">=", "between")


def takes(call: Call, place: int) -> ValueKind | None:
    """Return the kind that an operator or a function takes in this place; None if any."""
    if call.op in FUNCTIONS:
        kinds = FUNCTIONS[call.op].takes
        return kinds[place] if place < len(kinds) else None
    return _NUMBER if call.op in _OF_NUMBERS else _TEXT if call.op in _OF_TEXTS else None


def check(call: Call, of: KindOf = anything) -> None:
    """Raise the mistake in the operands of a call, of its own ones alone."""
    if call.op in FUNCTIONS and len(call.parts) != len(FUNCTIONS[call.op].takes):
        count = len(FUNCTIONS[call.op].takes)
        problem = f"`{call.op}` takes {count} value{'s' * (count > 1)}, not {len(call.parts)}"
        raise SyntaxMistake(call.at, problem)
    for place, part in enumerate(call.parts):
        wanted, kind = takes(call, place), _kind(part, of)
        if wanted is not None and kind not in (wanted, None):
            hint = "`*=` is `contains`" if call.op == "*" and kind is _TEXT else ""
            raise SyntaxMistake(part.at, f"{_name(call)} takes a {_SAID[wanted]}, not {_said(part, of)}", hint)
        if call.op in _ORDERED and kind is ValueKind.BOOLEAN:
            raise SyntaxMistake(part.at, f"{_name(call)} takes a number or a string, not {_said(part, of)}")
    if takes(call, 0) is None:
        _check_alike(call, of)


def check_all(expression: Expression, of: KindOf) -> None:
    """Raise the first mistake in an expression and its parts."""
    if isinstance(expression, Call):
        for part in expression.parts:
            check_all(part, of)
        check(expression, of)
    elif isinstance(expression, Attribute):
        of(expression)


def _check_alike(call: Call, of: KindOf) -> None:
    first, *others = call.parts
    for other in others:
        if call.op == "in":
            continue  # a list may have values of any kinds
        one, kind = _kind(first, of), _kind(other, of)
        if one is not None and kind is not None and one is not kind:
            raise SyntaxMistake(other.at, f"{_said(other, of)} does not compare with a {_SAID[one]}")


def _kind(expression: Expression, of: KindOf) -> ValueKind | None:
    match expression:
        case Literal(value):
            return kind_of(value)
        case Attribute():
            return of(expression)
        case Call(op):
            return FUNCTIONS[op].gives if op in FUNCTIONS else _NUMBER


def _name(call: Call) -> str:
    return {"negative": "`-`", "in network": "`in` with a network"}.get(call.op, f"`{call.op}`")


def _said(expression: Expression, of: KindOf) -> str:
    if isinstance(expression, Literal):
        written = write_value(expression.value)
        shown = written if len(written) <= _SHOWN else f"{written[: _SHOWN - 3]}..."
        return f"the {_SAID[kind_of(expression.value)]} {shown}"
    kind = _kind(expression, of)
    what = "an attribute that is" if isinstance(expression, Attribute) else "what is"
    return f"{what} a {_SAID[kind]}" if kind is not None else "this"
