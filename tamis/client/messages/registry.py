"""The subscriptions of a client and the router's answers to them.

    ASKED --ACK--> ACTIVE --end--> ENDING --ACK--> ENDED          after a cut, ASKED and ACTIVE are sent again, with a
      `--refused---------------------------------->-'             Gap if they had been active; ENDING becomes ENDED

Law: each id is sent to the router once per connection, in batches. An ended subscription puts nothing more into its
inbox, except during a drain: then it receives messages up to the router's answer. The Gap of a cut comes before all
messages of the new connection, and reaches back to the last data on the old one. Messages may arrive before the ACK,
while some routers do not know the subscription yet: a second Gap stands for messages missing until the ACK.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Protocol

from tamis.client.errors import SubscriptionRefused
from tamis.client.gap import Gap, GapReason, gap_of
from tamis.client.message import Message
from tamis.client.messages.deciding import Deciding
from tamis.client.messages.inbox import Inbox, InboxBounds
from tamis.client.messages.pending import (
    ON_ITS_WAY_S,
    PackedPredicate,
    PendingSubscription,
    SubscribeOptions,
    SubscriptionState,
    batches,
    id_batches,
    subscription_bytes,
)
from tamis.client.messages.waiter import Waiter, settle
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.filters import Predicate
from tamis.protocol.language import format_predicate
from tamis.protocol.limits import FRAME_BYTES_MAX
from tamis.protocol.wire.client_bodies import Ack, AckOf, Lost, Reach, Refusal, Subscribe, SubscriptionItem, Unsubscribe
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.frames import Body
from tamis.protocol.wire.packed_filters import decode_filter

NO_GROUPS: Final = "this router has no worker groups: it is of an earlier version"


@dataclass(slots=True)
class _Request:
    """A batch without a full answer: `due` are the ids without an answer."""

    of: AckOf
    due: set[int]


class Asking(Protocol):
    """A connection over which subscriptions are sent."""

    frame_bytes_max: int
    has_groups: bool
    runs_programs: bool

    def send(self, body: Body) -> None: ...


class Elsewhere(Protocol):
    """Another router, which is about to become the current one and has the client's subscriptions, too."""

    def asked(self, wanted: PendingSubscription) -> None: ...

    def ended(self, ids: Sequence[int]) -> None: ...


class AskedElsewhere:
    """The subscriptions sent to another router, and its answers."""

    def __init__(self) -> None:
        self.due: dict[int, set[int]] = {}
        """By request number: the ids without an answer."""
        self.refusals: dict[int, Refusal] = {}
        self.narrowed: dict[int, str | None] = {}

    def answer(self, ack: Ack) -> None:
        due = self.due.get(ack.request, set())
        refused = {refusal.number: refusal for refusal in ack.refusals}
        answered = set(_answered(ack, refused, due))
        self.refusals.update((id_, refused[id_]) for id_ in answered & refused.keys())
        self.narrowed.update(_narrowed(ack, answered))
        self.due[ack.request] = due - answered
        self._tidy()

    def forget(self, ids: Iterable[int]) -> None:
        """Expect no answer about these ids."""
        for due in self.due.values():
            due.difference_update(ids)
        for id_ in ids:
            self.refusals.pop(id_, None)
            self.narrowed.pop(id_, None)
        self._tidy()

    def _tidy(self) -> None:
        self.due = {number: ids for number, ids in self.due.items() if ids}


