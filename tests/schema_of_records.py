"""Whether a record has exactly the fields that its kind may have, with the right types."""

from __future__ import annotations

from tamis.protocol.records import COMMON, KINDS, VERSION, RecordField

OPTIONAL = {
    "link": {"cost", "reason"},
    "control": {"added", "removed", "full"},
    "subscription": {"filters", "keys", "own", "group", "residual"},
    "interface": {"neighbour", "client"},
    "message": {
        *("transit", "hop", "from_neighbour", "from_connection", "published_us", "attributes", "refused"),
    },
    "kept": {
        *("position", "origin", "number", "maybe_duplicate", "source", "expires_us", "connection", "deliveries"),
        *("lost", "total", "keep", "peer", "first"),
    },
    "keep": {
        *("client", "connection", "attachment", "filters", "keys", "terms", "overflow", "order_by", "latest_by"),
        *("dead_letter", "doubts", "cause", "residual"),
    },
    "depth": {"oldest_us"},
}
"""Fields that do not apply to every record of the kind."""
OF_DURABLES = ("kept", "keep", "depth")
"""Kinds that only routers with keeps write."""


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


CHECKS = {
    "integer": _is_integer,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "text": lambda value: isinstance(value, str),
    "texts": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    "integers": lambda value: isinstance(value, list) and all(map(_is_integer, value)),
    "counts": lambda value: isinstance(value, dict) and all(map(_is_integer, value.values())),
}


def check_record(record: dict[str, object], family: str) -> None:
    kind = KINDS[str(record["kind"])]
    assert (record["v"], kind.family) == (VERSION, family)
    fields: dict[str, RecordField] = {field.name: field for field in (*COMMON, *kind.fields)}
    assert record.keys() <= fields.keys(), f"unknown {record.keys() - fields.keys()}: {record}"
    missing = fields.keys() - record.keys() - OPTIONAL.get(kind.name, set())
    assert not missing, f"missing {missing}: {record}"
    assert kind.name != "kept" or ("keep" in record) != ("peer" in record), f"of no one thing: {record}"
    for name, value in record.items():
        assert CHECKS[fields[name].type](value), f"{name}={value!r} is no {fields[name].type}: {record}"
