"""Filter expressions in SQL for AMQP 1.0: `properties.subject LIKE 'order.%' AND header.priority > 4`.

Law: as RabbitMQ evaluates them. Values of different kinds are not equal, so `<>` holds of them, and LIKE is unknown of
what is no text. Texts are ordered by code point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.rails import ALWAYS
from tamis.protocol.dialects.sql.amqp_builder import GRAMMAR, HEADER, PROPERTIES
from tamis.protocol.dialects.sql.conditions import translation
from tamis.protocol.dialects.sql.rules import SqlRules, Unlike
from tamis.protocol.dialects.widen import within_limits
from tamis.protocol.errors import Refused
from tamis.protocol.values import Value

PRIORITY: Final = f"{HEADER}priority"
PRIORITY_OTHERWISE: Final = 4
"""The priority of a message that names none, by AMQP."""
RULES: Final = SqlRules(
    unlike=Unlike.UNEQUAL,
    are_texts_ordered=True,
    is_like_unknown=True,
    are_quotients_cut=False,
    escapes_all=True,
)


def translate(text: str) -> Translated:
    return translation(text, GRAMMAR.parse(text), RULES) if text.strip() else within_limits(ALWAYS)


def attributes(event: Mapping[str, Any]) -> dict[str, Value]:
    """Return the application properties of a message, and the fields of its header and its properties, which are
    objects of these names: {"color": "red", "properties": {"subject": "a"}}. Null is absent."""
    if not isinstance(event, Mapping):
        raise Refused("an event is an object of application properties, header and properties")
    return {PRIORITY: PRIORITY_OTHERWISE} | {name: value for name, value in _fields(event) if value is not None}


def _fields(event: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in event.items():
        if isinstance(value, Mapping) and f"{name}." in (HEADER, PROPERTIES):
            yield from ((f"{name}.{field}", inner) for field, inner in value.items())
        else:
            yield name, value


DIALECT: Final = Dialect("amqp-sql", "SQL filter expressions of AMQP 1.0", translate, attributes)
