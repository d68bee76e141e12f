"""A client written from docs/reference/wire.md alone: the standard library and msgpack, and nothing of this project.

python stranger.py PATH    subscribes to `n > 1`, publishes n = 1, 2, 3, and prints what comes back as JSON lines
"""

import hashlib
import json
import os
import socket
import struct
import sys
import time

import msgpack

HELLO, WELCOME, AUTH, AUTHENTICATED, ERROR, PING, PONG = 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16
PUBLISH, DELIVER, SUBSCRIBE, ACK, CREDIT = 0x01, 0x02, 0x20, 0x22, 0x23
OWN_MESSAGES, GREATER, SATISFIED = True, 4, 5


class Stranger:
    def __init__(self, path, name):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(path)
        self.received = b""
        self.frames_allowed = self.frames_sent = 0
        self.counter = time.time_ns()
        nonce = os.urandom(16)
        self.send(HELLO, [1, name, 0, nonce, 1, 1, [], 1 << 20, 30_000, 0])
        welcome = self.expect(WELCOME)
        assert welcome[3] == 1, "we speak version 1"
        assert 0 in welcome[8], "the router wants a credential"
        self.send(AUTH, [0, b""])
        self.number = self.expect(AUTHENTICATED)[1]
        digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
        assert self.number == int.from_bytes(digest, "little")

    def send(self, kind, body):
        packed = msgpack.packb(body)
        self.socket.sendall(struct.pack("<IBBBB", 8 + len(packed), kind, 0, 0, 0) + packed)

    def publish(self, attributes, payload):
        while self.frames_sent >= self.frames_allowed:
            self.handle(*self.frame())
        packed = msgpack.packb(attributes)
        self.counter += 1
        self.frames_sent += 1
        length = 64 + len(packed) + len(payload)
        head = struct.pack("<IBBBB", length, PUBLISH, 0, 0, 0)
        ids = struct.pack("<QQQQQQ", 0, 0, 0, self.number, self.counter, time.time_ns())
        self.socket.sendall(head + ids + struct.pack("<HHI", 0, 0, len(packed)) + packed + payload)

    def subscribe(self, request, number, filters):
        packed = [msgpack.packb(filter_) for filter_ in filters]
        self.send(SUBSCRIBE, [request, [[number, packed]], OWN_MESSAGES, 0, False])
        of, answered, ranges, *_ = self.expect(ACK)
        assert (of, answered, ranges) == (1, request, [[number, number]])

    def frame(self):
        """The next frame: its kind, and the whole of it."""
        while len(self.received) < 4 or len(self.received) < self.length():
            data = self.socket.recv(65_536)
            if not data:
                raise EOFError("the router has closed the connection")
            self.received += data
        frame, self.received = self.received[: self.length()], self.received[self.length() :]
        return frame[4], frame

    def length(self):
        return struct.unpack_from("<I", self.received)[0]

    def expect(self, kind):
        while True:
            got, frame = self.frame()
            if got == kind:
                return msgpack.unpackb(frame[8:])
            self.handle(got, frame)

    def handle(self, kind, frame):
        """What may come at any time."""
        if kind == ERROR:
            raise RuntimeError(msgpack.unpackb(frame[8:])[1])
        if kind == PING:
            self.send(PONG, msgpack.unpackb(frame[8:]))
        if kind == CREDIT:
            self.frames_allowed = msgpack.unpackb(frame[8:])[0]

    def message(self):
        """The next delivery: attributes, payload, and the subscriptions that it satisfies."""
        kind, frame = self.frame()
        while kind != DELIVER:
            self.handle(kind, frame)
            kind, frame = self.frame()
        extensions, _, attributes = struct.unpack_from("<HHI", frame, 56)
        at, satisfied = 64, []
        while at < 64 + extensions:
            type_, size = struct.unpack_from("<HH", frame, at)
            if type_ == SATISFIED:
                satisfied = list(struct.unpack_from(f"<{size // 4}I", frame, at + 4))
            at += 4 + size
        return msgpack.unpackb(frame[at : at + attributes]), frame[at + attributes :].decode(), satisfied


if __name__ == "__main__":
    client = Stranger(sys.argv[1], "stranger")
    client.subscribe(1, 42, [[["n", GREATER, 1]]])
    for n in (1, 2, 3):
        client.publish({"n": n, "by": "hand"}, b"payload %d" % n)
    for _ in range(2):
        print(json.dumps(client.message()))
