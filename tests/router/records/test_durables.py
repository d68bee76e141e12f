"""What is told of keeps becomes records that are as the table has them, whatever the terms are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tamis.native.durable_figures import DurableFigures
from tamis.protocol.wire.durable_bodies import DurablePolicy, Overflow
from tamis.router.daemon.durable_events import DurableChanged, DurableConsumed, DurableCounted
from tamis.router.daemon.events import EventBus
from tamis.router.records.durables import LOSSES, DurableRecords
from tamis.router.records.lines import RecordLines
from tests.schema_of_records import check_record

U64 = st.integers(0, 2**64 - 1)
NAMES = st.text(max_size=3)


def recorded(tell: Callable[[EventBus], None]) -> list[dict[str, Any]]:
    """The records of what `tell` tells."""
    lines, found = RecordLines("a", 1), []

    def note(kind: str, fields: Any) -> None:
        line = lines.line(kind, 5, lines.number("events"), fields() if callable(fields) else fields)
        found.append(json.loads(line))
        check_record(found[-1], "events")

    events = EventBus(lambda what: (_ for _ in ()).throw(AssertionError(what)))
    DurableRecords(note, lambda said, _: lambda: said | {"filters": [], "keys": []}).listen(events)
    tell(events)
    return found


@given(
    *(U64, NAMES, NAMES, NAMES, st.sampled_from(Overflow), st.integers(0, 3)),
    st.sampled_from(["made", "found", "forgotten"]),
)
def test_a_durable_is_recorded_with_its_terms(
    for_ms: int, order_by: str, latest_by: str, dead_letters: str, overflow: Overflow, unknowns: int, what: str
) -> None:
    policy = DurablePolicy(
        (), for_ms, overflow=overflow, order_by=order_by, latest_by=latest_by, dead_letter=dead_letters
    )
    [record] = recorded(lambda to: to.tell(DurableChanged, what, 7, "jobs", "owner", policy, unknowns, "asked"))
    assert (record["keep"], record["what"], record["name"]) == (7, what, "jobs")
    if what == "forgotten":
        assert record["cause"] == "asked"
    else:
        assert record["terms"]["for_ms"] == min(for_ms, 2**63 - 1)
        assert record["overflow"] == ("refuse" if overflow is Overflow.REFUSE else "drop-oldest")
        assert (record.get("order_by", ""), record.get("latest_by", "")) == (order_by, latest_by)
        assert (record.get("dead_letter", ""), record.get("doubts", 0)) == (dead_letters, unknowns)


def test_members_are_recorded_by_client_and_connection() -> None:
    [record] = recorded(lambda to: to.tell(DurableConsumed, "attached", 7, "jobs", "desk", 3, 9))
    assert {name: record[name] for name in ("keep", "what", "client", "connection", "attachment")} == {
        "keep": 7,
        "what": "attached",
        "client": "desk",
        "connection": 3,
        "attachment": 9,
    }


@given(st.builds(DurableFigures, **dict.fromkeys(DurableFigures.__slots__, st.integers(0, 2**40))))
def test_figures_are_recorded_with_the_age_of_the_oldest(figures: DurableFigures) -> None:
    [record] = recorded(lambda to: to.tell(DurableCounted, 7, figures))
    assert record["lost"] == {name: getattr(figures, name) for name in LOSSES if getattr(figures, name)}
    assert ("oldest_us" in record) == bool(figures.open)
    assert all(record[name] == getattr(figures, name) for name in ("open", "out", "acked", "delivered"))
    assert (record["doubts"], record["members"]) == (figures.unknowns, figures.consumers)
