"""The bus: who is told what, what a listener that fails costs, and that nobody pays for what nobody hears."""

from __future__ import annotations

import time

import pytest

from tamis.router.daemon import client_events, durable_events, events, link_events
from tamis.router.daemon.events import Alarmed, EventBus, SecondPassed
from tamis.router.daemon.link_events import LinkCameUp
from tests.slowdown import slowdown

MODULES = events, link_events, client_events, durable_events


@pytest.fixture
def failed() -> list[str]:
    return []


@pytest.fixture
def bus(failed) -> EventBus:
    return EventBus(failed.append)


def test_listeners_hear_of_their_kind_alone_in_the_order_in_which_they_registered(bus, failed):
    heard: list[object] = []
    bus.listen(SecondPassed, lambda event: heard.append(("first", event.number)))
    bus.listen(SecondPassed, lambda event: heard.append(("second", event.number)))
    bus.listen(Alarmed, heard.append)
    bus.tell(SecondPassed, 7)
    bus.tell(LinkCameUp, "b", 1, 2, 3)
    bus.tell(Alarmed, text="look")
    assert heard == [("first", 7), ("second", 7), Alarmed("look")]
    assert failed == []


def test_a_listener_that_fails_costs_nobody_else(bus, failed):
    heard: list[object] = []
    bus.listen(SecondPassed, lambda _: 1 / 0)
    bus.listen(SecondPassed, heard.append)
    bus.tell(SecondPassed, 1)
    assert heard == [(1,)]
    assert failed == ["a listener failed: SecondPassed"]


def test_what_nobody_hears_is_not_built(bus):
    def never(text: str) -> None:
        raise AssertionError(text)

    bus.listen(SecondPassed, lambda _: None)
    bus.tell(never, "built for nobody")
    assert not bus.is_heard(Alarmed)
    assert bus.is_heard(SecondPassed)


def test_telling_nobody_takes_less_than_a_microsecond(bus):
    def cpu_s(count: int) -> float:
        began_s = time.process_time()
        for _ in range(count):
            bus.tell(LinkCameUp, "b", 1, 2, 3)
        return time.process_time() - began_s

    assert min(cpu_s(500) for _ in range(20)) / 500 < 1e-6 * slowdown()


def test_every_kind_says_what_it_is():
    own = [kind for module in MODULES for kind in vars(module).values() if _is_kind_of(module, kind)]
    assert len(own) >= 12
    assert all(kind.__doc__ and not kind.__doc__.startswith(kind.__name__) for kind in own)


def _is_kind_of(module, kind: object) -> bool:
    return isinstance(kind, type) and hasattr(kind, "_fields") and kind.__module__ == module.__name__
