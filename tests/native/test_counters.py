"""Counters of publishers in the C switch: beside their twin (simulate/twin/windows.py), as clients hear of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tamis.native import Step
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame, encode_data, encode_publish
from tamis.protocol.wire.header import Flags, Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.session_bodies import Ping, Pong
from tamis.simulate.twin.windows import PUBLISHER_WINDOW, RUN_REACH, EntryVerdict, PublisherWindows
from tests.native.test_others import ALICE, CLIENT, EAST, EVERYTHING, WEST, Router

HOUR = 3_600 * 10**9
DAY = 24 * HOUR
CODES = {EntryVerdict.DUPLICATE: RefusalCode.DUPLICATE, EntryVerdict.TOO_OLD: RefusalCode.TOO_OLD}


class Newer(Router):
    """Alice speaks version 2; whoever is at west, east and here wants everything."""

    def __init__(self, version: int = 2) -> None:
        super().__init__()
        self.alice = self.opened(replace(CLIENT, version=version, credit_frames=100_000, credit_bytes=1 << 40))
        self.switch.install(EAST, {1: EVERYTHING})
        self.subscribe(1, "true")
        self._counter = 0

    def publish(self, counter: int, flags: Flags = Flags.CONFIRM) -> list[object]:
        """What Alice hears of it."""
        self.sent(self.alice)
        self.switch.feed(self.alice, encode_publish(ALICE, counter, 0, {"x": 1}, b"", flags))
        return self.sent(self.alice)

    def refusal(self, counter: int, flags: Flags = Flags.CONFIRM) -> bodies.Refusal | None:
        """None: it was taken."""
        acks = [body for body in self.publish(counter, flags) if isinstance(body, bodies.Ack)]
        assert len(acks) == 1
        return acks[0].refusals[0] if acks[0].refusals else None

    def carried(self, counter: int) -> bool:
        """A message of hers from another router: whether her own subscription got it."""
        self._counter += 1
        body = Message({"x": 1}, b"", MessageId(ALICE, counter))
        self.sent(self.alice)
        self.switch.feed(
            self.west,
            encode_data(DataFrame(FrameKind.PUBLISH, body, hop_limit=5, transit=Transit(WEST, 4, self._counter))),
        )
        return any(isinstance(body, DataFrame) for body in self.sent(self.alice))

    def passed_on(self) -> int:
        """How many messages have left for east since this was asked last."""
        return sum(isinstance(body, DataFrame) for body in self.sent(self.east))


@pytest.fixture
def router() -> Iterator[Newer]:
    made = Newer()
    yield made
    made.close()


steps = st.sampled_from(
    [
        *(0, 1, 1, 1, 2, 63, 64, PUBLISHER_WINDOW - 1, PUBLISHER_WINDOW, RUN_REACH, RUN_REACH + 1, HOUR),
        *(-1, -2, -64, -PUBLISHER_WINDOW, 1 - PUBLISHER_WINDOW, -RUN_REACH, -HOUR),
    ]
)


@settings(
    deadline=None, max_examples=settings.default.max_examples * 6 // 10, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.lists(st.tuples(steps, st.booleans()), max_size=25))
def test_a_switch_judges_as_the_twin(moves: list[tuple[int, bool]]) -> None:
    router, twin = Newer(), PublisherWindows()
    try:
        counter = time.time_ns()
        for step, enters in moves:
            counter += step
            if enters:
                refusal = router.refusal(counter)
                assert (refusal and RefusalCode(refusal.code)) == CODES.get(twin.enter(ALICE, counter))
                assert refusal is None or refusal.newest == twin.newest(ALICE)
            else:
                assert router.carried(counter) is twin.fresh(ALICE, counter)
            assert router.switch.newest(ALICE) == twin.newest(ALICE)
            router.switch.validate()
    finally:
        router.close()


def test_a_repeated_and_an_old_counter_have_names_of_their_own(router: Newer) -> None:
    now = time.time_ns()
    assert router.refusal(now) is None
    again, old = router.refusal(now), router.refusal(now - HOUR)
    assert again is not None
    assert old is not None
    assert (again.code, again.newest) == (RefusalCode.DUPLICATE, now)
    assert (old.code, old.newest) == (RefusalCode.TOO_OLD, now)
    assert router.passed_on() == 1
    assert router.publish(now, Flags(0)) == []
    assert router.publish(now - HOUR, Flags(0)) == []
    assert (router.dropped("duplicate"), router.dropped("too_old")) == (2, 2)


@pytest.mark.parametrize("counter", [2**64 - 1, 2**63, 2**63 - 1])
def test_a_counter_more_than_a_day_ahead_is_refused_and_mutes_nobody(router: Newer, counter: int) -> None:
    refusal = router.refusal(counter)
    assert refusal is not None
    assert (refusal.code, refusal.newest) == (RefusalCode.TOO_FAR_AHEAD, 0)
    assert router.publish(counter, Flags(0)) == []
    assert router.dropped("too_far_ahead") == 2
    assert router.refusal(time.time_ns()) is None
    refusal = router.refusal(counter)
    assert refusal is not None
    assert refusal.newest == router.switch.newest(ALICE) > 0


def test_less_than_a_day_ahead_is_taken(router: Newer) -> None:
    assert router.refusal(time.time_ns() + DAY - HOUR) is None


def test_who_counts_from_1_is_taken(router: Newer) -> None:
    assert [router.refusal(counter) for counter in range(1, 5)] == [None] * 4


def test_an_epoch_that_is_ahead_of_the_clock_counts_as_one(router: Newer) -> None:
    """A router whose clock went back by a month takes what it took before."""
    month_ms = 30 * 86_400 * 1_000
    assert router.refusal(time.time_ns() + month_ms * 10**6) is not None
    router.switch.raise_epoch(time.time_ns() // 10**6 + month_ms)
    assert router.refusal(time.time_ns() + month_ms * 10**6) is None


def test_what_another_router_let_in_from_the_future_mutes_nobody(router: Newer) -> None:
    assert router.carried(2**64 - 1)
    assert not router.carried(2**64 - 1)
    assert router.switch.newest(ALICE) == 0
    assert router.refusal(time.time_ns()) is None


def test_a_second_try_goes_on_where_the_first_was_only_delivered(router: Newer) -> None:
    assert router.carried(5)
    heard = router.publish(5, Flags.CONFIRM | Flags.RETRY)
    assert not any(isinstance(body, DataFrame) for body in heard), "local clients had it"
    assert heard == [bodies.Ack(bodies.AckOf.PUBLISH, 0, (bodies.Range(5, 5),))]
    assert router.passed_on() == 2


def test_version_1_hears_of_no_newest_and_has_its_second_tries_confirmed() -> None:
    router = Newer(version=1)
    try:
        assert router.refusal(7) is None
        said = "a message with this counter was accepted before"
        assert router.refusal(7) == bodies.Refusal(7, RefusalCode.DUPLICATE, said)
        assert router.refusal(7, Flags.CONFIRM | Flags.RETRY) is None
    finally:
        router.close()


# --- in step ---------------------------------------------------------------------------------------------------------


def resumed(router: Newer) -> list[object]:
    left = 1
    while left:
        left = router.switch.resume(1_000)[1]
    return router.sent(router.alice)


def ack(*counters: int) -> bodies.Ack:
    return bodies.Ack(bodies.AckOf.PUBLISH, 0, bodies.ranges_of(counters))


def test_confirmed_publishes_wait_with_all_behind_them_and_keep_their_order(router: Newer) -> None:
    router.switch.step(Step.WAIT)
    assert len(router.publish(1, Flags(0))) == 1, "a plain one goes on"
    assert router.publish(2) == []
    assert router.publish(3, Flags(0)) == [], "it is behind one that waits"
    assert router.publish(4) == []
    assert router.passed_on() == 1
    assert router.switch.resume(1_000)[1] == 0
    assert router.passed_on() == 0
    router.switch.step(Step.IN)
    heard = resumed(router)
    assert [body.message.id.counter for body in heard if isinstance(body, DataFrame)] == [2, 3, 4]
    assert ack(2, 4) in heard
    assert router.passed_on() == 3


def test_confirmed_publishes_are_refused_when_it_took_too_long(router: Newer) -> None:
    router.switch.step(Step.WAIT)
    assert router.publish(2) == []
    router.switch.step(Step.REFUSE)
    (heard,) = resumed(router)
    assert isinstance(heard, bodies.Ack)
    assert [(each.number, each.code) for each in heard.refusals] == [(2, RefusalCode.NOT_IN_STEP)]
    refusal = router.refusal(3)
    assert refusal is not None
    assert refusal.code == RefusalCode.NOT_IN_STEP
    assert len(router.publish(4, Flags(0))) == 1
    assert router.dropped("not_in_step") == 2
    router.switch.step(Step.IN)
    assert router.refusal(2) is None, "what was refused leaves no trace"


def test_what_waits_when_the_router_drains_is_told_so(router: Newer) -> None:
    router.switch.step(Step.WAIT)
    assert router.publish(2) == []
    router.switch.drain(True)
    (heard,) = resumed(router)
    assert isinstance(heard, bodies.Ack)
    assert heard.refusals[0].code == RefusalCode.DRAINING


@pytest.mark.parametrize("size", [0, 70_000, 300_000])
def test_frames_of_any_length_wait_and_go_on_however_they_are_cut(router: Newer, size: int) -> None:
    router.switch.step(Step.WAIT)
    frames = b"".join(encode_publish(ALICE, counter, 0, {"x": 1}, bytes(size), Flags.CONFIRM) for counter in (1, 2, 3))
    from tamis.protocol.wire.frames import encode

    data = frames + encode(Ping(9))
    for start in range(0, len(data), 65_537):
        router.switch.feed(router.alice, data[start : start + 65_537])
    assert router.sent(router.alice) == []
    router.switch.step(Step.IN)
    heard = resumed(router)
    assert [body.message.id.counter for body in heard if isinstance(body, DataFrame)] == [1, 2, 3]
    assert Pong(9) in heard
    router.switch.validate()


def test_a_connection_that_ends_while_it_waits_leaves_nothing(router: Newer) -> None:
    router.switch.step(Step.WAIT)
    assert router.publish(2) == []
    router.switch.end(router.alice, now=True)
    router.switch.step(Step.IN)
    assert router.switch.resume(1_000)[1] == 0
    assert router.passed_on() == 0


def test_who_waits_is_not_silent(router: Newer) -> None:
    router.switch.step(Step.WAIT)
    assert router.publish(2) == []
    router.switch.advance(70_000)
    assert all(event.connection != router.alice or event.type != 3 for event in router.switch.tick())
