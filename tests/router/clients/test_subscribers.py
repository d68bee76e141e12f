"""Subscribers: what is kept for a client apart from its connection, and for how long."""

from __future__ import annotations

from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import Authenticated
from tamis.router.access.admitted import Admitted
from tamis.router.clients.tokens import digest_of
from tamis.router.connections.admissions import Reason, Side
from tests.router.wire_client import auth, hello


async def test_a_client_has_a_subscriber_from_its_admission_until_its_filters_are_forgotten(inside):
    net = inside()
    await net.stranger()
    await net.until(lambda: list(net.clients.by_connection) == [0])
    assert not net.clients.by_interface, "who greets wants nothing yet"
    bob = await net.client("bob")
    [subscriber] = net.clients.by_interface.values()
    assert (subscriber.name, subscriber.admitted) == ("bob", Admitted())
    assert net.connections.switch.subscriber(subscriber.interface).number == stable_number("bob")
    assert subscriber.client is net.clients.by_connection[1]
    assert (subscriber.interface, net.connections.switch.connection_of(0)) == (0, 1), "the numbers are of two kinds"
    await bob.subscribe(1, "x = 1")
    assert subscriber.subscriptions == 1
    await bob.close()
    await net.until(lambda: not net.clients.by_interface)
    assert subscriber.client is None
    assert not net.clients.names


async def test_a_later_client_of_the_same_name_has_a_subscriber_of_its_own(inside):
    net = inside()
    await net.client("bob")
    older = net.clients.names["bob"]
    await net.client("bob")
    newer = net.clients.names["bob"]
    assert (older.interface, newer.interface) == (0, 1)
    await net.until(lambda: older.client is None and net.clients.by_interface == {1: newer})
    assert net.clients.names == {"bob": newer}


async def test_a_grant_names_the_token_that_it_was_given_for(inside, tmp_path):
    path = tmp_path / "tokens"
    path.write_text("bob secret\n")
    path.chmod(0o600)
    net = inside(f"tokens: {path}")
    await net.client("bob", token=b"secret")
    assert net.clients.names["bob"].admitted == Admitted(digest_of(b"secret"), "bob")


async def test_who_finds_no_room_for_a_subscriber_is_told_and_costs_nothing(inside):
    net = inside()
    told = []
    for failing in (1, 2):
        client = net.clients.open(-1, "by hand")
        net.connections.feed(client.connection, encode(hello("bob")))
        net.connections.switch.fail_allocation(failing)
        net.connections.feed(client.connection, encode(auth()))
        net.connections.switch.fail_allocation(0)
        reader = FrameReader()
        reader.authenticated()
        reader.feed(net.connections.switch.output(client.connection, 1 << 20))
        told.append([getattr(body, "code", type(body)) for body in map(decode, reader)][1:])
        client.vanish()
    await net.until(lambda: not net.clients.by_connection)
    assert not net.clients.by_interface
    full = [Authenticated, ErrorCode.FULL]
    assert full in told
    assert net.connections.admissions.refused[Side.CLIENT, Reason.FULL] == told.count(full)
    await net.client("bob")
