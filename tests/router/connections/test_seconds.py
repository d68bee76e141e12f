"""What is told each second: messages for a neighbour without a link are told under its name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tamis.router.connections.seconds import SecondTicker
from tamis.router.daemon.events import EventBus, InterfaceCounted
from tamis.router.daemon.link_events import UnlinkedCounted


def ticker(told: list[UnlinkedCounted], *, is_counted: bool) -> SecondTicker:
    found = iter([{"b": 3, "c": 1}, {"d": 2}, {}])
    events = EventBus(lambda _: None)
    events.listen(UnlinkedCounted, told.append)
    if is_counted:
        events.listen(InterfaceCounted, lambda _: None)
    switch = SimpleNamespace(increments=lambda at: ([], at))
    network = SimpleNamespace(unlinked=lambda: next(found))
    connections: Any = SimpleNamespace(switch=switch, network=network, events=events)
    return SecondTicker(connections)


def test_messages_that_found_no_link_are_told_once() -> None:
    told: list[UnlinkedCounted] = []
    ticker(told, is_counted=True).stop()
    assert told == [("b", 3), ("c", 1), ("d", 2)]


def test_counters_that_nobody_listens_to_are_not_read() -> None:
    told: list[UnlinkedCounted] = []
    ticker(told, is_counted=False).stop()
    assert told == []
