"""The extension area: known types checked, unknown ones carried, some must be understood, none comes twice."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.codes import ErrorCode, is_fatal
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.data_frames import DataFrame, decode_data, encode_data
from tamis.protocol.wire.extensions import (
    Custody,
    Extensions,
    ExtensionType,
    GroupChoice,
    LinkKeys,
    ReuseKeys,
    Route,
    RouteMode,
    RouterSet,
    decode_extensions,
    encode_extensions,
)
from tamis.protocol.wire.kinds import FrameKind
from tests.protocol.wire.frame_strategies import extensions


def area(*items: tuple[int, bytes]) -> bytes:
    return b"".join(struct.pack("<HH", type_, len(data)) + data for type_, data in items)


def choices(*pairs: tuple[int, int]) -> bytes:
    return b"".join(struct.pack("<IQ", *pair) for pair in pairs)


def route(*routers: int) -> bytes:
    return struct.pack(f"<B{len(routers)}Q", 2, *routers)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(extensions(FrameKind.DELIVER))
def test_what_was_written_is_read(found: Extensions) -> None:
    assert decode_extensions(encode_extensions(found, FrameKind.DELIVER), FrameKind.DELIVER) == found


@given(st.binary(max_size=30))
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    try:
        found = decode_extensions(data, FrameKind.DELIVER)
    except FrameError:
        return
    assert encode_extensions(found, FrameKind.DELIVER) == data


def test_unknown_types_are_carried_in_their_order() -> None:
    data = area((0x7FFF, b"b"), (0x0100, b""), (3, bytes(8)))
    found = decode_extensions(data, FrameKind.PUBLISH)
    assert list(found.items()) == [(0x7FFF, b"b"), (0x0100, b""), (3, 0)]
    assert encode_extensions(found, FrameKind.PUBLISH) == data


@pytest.mark.parametrize("type_", [0x8000, 0x8001, 0xFFFF])
def test_what_must_be_understood_costs_the_frame_alone(type_: int) -> None:
    with pytest.raises(FrameError) as caught:
        decode_extensions(area((3, bytes(8)), (type_, b"")), FrameKind.PUBLISH)
    assert caught.value.code == ErrorCode.UNKNOWN_EXTENSION
    assert not is_fatal(caught.value.code)


@pytest.mark.parametrize(
    "data",
    [
        *(b"\x03", b"\x03\x00\x08", area((3, bytes(8)))[:-1], area((3, bytes(8))) + b"\0"),
        area((3, bytes(8)), (3, bytes(8))),
        area((0x0100, b""), (0x0100, b"")),
        *(area((3, bytes(7))), area((3, bytes(9))), area((2, bytes(8)))),
        *(area((4, b"")), area((4, b"\xff")), area((4, b"a" * 257))),
        *(area((5, b"")), area((5, bytes(5))), area((6, bytes(4)))),
        *(area((1, b"")), area((1, b"\x02")), area((1, b"\x01\x00"))),
        *(area((10, b"")), area((10, bytes(11))), area((10, bytes(12))), area((10, choices((1, 0))))),
        *(area((10, choices((2, 5), (1, 5)))), area((10, choices((1, 5), (1, 6))))),
        area((10, choices(*((group, 5) for group in range(1, 258))))),
        *(area((0x8007, b"")), area((0x8007, b"\x03")), area((0x8007, b"\x01" + bytes(8))), area((0x8007, b"\x02"))),
        *(area((0x8007, route(0))), area((0x8007, route(2, 2))), area((0x8007, route(2, 1)))),
        *(area((0x8007, b"\x04")), area((0x8007, b"\x04" + bytes(16))), area((0x8007, b"\x04" + bytes(16 + 513)))),
        *(area((0x8007, route(*range(1, 66)))), area((3, bytes(8)), (0x8007, route(1)))),
    ],
)
def test_a_malformed_area_is_refused(data: bytes) -> None:
    with pytest.raises(FrameError) as caught:
        decode_extensions(data, FrameKind.DELIVER)
    assert caught.value.code == ErrorCode.BAD_EXTENSION


@pytest.mark.parametrize("kind", [FrameKind.PUBLISH, FrameKind.DRY_RUN])
@pytest.mark.parametrize("type_", [ExtensionType.SATISFIED, ExtensionType.LOG_POSITION])
def test_what_the_last_router_adds_is_nobody_elses_to_send(kind: FrameKind, type_: ExtensionType) -> None:
    with pytest.raises(FrameError, match="only allowed in a DELIVER frame"):
        decode_extensions(area((type_, bytes(8))), kind)


@pytest.mark.parametrize(
    "found",
    [
        *({3: -1}, {3: 2**64}, {3: True}, {3: "1"}, {2: 0}, {4: ""}, {4: b"x"}),
        *({5: ()}, {5: (2**32,)}, {5: (-1,)}, {5: (True,)}, {5: tuple(range(16_384))}),
        *({1: ReuseKeys(1, ())}, {1: ReuseKeys(True, (-1,))}),
        *({10: ()}, {10: (GroupChoice(0, 1),)}, {10: (GroupChoice(1, 0),)}, {10: (GroupChoice(1, 2**64),)}),
        *({0x8007: Route(RouteMode.ALL, (1,))}, {0x8007: Route(RouteMode.LIST)}, {0x8007: Route(5, (1,))}),
        *({0x8007: RouterSet(bytes(16), b"")}, {0x8007: RouterSet(bytes(15), b"1")}, {0x8007: Route(RouteMode.SET)}),
        *({0x8007: RouterSet(bytes(16), bytes(513))}, {4: "a", 0x8007: RouterSet(bytes(16), b"1")}),
        *({0x8007: LinkKeys(True, bytes(16), ())}, {0x8007: LinkKeys(True, bytes(15), (1,))}),
        {0x8007: LinkKeys(False, bytes(16), (1,) * 241)},
        *({0x8007: Route(RouteMode.TREE)}, {0x8007: Route(RouteMode.TREE, (0,))}),
        {0x8007: Route(RouteMode.TREE, (1, 2))},
        *({0x8007: Route(RouteMode.LIST, (2, 1))}, {0x8007: Route(RouteMode.LIST, (2**64,))}),
        {4: "a", 0x8007: Route(RouteMode.ALL)},
        *({0x8000: b""}, {0x10000: b""}, {-1: b""}, {0x0100: "text"}, {0x0100: bytes(65_532)}),
    ],
)
def test_what_cannot_be_decoded_cannot_be_encoded(found: Extensions) -> None:
    with pytest.raises(Refused, match="extension"):
        encode_extensions(found, FrameKind.DELIVER)


def test_ten_thousand_subscriptions_fit() -> None:
    found = {ExtensionType.SATISFIED: tuple(range(10_000))}
    assert decode_extensions(encode_extensions(found, FrameKind.DELIVER), FrameKind.DELIVER) == found


def test_a_directed_without_extensions_is_refused() -> None:
    plain = encode_data(DataFrame(FrameKind.PUBLISH, Message({}, b"", MessageId(1, 1))))
    with pytest.raises(FrameError, match="CUSTODY must be the first"):
        decode_data(plain[:4] + bytes([FrameKind.DIRECTED]) + plain[5:])


def place(home: int = 5, n: int = 9, previous: int = 8) -> bytes:
    return struct.pack("<QQQIIQQ", home, 7, 6, 4, 3, n, previous)


def test_a_directed_begins_with_its_place_in_the_chain() -> None:
    found = decode_extensions(area((8, place()), (3, bytes(8))), FrameKind.DIRECTED)
    assert found == {ExtensionType.CUSTODY: Custody(5, 7, LogLife(6, 4, 3), 9, 8), ExtensionType.EXPIRY: 0}
    assert encode_extensions(found, FrameKind.DIRECTED) == area((8, place()), (3, bytes(8)))
    other = decode_extensions(area((8, b"anything")), FrameKind.PUBLISH)
    assert other == {ExtensionType.CUSTODY: b"anything"}, "any other frame carries it unread"


@pytest.mark.parametrize(
    "data",
    [
        *(b"", area((3, bytes(8))), area((3, bytes(8)), (8, place())), area((8, b"")), area((8, place() + b"x"))),
        *(area((8, place(home=0))), area((8, place(n=8))), area((8, place(n=0, previous=0)))),
    ],
)
def test_a_place_that_is_wrong_is_refused(data: bytes) -> None:
    with pytest.raises(FrameError) as caught:
        decode_extensions(data, FrameKind.DIRECTED)
    assert caught.value.code == ErrorCode.BAD_EXTENSION
