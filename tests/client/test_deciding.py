"""A client whose router does not run residual programs runs them itself."""

from __future__ import annotations

import pytest

from tamis import Message
from tamis.blocking import connect
from tamis.client.message import Message as Received
from tamis.client.messages.deciding import Deciding
from tamis.protocol import dialects
from tamis.protocol.messages import Message as Published
from tamis.protocol.messages import MessageId
from tamis.protocol.values import Value
from tamis.protocol.wire.client_bodies import Subscribe, SubscriptionItem
from tamis.protocol.wire.data_frames import DataFrame, encode_data
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind
from tests.client.acceptor import Acceptor

WAIT_S = 10.0


def program(text: str) -> bytes:
    residual = dialects.get("jms").translate(text).residual
    assert residual is not None
    return residual.pack()


def delivered(attributes: dict[str, Value], *ids: int) -> Received:
    message = Published(attributes, b"", MessageId(7, 1))
    frame = DataFrame(FrameKind.DELIVER, message, 0, 8, Transit(1, 1, 1), 5_000, {ExtensionType.SATISFIED: ids})
    return Received(encode_data(frame))


def test_subscriptions_whose_program_says_no_are_left_out() -> None:
    deciding, said = Deciding(), list[str]()
    deciding.notify = said.append
    assert not deciding
    asked = deciding.taken_over(
        (SubscriptionItem(1, (b"\x90",)), SubscriptionItem(2, (b"\x90",), program("price * qty > 10")))
    )
    assert [each.residual for each in asked] == [b"", b""]
    deciding.taken_over((SubscriptionItem(3, (b"\x90",), program("price * qty > 100")),))
    assert len(said) == 1
    for qty, ids in ((1, (1,)), (3, (1, 2)), (30, (1, 2, 3))):
        message = delivered({"price": 5, "qty": qty}, 1, 2, 3)
        assert deciding.decide(message)
        assert message.matched == ids
    assert not deciding.decide(delivered({"price": 5}, 2, 3))
    deciding.forget((2, 3))
    assert not deciding


def test_an_old_router_sends_more_and_the_client_decides(
    rome: Acceptor, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    with connect(address, name="alice") as client:
        filters = ("symbol = 'A' AND price * qty > 1000", "price = 7")
        with client.subscribe(*filters, dialect="jms", own_messages=True) as wanted:
            for price, qty in ((1, 2), (7, 3), (500, 3), (7, 300)):
                client.publish({"symbol": "A", "price": price, "qty": qty}, confirm=True)
            found = [wanted.receive(WAIT_S) for _ in range(3)]
            first, second = wanted.ids
        [subscribe] = rome.wait_for(Subscribe)
    assert isinstance(subscribe, Subscribe)
    assert [each.residual for each in subscribe.subscriptions] == [b"", b""]
    assert [(item["price"], item["qty"], item.matched) for item in found if isinstance(item, Message)] == [
        (7, 3, (second,)),
        (500, 3, (first,)),
        (7, 300, (first, second)),
    ]
    assert [each.message for each in caplog.records if "does not run residual programs" in each.message]
