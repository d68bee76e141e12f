"""What a publisher is told of what it published: whether a keep has it. Against a router by hand, and real ones."""

from __future__ import annotations

import pickle
from concurrent.futures import Future
from pathlib import Path

import pytest

import tamis
from tamis import MessageId, NotStored, PublishRefused, Receipt, Receipts, Refused
from tamis.client.messages.outbox import Unconfirmed
from tamis.client.receipt import receipt_of
from tamis.protocol.wire.client_bodies import CONFIRMS_HELD, DURABLES, Ack, AckOf, Credit, Range, Refusal
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.session_bodies import Authenticated, AuthMethod, Welcome
from tests.client.by_hand import NAME, Hand
from tests.router.durable.test_kill import PATIENCE_S, client, restarted, router
from tests.stranger import frames
from tests.stranger.client import Stranger


def durable(hand: Hand, *, retry: bool = False) -> tuple[Unconfirmed, Future[None]]:
    waiter: Future[None] = Future()
    return hand.core.outbox.publish({"n": 1}, b"", 0, waiter, confirm=True, retry=retry, durable=True), waiter


def done(*, unstored: tuple[Range, ...] = (), stored: tuple[Range, ...] = ()) -> Ack:
    return Ack(AckOf.PUBLISH, 0, (Range(1, 9),), unstored=unstored, stored=stored)


ALL = (Range(1, 9),)


@pytest.mark.parametrize(
    ("ack", "is_stored"),
    [(done(stored=ALL), True), (done(unstored=ALL), False), (done(), None), (done(stored=(Range(2, 9),)), None)],
    ids=["stored", "unstored", "a router of before", "not said of this one"],
)
def test_a_message_is_stored_where_the_router_says_so_and_nowhere_else(ack: Ack, is_stored: bool | None) -> None:
    hand = Hand().open()
    message, waiter = durable(hand)
    hand.say(ack)
    assert waiter.done()
    assert message.is_stored is is_stored


def test_a_second_try_at_the_same_router_is_told_what_that_says() -> None:
    hand = Hand().open()
    message, waiter = durable(hand, retry=True)
    hand.cut()
    hand.open().say(done(unstored=ALL))
    assert waiter.done()
    assert message.is_stored is False


def test_that_no_durable_of_another_router_wants_a_second_try_says_nothing_of_the_first() -> None:
    hand = Hand().open()
    message, waiter = durable(hand, retry=True)
    hand.cut()
    hand.connect()
    hand.say(Welcome("paris", 1, bytes(16), 2, (DURABLES,), 1 << 20, 30_000, 0, (AuthMethod.NONE,)))
    hand.say(Authenticated(b"", stable_number(NAME), 10_000, 0), Credit(10, 10_000))
    assert [type(frame) for frame in hand.sent()].count(DataFrame) == 1
    hand.say(done(unstored=ALL))
    assert waiter.done()
    assert message.is_stored is None


def to_be_held(hand: Hand, *, retry: bool = False) -> Future[None]:
    waiter: Future[None] = Future()
    hand.core.outbox.publish({"n": 1}, b"", 0, waiter, confirm=True, retry=retry, durable=True, every_home=True)
    return waiter


def test_a_message_that_is_to_be_held_goes_to_a_router_that_knows_homes_and_to_no_other() -> None:
    hand = Hand().open(capabilities=(DURABLES, CONFIRMS_HELD))
    waiter = to_be_held(hand)
    (sent,) = hand.sent()
    assert isinstance(sent, DataFrame)
    assert sent.flags == Flags.CONFIRM | Flags.DURABLE | Flags.EVERY_HOME
    assert not waiter.done()
    older = Hand().open()
    refused = to_be_held(older)
    with pytest.raises(PublishRefused, match=r"NO_LOG.*does not know what other routers store"):
        refused.result()
    assert older.sent() == []


def test_a_second_attempt_that_is_given_up_is_refused_and_not_unknown() -> None:
    hand = Hand().open(capabilities=(DURABLES, CONFIRMS_HELD))
    waiter = to_be_held(hand, retry=True)
    hand.cut()
    hand.open(capabilities=(DURABLES, CONFIRMS_HELD))
    hand.say(Ack(AckOf.PUBLISH, 0, (), (Refusal(1, RefusalCode.NOT_HELD, "given up"),)))
    with pytest.raises(PublishRefused, match="NOT_HELD"):
        waiter.result()


