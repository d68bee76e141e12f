"""How wrong credentials limit their address and their name."""

from __future__ import annotations

import itertools

from tamis.serving import slowing
from tamis.serving.slowing import FREE, HELD_APART_S, HELD_MAX, HELD_S, MOST_S, QUIET_S, Slowing


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_waits_double_and_are_bounded():
    clock = Clock()
    slow = Slowing(clock)
    waits = []
    for _ in range(FREE + 9):
        slow.failed("a")
        waits.append(slow.wait_s("a"))
    assert waits == [0.0] * FREE + [1, 2, 4, 8, 16, 32, MOST_S, MOST_S, MOST_S]
    assert slow.wait_s("b") == 0
    clock.now = MOST_S - 0.5
    assert slow.wait_s("a") == 0.5
    clock.now = MOST_S
    assert slow.wait_s("a") == 0


def test_a_name_is_limited_from_everywhere_but_its_home():
    slow = Slowing(Clock())
    slow.admitted("home", "ann")
    for number in range(FREE + 3):
        slow.failed(f"address {number}", "ann")
    assert slow.wait_s("elsewhere", "ann") == 4
    assert slow.wait_s("home", "ann") == 0
    assert slow.wait_s("elsewhere", "bob") == 0
    assert slow.wait_s("address 1", "bob") == 0
    slow.admitted("elsewhere", "ann")
    assert slow.wait_s("home", "ann") == 4, "one home each"


def test_unix_sockets_are_held_no_longer_than_a_client_waits():
    slow = Slowing(Clock())
    for _ in range(FREE + 9):
        slow.failed("unix")
    assert slow.wait_s("unix") == HELD_S


def test_no_credential_is_asked_for_that_is_neither_checked_nor_held():
    slow = Slowing(Clock())
    for _ in range(FREE + 1):
        slow.failed("a")
    assert slow.refusal("a") == ""
    slow.held = HELD_MAX
    assert slow.refusal("a") == "too many wrong credentials; one is checked in 1 s"
    assert slow.refusal("b") == ""
    slow.held = 0
    slow.failed("a")
    assert slow.refusal("a") == "too many wrong credentials; one is checked in 2 s"


def test_credentials_that_wait_for_the_same_time_are_checked_one_after_another():
    slow = Slowing(Clock())
    delays = [slow.hold(0.5) for _ in range(HELD_MAX)]
    assert delays[0] == 0.5
    assert all(later - sooner > HELD_APART_S / 2 for sooner, later in itertools.pairwise(delays))
    assert slow.held == HELD_MAX


def test_a_row_is_forgotten_when_it_is_quiet():
    clock = Clock()
    slow = Slowing(clock)
    for _ in range(FREE + 9):
        slow.failed("a", "ann")
    clock.now = MOST_S + QUIET_S + 1
    slow.failed("b")
    assert len(slow) == 1
    slow.failed("a")
    assert slow.wait_s("a") == 0


def test_a_full_table_forgets_the_one_that_failed_least_recently(monkeypatch):
    monkeypatch.setattr(slowing, "ROWS_MAX", 3)
    slow = Slowing(Clock())
    for address in ("a", "b", "c", "a", "d"):
        for _ in range(FREE + 1):
            slow.failed(address)
    assert len(slow) == 3
    assert [slow.wait_s(address) > 0 for address in "abcd"] == [True, False, True, True]


def test_homes_are_bounded(monkeypatch):
    monkeypatch.setattr(slowing, "HOMES_MAX", 2)
    slow = Slowing(Clock())
    for name in ("ann", "bob", "cat"):
        slow.admitted("home", name)
    for _ in range(FREE + 1):
        for name in ("ann", "cat"):
            slow.failed(f"x {name}", name)
    assert (slow.wait_s("home", "ann"), slow.wait_s("home", "cat")) == (1, 0)
