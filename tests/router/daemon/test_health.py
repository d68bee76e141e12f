"""What somebody should look at is counted and shown, and a bug that repeats makes the router unready."""

from __future__ import annotations

import asyncio

import pytest

from tamis.native import EventType
from tamis.protocol.wire.client_bodies import Unsubscribe
from tamis.router.connections.connections import Connections
from tamis.router.connections.work import SlicedWork
from tamis.router.daemon.health import ALARMS_KEPT, Health


class Hours:
    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def bug(health: Health) -> None:
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        health.caught("failed", name="x")


def test_three_exceptions_within_a_minute_are_a_problem_until_a_quiet_minute_is_over(caplog):
    clock = Hours()
    health = Health(clock)
    for at_s, is_one in ((0, False), (30, False), (59.9, True)):
        clock.now_s = 1_000 + at_s
        bug(health)
        assert bool(health.problems) is is_one
    clock.now_s += 59.9
    assert "3 exceptions within a minute" in health.problems["exceptions"]
    clock.now_s += 0.1
    assert health.problems == {}
    bug(health)
    assert health.problems == {}
    assert (health.exceptions, health.alarms) == (4, 4)
    assert "ZeroDivisionError" in caplog.text


def test_three_in_more_than_a_minute_are_none():
    clock = Hours()
    health = Health(clock)
    for _ in range(9):
        bug(health)
        clock.now_s += 30
        assert health.problems == {}


def test_an_exception_that_is_not_being_handled_has_its_trace_too(caplog):
    Health().caught("failed in the loop", ValueError("seven"))
    assert "ValueError: seven" in caplog.text


def test_problems_end_when_they_are_mended_or_over():
    clock = Hours()
    health = Health(clock)
    health.problem("one", "first")
    health.problem("two", "second", 10)
    assert health.problems == {"one": "first", "two": "second"}
    clock.now_s += 10
    assert health.problems == {"one": "first"}
    health.mended("one")
    health.mended("one")
    assert health.problems == {}


def test_a_problem_may_leave_the_router_ready():
    health = Health(Hours())
    health.problem("disk", "it is full", is_ready=True)
    assert (health.problems, health.unready) == ({"disk": "it is full"}, {})
    health.problem("twin", "there are two")
    assert (set(health.problems), health.unready) == ({"disk", "twin"}, {"twin": "there are two"})


def test_the_last_alarms_are_kept_and_one_that_repeats_is_raised_once_in_a_minute():
    clock = Hours()
    health = Health(clock)
    for number in range(2 * ALARMS_KEPT):
        health.alarm(str(number))
    assert [shown.text for shown in health.recent] == [str(ALARMS_KEPT + number) for number in range(ALARMS_KEPT)]
    for wait_s in (0, 59, 1, 59):
        clock.now_s += wait_s
        health.alarm_once("same", "again")
    assert health.alarms == 2 * ALARMS_KEPT + 2


def test_a_task_that_fails_costs_whom_it_was_for():
    calls, seen = [], []
    work = SlicedWork(calls.append, seen.append)

    def bad():
        raise ZeroDivisionError
        yield

    work.add(bad(), lambda: seen.append("it is cut"))
    while calls:
        calls.pop()()
    assert seen == ["a task failed", "it is cut"]


@pytest.fixture
async def broken(inside, monkeypatch):
    """A router with a planted fault: what a client named `mallory` asks is handled with an exception."""
    handle = Connections._handle

    def faulty(self, end, event):
        if end.name == "mallory" and event.type == EventType.FRAME:
            raise ZeroDivisionError
        handle(self, end, event)

    monkeypatch.setattr(Connections, "_handle", faulty)
    return inside()


async def test_a_bug_costs_the_client_it_came_from_and_shows(broken):
    alice = await broken.client("alice")
    await alice.subscribe(1, "x = 1", own=True)
    for count in (1, 2, 3):
        mallory = await broken.client("mallory")
        await mallory.send(Unsubscribe(1, (1,)))
        await asyncio.wait_for(mallory.until_closed(), 5)
        assert broken.connections.health.exceptions == count
        assert broken.running.is_ready is (count < 3)
    await alice.publish({"x": 1})
    assert await alice.delivered() == {"x": 1}