def test_a_receipt_is_the_id_and_survives_a_pickle() -> None:
    receipt = receipt_of(MessageId(7, 1), is_stored=False)
    assert receipt == MessageId(7, 1)
    assert hash(receipt) == hash(MessageId(7, 1))
    origin, counter = receipt
    assert (origin, counter, receipt.is_stored) == (7, 1, False)
    assert pickle.loads(pickle.dumps(receipt)).is_stored is False  # noqa: S301 - our own
    assert Receipt(7, 1).is_stored is None


@pytest.mark.parametrize("confirm", [None, False, True, "accepted"])
async def test_require_stored_needs_a_level_that_asks(tmp_path: Path, confirm: object) -> None:
    unopened = tamis.connect(f"tamis+unix:{tmp_path}/none")
    with pytest.raises(Refused, match="require_stored goes with confirm='stored' or 'held'"):
        await unopened.publish_many([{"n": 1}], confirm=confirm, require_stored=True)  # type: ignore[arg-type]


# --- real routers ---


@pytest.mark.slow
def test_what_no_durable_wants_is_published_and_told_as_stored_nowhere(tmp_path: Path) -> None:
    with router(tmp_path) as one, client(one, "publisher") as publisher:
        publisher.durable("numbers", "n >= 0")
        for level in ("stored", "held"):
            assert publisher.publish({"n": 1}, confirm=level).is_stored is True
            assert publisher.publish({"m": 1}, confirm=level).is_stored is False
            with pytest.raises(NotStored, match="was published; not stored: no durable subscription") as no:
                publisher.publish({"m": 1}, confirm=level, require_stored=True)
            assert no.value.is_stored is False
            assert publisher.publish({"n": 1}, confirm=level, require_stored=True).is_stored is True
        for level in (False, True, "accepted"):
            assert publisher.publish({"n": 1}, confirm=level).is_stored is None


@pytest.mark.slow
def test_of_many_messages_it_is_counted(tmp_path: Path) -> None:
    many = [{"n" if n % 3 else "m": n} for n in range(3_000)]
    with router(tmp_path) as one, client(one, "publisher") as publisher:
        publisher.durable("numbers", "n >= 0")
        assert publisher.publish_many(many, confirm="stored") == Receipts(3_000, 2_000, 1_000)
        assert publisher.publish_many(many) == Receipts(3_000)
        with pytest.raises(NotStored):
            publisher.publish_many(many, confirm="held", require_stored=True)


@pytest.mark.slow
async def test_the_client_for_asyncio_says_it_too(tmp_path: Path) -> None:
    with router(tmp_path) as one:
        async with tamis.connect(one.address, name="publisher", patience_s=PATIENCE_S) as publisher:
            await publisher.durable("numbers", "n >= 0")
            assert (await publisher.publish({"n": 1}, confirm="stored")).is_stored is True
            assert (await publisher.publish({"m": 1}, confirm="stored")).is_stored is False
            assert (await publisher.publish({"n": 1})).is_stored is None
            with pytest.raises(NotStored) as no:
                await publisher.publish({"m": 1}, confirm="stored", require_stored=True)
            assert no.value.id.origin == stable_number("publisher")
            many = [{"n": 1}, {"m": 1}]
            assert await publisher.publish_many(many, confirm="stored") == Receipts(2, 1, 1)


@pytest.mark.slow
def test_a_second_try_after_a_kill_is_told_what_is_on_the_disk(tmp_path: Path) -> None:
    """By hand: the same two messages under the same counters, of a router and of its next life."""
    flags = frames.CONFIRM | frames.DURABLE
    with router(tmp_path) as one:
        with client(one, "maker") as maker:
            maker.durable("numbers", "n >= 0")
        host, port = one.address.removeprefix("tamis://").split(":")
        for more in (0, frames.RETRY, frames.RETRY):
            with Stranger(host, int(port), "publisher") as publisher:
                told = []
                for counter, attributes in ((10, {"n": 1}), (11, {"m": 1})):
                    publisher.publish(attributes, counter=counter, flags=flags | more)
                    told.append(publisher.expect(frames.ACK))
            assert told == [
                [3, 0, [[10, 10]], [], 0, 0, 0, "", [], [[10, 10]]],
                [3, 0, [[11, 11]], [], 0, 0, 0, "", [[11, 11]], []],
            ]
            if more:
                restarted(one)
