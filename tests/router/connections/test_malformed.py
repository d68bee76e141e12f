"""A million frames that are malformed, cut short or random: no crash, no leak, and honest clients notice nothing."""

from __future__ import annotations

import random
import socket
import struct

import pytest

from tamis.native import Admission, EventType, Switch, SwitchOptions, Table
from tamis.native.subscribe_frame import SubscribeFrame
from tamis.protocol.wire.client_bodies import Reach, Subscribe, SubscriptionItem
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.frames import encode
from tests.router.wire_client import WireClient, auth, hello, subscribe, subscription

pytestmark = pytest.mark.long

IN_PROCESS = 1_000_000
OVER_TCP = 50_000
SEED = 7
HONEST, STRANGER = 5, 6
GOOD = (
    encode_publish(STRANGER, 1, 0, {"x": 1, "name": "é", "real": 1.5}, b"payload"),
    encode(hello("stranger")),
    encode(auth()),
    encode(subscribe(1, subscription(1, 'x > 1 and name ^= "a"'))),
)


def spoiled(dice: random.Random) -> bytes:
    """A good frame with bytes changed, cut, or put in twice; or nothing but noise."""
    frame = bytearray(dice.choice(GOOD))
    match dice.randrange(4):
        case 0:
            for _ in range(dice.randint(1, 4)):
                frame[dice.randrange(len(frame))] = dice.randrange(256)
        case 1:
            del frame[dice.randrange(len(frame)) :]
        case 2:
            at = dice.randrange(len(frame))
            frame[at:at] = dice.randbytes(dice.randint(1, 8))
        case 3:
            frame = bytearray(dice.randbytes(dice.randint(1, 40)))
    return bytes(frame)


def admission(number: int) -> Admission:
    return Admission(
        number=number,
        queue_bytes_max=1 << 20,
        credit_bytes=1 << 40,
        credit_frames=1 << 30,
        frame_bytes_max=1 << 20,
        filters_max=10,
    )


class Crowd:
    """A switch, an honest pair of clients, and strangers that come and go."""

    def __init__(self, table: Table) -> None:
        options = SwitchOptions(number=1, epoch=1, connections_max=8, publishers_max=8, hop_limit=1)
        self.switch = Switch(table, options)
        self.subscriber, self.publisher = self.opened(HONEST + 5), self.opened(HONEST)
        batch = Subscribe(1, (SubscriptionItem(1, (b"\x91\x93\xa1x\x01\x01",)),), False, Reach.HOME, False)
        assert not self.switch.subscribe(self.switch.subscriber_of(self.subscriber), SubscribeFrame(encode(batch)), 1)
        self.published = 0

    def opened(self, number: int | None) -> int:
        connection = self.switch.open()
        assert connection is not None
        if number is not None:
            self.switch.admit(connection, admission(number))
        return connection

    def endure(self, stranger: int, data: bytes) -> bool:
        """Is the stranger still to be listened to?"""
        return all(event.type != EventType.FAULT for event in self.switch.feed(stranger, data))

    def part(self, stranger: int) -> None:
        self.switch.end(stranger, now=True)
        self.switch.tick()
        while self.switch.forget(stranger, 1000):
            pass

    def check_the_honest(self) -> None:
        self.published += 1
        self.switch.feed(self.publisher, encode_publish(HONEST, self.published, 0, {"x": 1}))
        while self.switch.output(self.subscriber, 1 << 20):
            pass
        assert self.switch.connection(self.subscriber).deliveries >= self.published
        self.switch.validate()


def test_in_process() -> None:
    dice = random.Random(SEED)
    with Table() as table:
        crowd = Crowd(table)
        memory = []
        stranger = crowd.opened(STRANGER)
        for number in range(IN_PROCESS):
            if not crowd.endure(stranger, spoiled(dice)):  # it is cut off, and the next one comes
                crowd.part(stranger)
                stranger = crowd.opened(STRANGER if dice.randrange(2) else None)
            if number % 50_000 == 49_999:
                crowd.part(stranger)  # what it had begun to send goes with it
                crowd.check_the_honest()
                memory.append(crowd.switch.figures().memory_bytes)
                stranger = crowd.opened(STRANGER)
        print(f"\n{IN_PROCESS:,} frames, memory of the switch {min(memory):,} to {max(memory):,} bytes, seed {SEED}")
        assert max(memory) - min(memory) < 100_000
        crowd.switch.close()


async def test_over_tcp(process) -> None:
    router = process("routers: {a: {clients: '127.0.0.1:0', admin: 'unix:admin.sock'}}\n")
    bob = await WireClient.greeted(router.where, "bob")
    await bob.subscribe(1, "x > 1")
    alice = await WireClient.greeted(router.where, "alice")
    dice = random.Random(SEED)
    host, _, port = router.where.partition("://")[2].rpartition(":")
    before = resident_bytes(router.pid)
    for number in range(OVER_TCP):
        with socket.create_connection((host, int(port))) as stranger:
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # no TIME_WAIT
            stranger.sendall(spoiled(dice))
        if number % 5_000 == 0:
            await alice.publish({"x": 2, "n": number})
            assert await bob.delivered() == {"x": 2, "n": number}
    after = resident_bytes(router.pid)
    print(f"\n{OVER_TCP:,} connections, resident {before:,} to {after:,} bytes, seed {SEED}")
    assert after <= before + 20_000_000


def resident_bytes(pid: int) -> int:
    with open(f"/proc/{pid}/statm") as file:  # noqa: PTH123 - no file
        return int(file.read().split()[1]) * 4096
