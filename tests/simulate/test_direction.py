"""One way of a link: lanes, bounds, losses, and the accounts of all of it."""

from __future__ import annotations

from typing import Any

import pytest

from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.direction import Direction, Frame, Line, SimulatedSession

LINE = Line(delay_us=1_000, bytes_per_ms=100, data_queue_bytes=500, control_queue_bytes=1_000)  # 100 bytes take 1 ms


class Way:
    """A direction, what arrived by it and when."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.session = SimulatedSession(1)
        self.seen: list[tuple[int, Any]] = []
        self.lost: list[tuple[Any, str]] = []
        self.overflows = 0
        self.way = Direction(self.clock, LINE)
        self.way.arrived = self._arrived
        self.way.lost = lambda frame, reason: self.lost.append((frame.content, reason))
        self.way.overflowed = self._overflowed

    def _arrived(self, frame: Frame) -> bool:
        self.seen.append((self.clock.now_us, frame.content))
        return True

    def _overflowed(self, session: SimulatedSession) -> None:
        assert session is self.session
        self.overflows += 1

    def control(self, content: str, size: int = 100) -> None:
        self.way.send(self.session, True, size, content)

    def data(self, content: str, size: int = 100) -> None:
        self.way.send(self.session, False, size, content)

    def run(self, until_us: int) -> None:
        self.clock.run_until(until_us)
        way = self.way
        assert way.sent == way.delivered + sum(way.dropped.values()) + way.queued

    @property
    def order(self) -> list[Any]:
        return [content for _, content in self.seen]


@pytest.fixture
def way() -> Way:
    return Way()


def test_a_frame_takes_its_bytes_and_the_delay(way: Way) -> None:
    way.data("a")
    way.data("b", size=200)
    way.run(10_000)
    assert way.seen == [(2_000, "a"), (4_000, "b")]


def test_control_passes_data_that_waits_and_not_data_that_is_being_sent(way: Way) -> None:
    for content in ("a", "b", "c"):
        way.data(content)
    way.run(500)
    way.control("urgent")
    way.run(20_000)
    assert way.order == ["a", "urgent", "b", "c"]
    assert way.way.control_wait_us == 500


def test_a_full_data_queue_drops_the_newest(way: Way) -> None:
    for number in range(8):
        way.data(str(number))
    way.run(50_000)
    assert way.order == ["0", "1", "2", "3", "4", "5"]  # one on the wire, five in the queue
    assert way.lost == [("6", "queue full"), ("7", "queue full")]
    assert way.way.dropped == {"queue full": 2}


def test_a_full_control_queue_ends_the_session(way: Way) -> None:
    for number in range(11):
        way.control(str(number))
    assert way.overflows == 0
    way.control("too many")
    assert way.overflows == 1


def test_what_is_silently_lost_is_lost_once(way: Way) -> None:
    way.way.lose_control = 1
    way.way.lose_data = 1
    for content in ("c1", "c2"):
        way.control(content)
    for content in ("d1", "d2"):
        way.data(content)
    way.run(50_000)
    assert way.order == ["c2", "d2"]
    assert way.lost == [("c1", "silently lost"), ("d1", "silently lost")]


def test_nothing_of_a_session_that_is_over_arrives(way: Way) -> None:
    way.data("travelling")
    way.data("waiting")
    way.run(500)
    way.session.over = True
    way.data("late")
    way.run(50_000)
    assert way.order == []
    assert way.way.dropped == {"session over": 3}


def test_in_the_dark_everything_vanishes_and_the_session_stays_deaf(way: Way) -> None:
    way.way.dark, way.way.deaf_to = True, way.session
    way.data("a")
    way.run(5_000)
    way.way.dark = False
    way.data("b")
    way.way.send(SimulatedSession(2), False, 100, "c")
    way.run(50_000)
    assert way.order == ["c"]
    assert way.way.dropped == {"dark": 2}


def test_a_stall_delays_and_loses_nothing(way: Way) -> None:
    way.way.stall(7_000)
    way.data("a")
    way.control("b")
    way.run(50_000)
    assert way.seen == [(9_000, "b"), (10_000, "a")]


def test_what_a_closed_end_sends_is_counted(way: Way) -> None:
    way.way.refuse(False, "x")
    way.run(1)
    assert way.lost == [("x", "session over")]
