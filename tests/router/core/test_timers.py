"""What is due when, against a list that is sorted again each time."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from tamis.router.core.timers import Timers
from tests.router.core.graphs import checks

NAMES = st.sampled_from("abcde")
TIMES = st.integers(0, 20)
STEPS = st.lists(
    st.tuples(st.sampled_from(["set", "set_earlier"]), NAMES, TIMES)
    | st.tuples(st.just("cancel"), NAMES, st.just(0))
    | st.tuples(st.just("pop"), st.just(""), TIMES),
    max_size=60,
)


class SortedList:
    def __init__(self) -> None:
        self.due: list[tuple[int, int, str]] = []
        self.serial = 0

    def at(self, name: str) -> int | None:
        return next((at_us for at_us, _, known in self.due if known == name), None)

    def cancel(self, name: str) -> None:
        self.due = [known for known in self.due if known[2] != name]

    def set(self, name: str, at_us: int) -> None:
        self.cancel(name)
        self.serial += 1
        self.due = sorted([*self.due, (at_us, self.serial, name)])

    def set_earlier(self, name: str, at_us: int) -> None:
        held = self.at(name)
        if held is None or at_us < held:
            self.set(name, at_us)

    def pop(self, now_us: int) -> list[str]:
        ready = [name for at_us, _, name in self.due if at_us <= now_us]
        self.due = [known for known in self.due if known[0] > now_us]
        return ready


@checks
@given(STEPS)
def test_timers_do_as_a_sorted_list(steps):
    timers, plain = Timers[str](), SortedList()
    for step, name, at_us in steps:
        if step == "pop":
            assert list(timers.pop_due(at_us)) == plain.pop(at_us)
        elif step == "cancel":
            timers.cancel(name)
            plain.cancel(name)
        else:
            getattr(timers, step)(name, at_us)
            getattr(plain, step)(name, at_us)
        assert timers.due_us == (plain.due[0][0] if plain.due else None)
        assert len(timers) == len(plain.due)
        assert {known for known in "abcde" if known in timers} == {known for _, _, known in plain.due}


def test_what_is_set_while_timers_come_due_comes_in_its_turn():
    timers = Timers[str]()
    for name in ("first", "never", "last"):
        timers.set(name, 1)
    came = []
    for name in timers.pop_due(2):
        came.append(name)
        if name == "first":
            timers.set("between", 0)
            timers.set("later", 3)
            timers.cancel("never")
    assert came == ["first", "between", "last"]
    assert timers.due_us == 3


def test_what_is_due_by_then_anyway_keeps_its_place():
    timers = Timers[str]()
    for name in ("first", "second"):
        timers.set(name, 5)
    timers.set_earlier("first", 5)
    timers.set_earlier("first", 6)
    assert list(timers.pop_due(5)) == ["first", "second"]


def test_a_timer_that_is_moved_again_and_again_costs_no_memory():
    timers = Timers[str]()
    timers.set("soon", 0)
    tracemalloc.start()
    for at_us in range(20_000):
        timers.set("moved", at_us)
    grown = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert grown < 10_000
    assert list(timers.pop_due(10**6)) == ["soon", "moved"]
