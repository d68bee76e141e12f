"""What is told of keeps becomes records that are as the table has them, whatever the terms are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tamis.native.keep_figures import KeepFigures
from tamis.protocol.wire.keep_bodies import KeepTerms, Overflow
from tamis.router.daemon.events import EventBus
from tamis.router.daemon.keep_events import KeepAttended, KeepChanged, KeepCounted
from tamis.router.records.keeps import LOSSES, KeepRecords
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
    KeepRecords(note, lambda said, _: lambda: said | {"filters": [], "keys": []}).listen(events)
    tell(events)
    return found


@given(
    *(U64, NAMES, NAMES, NAMES, st.sampled_from(Overflow), st.integers(0, 3)),
    st.sampled_from(["made", "found", "forgotten"]),
)
def test_a_keep_is_recorded_with_its_terms(
    for_ms: int, order_by: str, latest_by: str, letters: str, overflow: Overflow, doubts: int, what: str
) -> None:
    terms = KeepTerms((), for_ms, overflow=overflow, order_by=order_by, latest_by=latest_by, dead_letter=letters)
    [record] = recorded(lambda to: to.tell(KeepChanged, what, 7, "jobs", "owner", terms, doubts, "asked"))
    assert (record["keep"], record["what"], record["name"]) == (7, what, "jobs")
    if what == "forgotten":
        assert record["cause"] == "asked"
    else:
        assert record["terms"]["for_ms"] == min(for_ms, 2**63 - 1)
        assert record["overflow"] == ("refuse" if overflow is Overflow.REFUSE else "drop-oldest")
        assert (record.get("order_by", ""), record.get("latest_by", "")) == (order_by, latest_by)
        assert (record.get("dead_letter", ""), record.get("doubts", 0)) == (letters, doubts)


def test_members_are_recorded_by_client_and_connection() -> None:
    [record] = recorded(lambda to: to.tell(KeepAttended, "attached", 7, "jobs", "desk", 3, 9))
    assert {name: record[name] for name in ("keep", "what", "client", "connection", "attachment")} == {
        "keep": 7,
        "what": "attached",
        "client": "desk",
        "connection": 3,
        "attachment": 9,
    }


@given(st.builds(KeepFigures, **dict.fromkeys(KeepFigures.__slots__, st.integers(0, 2**40))))
def test_figures_are_recorded_with_the_age_of_the_oldest(figures: KeepFigures) -> None:
    [record] = recorded(lambda to: to.tell(KeepCounted, 7, figures))
    assert record["lost"] == {name: getattr(figures, name) for name in LOSSES if getattr(figures, name)}
    assert ("oldest_us" in record) == bool(figures.open)
    assert all(record[name] == getattr(figures, name) for name in ("open", "out", "acked", "delivered", "members"))
