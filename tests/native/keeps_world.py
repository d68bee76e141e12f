"""The keeps of a switch in C with publishers, consumers, clocks and a log that can lose what was not committed; all is
judged by the oracle of tests/router/keeps, to which `walk` of walks.py can be applied.

Law: everything that clients see passes through the judge. A crash is a copy of the log's folder as it lies on disk.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

from tamis.native import Admission, EventType, Switch, SwitchOptions, Table
from tamis.native.keeps import SwitchKeeps, book_records
from tamis.native.log import Log
from tamis.native.switch_values import SwitchEvent
from tamis.protocol.wire.client_bodies import Ack, AckOf, AckVerdict, Credit, Lost, Range, ranges_of
from tamis.protocol.wire.codes import LossReason
from tamis.protocol.wire.data_frames import DataFrame, encode_publish
from tamis.protocol.wire.extensions import DeliveryCount, ExtensionType
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.keep_bodies import StartAt
from tamis.protocol.wire.reader import FrameReader
from tests.router.keeps.oracle import Judge, MessageKey
from tests.router.keeps.world import ENOUGH, NAMES, TERMS, WANTED, is_plain

ACK_WAIT_MS = 29_250
"""No sum of the steps that walks take comes near it, so that real time between calls changes nothing."""
RING_BYTES = 1 << 20
KEPT = Flags.CONFIRM | Flags.DURABLE
HOW = {
    LossReason.EXPIRED: "expired",
    LossReason.LOG_FULL: "dropped",
    LossReason.UNDELIVERABLE: "undeliverable",
    LossReason.SKIPPED: "skipped",
}
LEFT = ("acked", "expired", "dropped", "replaced", "dead", "undeliverable", "skipped")
MADE = 64
OWNERS = 3


def admission(number: int) -> Admission:
    window = 1 << 24
    return Admission(number, window, window, 100_000, 1 << 20, 1_000, version=2)


class NativeWorld:
    def __init__(self, folder: Path, *, ring_bytes: int = RING_BYTES) -> None:
        self.judge = Judge()
        self._folders = (folder / str(life) for life in count())
        self._folder, self._ring_bytes = next(self._folders), ring_bytes
        self._ahead_ms = self._wall_ms = 0
        self._tokens, self._members, self._counters = count(1), count(1), count(1)
        self._numbers = count(1)
        self.got: dict[int, dict[int, MessageKey]] = {}
        self.of: dict[int, str] = {}
        self.credit: dict[int, int] = {}
        self.kept: dict[str, tuple[int, int]] = {}
        self._start()

    def charges_are_right(self) -> None:
        """An owner is charged what its keeps have, by their own figures: nothing, once nothing waits."""
        for owner in range(1, 1 + OWNERS):
            figures = [self.keeps.figures(n) for n, _ in self.kept.values() if 1 + n % OWNERS == owner]
            held = sum(each.bytes + 128 * (each.open + each.past) for each in figures)
            with contextlib.suppress(KeyError):  # it never had a keep in this life
                assert self.keeps.charge(owner) == held
                held = 0
            assert held == 0

    def close(self) -> None:
        self.charges_are_right()
        self.keeps.validate()
        self.keeps.close()
        self.switch.validate()
        self.switch.close()
        self._table.close()
        self.log.close()

    # ---- one life ----

    def _start(self) -> None:
        self._readers: dict[int, FrameReader] = {}
        self._waiting: dict[int, Callable[[], None]] = {}
        self._confirmed_at: list[tuple[int, str]] = []
        self.log = Log(
            self._folder, bytes_max=1 << 24, segment_bytes=1 << 18, ring_bytes=self._ring_bytes, has_no_threads=True
        )
        self._table = Table()
        self.switch = Switch(
            self._table,
            SwitchOptions(number=99, epoch=1, connections_max=200, subscribers_max=400, publishers_max=10, hop_limit=9),
        )
        made = {n.n: json.loads(n.body) for n in book_records(self.log)}
        self.keeps = SwitchKeeps(self.switch, self.log, ring_bytes=self._ring_bytes, has_no_thread=True)
        self.switch.advance(self._ahead_ms)
        self.keeps.advance(self._wall_ms)
        self.kept = {name: (number, n) for n, (name, number) in made.items()}
        for name, (number, n) in self.kept.items():
            self.keeps.open(number, replace(TERMS[name], ack_wait_ms=ACK_WAIT_MS), recovered_from=n)
            self.keeps.own(number, 1 + number % OWNERS)
        self._point_at_dead_letters()
        self.publishers = {origin: self._connect(origin) for origin in (1, 2)}
        self.connection: dict[int, int] = {}

    def _connect(self, number: int) -> int:
        connection = self.switch.open()
        assert connection is not None
        self.switch.admit(connection, admission(number))
        self._readers[connection] = FrameReader()
        self._readers[connection].authenticated()
        return connection

    def _point_at_dead_letters(self) -> None:
        for name, (number, _) in self.kept.items():
            to = self.kept.get(TERMS[name].dead_letter)
            self.keeps.dead_letter(number, to[0] if to else 0)

    # ---- what happens ----

    def keep(self, name: str, _start: StartAt = StartAt.NEW) -> None:
        """A keep starts with new messages: a router refuses others."""
        if name not in self.kept:
            self.judge.keep_asked(name, replace(WANTED[name], ack_wait_ms=ACK_WAIT_MS))
            number = next(self._numbers)
            n = self.keeps.append(MADE, json.dumps([name, number]).encode())
            self.keeps.open(number, replace(TERMS[name], ack_wait_ms=ACK_WAIT_MS))
            self.keeps.own(number, 1 + number % OWNERS)
            self.kept[name] = (number, n)
            self._point_at_dead_letters()
        self._confirmed_at.append((self.kept[name][1], name))
        self.keeps.await_(self.kept[name][1])
        self._look([])

    def forget(self, name: str) -> None:
        if name not in self.kept:
            return
        number, n = self.kept.pop(name)
        for member in [member for member, of in self.of.items() if of == name]:
            self._drop(member)
        while self.keeps.forget(number, 1):
            pass
        self.keeps.retire(n)
        self._confirmed_at = [(at, other) for at, other in self._confirmed_at if other != name]
        self.judge.keep_gone(name)
        self._point_at_dead_letters()
        self._look([])

    def attach(self, name: str, credit: int, *, latest: bool = False, after: int = 0) -> int:
        member = next(self._members)
        if not self.is_kept(name) or any(name == other for _, other in self._confirmed_at):
            return member
        self.judge.attached(member, name, after)
        self.got[member], self.of[member], self.credit[member] = {}, name, credit
        self.connection[member] = self._connect(1_000 + member)
        assert self.keeps.attach(
            self.kept[name][0], self.connection[member], member, credit, latest=latest, after=after
        )
        self._look(self.switch.poll(0))
        return member

    def detach(self, member: int, *, is_lost: bool = False) -> None:
        if member in self.of:
            self.judge.left(member, is_lost=is_lost)
            del self.of[member]
            if is_lost:
                self.switch.lose(self.connection[member])
            elif member % 2:
                assert self.keeps.detach(self.connection[member], member)
            else:
                self.switch.end(self.connection[member], now=True)
            self._look(self.switch.poll(0))

    def add_credit(self, member: int, more: int) -> None:
        if member in self.of:
            self.credit[member] += more
            self._feed(self.connection[member], encode(Credit(self.credit[member], 0, member)))

    def publish(self, kind: str, value: int, *, origin: int = 1, again: MessageKey | None = None) -> None:
        key = again or (origin, next(self._counters))
        attributes = self.judge.sent.get(key, {"kind": kind, "v": value})
        self.judge.published(key, attributes)
        flags = (Flags.CONFIRM if is_plain(key) else KEPT) | (Flags.RETRY if again else Flags(0))
        frame = encode_publish(key[0], key[1], 0, attributes, b"x" * 40, flags)
        self._feed(self.publishers[key[0]], frame)

    def ack(self, member: int, positions: list[int], verdict: AckVerdict, *, delay_ms: int = 0) -> None:
        self.ack_ranges(member, ranges_of(positions), positions, verdict, delay_ms=delay_ms)

    def ack_ranges(
        self, member: int, ranges: tuple[Range, ...], positions: list[int], verdict: AckVerdict, *, delay_ms: int = 0
    ) -> None:
        """`positions`: those that the member may mean with `ranges`."""
        if member not in self.of:
            return
        name, got, seen = self.of[member], dict(self.got[member]), self.judge.keeps[self.of[member]]
        mine = [p for p in positions if seen.last_holder.get(p) == member]
        rejected = [got[p] for p in mine if verdict is AckVerdict.REJECT and p not in seen.done]
        self.judge.time_is(self._steady)
        self.judge.acked(member, positions, verdict.name.lower())
        making = self.judge.makings[name]
        dead = seen.wanted.dead_letter  # that there is now; one that is made later gets nothing of this
        dead_making = self.judge.makings[dead] if dead in self.kept else None

        def confirmed() -> None:
            if self.judge.makings[name] == making and verdict is AckVerdict.DONE:
                self.judge.ack_confirmed(name, mine, got)
            is_same = self.judge.makings[name] == making and self.judge.makings[dead] == dead_making
            if is_same and verdict is AckVerdict.REJECT:
                self.judge.reject_confirmed(name, rejected)

        token = next(self._tokens)
        self._waiting[token] = confirmed
        body = Ack(AckOf.DELIVER, token, ranges, (), verdict, member, delay_ms)
        self._feed(self.connection[member], encode(body))

    def commit(self, records: int) -> None:
        """The disk takes all that was appended, as one batch; about one time in `records` it takes nothing yet."""
        if records != 1:
            self.log.commit()
            self._look(self.switch.poll(0))

    def crash(self) -> None:
        self.judge.crashed()
        self.of, self.got = {}, {}
        before, self._folder = self._folder, next(self._folders)
        shutil.copytree(before, self._folder)
        had = self.kept
        self.close()
        self._start()
        for name in NAMES:
            if had.get(name) != self.kept.get(name):
                self.judge.keep_gone(name)
            if name in self.kept and name not in self.judge.keeps:
                self.judge.keep_asked(name, replace(WANTED[name], ack_wait_ms=ACK_WAIT_MS))
                offered = {key for key, a in self.judge.sent.items() if WANTED[name].wants(a)}
                self.judge.keeps[name].offered |= offered
        self._look(self.switch.tick())

    def pass_time(self, steady_ms: int, wall_ms: int) -> None:
        self._ahead_ms += steady_ms
        self._wall_ms += wall_ms
        self.switch.advance(steady_ms)
        self.keeps.advance(wall_ms)
        self._look(self.switch.tick())

    def is_kept(self, name: str) -> bool:
        return name in self.kept

    # ---- what comes out ----

    @property
    def _steady(self) -> int:
        return self._ahead_ms + time.monotonic_ns() // 1_000_000

    def _feed(self, connection: int, frame: bytes) -> None:
        events = self.switch.feed(connection, frame)
        assert [e for e in events if e.type in {EventType.FRAME, EventType.FAULT}] == []
        self._look(events)

    def _look(self, events: list[SwitchEvent]) -> None:
        """Take in what the switch has to say, in the order in which it was decided."""
        if any(event.type == EventType.COMMITTED for event in events):
            self._made()
        bodies = {connection: self._sent(connection) for connection in list(self._readers)}
        self.judge.time_is(self._steady)
        given: list[tuple[int, int, DataFrame]] = []
        lost: list[tuple[int, int, str]] = []
        for member, connection in self.connection.items():
            for body in bodies.get(connection, ()):
                self._told(member, body, given, lost)
        for in_all, member, how in sorted(lost):  # several members of a keep are told the same, each in order
            self.judge.told_lost(member, how, in_all)
        for position, member, body in sorted(given, key=lambda one: one[:2]):
            self._given(position, member, body)
        for origin, connection in self.publishers.items():
            for answer in bodies[connection]:
                self._published(origin, answer)
        self._check()

    def _told(
        self, member: int, body: object, given: list[tuple[int, int, DataFrame]], lost: list[tuple[int, int, str]]
    ) -> None:
        """Take in a frame to a member; messages and losses are put behind `given` and `lost`."""
        if isinstance(body, Ack) and body.of is AckOf.DELIVER:
            assert not body.refusals
            self._waiting.pop(body.request)()
        elif isinstance(body, DataFrame) and member in self.of:
            assert body.extensions[ExtensionType.SATISFIED] == (member,)
            given.append((int(body.extensions[ExtensionType.LOG_POSITION]), member, body))  # type: ignore[call-overload]
        elif isinstance(body, Lost) and member in self.of:
            assert body.in_all
            how = HOW[LossReason(body.reason)]
            assert all(count < body.messages for count, to, other in lost if (to, other) == (member, how))
            lost.append((body.messages, member, how))

    def _published(self, origin: int, answer: object) -> None:
        if isinstance(answer, Ack):
            for first, last in answer.ranges:
                for key in [(origin, counter) for counter in range(first, last + 1)]:
                    if not is_plain(key):
                        self.judge.publish_confirmed(key)

    def _given(self, position: int, member: int, body: DataFrame) -> None:
        key = (body.message.id.origin, body.message.id.counter)
        said = body.extensions[ExtensionType.DELIVERIES]
        assert isinstance(said, DeliveryCount)
        deliveries, replayed, maybe, dead = said
        assert dict(body.message.attributes) == self.judge.sent[key]
        self.judge.given(member, position, key, deliveries, replayed=replayed, maybe=maybe, dead=dead)
        if not replayed:
            self.got[member][position] = key

    def _made(self) -> None:
        committed = self.log.committed
        for n, name in self._confirmed_at:
            if n <= committed:
                self.judge.keep_confirmed(name)
        self._confirmed_at = [(n, name) for n, name in self._confirmed_at if n > committed]

    def _sent(self, connection: int) -> list[object]:
        reader = self._readers[connection]
        while data := self.switch.output(connection, 1 << 20):
            reader.feed(data)
        return [decode(frame) for frame in reader]

    def _drop(self, member: int) -> None:
        self.judge.left(member)
        del self.of[member]

    def _check(self) -> None:
        self.keeps.validate()
        for name, (number, _) in self.kept.items():
            f = self.keeps.figures(number)
            left = {how: getattr(f, how) for how in LEFT}
            self.judge.figures(name, f.appended, left, f.open)

    # ---- the end ----

    def settle(self) -> None:
        """Everybody leaves, the disk takes all, and one consumer of each keep acknowledges until there is no more."""
        for member in list(self.of):
            self.detach(member)
        for _ in range(3):
            self.commit(10)
        last = {name: self.attach(name, ENOUGH) for name in NAMES if self.is_kept(name)}
        for _ in range(200):
            for member in last.values():
                seen = self.judge.keeps.get(self.of.get(member, ""))
                mine = [p for p, (holder, _) in seen.holders.items() if holder == member] if seen else []
                if mine:
                    self.ack(member, mine, AckVerdict.DONE)
            self.commit(10)
            if not any(self.keeps.figures(number).open for number, _ in self.kept.values()):
                break
            self.pass_time(31_000, 1)
        for _ in range(3):
            self.commit(10)
        for name, (number, _) in self.kept.items():
            f = self.keeps.figures(number)
            self.judge.at_rest(name, f.open, f.expired + f.dropped + f.undeliverable + f.skipped)
