"""A message's fate is what happened, whatever crashed meanwhile; and each fault planted in the records is found."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyspark")

from tamis.analysis.durable.catalog import vanished
from tamis.analysis.durable.fate import LEAVING
from tests.analysis.durable.histories import DURABLE, ROUTER, DurableHistory


def history(seed: int) -> DurableHistory:
    return DurableHistory(Random(seed)).lived()


@given(st.integers(0, 2**32))
def test_a_history_without_faults_has_none_and_its_fates_are_those_that_happened(seed: int) -> None:
    lived = history(seed)
    found = lived.audited()
    assert not [(position, each.faults) for position, each in found.items() if each.faults]
    last = lived.lives[-1]["epoch"]
    for message in lived.messages:
        if message.position in found and message.end:
            assert found[message.position].fate in (message.end, "unknown", "waiting")
            is_sure = message.end_us < lived.lives[-1]["last_us"] and message.epoch == last
            assert not is_sure or lived.lives[-1]["end"] != "stopped" or found[message.position].fate == message.end
        elif message.position in found and lived.lives[-1]["end"] == "stopped":
            assert found[message.position].fate in ("waiting", "unknown", *LEAVING)
    assert not list(vanished(lived.catalog()))


def calm(seed: int = 4) -> DurableHistory:
    """A history in which no router broke off, and there is something of each kind."""
    lived = DurableHistory(Random(seed))
    for _ in range(3):
        lived._live(is_broken=False)
    assert {"acked", "expired", "dropped", "replaced"} <= {event.what for _, event in lived.events}
    return lived


def first(lived: DurableHistory, what: str, having: str = "") -> int:
    """The place of the first record of `what`, of a message that has one of `having`, too."""
    others = {position for position, event in lived.events if not having or event.what == having}
    return next(at for at, (position, event) in enumerate(lived.events) if event.what == what and position in others)


def changed(**fields: Any) -> Callable[[DurableHistory, int], None]:
    def change(lived: DurableHistory, at: int) -> None:
        position, event = lived.events[at]
        lived.events[at] = position, event._replace(**fields)

    return change


def removed(lived: DurableHistory, at: int) -> None:
    del lived.events[at]


def doubled(lived: DurableHistory, at: int) -> None:
    position, event = lived.events[at]
    lived.events.insert(at + 1, (position, event._replace(n=event.n, t_us=event.t_us + 1)))


def given_again(lived: DurableHistory, at: int) -> None:
    """Once more behind the end of the message."""
    position, event = lived.events[at]
    end = next(each for where, each in lived.events if where == position and each.what == "acked")
    lived.events.append((position, event._replace(epoch=end.epoch, n=end.n + 1, t_us=end.t_us + 1, deliveries=9)))


PLANTED = [
    ("given", "acked", removed, "stranger"),
    ("acked", "", doubled, "left twice"),
    ("given", "acked", changed(connection=99), "stranger"),
    ("acked", "", changed(connection=99), "stranger"),
    ("kept", "acked", removed, "stray"),
    ("kept", "acked", doubled, "twice"),
    ("given", "acked", doubled, "uncounted"),
    ("given", "acked", given_again, "late"),
    ("expired", "", changed(t_us=0), "against terms"),
]


@pytest.mark.parametrize(("what", "having", "plant", "fault"), PLANTED)
def test_what_is_planted_is_found_and_nothing_else(
    what: str, having: str, plant: Callable[[DurableHistory, int], None], fault: str
) -> None:
    lived = calm()
    at = first(lived, what, having)
    position = lived.events[at][0]
    plant(lived, at)
    found = {where: [name for name, _ in each.faults] for where, each in lived.audited().items() if each.faults}
    assert list(found) == [position]
    assert fault in found[position]


def test_a_message_that_is_passed_over_is_found() -> None:
    lived = calm()
    position = lived.events[first(lived, "given", "acked")][0]
    lived.events = [each for each in lived.events if each[0] != position or each[1].what == "kept"]
    found = lived.audited()
    assert [name for name, _ in found[position].faults] == ["passed over"]


def test_a_hole_in_the_records_makes_unknown_what_it_may_explain() -> None:
    lived = calm()
    at = first(lived, "given", "acked")
    position, event = lived.events[at]
    hole = {"router": ROUTER, "epoch": event.epoch, "from_us": event.t_us - 1, "to_us": event.t_us + 1}
    removed(lived, at)
    assert not lived.audited((hole,))[position].faults


@pytest.mark.parametrize(("policy", "what"), [({"overflow": "refuse"}, "dropped"), ({"latest_by": ""}, "replaced")])
def test_a_way_to_leave_that_the_policies_do_not_allow_is_found(policy: dict[str, str], what: str) -> None:
    lived = calm()
    for event in lived.durable_events:
        event.update({name: value for name, value in policy.items() if event["terms"]})
    wrong = {position for position, event in lived.events if event.what == what}
    found = lived.audited()
    assert {position for position, each in found.items() if each.faults} == wrong


def test_a_durable_that_is_not_there_after_a_start_is_found() -> None:
    lived = calm()
    lived.durable_events = [event for event in lived.durable_events if event["epoch"] != 2]
    assert [(router, durable) for router, durable, _ in vanished(lived.catalog())] == [(ROUTER, DURABLE)]
