"""The pace of `tamis pub --rate`."""

from __future__ import annotations

from tamis.cli.messages.pace import CATCH_UP_S, Pace


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


def test_messages_are_an_interval_apart() -> None:
    clock = Clock()
    pace = Pace(4.0, lambda: clock.now_s, clock.sleep)
    for _ in range(5):
        pace.wait()
    assert clock.slept == [0.25] * 4


def test_what_was_missed_is_made_up_for_but_not_for_long() -> None:
    clock = Clock()
    pace = Pace(4.0, lambda: clock.now_s, clock.sleep)
    pace.wait()
    clock.now_s = 100.0
    at_once = 0
    while not clock.slept:
        pace.wait()
        at_once += 1
    assert at_once - 1 == 4 * CATCH_UP_S + 1
