"""The extension ROUTE in one switch: who may write it, where such a message goes, and who does not see it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.native import EventType
from tamis.native._tm import lib
from tamis.protocol import limits
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import Extensions, ExtensionType, Route, RouteMode
from tamis.protocol.wire.kinds import FrameKind
from tests.native.test_others import ALICE, EAST, EVERYTHING, FAR, LINK, ME, Router, message, packed

LISTED = Route(RouteMode.LIST, (EAST, FAR))


def sent(router: Router, connection: int) -> list[DataFrame]:
    return [frame for frame in router.sent(connection) if isinstance(frame, DataFrame)]


def routed(route: Route, counter: int = 1, others: Extensions | None = None) -> DataFrame:
    return replace(message(counter=counter), extensions={ExtensionType.ROUTE: route, **(others or {})})


@pytest.fixture
def router():
    made = Router()
    made.newer = made.opened(replace(LINK, number=EAST, takes_route=True))
    yield made
    made.close()


def test_a_message_goes_to_those_that_it_lists_whatever_they_ask_for(router):
    router.switch.install(FAR, {1: packed("x = 7")})
    for counter, (route, copies) in enumerate(
        (
            (LISTED, 1),
            (Route(RouteMode.LIST, (FAR,)), 1),
            (Route(RouteMode.ALL), 1),
            (Route(RouteMode.LIST, (ME, 9)), 0),
        ),
        1,
    ):
        router.feed(router.west, routed(route, counter))
        found = sent(router, router.newer)
        assert [frame.extensions for frame in found] == [{ExtensionType.ROUTE: route}] * copies, route
        assert [frame.hop_limit for frame in found] == [4] * copies


def test_one_that_lists_others_goes_nowhere_though_somebody_wants_it(router):
    router.switch.install(FAR, {1: EVERYTHING})
    router.feed(router.west, routed(Route(RouteMode.LIST, (ME,))))
    assert sent(router, router.newer) == []


def test_neighbours_of_an_earlier_release_and_clients_do_not_see_it(router):
    router.switch.end(router.newer, now=True)
    older = router.opened(replace(LINK, number=EAST))
    router.subscribe(1, "x >= 0")
    router.feed(router.west, routed(LISTED, others={ExtensionType.EXPIRY: 1 << 62}))
    [copy] = sent(router, older)
    assert copy == replace(message(), hop_limit=4, extensions={ExtensionType.EXPIRY: 1 << 62})
    [got] = sent(router, router.alice)
    assert set(got.extensions) == {ExtensionType.SATISFIED, ExtensionType.EXPIRY}
    assert got.message == message().message


def test_a_client_that_writes_it_is_refused(router):
    frame = DataFrame(FrameKind.PUBLISH, Message({"x": 1}, b"", MessageId(ALICE, 1)), extensions={0x8007: LISTED})
    faults = [event for event in router.switch.feed(router.alice, encode_data(frame)) if event.type == EventType.FAULT]
    assert [(fault.code, fault.text) for fault in faults] == [
        (ErrorCode.BAD_EXTENSION, "a client must not state the route of a message")
    ]


@pytest.mark.parametrize(
    "data", [b"", b"\x02", b"\x03" + bytes(8), b"\x01" + bytes(7) + b"\x01", b"\x02" + bytes(8), b"\x02" + bytes(7)]
)
def test_a_neighbour_that_writes_a_wrong_one_is_told(router, data):
    area = (0x8007).to_bytes(2, "little") + len(data).to_bytes(2, "little") + data
    plain = encode_data(message())
    frame = (
        (len(plain) + len(area)).to_bytes(4, "little") + plain[4:56] + len(area).to_bytes(2, "little") + plain[58:64]
    )
    faults = [
        event for event in router.switch.feed(router.west, frame + area + plain[64:]) if event.type == EventType.FAULT
    ]
    assert [fault.code for fault in faults] == [ErrorCode.BAD_EXTENSION]


def test_a_list_that_makes_a_message_too_long_for_a_neighbour_is_left_out(router):
    size = len(encode_data(message()))
    router.switch.end(router.newer, now=True)
    short = router.opened(replace(LINK, number=EAST, takes_route=True, frame_bytes_max=size))
    router.feed(router.west, routed(LISTED))
    assert [frame.extensions for frame in sent(router, short)] == [{}]
    assert router.switch.figures().forwarded == 1


def test_how_many_a_message_lists_is_bounded(router):
    assert (lib.TM_ROUTE_ROUTERS, lib.TM_ROUTE_ROUTERS_MAX) == (limits.ROUTE_ROUTERS, limits.ROUTE_ROUTERS_MAX)
    router.switch.list_routers(limits.ROUTE_ROUTERS_MAX)
    for wrong in (0, limits.ROUTE_ROUTERS_MAX + 1):
        with pytest.raises(RuntimeError):
            router.switch.list_routers(wrong)
