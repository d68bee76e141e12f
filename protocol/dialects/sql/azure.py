"""Filters of subscriptions of Azure Service Bus: SQL filters, and correlation filters as JSON.

    sys.Label LIKE 'order.%' AND user.price > 10        {"label": "order.new", "properties": {"region": "eu"}}

Law: names have no case, values have one. A comparison of values of two kinds is unknown, since C# has none. Texts are
compared by = and <> alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from tamis.protocol.dialects import json_text
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.json_text import FormMistake
from tamis.protocol.dialects.sql.azure_builder import GRAMMAR, SYSTEM, field_of
from tamis.protocol.dialects.sql.conditions import translation
from tamis.protocol.dialects.sql.correlation import correlated
from tamis.protocol.dialects.sql.rules import SqlRules, Unlike
from tamis.protocol.dialects.tree import names_in
from tamis.protocol.dialects.widen import within_limits
from tamis.protocol.errors import Refused
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.values import Value

RULES: Final = SqlRules(
    unlike=Unlike.UNKNOWN,
    are_texts_ordered=False,
    is_like_unknown=True,
    are_quotients_cut=True,
    escapes_all=False,
)
_TEXT: Final = re.compile(r"'[^']*'|\[[^\]]*\]")
_QUOTED: Final = re.compile(r'"[^"]{1,64}"')
_ACTION: Final = re.compile(r"\s*(SET|REMOVE)\s+(?=[\w\[\"])(?!(?:IS|IN|LIKE|NOT|AND|OR)\b)", re.IGNORECASE)


def translate(text: str) -> Translated:
    if text.lstrip().startswith("{"):
        try:
            return within_limits(correlated(json_text.read(text)))
        except FormMistake as mistake:
            raise json_text.located(text, mistake) from None
    if action := _ACTION.match(text):
        problem = f"`{action[1].upper()}` is an action, which changes messages, and a filter selects them"
        raise SyntaxMistake(action.start(1), problem, "write the condition alone")
    tree = GRAMMAR.parse(text)
    found = translation(text, tree, RULES)
    return replace(found, warnings=(*found.warnings, *_warnings(text, {*names_in(tree)})))


def _warnings(text: str, names: set[str]) -> Iterator[str]:
    """Yield what is probably not meant, and what a publisher must know."""
    if quoted := _QUOTED.search(_TEXT.sub("", text)):
        yield f"{quoted[0]} is the name of a property: a text stands in single quotes"
    lowered = sorted(name for name in names if name not in text and not name.startswith(SYSTEM))
    if lowered:
        yield f"names have no case: attributes are {', '.join(lowered)}"


def attributes(event: Mapping[str, Any]) -> dict[str, Value]:
    """Return the user properties of a message, and its system properties, which are an object `sys`:
    {"color": "red", "sys": {"Label": "a"}}. Names become lower case; null is absent."""
    if not isinstance(event, Mapping):
        raise Refused("an event is an object of user properties and sys")
    found: dict[str, Value] = {}
    for name, value in _properties(event):
        if name in found:
            raise Refused(f"two properties have the name {name!r}: names have no case")
        if value is not None:
            found[name] = value
    return found


def _properties(event: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in event.items():
        scope = str(name).lower()
        if scope in ("sys", "user") and isinstance(value, Mapping):
            for inner, each in value.items():
                yield (_field(inner) if scope == "sys" else str(inner).lower()), each
        else:
            yield (_field(scope.removeprefix(SYSTEM)) if scope.startswith(SYSTEM) else scope), value


def _field(name: str) -> str:
    try:
        return field_of(name, 0)
    except SyntaxMistake as mistake:
        raise Refused(f"an event is an object of user properties and sys: {mistake.problem}") from None


DIALECT: Final = Dialect("azure", "SQL and correlation filters of Azure Service Bus", translate, attributes)
