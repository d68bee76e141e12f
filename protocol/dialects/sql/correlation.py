"""Correlation filters of Azure Service Bus: {"label": "order.new", "properties": {"region": "eu"}}.

Law: all values that are named must be equal; texts are equal in the same case, names in any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tamis.protocol import limits
from tamis.protocol.dialects.json_text import FormMistake, Path
from tamis.protocol.dialects.rails import Rail, every, holds
from tamis.protocol.dialects.sql.azure_builder import SYSTEM, field_of, property_of
from tamis.protocol.filters import Op
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.nearest import nearest

_FIELDS: Final = (
    "contentType",
    "correlationId",
    "label",
    "messageId",
    "replyTo",
    "replyToSessionId",
    "sessionId",
    "subject",
    "to",
)
_PROPERTIES: Final = ("properties", "applicationproperties")


def correlated(form: object) -> Rail:
    """Return where a correlation filter holds, or raise the FormMistake in it."""
    if not isinstance(form, dict) or not form:
        raise FormMistake((), 'a correlation filter names at least one property: {"label": "order.new"}')
    return every(*_conditions(form))


def _conditions(form: dict[str, object]) -> Iterator[Rail]:
    known = {field.lower() for field in _FIELDS}
    for name, value in form.items():
        path: Path = (name,)
        if name.lower() in _PROPERTIES:
            if not isinstance(value, dict):
                raise FormMistake(path, f"`{name}` has an object of user properties and their values")
            for inner, each in value.items():
                yield _equal(_property(inner, (*path, inner)), each, (*path, inner))
        elif name.lower() in known:
            if not isinstance(value, str):
                hint = f'write "{value}"' if type(value) is int else ""
                raise FormMistake(path, f"`{name}` is equal to a text", hint)
            yield _equal(field_of(name, 0), value, path)
        else:
            near = nearest(name, (*_FIELDS, "properties"))
            hint = (
                f"did you mean `{near}`?" if near else f'user properties stand in {{"properties": {{"{name}": ...}}}}'
            )
            problem = f"a correlation filter has no member `{name}`; it has {', '.join(_FIELDS)}, properties"
            raise FormMistake(path, problem, hint, at_name=True)


def _property(name: str, path: Path) -> str:
    try:
        if name:
            return property_of(name, 0)
    except SyntaxMistake as mistake:
        hint = f'write {{"{name[len(SYSTEM) :]}": ...}} beside `properties`'
        raise FormMistake(path, mistake.problem, hint, at_name=True) from None
    raise FormMistake(path, "the name of a property is not empty", at_name=True)


def _equal(name: str, value: object, path: Path) -> Rail:
    if value is None or isinstance(value, dict | list):
        hint = "an SQL filter has `x IS NULL`" if value is None else ""
        raise FormMistake(path, "a property is equal to a text, a number or a boolean", hint)
    if isinstance(value, int) and not limits.INT_MIN <= value <= limits.INT_MAX:
        raise FormMistake(path, "this integer is outside 64 bits")
    return holds(name, Op.EQ, value)  # type: ignore[arg-type]  # a scalar of JSON