class Registry:
    """The subscriptions of one client. `send` appends a control frame to the output; it is not called before `opened`
    or after `closed`. `heard_s` returns when data arrived from the router last: while a frame is processed, that is
    now. `tell` is called once with each Gap, however many subscriptions it concerns."""

    def __init__(
        self,
        bounds: InboxBounds,
        send: Callable[[Body], None],
        heard_s: Callable[[], float],
        tell: Callable[[Gap], object],
    ) -> None:
        self.full: set[Inbox] = set()
        """Inboxes at their bound: while there is one, and no call waits for an answer, nothing is read."""
        self.unclaimed = 0
        """How many messages arrived for no subscription that still receives."""
        self.bounds = bounds
        self._send = send
        self._heard_s = heard_s
        self._tell = tell
        self._ids = count(1)
        self._request_numbers = count(1)
        self._requests: dict[int, _Request] = {}
        self._wanted: dict[int, PendingSubscription] = {}  # by each id, until it has ended
        self._inboxes: dict[int, Inbox] = {}  # by each id, while it receives messages
        self._consumers: set[int] = set()  # the ids of consumers, set by `claim`
        self._returning: dict[
            int, PendingSubscription
        ] = {}  # by each id, from a cut to the first item of the next connection
        self._frame_bytes_max = 0  # 0: no connection is open
        self._has_groups = self._runs_programs = False
        self.deciding = Deciding()
        self.elsewhere: Elsewhere | None = None

    # --- commands of the user ------------------------------------------------------------------------------------

    def subscribe(
        self,
        predicates: Sequence[PackedPredicate],
        options: SubscribeOptions,
        waiter: Waiter,
        inbox: Inbox | None = None,
    ) -> PendingSubscription:
        """Subscribe to messages that satisfy one of `predicates`, with `inbox` or a new one; settle `waiter` when the
        router has answered for all predicates."""
        if not predicates:
            raise Refused("a subscription has at least one predicate")
        subscriptions = tuple(each.item(next(self._ids)) for each in predicates)
        for subscription in subscriptions:
            self._check_size(subscription)
        texts = tuple(predicate.text for predicate in predicates)
        wanted = PendingSubscription(
            texts, subscriptions, options, inbox or Inbox(self.bounds, self.full, self._tell), waiter
        )
        for id_ in wanted.ids:
            self._wanted[id_] = wanted
            self._inboxes[id_] = wanted.inbox
        if self._frame_bytes_max:
            self._ask([wanted])
        if self.elsewhere is not None:
            self.elsewhere.asked(wanted)
        return wanted

    def end(self, wanted: PendingSubscription, waiter: Waiter | None, *, durable: bool = False) -> None:
        """End a subscription and settle `waiter` when the router has answered. Unless `keep`, messages that were not
        taken are discarded."""
        if not durable:
            wanted.inbox.clear()
            wanted.inbox.end()
            self._stop(wanted)
        if wanted.state in (SubscriptionState.ENDING, SubscriptionState.ENDED):
            settle(waiter)
            return
        settle(wanted.waiter)
        wanted.waiter = waiter
        held = [id_ for id_ in wanted.ids if id_ not in wanted.refusals]
        if not self._frame_bytes_max or not held:
            self._over(wanted)
            return
        wanted.state = SubscriptionState.ENDING
        wanted.due = set(held)
        for ids in id_batches(held):
            self._send(Unsubscribe(self._request(AckOf.UNSUBSCRIBE, ids), ids))
        if self.elsewhere is not None:
            self.elsewhere.ended(held)

    def end_all(self) -> None:
        """End all subscriptions, as part of a drain: receive messages until the router has answered."""
        for wanted in self.all():
            self.end(wanted, None, durable=True)

    def all(self) -> list[PendingSubscription]:
        return list(dict.fromkeys(self._wanted.values()))

    # --- for consumers, whose ids are among those of subscriptions -----------------------------------------------

    def next_id(self) -> int:
        return next(self._ids)

    def claim(self, id_: int, inbox: Inbox) -> None:
        """Put messages for the consumer `id_` into `inbox`, until `release`."""
        self._inboxes[id_] = inbox
        self._consumers.add(id_)

    def release(self, id_: int) -> None:
        self._inboxes.pop(id_, None)
        self._consumers.discard(id_)

    @property
    def awaits_answer(self) -> bool:
        return bool(self._requests)

    # --- for a handover, while two routers have the subscriptions ----------------------------------------------------

    def next_request(self) -> int:
        return next(self._request_numbers)

    def wanting(self, ids: Iterable[int]) -> set[PendingSubscription]:
        """Return the subscriptions with these ids that still receive messages."""
        return {self._wanted[id_] for id_ in ids if id_ in self._inboxes and id_ in self._wanted}

    def told_of(self, lost: Lost) -> set[PendingSubscription]:
        """Return the subscriptions that a loss concerns: all of them if the router names none."""
        return self.wanting(lost.subscriptions or tuple(self._inboxes))

    def hand(self, wanted: PendingSubscription, item: Message | Gap) -> None:
        """Put an item into the inbox of one subscription, if that still receives."""
        if not self._takes(wanted):
            return
        if self._returning:
            self._come_back(wanted.ids)
        if isinstance(item, Gap):
            wanted.inbox.put_gap(item)
            self._tell(item)
        else:
            wanted.inbox.put(item)

    def _takes(self, wanted: PendingSubscription) -> bool:
        return any(self._inboxes.get(id_) is wanted.inbox for id_ in wanted.ids)

    def is_consumed(self, ids: Iterable[int]) -> bool:
        """Return whether one of these ids is that of a consumer."""
        return not self._consumers.isdisjoint(ids)

    def ask_at(self, line: Asking, wanted: Iterable[PendingSubscription], asked: AskedElsewhere) -> None:
        """Subscribe at another router, too, whose answer waits until every router within reach has the subscriptions;
        record the requests in `asked`."""
        for options, batch in _asked_together(wanted, line.frame_bytes_max):
            ids = {subscription.id for subscription in batch}
            number = self.next_request()
            try:
                if options.group and not line.has_groups:
                    raise Refused(NO_GROUPS)
                asked_for = batch if line.runs_programs else self.deciding.taken_over(batch)
                line.send(
                    Subscribe(
                        number, asked_for, options.own_messages, Reach.NETWORK, durable=False, group=options.group
                    )
                )
                asked.due[number] = ids
            except Refused as error:
                code = RefusalCode.NOT_ALLOWED if options.group and not line.has_groups else RefusalCode.TOO_LARGE
                asked.refusals.update((id_, Refusal(id_, code, str(error))) for id_ in ids)

    def move(self, line: Asking, asked: AskedElsewhere, *, is_cut: bool) -> None:
        """Make the router of `line` the current one, with the answers in `asked`; `is_cut`: messages in flight from the
        router before are lost."""
        if is_cut:
            self.cut()
        self._frame_bytes_max, self._has_groups = line.frame_bytes_max, line.has_groups
        self._runs_programs = line.runs_programs
        self._requests = {number: _Request(AckOf.SUBSCRIBE, ids) for number, ids in asked.due.items()}
        due = {id_ for ids in asked.due.values() for id_ in ids}
        for wanted in self.all():
            wanted.due = due & set(wanted.ids)
            wanted.refusals = {id_: asked.refusals[id_] for id_ in wanted.ids if id_ in asked.refusals}
            wanted.narrowed = {id_: asked.narrowed[id_] for id_ in wanted.ids if id_ in asked.narrowed}
            if not wanted.due:
                self._answered_for(wanted)

    def expect_gaps(self, ids: Iterable[int]) -> None:
        """Put a Gap for these ids: messages of the router before are lost."""
        for wanted in self.wanting(ids):
            self._expect_gap(wanted)
            self._tell_gap(wanted)
            wanted.missing_since_s = None

    # --- what the connection does --------------------------------------------------------------------------------

    def opened(self, frame_bytes_max: int, *, has_groups: bool = False, runs_programs: bool = False) -> None:
        """Send all subscriptions over the new connection. `has_groups`: its router supports groups; `runs_programs`: it
        runs residual programs."""
        self._frame_bytes_max = frame_bytes_max
        self._has_groups, self._runs_programs = has_groups, runs_programs
        self.deciding.clear()
        self._ask(self.all())

    def cut(self) -> None:
        self._frame_bytes_max = 0
        self._requests.clear()
        for wanted in self.all():
            if wanted.state is SubscriptionState.ENDING:
                self._over(wanted)
            else:
                wanted.state = SubscriptionState.ASKED
                wanted.refusals.clear()
                wanted.narrowed.clear()
                self._expect_gap(wanted)

    def closed(self, error: Exception | None) -> None:
        """End for good: every iterator ends, or raises `error`."""
        self._frame_bytes_max = 0
        self._requests.clear()
        for wanted in self.all():
            wanted.inbox.end(error)
            settle(wanted.waiter, error if wanted.state is SubscriptionState.ASKED else None)
            self._over(wanted)

    def deliver(self, message: Message) -> None:
        """Put a message into every inbox that it is for."""
        if self._returning:
            self._come_back(message.matched)
        inboxes = {inbox for id_ in message.matched if (inbox := self._inboxes.get(id_)) is not None}
        for inbox in inboxes:
            inbox.put(message)
        if not inboxes:
            self.unclaimed += 1

    def deliver_run(self, frames: Sequence[bytes], ids: Sequence[int], positions: Sequence[int]) -> int:
        """Deliver frames, each for the one subscription or consumer in `ids`; `positions` are those of durable
        messages, 0 of others. Return how many were delivered: all, or those before the first for a consumer without
        a position."""
        end = self._unplaced(ids, positions) if self._consumers and 0 in positions else len(ids)
        if end < len(ids):
            frames, ids, positions = frames[:end], ids[:end], positions[:end]
        if self._returning:
            self._come_back(ids)
        if len(set(ids)) == 1:
            self._deliver_to(self._inboxes.get(ids[0]), frames, ids, positions)
            return end
        rows: dict[Inbox | None, list[int]] = {}
        for row, inbox in enumerate(map(self._inboxes.get, ids)):
            rows.setdefault(inbox, []).append(row)
        for inbox, mine in rows.items():
            self._deliver_to(
                inbox, [frames[row] for row in mine], [ids[row] for row in mine], [positions[row] for row in mine]
            )
        return end

    def _unplaced(self, ids: Sequence[int], positions: Sequence[int]) -> int:
        """Return the index of the first row of a consumer that has no position; the number of rows if all have."""
        for row, (id_, position) in enumerate(zip(ids, positions, strict=True)):
            if not position and id_ in self._consumers:
                return row
        return len(ids)

    def _deliver_to(
        self, inbox: Inbox | None, frames: Sequence[bytes], ids: Sequence[int], positions: Sequence[int]
    ) -> None:
        if inbox is None:
            self.unclaimed += len(frames)
        else:
            inbox.put_run(frames, ids, positions)

    def lost(self, lost: Lost) -> None:
        """Put a gap into the inboxes that it concerns: all of them if the router names none."""
        ids = lost.subscriptions or tuple(self._inboxes)
        if self._returning:
            self._come_back(ids)
        inboxes = {inbox for id_ in ids if (inbox := self._inboxes.get(id_)) is not None}
        for inbox in inboxes:
            inbox.put_gap(gap_of(lost))
        if inboxes:
            self._tell(gap_of(lost))

    def answer(self, ack: Ack) -> None:
        request = self._requests.get(ack.request)
        if request is None or request.of is not ack.of:
            raise FrameError(ErrorCode.MALFORMED, f"an ACK of {ack.of.name}, request {ack.request}, which is not open")
        refused = {refusal.number: refusal for refusal in ack.refusals}
        for id_, text in _narrowed(ack, request.due):
            if (wanted := self._wanted.get(id_)) is not None:
                wanted.narrowed[id_] = text
        for id_ in list(_answered(ack, refused, request.due)):
            request.due.discard(id_)
            self._answer_one(id_, refused.get(id_), ack.of)
        if not request.due:
            del self._requests[ack.request]

    # --- steps ---------------------------------------------------------------------------------------------------

    def _ask(self, wanted: Iterable[PendingSubscription]) -> None:
        wanted = list(wanted)
        for each in wanted:
            each.due = set(each.ids)
        for options, batch in _asked_together(wanted, self._frame_bytes_max):
            if options.group and not self._has_groups:
                self._refuse_group(batch)
                continue
            asked_for = batch if self._runs_programs else self.deciding.taken_over(batch)
            number = self._request(AckOf.SUBSCRIBE, [subscription.id for subscription in batch])
            try:
                self._send(
                    Subscribe(number, asked_for, options.own_messages, options.wait, durable=False, group=options.group)
                )
            except Refused as error:  # a single predicate, longer than the frames this router takes
                del self._requests[number]
                too_large = Refusal(batch[0].id, RefusalCode.TOO_LARGE, str(error))
                self._answer_one(batch[0].id, too_large, AckOf.SUBSCRIBE)

    def _refuse_group(self, subscriptions: Iterable[SubscriptionItem]) -> None:
        """Refuse subscriptions with a group at a router that would ignore the group, and deliver to every member."""
        for subscription in subscriptions:
            refusal = Refusal(subscription.id, RefusalCode.NOT_ALLOWED, NO_GROUPS)
            self._answer_one(subscription.id, refusal, AckOf.SUBSCRIBE)

    def _request(self, of: AckOf, ids: Iterable[int]) -> int:
        number = next(self._request_numbers)
        self._requests[number] = _Request(of, set(ids))
        return number

    def _answer_one(self, id_: int, refusal: Refusal | None, of: AckOf) -> None:
        wanted = self._wanted.get(id_)
        if wanted is None or (wanted.state is SubscriptionState.ENDING) is not (of is AckOf.UNSUBSCRIBE):
            return  # ended before it was answered: only the later answer counts
        if refusal is not None and refusal.code == RefusalCode.DRAINING and of is AckOf.SUBSCRIBE:
            return  # this router drains: the subscription stays open for the next connection
        wanted.due.discard(id_)
        if refusal is not None and of is AckOf.SUBSCRIBE:
            wanted.refusals[id_] = refusal
        if not wanted.due:
            self._answered_for(wanted)

    def _answered_for(self, wanted: PendingSubscription) -> None:
        if wanted.state is SubscriptionState.ENDING:
            self._over(wanted)
            return
        self._tell_gap(wanted)
        wanted.missing_since_s = None  # from here on nothing is missing
        if wanted.refusals:
            self._refused(wanted)
        else:
            wanted.state = SubscriptionState.ACTIVE
            wanted.was_active = True
            settle(wanted.waiter)

    def _expect_gap(self, wanted: PendingSubscription) -> None:
        """Record, after a cut, that messages in flight to an active subscription are lost, and so are those published
        from now on."""
        if not wanted.was_active:
            return
        since_s, untold_s = self._heard_s() - ON_ITS_WAY_S, wanted.missing_since_s
        wanted.missing_since_s = since_s if untold_s is None else min(since_s, untold_s)
        self._returning.update(dict.fromkeys(wanted.ids, wanted))

    def _come_back(self, ids: Iterable[int]) -> None:
        """Put the Gap of the cut into those of these subscriptions that have received no item since."""
        for wanted in {wanted for id_ in ids if (wanted := self._returning.get(id_)) is not None}:
            self._tell_gap(wanted)
            if wanted.is_whole_at_once:
                wanted.missing_since_s = None

    def _tell_gap(self, wanted: PendingSubscription) -> None:
        """Put a Gap for messages that may be missing until now and were not reported yet."""
        now_s, since_s = self._heard_s(), wanted.missing_since_s
        if since_s is not None:
            gap = Gap(GapReason.RECONNECTED, span_s=now_s - since_s)
            wanted.inbox.put_gap(gap)
            self._tell(gap)
            wanted.missing_since_s = now_s
        self._returned(wanted)

    def _returned(self, wanted: PendingSubscription) -> None:
        for id_ in wanted.ids:
            self._returning.pop(id_, None)

    def _refused(self, wanted: PendingSubscription) -> None:
        """End a subscription of which the router refused a predicate: a partial subscription is not kept."""
        error = SubscriptionRefused({wanted.text_of(id_): refusal for id_, refusal in wanted.refusals.items()})
        settle(wanted.waiter, error)
        wanted.inbox.end(error)
        self._stop(wanted)
        self.end(wanted, None, durable=True)

    def _stop(self, wanted: PendingSubscription) -> None:
        self._returned(wanted)
        for id_ in wanted.ids:
            self._inboxes.pop(id_, None)

    def _over(self, wanted: PendingSubscription) -> None:
        wanted.state = SubscriptionState.ENDED
        self.deciding.forget(wanted.ids)
        self._stop(wanted)
        for id_ in wanted.ids:
            self._wanted.pop(id_, None)
        wanted.inbox.end()
        settle(wanted.waiter)

    def _check_size(self, subscription: SubscriptionItem) -> None:
        most = self._frame_bytes_max or FRAME_BYTES_MAX
        if (size := subscription_bytes(subscription)) > most // 2:
            raise Refused(f"a predicate takes at most {most // 2} bytes when packed, this one {size}")


