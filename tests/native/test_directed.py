"""DIRECTED in one switch: a message for one home goes on unmatched, by the next hop, or is dropped and counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.native import EventType, SwitchEvent
from tamis.native.guards import NO_GUARD, Border, GuardRules
from tamis.protocol.language import parse
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import Custody, Extensions, ExtensionType
from tamis.protocol.wire.header import HEADER_BYTES
from tamis.protocol.wire.kinds import FrameKind
from tests.native.test_others import EAST, EVERYTHING, FAR, LINK, ME, WEST, Router, message
from tests.native.test_route import sent


def directed(home: int, n: int = 5, source: int = WEST, others: Extensions | None = None) -> DataFrame:
    """From west, whose client's message it is."""
    place = Custody(home, 77, LogLife(9, 3, 2), n, n - 1)
    return replace(
        message(source), kind=FrameKind.DIRECTED, extensions={ExtensionType.CUSTODY: place, **(others or {})}
    )


class DirectingRouter(Router):
    """Links of version 3."""

    def __init__(self) -> None:
        super().__init__()
        for link in (self.west, self.east):
            self.switch.end(link, now=True)
        self.west, self.east = (self.opened(replace(LINK, number=number, version=3)) for number in (WEST, EAST))

    def feed(self, connection: int, frame: DataFrame) -> list[SwitchEvent]:
        return [event for event in super().feed(connection, frame) if event.type != EventType.CLOSED]

    def goes_on(self, frame: DataFrame) -> list[DataFrame]:
        """What east gets of a frame that came from west, of which Python hears nothing."""
        assert self.feed(self.west, frame) == []
        return sent(self, self.east)


@pytest.fixture
def router():
    made = DirectingRouter()
    yield made
    made.close()


def test_it_goes_to_the_next_hop_each_time_and_to_no_other(router):
    router.switch.install(WEST, {1: EVERYTHING})
    router.subscribe(1, "x >= 0")
    for frame in (directed(FAR), directed(FAR), directed(EAST, others={ExtensionType.EXPIRY: 1})):
        assert router.goes_on(frame) == [replace(frame, hop_limit=frame.hop_limit - 1)]
    assert sent(router, router.alice) == sent(router, router.west) == []
    assert router.dropped("directed") == 0


def test_one_that_cannot_go_on_is_counted_and_not_lost(router):
    cases = (directed(ME), directed(WEST), directed(99), replace(directed(FAR), hop_limit=0))
    for count, frame in enumerate(cases, 1):
        assert router.goes_on(frame) == []
        assert router.dropped("directed") == count
    assert router.switch.link_drops() == []
    router.switch.end(router.east, now=True)
    assert router.feed(router.west, directed(FAR)) == []
    assert router.dropped("directed") == len(cases) + 1
    assert router.switch.unlinked() == {}


def test_a_neighbour_of_an_earlier_version_gets_none_and_may_send_none(router):
    router.switch.end(router.east, now=True)
    older = router.opened(replace(LINK, number=EAST, version=2))
    assert router.feed(router.west, directed(FAR)) == []
    assert sent(router, older) == []
    assert router.dropped("directed") == 1
    assert faults(router, older, encode_data(directed(WEST))) == [ErrorCode.UNEXPECTED_KIND]


def test_a_client_may_not_send_it(router):
    assert faults(router, router.alice, encode_data(directed(FAR))) == [ErrorCode.UNEXPECTED_KIND]


def test_it_fills_half_of_the_queue_of_a_link(router):
    router.switch.end(router.east, now=True)
    size = len(encode_data(directed(FAR)))
    router.east = router.opened(replace(LINK, number=EAST, version=3, queue_bytes_max=8 * size))
    for _ in range(9):
        router.feed(router.west, directed(FAR))
    assert router.dropped("directed") == 5
    for counter in range(1, 9):
        router.switch.install(FAR, {counter: EVERYTHING})
        router.feed(router.west, message(counter=counter))
    assert router.dropped("queue_full") > 0
    assert [frame.kind for frame in sent(router, router.east)][:5] == [FrameKind.DIRECTED] * 4 + [FrameKind.PUBLISH]


def test_one_that_is_longer_than_a_neighbour_accepts_is_dropped(router):
    router.switch.end(router.east, now=True)
    router.opened(replace(LINK, number=EAST, version=3, frame_bytes_max=len(encode_data(directed(FAR))) - 1))
    assert router.feed(router.west, directed(FAR)) == []
    assert router.dropped("directed") == 1


def test_borders_hold_for_it(router):
    guard = router.switch.new_guard(GuardRules(parse("x = 1").filters))
    router.switch.border(router.east, Border(NO_GUARD, guard, None))
    assert len(router.goes_on(directed(FAR))) == 1
    other = replace(directed(FAR), message=replace(directed(FAR).message, attributes={"x": 2}))
    assert router.goes_on(other) == []
    router.switch.border(router.west, Border(guard, NO_GUARD, frozenset({WEST})))
    assert router.goes_on(other) == []
    assert router.goes_on(directed(FAR, source=EAST)) == []
    assert len(router.goes_on(directed(FAR))) == 1
    assert router.dropped("not_allowed") == 3


PLAIN, WHOLE = encode_data(message()), encode_data(directed(FAR))
AT = HEADER_BYTES + 4
"""Where the place begins, behind the head of its extension."""


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(PLAIN[:4] + b"\x04" + PLAIN[5:], id="no extension"),
        pytest.param(WHOLE[:AT] + bytes(8) + WHOLE[AT + 8 :], id="no home"),
        pytest.param(WHOLE[: AT + 32] + bytes(8) + WHOLE[AT + 40 :], id="number 0"),
        pytest.param(WHOLE[:HEADER_BYTES] + b"\x09" + WHOLE[HEADER_BYTES + 1 :], id="another type"),
        pytest.param(WHOLE[: HEADER_BYTES + 2] + b"\x2f" + WHOLE[HEADER_BYTES + 3 :], id="another length"),
    ],
)
def test_a_place_that_is_wrong_ends_the_link(router, wrong):
    assert faults(router, router.west, wrong) == [ErrorCode.BAD_EXTENSION]
    assert sent(router, router.east) == []


def test_in_a_publish_the_place_is_carried_unread(router):
    router.switch.install(FAR, {1: EVERYTHING})
    frame = replace(message(), extensions={ExtensionType.CUSTODY: b"anything"})
    assert router.goes_on(frame) == [replace(frame, hop_limit=4)]


def test_kinds_that_are_reserved_are_skipped(router):
    frame = bytes([16, 0, 0, 0, 0x2B, 0, 0, 0]) + bytes(8)
    assert faults(router, router.west, frame + frame.replace(b"\x2b", b"\x2c")) == []
    assert len(router.goes_on(directed(FAR))) == 1


def faults(router: Router, connection: int, data: bytes) -> list[int]:
    return [event.code for event in router.switch.feed(connection, data) if event.type == EventType.FAULT]
