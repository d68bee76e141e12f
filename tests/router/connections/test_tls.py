"""The same behind TLS 1.3."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess

import pytest

from tamis.configs import Address
from tamis.configs.sections.connections import Tls
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.header import CONFIRM
from tamis.router.connections.admissions import Reason, Side
from tamis.router.connections.limits import open_descriptors
from tamis.router.connections.tls import tls_acceptor
from tamis.serving.cannot_start import CannotStart
from tamis.serving.listeners import Acceptor, bind
from tamis.serving.tls_contexts import load_certificate, server_context
from tests.router.wire_client import WireClient, subscribe, subscription

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    made = Tls(certificate=str(folder / "cert.pem"), key=str(folder / "key.pem"))
    asked = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    files = ["-addext", "subjectAltName=DNS:localhost", "-keyout", made.key, "-out", made.certificate]
    subprocess.run(["openssl", *asked.split(), *files], check=True, capture_output=True)  # noqa: S603, S607
    return made


@pytest.fixture
async def behind_tls(inside, certificate):
    """behind_tls(keys) -> (the connections, the address of its TLS listener, a client's context)."""
    acceptors = []

    async def make(keys: str = ""):
        net = inside(keys)
        [listener] = bind(Address("tcp", host="127.0.0.1", port=0))
        connections, clients, context = net.connections, net.clients, server_context(certificate)
        door = tls_acceptor(connections, Side.CLIENT, clients, context, lambda behind: clients.open(-1, behind.peer))
        acceptors.append(Acceptor(listener, door, connections.loop, b""))
        return net, f"tamis+tls://{listener.address}", ssl.create_default_context(cafile=certificate.certificate)

    yield make
    for acceptor in acceptors:
        acceptor.close()


async def test_messages_cross_between_tls_and_plain(behind_tls):
    net, where, context = await behind_tls()
    alice, bob = await WireClient.greeted(where, "alice", ssl=context), await net.client("bob")
    await alice.subscribe(1, "x = 1")
    await bob.subscribe(1, "x = 2")
    await alice.publish({"x": 2}, b"over")
    await bob.publish({"x": 1}, b"back")
    assert (await bob.delivered(), await alice.delivered()) == ({"x": 2}, {"x": 1})
    await alice.close()
    await net.until(lambda: "alice" not in net.clients.names)


@pytest.mark.slow
async def test_a_long_frame_and_many_short_ones(behind_tls):
    net, where, context = await behind_tls()
    alice = await WireClient.greeted(where, "alice", ssl=context)
    bob = await WireClient.greeted(where, "bob", ssl=context)
    await bob.send(subscribe(1, *(subscription(number, f"x = {number}") for number in range(5_000))))
    await bob.next(bodies.Ack)
    await alice.publish({"x": 1}, bytes(1_000_000))
    for number in range(2_000):
        await alice.publish({"x": number}, b"." * 100)
    frames = [await bob.next() for _ in range(2_001)]
    assert len(frames[0].message.payload) == 1_000_000
    assert [frame.message.attributes["x"] for frame in frames[1:]] == list(range(2_000))
    assert net.connections.switch.figures().dropped[0] == 0


async def test_who_does_not_read_loses_by_the_policy_and_nobody_else_does(behind_tls):
    net, where, context = await behind_tls("limits: {connection_queue_bytes: 1_048_576}")
    slow = await WireClient.greeted(where, "slow", ssl=context)
    alice, bob = await net.client("alice"), await net.client("bob")
    await slow.subscribe(1, "exists x")
    await bob.subscribe(1, "exists x")
    reading = asyncio.create_task(_read(bob, 300))
    for number in range(300):
        await alice.publish({"x": number}, bytes(100_000), CONFIRM)
        await alice.next(bodies.Ack)
    assert await reading == list(range(300))
    queue_full = net.connections.switch.figures().dropped[0]
    assert queue_full > 0
    assert net.connections.switch.figures().queued_bytes <= 2 * 1_048_576
    lost, got = 0, 0
    while lost + got < 300:
        frame = await slow.next()
        if isinstance(frame, bodies.Lost):
            lost += frame.messages
        else:
            got += 1
    assert lost == queue_full


async def _read(client: WireClient, count: int) -> list[object]:
    return [(await client.delivered())["x"] for _ in range(count)]


async def test_errors_reach_the_client_before_the_end(behind_tls):
    net, where, context = await behind_tls("limits: {connections: 1}")
    alice = await WireClient.greeted(where, "alice", ssl=context)
    second = await WireClient.connect(where, "second", ssl=context)
    assert [error.code for error in await second.until_closed()] == [ErrorCode.FULL]
    await alice.send_bytes(b"\x08\0\0\0\x7f\0\0\0")
    assert [error.code for error in await alice.until_closed()] == [ErrorCode.UNKNOWN_KIND]
    await net.until(lambda: not net.clients.by_connection)


@pytest.mark.slow
async def test_handshakes_that_do_not_begin_keep_nobody_out(behind_tls):
    net, where, context = await behind_tls("limits: {connections: 20}")
    host, port = where.removeprefix("tamis+tls://").split(":")
    before = open_descriptors()
    silent = [await asyncio.open_connection(host, int(port)) for _ in range(net.clients.room.places + 20)]
    for _, writer in silent[::3]:
        writer.write(b"\x16\x03\x01\x02\x00")
    alice = await WireClient.greeted(where, "alice", ssl=context)
    assert (await alice.subscribe(1, "x = 1")).ranges
    assert net.connections.admissions.refused[Side.CLIENT, Reason.GAVE_WAY] > 0
    for _, writer in silent:
        writer.close()
    await alice.close()
    await net.until(lambda: len(net.clients.room) == 0 and open_descriptors() <= before + 1)  # uvloop's own
    assert net.connections.admissions.refused[Side.CLIENT, Reason.LEFT] > 0


async def test_a_handshake_that_is_none_is_counted(behind_tls):
    net, where, _ = await behind_tls()
    host, port = where.removeprefix("tamis+tls://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"not a ClientHello, whatever it is\n" * 10)
    await reader.read()
    await net.until(lambda: net.connections.admissions.refused[Side.CLIENT, Reason.TLS] == 1)
    writer.close()


async def test_older_versions_of_tls_are_refused(behind_tls):
    _, where, context = await behind_tls()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await WireClient.connect(where, "old", ssl=context)


def test_a_certificate_without_its_key_is_refused_and_the_old_one_stays(certificate, tmp_path):
    context = server_context(certificate)
    (tmp_path / "key.pem").write_text("no key")
    with pytest.raises(CannotStart, match=r"key\.pem has no PEM text that begins with -----BEGIN PRIVATE KEY-----"):
        load_certificate(context, Tls(certificate=certificate.certificate, key=str(tmp_path / "key.pem")))
