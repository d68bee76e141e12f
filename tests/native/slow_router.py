"""A switch with durable subscriptions over a log that commits on command of the test, its publishers and readers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Final

from tamis.client.durable.policy import durable_of
from tamis.native import Admission, EventType, SubscribeFrame, Switch, SwitchOptions, Table
from tamis.native.durables import SwitchDurables
from tamis.native.log import Log
from tamis.native.switch_values import SwitchEvent
from tamis.protocol.filters import EVERYTHING
from tamis.protocol.messages import MessageId
from tamis.protocol.wire.client_bodies import (
    Ack,
    AckOf,
    AckVerdict,
    Credit,
    Lost,
    Reach,
    Subscribe,
    SubscriptionItem,
    ranges_of,
)
from tamis.protocol.wire.codes import LossReason, RefusalCode
from tamis.protocol.wire.data_frames import DataFrame, encode_publish
from tamis.protocol.wire.durable_bodies import DurablePolicy
from tamis.protocol.wire.extensions import ExtensionType
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.reader import FrameReader

RING: Final = 1 << 16
STORED: Final = Flags.CONFIRM | Flags.DURABLE
ONE_DURABLE: Final = {1: durable_of("jobs", 'kind = "job"').policy}


class Publisher:
    """A client that publishes as its credit allows, and what it was told."""

    def __init__(self, router: SlowRouter, number: int, credit: int) -> None:
        opened = router.switch.open()
        assert opened is not None
        self.router, self.number, self.connection, self.credit = router, number, opened, credit
        self.counters = count(1)
        self.confirmed: list[int] = []
        self.refused: dict[int, RefusalCode] = {}
        self.reasons: dict[int, str] = {}
        self._reader = FrameReader()
        router.switch.admit(opened, Admission(number, 1 << 24, 1 << 24, credit, 1 << 20, 1_000, version=2))
        self._reader.authenticated()

    def publish(self, kind: str = "job", flags: Flags = STORED, size: int = 900, *, again: int = 0) -> int:
        """Send a message, or `again` the one of this counter; its counter is returned."""
        counter = again or next(self.counters)
        flags |= Flags.RETRY if again else Flags(0)
        assert counter <= self.credit
        frame = encode_publish(self.number, counter, 0, {"kind": kind}, b"x" * size, flags)
        self.router.look(self.router.switch.feed(self.connection, frame))
        return counter

    def look(self) -> None:
        while data := self.router.switch.output(self.connection, 1 << 20):
            self._reader.feed(data)
        for frame in self._reader:
            body = decode(frame)
            if isinstance(body, Ack) and body.of is AckOf.PUBLISH:
                self.confirmed += [n for first, last in body.ranges for n in range(first, last + 1)]
                self.refused |= {each.number: RefusalCode(each.code) for each in body.refusals}
                self.reasons |= {each.number: each.reason for each in body.refusals}
            elif isinstance(body, Credit):
                self.credit = body.frames_total


class Reader:
    """A client that reads everything: as a subscriber, or as a consumer that acknowledges nothing."""

    def __init__(self, router: SlowRouter, number: int, durable: int, *, credit: int, after: int, latest: bool) -> None:
        opened = router.switch.open()
        assert opened is not None
        self.router, self.connection = router, opened
        self.got: list[MessageId] = []
        self.lost: dict[LossReason, int] = {}
        self.ranges: list[Lost] = []
        """Unknown ranges of messages that entered at other routers."""
        self.positions: list[int] = []
        self._acknowledged = 0
        self._reader = FrameReader()
        router.switch.admit(opened, Admission(number, 1 << 24, 1 << 24, 1_000, 1 << 20, 1_000, version=2))
        self._reader.authenticated()
        if durable:
            assert router.durables.consume(durable, opened, 1, credit, after=after, latest=latest)
        else:
            all_of_it = Subscribe(1, (SubscriptionItem(1, (encode_filter(EVERYTHING),)),), False, Reach.HOME, False)
            subscriber = router.switch.subscriber_of(opened)
            assert router.switch.subscribe(subscriber, SubscribeFrame(encode(all_of_it)), 10) == []

    def look(self) -> None:
        while data := self.router.switch.output(self.connection, 1 << 20):
            self._reader.feed(data)
        for frame in self._reader:
            body = decode(frame)
            if isinstance(body, DataFrame):
                self.got.append(body.message.id)
                self.positions.append(int(body.extensions.get(ExtensionType.LOG_POSITION, 0)))  # type: ignore[call-overload]
            elif isinstance(body, Lost) and body.unknowns and not body.in_all:
                self.ranges.append(body)
            elif isinstance(body, Lost):
                self.lost[LossReason(body.reason)] = body.messages

    def acknowledge(self, verdict: AckVerdict = AckVerdict.DONE) -> None:
        """... all that it got."""
        ack = Ack(AckOf.DELIVER, 0, ranges_of(self.positions[self._acknowledged :]), (), verdict, 1)
        self._acknowledged = len(self.positions)
        self.router.look(self.router.switch.feed(self.connection, encode(ack)))


class SlowRouter:
    """A switch over a log that commits on command, with durable subscriptions by number."""

    def __init__(
        self,
        folder: Path,
        bytes_max: int = 1 << 24,
        durables: Mapping[int, DurablePolicy] = ONE_DURABLE,
        copied: Collection[int] = (),
    ) -> None:
        """`copied`: those with copies at other homes."""
        self._folder, self._bytes_max, self.policy, self._copied = folder, bytes_max, dict(durables), copied
        self._start()
        for number, policy in durables.items():
            self.durables.open(number, policy, copies=int(number in copied))

    def _start(self) -> None:
        self.log = Log(
            self._folder, bytes_max=self._bytes_max, segment_bytes=1 << 18, ring_bytes=RING, has_no_threads=True
        )
        self.table = Table()
        options = SwitchOptions(
            number=99, epoch=1, connections_max=20, subscribers_max=40, publishers_max=20, hop_limit=9
        )
        self.switch = Switch(self.table, options)
        self.durables = SwitchDurables(self.switch, self.log, ring_bytes=RING, has_no_thread=True)
        self.waiting: set[int] = set()
        self.publishers: list[Publisher] = []
        self.readers: list[Reader] = []

    def restart(self) -> None:
        """... with all that was committed. Clients are gone."""
        self.close()
        self._start()
        for number, policy in self.policy.items():
            self.durables.open(number, policy, recovered_from=1, copies=int(number in self._copied))

    def publisher(self, number: int, credit: int = 1_000) -> Publisher:
        made = Publisher(self, number, credit)
        self.publishers.append(made)
        return made

    def reader(
        self, number: int, durable: int = 0, *, credit: int = 1 << 20, after: int = 0, latest: bool = False
    ) -> Reader:
        made = Reader(self, number, durable, credit=credit, after=after, latest=latest)
        self.readers.append(made)
        self.turn()
        return made

    def look(self, events: Iterable[SwitchEvent]) -> None:
        for event in events:
            assert event.type != EventType.FAULT
            if event.type == EventType.WAITS:
                self.waiting.add(event.connection)
            elif event.type == EventType.GOES_ON:
                self.waiting.discard(event.connection)
        for each in [*self.publishers, *self.readers]:
            each.look()
        self.durables.validate()

    def turn(self) -> None:
        self.look(self.switch.poll(1_000))
        self.look(self.switch.tick())

    def commit(self) -> None:
        """All that was appended is on disk, and what that lets happen has happened, and is on disk, too."""
        for _ in range(3):
            while self.log.commit():
                pass
            while not self.log.maintain():
                pass
            self.turn()

    @property
    def held(self) -> int:
        return self.durables.all_figures().held

    def close(self) -> None:
        self.durables.close()
        self.switch.close()
        self.table.close()
        self.log.close()
