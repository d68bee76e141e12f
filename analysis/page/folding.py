"""Equal faults as one row of the page, with their number and time span.

Law: faults are equal if they differ only in the message and its time; one message represents all of them. The Parquet
table has each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

Row = Mapping[str, Any]
EQUAL: Final = {
    "delivery/faults": ("verdict", "client", "group", "router", "source", "seen_at", "times"),
    "durable/faults": ("fault", "name", "router", "durable"),
}
"""By table: the columns that equal faults have in common."""


def folded(name: str, rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of table `name` with equal ones together, in the order of the first of each; rows of other tables
    are unchanged."""
    if name not in EQUAL:
        return rows
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(repr(row.get(column)) for column in EQUAL[name]), []).append(row)
    return [_one(EQUAL[name], equal) for equal in found.values()]


def _one(columns: Sequence[str], equal: Sequence[Row]) -> Row:
    first, moments = equal[0], [row["at_us"] for row in equal if row["at_us"] is not None]
    cases = sum((row.get("messages") or 1) for row in equal)
    spans = {"from_us": min(moments, default=None), "to_us": max(moments, default=None) if len(equal) > 1 else None}
    id_ = None if first.get("origin") is None else f"{first['origin']}-{first['number']}"
    common = {column: first.get(column) for column in columns}
    return {**common, "cases": cases, **spans, "attributes": first.get("attributes"), "message": id_}
