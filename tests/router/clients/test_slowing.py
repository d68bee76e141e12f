"""How wrong credentials slow their address down."""

from __future__ import annotations

from tamis.router.clients import slowing
from tamis.router.clients.slowing import FREE, MOST_S, QUIET_S, Slowing


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_waits_grow_and_are_bounded():
    clock = Clock()
    slow = Slowing(clock)
    waits = []
    for _ in range(9):
        slow.failed("a")
        waits.append(slow.wait_s("a"))
    assert waits == [0.0] * FREE + [0.1, 0.2, 0.4, 0.8, MOST_S, MOST_S]
    assert slow.wait_s("b") == 0
    clock.now = 0.6
    assert 0 < slow.wait_s("a") < 0.5
    clock.now = MOST_S
    assert slow.wait_s("a") == 0


def test_an_address_is_forgotten_when_it_is_quiet():
    clock = Clock()
    slow = Slowing(clock)
    for _ in range(9):
        slow.failed("a")
    clock.now = QUIET_S + 1
    slow.failed("b")
    assert len(slow) == 1
    slow.failed("a")
    assert slow.wait_s("a") == 0


def test_a_full_table_forgets_the_one_that_failed_least_recently(monkeypatch):
    monkeypatch.setattr(slowing, "ADDRESSES_MAX", 3)
    slow = Slowing(Clock())
    for address in ("a", "b", "c", "a", "d"):
        for _ in range(FREE + 1):
            slow.failed(address)
    assert len(slow) == 3
    assert [slow.wait_s(address) > 0 for address in "abcd"] == [True, False, True, True]
