"""A router without a log refuses what is asked about kept subscriptions in a sentence, and goes on."""

from __future__ import annotations

import pytest

from tamis.protocol.language import parse
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.durable_bodies import (
    CancelConsume,
    Consume,
    CreateDurable,
    DurablePolicy,
    RemoveDurable,
    Replay,
)
from tamis.protocol.wire.frames import Frame, encode, kind_of
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.session_bodies import Error, Ping, Pong
from tamis.router.clients.durables import NO_FOLDER

FILTERS = tuple(encode_filter(filter_) for filter_ in parse("x = 1").filters)
ASKED: dict[bodies.AckOf, tuple[Frame, int, RefusalCode]] = {
    bodies.AckOf.CREATE_DURABLE: (CreateDurable(5, "orders", DurablePolicy(FILTERS)), 0, RefusalCode.NO_LOG),
    bodies.AckOf.CONSUME: (Consume(5, 7, "orders", 10), 7, RefusalCode.NO_SUCH_DURABLE),
    bodies.AckOf.CANCEL_CONSUME: (CancelConsume(5, 7), 7, RefusalCode.NO_SUCH_ID),
    bodies.AckOf.REMOVE_DURABLE: (RemoveDurable(5, "orders"), 0, RefusalCode.NO_SUCH_DURABLE),
    bodies.AckOf.REPLAY: (Replay(5, 7, FILTERS, 0, 1, 10), 7, RefusalCode.NO_LOG),
}


def refused(of: bodies.AckOf) -> bodies.Ack:
    _, number, code = ASKED[of]
    return bodies.Ack(of, 5, (), (bodies.Refusal(number, code, NO_FOLDER),))


@pytest.mark.parametrize("of", ASKED, ids=lambda of: of.name)
async def test_each_request_is_refused_in_a_sentence(inside, of):
    net = inside()
    bob = await net.client("bob", version_high=2)
    [end] = net.clients.by_connection.values()
    end.receive(kind_of(ASKED[of][0]), encode(ASKED[of][0]))  # as the switch hands a frame up
    assert await bob.next(bodies.Ack) == refused(of)
    await bob.send(Ping(1))
    assert await bob.next() == Pong(1)


@pytest.mark.slow
async def test_each_request_is_refused_in_a_sentence_over_tcp(process):
    router = process("routers: {a: {clients: '127.0.0.1:0'}}")
    from tests.router.wire_client import WireClient

    bob = await WireClient.greeted(router.where, "bob", version_high=2)
    for of, (asked, _, _) in ASKED.items():
        await bob.send(asked)
        assert await bob.next() == refused(of)


async def test_an_acknowledgement_that_asks_for_an_answer_gets_one_and_credit_is_passed_over(inside):
    bob = await inside().client("bob", version_high=2)
    await bob.send(bodies.Credit(10, 0, 7), bodies.Ack(bodies.AckOf.DELIVER, 0, (bodies.Range(1, 3),), subscription=7))
    await bob.send(bodies.Ack(bodies.AckOf.DELIVER, 5, (bodies.Range(1, 3),), subscription=7))
    refusal = bodies.Refusal(7, RefusalCode.NO_SUCH_ID, NO_FOLDER)
    assert await bob.next(bodies.Ack) == bodies.Ack(bodies.AckOf.DELIVER, 5, (), (refusal,))
    await bob.subscribe(1, "x = 1")


@pytest.mark.parametrize("of", ASKED, ids=lambda of: of.name)
async def test_a_client_of_version_1_may_not_ask(inside, of):
    net = inside()
    await net.client("bob")
    [end] = net.clients.by_connection.values()
    with pytest.raises(Exception, match="requires version 2; this connection has version 1") as caught:
        end.receive(kind_of(ASKED[of][0]), encode(ASKED[of][0]))
    assert caught.value.code == ErrorCode.UNKNOWN_KIND


async def test_credit_of_a_client_of_version_1_ends_its_connection_as_ever(inside):
    bob = await inside().client("bob")
    await bob.send(bodies.Credit(1, 0))
    [error] = [frame for frame in await bob.until_closed() if isinstance(frame, Error)]
    assert (error.code, error.fatal) == (ErrorCode.UNEXPECTED_KIND, True)
