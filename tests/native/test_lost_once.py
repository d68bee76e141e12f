"""Between routers a message is counted as lost under one reason, and only where it has no other way."""

from __future__ import annotations

import pytest

from tamis.native import Admission, Switch, SwitchOptions, Table
from tamis.native.switch_figures import DROP_REASONS
from tamis.protocol.language import parse
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.codes import LossReason
from tamis.protocol.wire.data_frames import DataFrame, encode_data, encode_publish
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.packed_filters import encode_filter
from tests.native.test_switch import admission, output
from tests.protocol.wire.make_vectors import ANY

ME, ALICE, LEFT, RIGHT, FAR = 1, 7, 20, 30, 40
HOLD_MS = 2_000


class Net:
    """A router with links to LEFT and RIGHT; FAR, which wants everything, lies behind one of them."""

    def __init__(self, queue_bytes_max: int = 1 << 20, crowd: int = 0) -> None:
        """`crowd`: so many filters of FAR match nothing, so that its table is asked and no plan is made."""
        self.tables = Table(), Table()
        self.switch = Switch(self.tables[0], SwitchOptions(ME, 2, 10, 10, 9))
        self.switch.join(self.tables[1], 10)
        self.switch.install(
            FAR, {1: ANY} | dict.fromkeys(range(2, 2 + crowd), encode_filter(parse("y = 1").filters[0]))
        )
        self.alice = self.switch.open()
        self.switch.admit(self.alice, admission(ALICE))
        self.links = {}
        for number in (LEFT, RIGHT):
            self.links[number] = self.switch.open()
            link = Admission(number, queue_bytes_max, 0, 0, 1 << 20, 0, is_link=True)
            self.switch.admit(self.links[number], link)
        self._counter = 0

    def reroute(self, **ways: int) -> None:
        """`far`: the neighbour that FAR lies behind; none: out of reach."""
        behind = {LEFT: LEFT, RIGHT: RIGHT} | ({FAR: ways["far"]} if ways else {})
        generation = self.switch.begin_routes(9)
        self.switch.route(generation, ME, None, behind)
        self.switch.commit(HOLD_MS)

    def publish(self, count: int = 1, payload: bytes = b"") -> None:
        for _ in range(count):
            self._counter += 1
            self.switch.feed(self.alice, encode_publish(ALICE, self._counter, 0, {"x": 1}, payload))

    def cut(self, neighbour: int) -> None:
        self.switch.end(self.links[neighbour], now=True)

    @property
    def dropped(self) -> dict[str, int]:
        dropped = zip(DROP_REASONS, self.switch.figures().dropped, strict=True)
        return {reason: count for reason, count in dropped if count}

    def close(self) -> None:
        self.switch.validate()
        self.switch.close()
        for table in self.tables:
            table.close()


@pytest.fixture(params=[0, 40], ids=["by a plan", "by the table"])
def net(request):
    made = Net(crowd=request.param)
    yield made
    made.close()


def test_a_message_that_finds_no_link_is_lost_and_not_unmatched_besides(net) -> None:
    net.reroute(far=LEFT)
    net.cut(LEFT)
    net.publish(3)
    assert net.dropped == {"no_link": 3}


def test_one_that_goes_another_way_is_not_lost(net) -> None:
    """In the hold of the old way, whose link is down."""
    net.reroute(far=LEFT)
    net.reroute(far=RIGHT)
    net.cut(LEFT)
    net.publish(3)
    assert net.dropped == {}
    assert net.switch.figures().forwarded == 3


def test_one_for_a_router_that_is_out_of_reach_is_lost_as_long_as_its_old_way_is_in_force(net) -> None:
    net.reroute(far=LEFT)
    net.reroute()
    net.cut(LEFT)
    net.publish(2)
    assert net.dropped == {"no_link": 2}
    net.switch.advance(HOLD_MS)
    net.switch.tick()
    net.publish(5)
    assert net.dropped == {"no_link": 2, "unmatched": 5}


def test_one_that_others_carry_by_the_newest_trees_is_not_lost(net) -> None:
    """FAR lay behind here for messages of RIGHT, by a link that is down. Now it lies behind RIGHT itself."""
    for ways, far in (({FAR: LEFT}, LEFT), ({LEFT: LEFT}, RIGHT)):
        generation = net.switch.begin_routes(9)
        net.switch.route(generation, ME, None, {LEFT: LEFT, RIGHT: RIGHT, FAR: far})
        net.switch.route(generation, RIGHT, RIGHT, ways)
        net.switch.commit(HOLD_MS)
    net.cut(LEFT)
    body = Message({"x": 1}, b"", MessageId(99, 1))
    frame = DataFrame(FrameKind.PUBLISH, body, hop_limit=5, transit=Transit(RIGHT, 4, 1))
    net.switch.feed(net.links[RIGHT], encode_data(frame))
    assert net.dropped == {}
    assert net.switch.figures().forwarded == 0


def test_one_that_nobody_wants_is_unmatched(net) -> None:
    net.switch.uninstall(FAR, [1])
    net.reroute(far=LEFT)
    net.publish()
    assert net.dropped == {"unmatched": 1}


def test_what_a_full_link_drops_is_known_by_source_until_somebody_asks() -> None:
    net = Net(queue_bytes_max=10_000)
    net.reroute(far=LEFT)
    net.publish(30, bytes(900))
    lost = net.dropped["queue_full"]
    assert set(net.dropped) == {"queue_full"}
    [link_drops] = net.switch.link_drops()
    assert (link_drops.neighbour, link_drops.source, link_drops.messages, link_drops.reason) == (
        LEFT,
        ME,
        lost,
        LossReason.QUEUE_FULL,
    )
    assert link_drops.bytes > lost * 900
    assert net.switch.link_drops() == []
    assert all(frame.kind == 0x01 for frame in output(net.switch, net.links[LEFT])), "no LOST of the switch's own"
    net.close()


def test_what_waits_for_a_link_that_ends_is_counted_message_by_message(net) -> None:
    net.reroute(far=LEFT)
    net.publish(4)
    waiting = net.switch.connection(net.links[LEFT]).queued_bytes
    net.cut(LEFT)
    assert net.dropped == {"closed": 4}
    assert net.switch.figures().drop_bytes[DROP_REASONS.index("closed")] == waiting
