from __future__ import annotations

from tamis.simulate.nodes.clock import Clock


def test_what_happens_is_in_the_order_of_time_then_of_asking() -> None:
    clock = Clock()
    seen: list[tuple[int, str]] = []
    for when_us, what in ((30, "c"), (10, "a"), (30, "d"), (20, "b")):
        clock.at(when_us, lambda what: seen.append((clock.now_us, what)), what)
    clock.run_until(29)
    assert seen == [(10, "a"), (20, "b")]
    assert clock.now_us == 29
    clock.run_until(30)
    assert seen[2:] == [(30, "c"), (30, "d")]
    assert len(clock) == 0


def test_what_is_arranged_meanwhile_happens_too() -> None:
    clock = Clock()
    seen: list[int] = []

    def again(left: int) -> None:
        seen.append(clock.now_us)
        if left:
            clock.after(5, again, left - 1)

    clock.after(0, again, 3)
    clock.run_until(11)
    assert seen == [0, 5, 10]
