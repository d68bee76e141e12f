"""The role of a router that dials another one, by the page's sections Kinds: routing, Parts and Numbers and digests.

    Neighbour   honest: keeps a link up, compares, takes what it is told, answers what it is asked
    .state, .advertise, .parts, .send     whatever the test wants it to say

Law: a thread of its own reads, so that signs of life go on while a test does something else. It holds what it was told
as the page says, and never speaks by itself of anybody but itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import msgpack

from tests.stranger import frames
from tests.stranger.client import VERSIONS, Connection, Ended, Where
from tests.stranger.frames import body_of, frame, kind_of, message_of
from tests.stranger.predicates import (
    Link,
    digest_over_all,
    links_digest,
    number,
    packed,
    parts,
    predicate_digest,
)

LINK_HOLD_MS = 30_000
PING_S = 0.2


class Neighbour(Connection):
    def __init__(
        self,
        where: Where,
        name: str,
        epoch: int = 1,
        *,
        secret: bytes | None = None,
        versions: tuple[int, int] = VERSIONS,
        capabilities: Sequence[str] = (),
        is_reading: bool = True,
    ) -> None:
        super().__init__(where)
        self.name, self.number, self.epoch, self.seq = name, number(name), epoch, 0
        self.states: dict[int, tuple[str, int, int, list[Link]]] = {}
        self.predicates: dict[int, tuple[int, int, dict[int, bytes]]] = {}
        self.seen: list[bytes] = []
        """Every frame but signs of life and messages."""
        self.messages: list[frames.Message] = []
        self.ended: Ended | None = None
        self._requests, self._unfinished = 0, {}
        self._lock = threading.Lock()
        self._greet(secret, versions, capabilities)
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._read, self._stay_alive)]
        self._is_open = True
        for thread in self._threads if is_reading else ():
            thread.start()

    # --- the greeting ------------------------------------------------------------------------------------------------

    def _greet(self, secret: bytes | None, versions: tuple[int, int], capabilities: Sequence[str]) -> None:
        said = [frames.ROUTER, self.name, self.epoch, os.urandom(16), *versions, list(capabilities)]
        said += [1 << 20, LINK_HOLD_MS, 1]
        hello = frame(frames.HELLO, said)
        self.send(hello)
        welcome = self._expect(frames.WELCOME)
        self.peer, self.peer_epoch, self.version = number(body_of(welcome)[0]), body_of(welcome)[1], body_of(welcome)[3]
        if secret is None:
            self.send(frame(frames.AUTH, [frames.NONE, b""]))
        else:
            proof = hmac.new(secret, b"tamis 1 connector" + hello + welcome, hashlib.sha256).digest()
            self.send(frame(frames.AUTH, [frames.SECRET, proof]))
        proved = body_of(self._expect(frames.AUTHENTICATED))[0]
        if secret is not None:
            expected = hmac.new(secret, b"tamis 1 acceptor" + hello + welcome, hashlib.sha256).digest()
            assert hmac.compare_digest(proved, expected), "the router does not know the secret"

    def _expect(self, kind: int) -> bytes:
        found = self.read_frame()
        if kind_of(found) != kind:
            raise Ended(body_of(found) if kind_of(found) == frames.ERROR else None)
        return found

    # --- what it says ------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            self.socket.sendall(data)

    def say(self, kind: int, body: object) -> None:
        self.send(frame(kind, body))

    def say_in_parts(self, kind: int, origin: int, epoch: int, seq: int, body: object) -> None:
        for each in parts(kind, origin, epoch, seq, body):
            self.send(each)

    def state(self, links: Iterable[Link] | None = None) -> None:
        """An LSA of its own; without `links`, the link to whom it dialled."""
        self.seq += 1
        said = [[self.peer, 1, 1]] if links is None else [list(link) for link in links]
        self.states[self.number] = (self.name, self.epoch, self.seq, said)
        self.say(frames.LSA, [self.name, self.epoch, self.seq, said])

    def advertise(self, filters: Mapping[int, Iterable[Any]], *, confirm: bool = False) -> None:
        """Its whole predicate."""
        self.seq += 1
        data = {id_: packed(filter_) for id_, filter_ in filters.items()}
        self.predicates[self.number] = (self.epoch, self.seq, data)
        body = [self.number, self.epoch, self.seq, True, 0, list(data.items()), [], predicate_digest(data)]
        self.say_in_parts(frames.RA, self.number, self.epoch, self.seq, [*body, len(data), confirm])

    def ask(self) -> None:
        """For whatever it lacks."""
        known = [[i, e, s, predicate_digest(data)] for i, (e, s, data) in self.predicates.items()]
        states = [[i, e, s, links_digest(links)] for i, (_, e, s, links) in self.states.items()]
        self._request(b"", known, states)

    def _request(self, digest: bytes, known: list[Any], states: list[Any]) -> None:
        self._requests += 1
        body = [self.number, self.epoch, self._requests, 0, digest, known, states]
        self.say_in_parts(frames.SR, self.number, self.epoch, self._requests, body)

    def join(self) -> Self:
        """Until the other end counts the link: it lists it in a state of its own."""
        self.state()
        self.advertise({})
        self.ask()
        end_s = time.monotonic() + self.patience_s
        while not any(link[0] == self.number for link in self.states.get(self.peer, ("", 0, 0, []))[3]):
            assert self.ended is None, self.ended
            assert time.monotonic() < end_s, "not joined"
            time.sleep(0.01)
        return self

    # --- what it hears -----------------------------------------------------------------------------------------------

    def heard(self, kind: int) -> list[bytes]:
        return [each for each in self.seen if kind_of(each) == kind]

    def close(self) -> None:
        self._is_open = False
        with contextlib.suppress(OSError):
            self.socket.shutdown(2)
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        super().close()

    def _stay_alive(self) -> None:
        while self._is_open:
            self.say(frames.PING, [time.time_ns() // 1_000])
            time.sleep(PING_S)

    def _read(self) -> None:
        self.socket.settimeout(None)
        try:
            while True:
                self._take(self.read_frame())
        except Ended as ended:
            self.ended = ended
        except OSError:
            self.ended = Ended()

    def _take(self, data: bytes) -> None:
        kind = kind_of(data)
        if kind == frames.PING:
            self.say(frames.PONG, [body_of(data)[0], time.time_ns() // 1_000])
        elif kind == frames.PUBLISH:
            self.messages.append(message_of(data))
        elif kind != frames.PONG:
            self.seen.append(data)
            if kind == frames.LSA:
                self._take_state(body_of(data))
            elif kind in (frames.RA, frames.SR, frames.UR):
                self._take_part(kind, body_of(data))

    def _take_state(self, body: list[Any]) -> None:
        name, epoch, seq, links = body[:4]
        held = self.states.get(number(name))
        if number(name) != self.number and (held is None or (epoch, seq) > held[1:3]):
            self.states[number(name)] = (name, epoch, seq, links)

    def _take_part(self, kind: int, body: list[Any]) -> None:
        origin, epoch, seq, k, n, chunk = body[:6]
        chunks = self._unfinished.setdefault((kind, origin, epoch, seq), [])
        chunks.append(chunk)
        if k == n:
            whole = msgpack.unpackb(b"".join(self._unfinished.pop((kind, origin, epoch, seq))))
            {frames.RA: self._take_advertisement, frames.SR: self._answer, frames.UR: self._take_reply}[kind](whole)

    def _take_advertisement(self, body: list[Any]) -> None:
        issuer, epoch, seq, is_full, base, added, removed, _, _, confirm = body[:10]
        held = self.predicates.get(issuer, (0, 0, {}))
        if issuer == self.number or (epoch, seq) <= held[:2]:
            return
        if not is_full and held[:2] != (epoch, base):
            return  # the next SR repairs
        data = {} if is_full else {id_: filter_ for id_, filter_ in held[2].items() if id_ not in set(removed)}
        self.predicates[issuer] = (epoch, seq, data | {each[0]: each[1] for each in added})
        if confirm:
            self.say(frames.HELD, [issuer, epoch, seq, [self.number]])

    def _take_reply(self, body: list[Any]) -> None:
        for issuer, epoch, seq, digest, added, *more in body[3]:
            first, count = [*more, 0, 0][:2]
            data = {each[0]: each[1] for each in added}
            if count:
                data = self._unfinished.setdefault(("entry", issuer, epoch, seq), {}) | data
                self._unfinished["entry", issuer, epoch, seq] = data
                assert len(data) == first + len(added), "pieces of a predicate in another order"
                if len(data) < count:
                    continue
            if issuer != self.number and (epoch, seq) > self.predicates.get(issuer, (0, 0))[:2]:
                assert predicate_digest(data) == digest, "a digest that is not that of the predicate"
                self.predicates[issuer] = (epoch, seq, data)

    def _answer(self, body: list[Any]) -> None:
        requester, epoch, request, scope, digest, known, *more = body
        mine = {i: (e, s, predicate_digest(data)) for i, (e, s, data) in self.predicates.items()}
        states = {i: (e, s, links_digest(links)) for i, (_, e, s, links) in self.states.items()}
        if digest and digest != digest_over_all(mine, states):
            self.ask()
            if scope == 0:
                return
        has = {each[0]: tuple(each[1:3]) for each in known}
        has_states = {each[0]: tuple(each[1:3]) for each in (more[0] if more else ())}
        entries = []
        if not digest:
            for issuer, (name, e, s, links) in self.states.items():
                if (e, s) > has_states.get(issuer, (0, 0)):
                    self.say(frames.LSA, [name, e, s, links])
            for issuer, (e, s, data) in self.predicates.items():
                if (e, s) > has.get(issuer, (0, 0)):
                    entries.append([issuer, e, s, mine[issuer][2], list(data.items())])
        reply = [requester, epoch, request, entries, False, 1, []]
        self.say_in_parts(frames.UR, requester, epoch, request, reply)
