"""SUBSCRIBE and UNSUBSCRIBE of one client, processed in order and in slices.

Law: a request is processed after the one before it, and then answered; only a request that waits for the whole network
is answered later. The answer to UNSUBSCRIBE is queued after all deliveries, so that none arrives after it. A client
with REQUESTS_MAX waiting requests is paused until half of them are done.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Sequence
from functools import partial
from time import perf_counter
from typing import Final, NamedTuple, Protocol

from tamis.native.results import Gone
from tamis.native.subscribe_frame import RefusedFilter, SubscribeFrame
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.residual import read_program
from tamis.protocol.wire.client_bodies import AckOf, Narrowed, Refusal, Unsubscribe
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.protocol.wire.routing_bodies import of_group
from tamis.router.clients.acks import answer, refusal
from tamis.router.clients.interest import Filters
from tamis.router.clients.subscriber import Subscriber
from tamis.router.connections.work import SlicedWork
from tamis.router.daemon.client_events import SubscriptionRemoved, SubscriptionsAdded
from tamis.router.daemon.events import EventBus

REQUESTS_MAX: Final = 16
FILTERS_AT_ONCE: Final = 50
"""Filters added between two checks of the time; the switch adds fewer if they are large."""
SLICE_S: Final = 0.004
"""Seconds of additions or removals in one slice. A filter takes microseconds; a large filter, or one in a large table,
takes a hundred times as long."""
REASONS_MAX: Final = 100
"""Refusals of one request that have a reason in words; further ones have a code only."""

_Slices = Generator[None, None, None]


class JudgedFrame(NamedTuple):
    """The subscriptions of a frame that are refused, and those that rules of access narrow if the switch accepts
    them."""

    refusals: list[Refusal]
    narrowed: list[Narrowed]


class SubscribingSwitch(Protocol):
    """The part of the switch that requests use; subscribers are identified by their numbers."""

    def subscribe(self, subscriber: int, frame: SubscribeFrame, filters: int) -> list[RefusedFilter]: ...

    def unsubscribe(self, subscriber: int, subscription: int) -> bool: ...


class Switchboard(Protocol):
    """The part of Connections that requests use."""

    work: SlicedWork
    events: EventBus
    is_draining: bool

    @property
    def switch(self) -> SubscribingSwitch: ...

    def settle(self) -> None:
        """Start the work, in slices, that removed filters leave in the tables."""


class Requester(Protocol):
    """The part of a client that its requests use."""

    connection: int
    name: str
    frame_bytes_max: int

    @property
    def connections(self) -> Switchboard: ...

    def judge(self, frame: SubscribeFrame, found: JudgedFrame) -> _Slices | None:
        """Return what adds to `found` what rules of access say about the subscriptions; None if there are none."""

    def counted(self) -> None:
        """Count the filters that the client has now, if a quota bounds them."""

    def joined(self) -> None:
        """End what the client has just joined if rules of access have changed while it did."""

    @property
    def is_open(self) -> bool:
        """Whether the client is admitted and not ending."""

    def send(self, kind: FrameKind, frame: bytes, urgent: bool = True) -> None: ...

    def fail(self, error: FrameError, kind: int = 0) -> None: ...

    def pause(self, is_paused: bool) -> None: ...

    def vanish(self) -> None: ...


class Requests:
    """The waiting requests of one client, for the subscriber that it serves."""

    __slots__ = ("_client", "_frames", "_is_running", "_subscriber")

    def __init__(self, client: Requester, subscriber: Subscriber) -> None:
        self._client, self._subscriber = client, subscriber
        self._frames: deque[tuple[FrameKind, bytes]] = deque()
        self._is_running = False

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, kind: FrameKind, frame: bytes) -> None:
        self._frames.append((kind, frame))
        if len(self._frames) >= REQUESTS_MAX:
            self._client.pause(True)
        if not self._is_running:
            self._is_running = True
            self._client.connections.work.add(self._run(), self._client.vanish)

    def _run(self) -> _Slices:
        client = self._client
        while self._frames and client.is_open:
            kind, frame = self._frames.popleft()
            try:
                yield from (self._subscribe(frame) if kind is FrameKind.SUBSCRIBE else self._unsubscribe(frame))
            except FrameError as error:
                client.fail(error, kind)
            except Gone:
                break
            if len(self._frames) <= REQUESTS_MAX // 2:
                client.pause(False)
        self._is_running = False

    def _subscribe(self, data: bytes) -> _Slices:
        client, subscriber, frame = self._client, self._subscriber, SubscribeFrame(data)
        yield
        refusals, narrowed = judged = JudgedFrame(_blanket_refusals(client, frame), [])
        judging = client.judge(frame, judged) if not refusals else None
        if judging is not None:
            yield from judging
        is_refused = len(refusals) == len(frame.ids)
        if refusals and not is_refused:
            frame = frame.without({each.number for each in refusals})
        stop = perf_counter() + SLICE_S
        while frame.left and not is_refused and client.is_open:
            first = len(frame.ids) - frame.left
            found = client.connections.switch.subscribe(subscriber.interface, frame, FILTERS_AT_ONCE)
            self._tell(frame, first, {item.id for item in found})
            refusals += [_told(item, subscriber, len(refusals) + index) for index, item in enumerate(found)]
            if perf_counter() > stop:
                yield
                stop = perf_counter() + SLICE_S
        client.counted()
        refused = {item.number for item in refusals}
        done = [id_ for id_ in frame.ids if id_ not in refused]
        if frame.group:
            done = self._joined(frame.group, done, refusals)
        if done and subscriber.wants_since_s is None:
            subscriber.wants_since_s = time.monotonic()
        narrowed = _of(narrowed, done) if refusals else narrowed
        say_so = partial(self._answer, AckOf.SUBSCRIBE, frame.request, done, refusals, narrowed)
        known = say_so if done and frame.waits_for_network else None
        if done:
            yield from subscriber.interest.add(lambda: _filters_of(frame, done), lambda: client.is_open, known)
        if known is None:
            say_so()

    def _tell(self, frame: SubscribeFrame, first: int, refused: set[int]) -> None:
        """Report the subscriptions just added, from index `first` on, to listeners, without the ids in `refused`."""
        client, now = self._client, frame.ids[first : len(frame.ids) - frame.left]
        taken = [id_ for id_ in now if id_ not in refused] if refused else now
        client.connections.events.tell(SubscriptionsAdded, client.name, client.connection, taken, frame)

    def _joined(self, group: str, done: list[int], refusals: list[Refusal]) -> list[int]:
        """Record the worker group of subscriptions; return those that rules let join it still, and add the others to
        `refusals`."""
        groups = self._subscriber.groups
        groups.update(dict.fromkeys(done, group))
        self._client.joined()
        ended = [id_ for id_ in done if id_ not in groups]
        refusals += [refusal(id_, RefusalCode.NOT_ALLOWED, f"the rules changed: no group {group}") for id_ in ended]
        return [id_ for id_ in done if id_ in groups]

    def _unsubscribe(self, data: bytes) -> _Slices:
        client, subscriber, body = self._client, self._subscriber, decode(data)
        assert isinstance(body, Unsubscribe)  # noqa: S101 - the kind of the frame implies it
        yield
        done: list[int] = []
        refusals: list[Refusal] = []
        stop = perf_counter() + SLICE_S
        for id_ in body.ids:
            if not client.is_open:
                return
            if client.connections.switch.unsubscribe(subscriber.interface, id_):
                done.append(id_)
                subscriber.groups.pop(id_, None)
                client.connections.events.tell(SubscriptionRemoved, client.name, client.connection, id_)
            else:
                refusals.append(refusal(id_, RefusalCode.NO_SUCH_ID, f"there is no subscription {id_}"))
            if perf_counter() > stop:
                yield
                stop = perf_counter() + SLICE_S
        client.counted()
        client.connections.settle()
        yield from subscriber.interest.remove(done)
        self._answer(AckOf.UNSUBSCRIBE, body.request, done, refusals)

    def _answer(
        self, of: AckOf, request: int, done: list[int], refusals: list[Refusal], narrowed: Sequence[Narrowed] = ()
    ) -> None:
        client = self._client
        if client.is_open:
            for frame in answer(of, request, done, refusals, client.frame_bytes_max, narrowed):
                client.send(FrameKind.ACK, frame, urgent=of is AckOf.SUBSCRIBE)


def _of(narrowed: list[Narrowed], ids: list[int]) -> list[Narrowed]:
    """Return those of the subscriptions `ids`."""
    there = {*ids}
    return [each for each in narrowed if each.id in there]


def _filters_of(frame: SubscribeFrame, ids: list[int]) -> Filters:
    """Return the filters of subscriptions `ids`, marked with the worker group of the frame if it names one."""
    filters, group = frame.filters, frame.group
    if not group:
        return {id_: filters[id_] for id_ in ids}
    return {id_: tuple(of_group(packed, group) for packed in filters[id_]) for id_ in ids}


def _blanket_refusals(client: Requester, frame: SubscribeFrame) -> list[Refusal]:
    """Return the refusals of a whole frame; none if each filter is decided by itself."""
    if client.connections.is_draining:
        return [refusal(id_, RefusalCode.DRAINING, "the router is draining") for id_ in frame.ids]
    if frame.is_durable:
        reason = "a SUBSCRIBE cannot be durable: CREATE_DURABLE makes a durable subscription"
        return [refusal(id_, RefusalCode.NOT_ALLOWED, reason) for id_ in frame.ids]
    return []


def _told(item: RefusedFilter, subscriber: Subscriber, number: int) -> Refusal:
    return refusal(item.id, item.code, _reason(item, subscriber) if number < REASONS_MAX else "")


def _reason(item: RefusedFilter, subscriber: Subscriber) -> str:
    if item.code == RefusalCode.BAD_FILTER:
        return _what_is_wrong(item)
    if item.code == RefusalCode.OVER_QUOTA and item.residual:
        return (
            f"a client may have at most {subscriber.unindexed_max:,} subscriptions that a program decides for every "
            "message (limits.unindexed_per_client)"
        )
    if item.code == RefusalCode.TOO_MANY_FILTERS:
        return f"a client may have at most {subscriber.filters_max:,} filters (limits.filters_per_client)"
    if item.code == RefusalCode.OVER_QUOTA:
        bytes_max = f"{subscriber.table_bytes_max:,} bytes of table (limits.table_bytes_per_client)"
        return f"a client's filters may use at most {bytes_max}"
    if item.code == RefusalCode.ID_IN_USE:
        return f"subscription {item.id} exists already"
    return "the router has no memory left for filters"


def _what_is_wrong(item: RefusedFilter) -> str:
    try:
        if item.residual:
            read_program(item.residual)
        elif not item.filter:
            return "a worker group takes filters that decide alone, not one with a residual program"
        decode_filter(item.filter)
    except Refused as error:
        return f"the residual program: {error}"
    except FrameError as error:
        return error.problem
    return "the filter cannot be decoded"
