"""Following a message: what is sent for it, what is made of the answers, and when a call ends."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

from tamis.client.errors import ClientClosed, PublishRefused
from tamis.client.messages.inbox import Inbox
from tamis.client.trail import AnyReport, Trail
from tamis.protocol.wire.client_bodies import Ack, AckOf, Range, Refusal
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.header import CONFIRM, TRACED
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.report_bodies import Departure, DryRunReport, TraceRecord
from tests.client.by_hand import NAME, Hand

TRACE = 1
"""With the random bytes of the test's core, which are zeros."""


class Following:
    """A message that `hand` follows, and its two waiters."""

    def __init__(self, hand: Hand, of: type[AnyReport]) -> None:
        self.taken: Future[None] = Future()
        self.complete: Future[None] = Future()
        self.trail: Trail[Any] = hand.core.trails.begin(of, {"x": 1}, b"p", 17, self.taken, self.complete)


def record(router: str, came_from: str, *departures: Departure, more: int = 0) -> TraceRecord:
    source, count = stable_number("rome"), len(departures) + more
    return TraceRecord(*(TRACE, source, router, stable_number(came_from), 9, 1, 1, 0, ()), count, tuple(departures), "")


def to(name: str, is_client: bool = False) -> Departure:
    return Departure(stable_number(name), is_client, 1)


@pytest.mark.parametrize(
    ("of", "kind", "flags"),
    [(TraceRecord, FrameKind.PUBLISH, TRACED | CONFIRM), (DryRunReport, FrameKind.DRY_RUN, TRACED)],
)
def test_what_goes_out(of, kind, flags) -> None:
    hand = Hand().open()
    following = Following(hand, of)
    (frame,) = hand.sent()
    assert isinstance(frame, DataFrame)
    assert (frame.kind, frame.flags, frame.publish_time_ns) == (kind, flags, 17)
    assert frame.extensions == {ExtensionType.TRACE: TRACE}
    assert (frame.message.id, frame.message.payload) == ((stable_number(NAME), 1), b"p")
    assert following.taken.done() is (of is DryRunReport), "nobody confirms a dry run"
    hand.publish(5)
    (frame,) = hand.sent()
    assert frame.message.id.counter == 2


def test_it_is_complete_when_all_that_are_named_have_answered() -> None:
    hand = Hand().open()
    following = Following(hand, TraceRecord)
    hand.say(Ack(AckOf.PUBLISH, 0, (Range(1, 1),)), record("bonn", "rome"))
    assert following.taken.done()
    assert not following.complete.done(), "the first router has not answered"
    hand.say(record("rome", NAME, to("bonn"), to("oslo"), to("desk", is_client=True)))
    assert following.trail.unanswered == ((stable_number("rome"), stable_number("oslo")),)
    hand.say(replace(record("oslo", "rome"), trace=99))
    assert not following.complete.done(), "a report on another message"
    hand.say(record("oslo", "rome"), record("oslo", "rome", to("nowhere")))
    assert following.complete.done()
    assert [report.router for report in following.trail.reports] == ["bonn", "rome", "oslo"]


def test_a_report_of_the_other_sort_is_nobodys() -> None:
    hand = Hand().open()
    following = Following(hand, TraceRecord)
    hand.say(DryRunReport(TRACE, stable_number("rome"), "rome", stable_number(NAME), 0, (), 0, ()))
    assert following.trail.reports == ()


@pytest.mark.parametrize(
    ("listed", "is_complete"), [((), False), ((to("desk", is_client=True),), True), ((to("bonn"),), False)]
)
def test_a_list_that_is_cut_short_may_hide_routers(listed, is_complete) -> None:
    trail = Trail(TraceRecord, TRACE)
    trail.add(record("rome", NAME, *listed, more=1))
    trail.add(record("bonn", "rome"))
    assert trail.is_complete is is_complete


def test_after_its_end_nothing_is_added() -> None:
    hand = Hand().open()
    following = Following(hand, TraceRecord)
    hand.core.trails.end(following.trail)
    hand.say(record("rome", NAME))
    assert following.trail.reports == ()


def test_a_refusal_is_raised() -> None:
    hand = Hand().open()
    following = Following(hand, TraceRecord)
    hand.say(Ack(AckOf.PUBLISH, 0, (), (Refusal(1, RefusalCode.DRAINING, ""),)))
    assert isinstance(following.taken.exception(), PublishRefused)


def test_a_dry_run_that_is_refused_ends_the_call() -> None:
    hand = Hand().open()
    following = Following(hand, DryRunReport)
    refusal = Refusal(1, RefusalCode.OVERLOADED, "too many")
    hand.say(Ack(AckOf.PUBLISH, 0, (), (refusal,)))
    assert isinstance(following.complete.exception(0), PublishRefused)


def test_the_end_of_the_client_ends_the_call() -> None:
    hand = Hand().open()
    following = Following(hand, DryRunReport)
    hand.core.close()
    assert isinstance(following.complete.exception(), ClientClosed)


def test_reports_are_read_past_a_full_inbox() -> None:
    hand = Hand().open()
    hand.core.registry.full.add(Inbox(hand.core.settings.inbox, set(), print))
    assert not hand.core.may_read(hand.now)
    following = Following(hand, DryRunReport)
    assert hand.core.may_read(hand.now)
    hand.core.trails.end(following.trail)
    assert not hand.core.may_read(hand.now)