def _asked_together(
    wanted: Iterable[PendingSubscription], frame_bytes_max: int
) -> Iterator[tuple[SubscribeOptions, tuple[SubscriptionItem, ...]]]:
    """Yield the batches that fit one SUBSCRIBE each, with the options that all subscriptions of the batch share."""
    by_options: dict[SubscribeOptions, list[SubscriptionItem]] = {}
    for each in wanted:
        by_options.setdefault(each.options, []).extend(each.subscriptions)
    for options, subscriptions in by_options.items():
        for batch in batches(subscriptions, frame_bytes_max):
            yield options, batch


def _narrowed(ack: Ack, ids: Collection[int]) -> Iterator[tuple[int, str | None]]:
    """Yield those of `ids` that rules of access narrow, with the predicate in force; None if it was not told."""
    for id_, filters in ack.narrowed:
        if id_ in ids:
            yield id_, format_predicate(Predicate(tuple(map(decode_filter, filters)))) if filters else None


def _answered(ack: Ack, refused: dict[int, Refusal], due: set[int]) -> Iterator[int]:
    """Yield the ids in `due` that `ack` answers for; other ids are ignored."""
    yield from (id_ for id_ in refused if id_ in due)
    for first, last in ack.ranges:
        if last - first < len(due):
            yield from (id_ for id_ in range(first, last + 1) if id_ in due)
        else:
            yield from (id_ for id_ in due if first <= id_ <= last)
