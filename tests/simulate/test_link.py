"""Sessions of a link, as its two ends see them."""

from __future__ import annotations

from random import Random

import pytest

from tamis.protocol.wire.routing_bodies import Body, Held
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.direction import Frame, Line
from tamis.simulate.nodes.link import DIAL_LAST_US, HEARTBEAT_US, HOLD_US, SimulatedLink
from tamis.simulate.nodes.message import Packet

DELAY_US = 10_000
BODY = Held(1, 1, 1, (2,))
RECONNECTED_US = HOLD_US + DIAL_LAST_US + 4 * DELAY_US


class End:
    def __init__(self, number: int, clock: Clock) -> None:
        self.number = number
        self.alive = True
        self.events: list[tuple[int, str, int]] = []
        self.bodies: list[int] = []
        self._clock = clock

    def link_up(self, neighbour: int, session: int, cost: int) -> None:
        assert (neighbour, cost) == (3 - self.number, 7)
        self.events.append((self._clock.now_us, "up", session))

    def link_down(self, neighbour: int, session: int) -> None:
        assert neighbour == 3 - self.number
        self.events.append((self._clock.now_us, "down", session))

    def heard(self, neighbour: int, session: int, body: Body) -> None:
        assert (neighbour, body) == (3 - self.number, BODY)
        self.bodies.append(session)

    def carried(self, neighbour: int, packet: Packet) -> None:
        raise AssertionError(neighbour, packet)

    @property
    def story(self) -> list[tuple[str, int]]:
        return [(what, session) for _, what, session in self.events]


class Net:
    """A link, and a watcher who writes down what became of it."""

    def __init__(self, seed: int) -> None:
        self.clock = Clock()
        self.ends = (End(1, self.clock), End(2, self.clock))
        self.whole: list[bool] = []
        self.link = SimulatedLink(self.clock, self.ends, 7, Line(delay_us=DELAY_US), Random(seed), self)

    def joined(self, link: SimulatedLink) -> None:
        assert link.open
        self.whole.append(True)

    def broken(self, link: SimulatedLink) -> None:
        assert not link.open
        self.whole.append(False)

    def unsettled(self) -> None:
        pass

    def lost(self, frame: Frame, reason: str) -> None:
        pass

    def run(self, for_us: int) -> None:
        self.clock.run_until(self.clock.now_us + for_us)


@pytest.fixture(params=range(5))
def net(request: pytest.FixtureRequest) -> Net:
    net = Net(request.param)
    net.link.wake()
    net.run(DIAL_LAST_US + 3 * DELAY_US)
    return net


def test_greeting_takes_a_round_trip(net: Net) -> None:
    one, two = sorted((net.ends[0].events, net.ends[1].events))
    assert [event[1:] for event in one + two] == [("up", 1), ("up", 1)]
    assert two[0][0] - one[0][0] == DELAY_US
    assert net.link.open
    assert net.whole == [True]


def test_a_reset_is_noticed_at_once_and_a_new_session_follows(net: Net) -> None:
    began_us = net.clock.now_us
    net.link.reset()
    assert not net.link.open
    net.run(RECONNECTED_US)
    for end in net.ends:
        assert end.story[0] == ("up", 1)
        assert end.story[-1] == ("up", 2)
    closed = [when for end in net.ends for when, what, _ in end.events if what == "down"]
    assert closed
    assert max(closed) - began_us <= 2 * DELAY_US
    assert net.whole == [True, False, True]


def test_a_silent_cut_is_found_by_the_hold(net: Net) -> None:
    began_us = net.clock.now_us
    net.link.cut(silently=True)
    net.run(RECONNECTED_US)
    for end in net.ends:
        assert end.story == [("up", 1), ("down", 1)]
        assert HOLD_US - HEARTBEAT_US <= end.events[-1][0] - began_us <= HOLD_US
    net.run(60_000_000)
    assert not net.link.open
    net.link.restore()
    net.run(RECONNECTED_US)
    assert net.link.open
    assert net.ends[0].story[-1] == net.ends[1].story[-1] == ("up", 2)


def test_half_open_one_end_believes_and_is_told_by_the_other(net: Net) -> None:
    net.link.darken(0)
    net.run(HOLD_US - HEARTBEAT_US - 1)
    assert net.link.believed == [net.link.believed[0]] * 2
    net.link.send(0, 1, 100, BODY)
    net.link.send(1, 1, 100, BODY)
    net.run(HEARTBEAT_US + 1)
    assert net.ends[1].story == [("up", 1), ("down", 1)]
    assert net.ends[1].bodies == []
    assert net.ends[0].bodies == [1]
    net.run(DELAY_US)
    assert net.ends[0].story == [("up", 1), ("down", 1)]


def test_a_neighbour_that_comes_back_unnoticed_replaces_its_session(net: Net) -> None:
    net.ends[0].alive = False
    net.link.end_died(0, silently=True)
    net.ends[0].alive = True
    net.link.wake()
    net.run(RECONNECTED_US)
    assert net.link.open
    assert net.ends[0].story == [("up", 1), ("up", 2)]
    assert net.ends[1].story in ([("up", 1), ("up", 2)], [("up", 1), ("down", 1), ("up", 2)])


def test_what_belongs_to_a_session_that_was_given_up_goes_nowhere(net: Net) -> None:
    net.link.reset()
    net.run(RECONNECTED_US)
    net.link.send(0, 1, 100, BODY)
    net.run(3 * DELAY_US)
    assert net.ends[1].bodies == []
    net.link.send(0, net.link.believed[0].number if net.link.believed[0] else 0, 100, BODY)
    net.run(3 * DELAY_US)
    assert net.ends[1].bodies == [2]


def test_whatever_is_done_to_a_line_it_comes_back(net: Net) -> None:
    random = Random(net.clock.now_us)
    for _ in range(200):
        what = random.randrange(6)
        if what == 0:
            net.link.cut(silently=random.random() < 0.5)
        elif what == 1:
            net.link.restore()
        elif what == 2:
            net.link.reset()
        elif what == 3:
            net.link.darken(random.randrange(2))
        elif what == 4:
            side = random.randrange(2)
            net.ends[side].alive = not net.ends[side].alive
            if net.ends[side].alive:
                net.link.wake()
            else:
                net.link.end_died(side, silently=random.random() < 0.5)
        net.run(random.choice((1_000, 100_000, 2_000_000)))
    for end in net.ends:
        end.alive = True
    net.link.restore()
    net.run(2 * RECONNECTED_US)
    assert net.link.open
    numbers = [number for what, number in net.ends[0].story if what == "up"]
    assert numbers == sorted(set(numbers))
