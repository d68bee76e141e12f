"""Filters of other systems, translated onto predicates.

    get("mqtt").translate("sensors/+/temperature")      Translated: the predicate, and whether it is exact
    get("mqtt").attributes({"topic": "sensors/3/temperature"})

Law: a dialect is a module with `DIALECT`, imported when it is named; this package alone imports none, and no parser.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from tamis.protocol.errors import Refused
from tamis.protocol.nearest import did_you_mean

if TYPE_CHECKING:
    from tamis.protocol.dialects.dialect import Dialect

_MODULES = {
    "tamis": "tamis.tamis",
    "mqtt": "topics.mqtt",
    "nats": "topics.nats",
    "amqp-topic": "topics.amqp_topic",
    "amqp-headers": "headers",
    "cloudevents": "cloudevents",
    "cesql": "cesql.cesql",
    "jms": "sql.jms",
    "amqp-sql": "sql.amqp_sql",
    "azure": "sql.azure",
    "cel": "cel.cel",
    "pubsub": "pubsub.pubsub",
    "eventbridge": "json_patterns.eventbridge",
    "sns": "json_patterns.sns",
}


def names() -> tuple[str, ...]:
    """Return the names of all dialects."""
    return tuple(_MODULES)


def get(name: str) -> Dialect:
    """Return the dialect of this name; Refused, with a guess, if there is none."""
    if name not in _MODULES:
        known = ", ".join(_MODULES)
        raise Refused(f"there is no dialect {name!r}{did_you_mean(name, _MODULES)} (the dialects are {known})")
    module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    return cast("Dialect", module.DIALECT)
