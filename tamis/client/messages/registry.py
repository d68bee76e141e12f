"""The subscriptions of a client and what the router has answered for them.

    ASKED --ACK--> ACTIVE --end--> ENDING --ACK--> ENDED          a cut: ASKED and ACTIVE are asked for again, with a
      `--refused---------------------------------->-'             Gap where they had been active; ENDING is over

Law: the router is asked for each id once a connection, in batches. From the moment a subscription is ended its inbox
takes nothing more, unless it is drained: then it takes what comes up to the router's answer. The Gap of a cut stands in
front of all that the new connection brings, and reaches back to the last sign of life on the old one. Messages may come
before the ACK, when not all routers that are asked for them know it yet: a second Gap stands for what is missing up to
the ACK.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Protocol

from tamis.client.errors import SubscriptionRefused
from tamis.client.gap import Gap, GapReason, gap_of
from tamis.client.message import Message
from tamis.client.messages.inbox import Inbox, InboxBounds
from tamis.client.messages.waiter import Waiter, settle
from tamis.client.messages.wanted import (
    ON_ITS_WAY_S,
    PackedPredicate,
    PendingSubscription,
    SubscribeOptions,
    SubscriptionState,
    batches,
    id_batches,
    subscription_bytes,
)
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import FRAME_BYTES_MAX
from tamis.protocol.wire.client_bodies import Ack, AckOf, Lost, Reach, Refusal, Subscribe, SubscriptionItem, Unsubscribe
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.frames import Body

NO_GROUPS: Final = "this router has no groups: it is of an earlier version"


@dataclass(slots=True)
class _Request:
    """A batch that the router has not answered in full yet: `due` are the ids without an answer."""

    of: AckOf
    due: set[int]


class Asking(Protocol):
    """A connection over which subscriptions are asked for."""

    frame_bytes_max: int
    has_groups: bool

    def send(self, body: Body) -> None: ...


class Elsewhere(Protocol):
    """Another router that is about to become this client's, and has the same subscriptions."""

    def asked(self, wanted: PendingSubscription) -> None: ...

    def ended(self, ids: Sequence[int]) -> None: ...


class AskedElsewhere:
    """What another router was asked for, and what it has answered."""

    def __init__(self) -> None:
        self.due: dict[int, set[int]] = {}
        """By number of the request: the ids without an answer."""
        self.refusals: dict[int, Refusal] = {}

    def answer(self, ack: Ack) -> None:
        due = self.due.get(ack.request, set())
        refused = {refusal.number: refusal for refusal in ack.refusals}
        answered = set(_answered(ack, refused, due))
        self.refusals.update((id_, refused[id_]) for id_ in answered & refused.keys())
        self.due[ack.request] = due - answered
        self._tidy()

    def forget(self, ids: Iterable[int]) -> None:
        """Wait for no answer about these ids."""
        for due in self.due.values():
            due.difference_update(ids)
        for id_ in ids:
            self.refusals.pop(id_, None)
        self._tidy()

    def _tidy(self) -> None:
        self.due = {number: ids for number, ids in self.due.items() if ids}


class Registry:
    """The subscriptions of one client. `send` puts a control frame into the output. Until `opened`, and after `closed`,
    nothing is sent. `heard_s` returns when the router was heard last: while a frame of it is handled, that is now.
    `tell` is called with each Gap, however many subscriptions it concerns."""

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
        """How many messages came for no subscription that still takes any."""
        self.bounds = bounds
        self._send = send
        self._heard_s = heard_s
        self._tell = tell
        self._ids = count(1)
        self._request_numbers = count(1)
        self._requests: dict[int, _Request] = {}
        self._wanted: dict[int, PendingSubscription] = {}  # by each id, until it is over
        self._inboxes: dict[int, Inbox] = {}  # by each id, while messages are taken for it
        self._attachments: set[int] = set()  # those ids that `claim` named
        self._returning: dict[
            int, PendingSubscription
        ] = {}  # by each id, from a cut to the first item of the next connection
        self._frame_bytes_max = 0  # 0: no connection is open
        self._has_groups = False
        self.elsewhere: Elsewhere | None = None

    # --- commands of the user ------------------------------------------------------------------------------------

    def subscribe(
        self,
        predicates: Sequence[PackedPredicate],
        options: SubscribeOptions,
        waiter: Waiter,
        inbox: Inbox | None = None,
    ) -> PendingSubscription:
        """Subscribe to what satisfies one of `predicates`, for a new inbox or for `inbox`; settle `waiter` when the
        router has answered for all of them."""
        if not predicates:
            raise Refused("a subscription has at least one predicate")
        subscriptions = tuple(SubscriptionItem(next(self._ids), predicate.filters) for predicate in predicates)
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

    def end(self, wanted: PendingSubscription, waiter: Waiter | None, *, keep: bool = False) -> None:
        """End a subscription and settle `waiter` when the router has answered. Unless `keep`, what has arrived and was
        not taken is forgotten."""
        if not keep:
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
        """End all subscriptions, as in a drain: take what arrives until the router has answered."""
        for wanted in self.all():
            self.end(wanted, None, keep=True)

    def all(self) -> list[PendingSubscription]:
        return list(dict.fromkeys(self._wanted.values()))

    # --- for attachments, whose ids are among those of subscriptions -----------------------------------------------

    def next_id(self) -> int:
        return next(self._ids)

    def claim(self, id_: int, inbox: Inbox) -> None:
        """Put what comes for the attachment `id_` into `inbox`, until `release`."""
        self._inboxes[id_] = inbox
        self._attachments.add(id_)

    def release(self, id_: int) -> None:
        self._inboxes.pop(id_, None)
        self._attachments.discard(id_)

    @property
    def awaits_answer(self) -> bool:
        return bool(self._requests)

    # --- for a handover, while two routers have the subscriptions ----------------------------------------------------

    def next_request(self) -> int:
        return next(self._request_numbers)

    def wanting(self, ids: Iterable[int]) -> set[PendingSubscription]:
        """Return the subscriptions that still take what comes for these ids."""
        return {self._wanted[id_] for id_ in ids if id_ in self._inboxes and id_ in self._wanted}

    def told_of(self, lost: Lost) -> set[PendingSubscription]:
        """Return the subscriptions that a loss concerns: all of them, where the router does not say which."""
        return self.wanting(lost.subscriptions or tuple(self._inboxes))

    def hand(self, wanted: PendingSubscription, item: Message | Gap) -> None:
        """Give an item to one subscription, if it still takes any."""
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

    def is_attached(self, ids: Iterable[int]) -> bool:
        """Return whether one of these ids is that of an attachment."""
        return not self._attachments.isdisjoint(ids)

    def ask_at(self, line: Asking, wanted: Iterable[PendingSubscription], asked: AskedElsewhere) -> None:
        """Ask another router, too, and for its answer once every router within reach knows of them; note in `asked`
        what was asked."""
        for options, batch in _asked_together(wanted, line.frame_bytes_max):
            ids = {subscription.id for subscription in batch}
            number = self.next_request()
            try:
                if options.group and not line.has_groups:
                    raise Refused(NO_GROUPS)
                line.send(
                    Subscribe(number, batch, options.own_messages, Reach.NETWORK, durable=False, group=options.group)
                )
                asked.due[number] = ids
            except Refused as error:
                code = RefusalCode.NOT_ALLOWED if options.group and not line.has_groups else RefusalCode.TOO_LARGE
                asked.refusals.update((id_, Refusal(id_, code, str(error))) for id_ in ids)

    def move(self, line: Asking, asked: AskedElsewhere, *, is_cut: bool) -> None:
        """Take in that the router of `line` is this client's, which has `asked`; `is_cut`: what was on its way by the
        one before is lost."""
        if is_cut:
            self.cut()
        self._frame_bytes_max, self._has_groups = line.frame_bytes_max, line.has_groups
        self._requests = {number: _Request(AckOf.SUBSCRIBE, ids) for number, ids in asked.due.items()}
        due = {id_ for ids in asked.due.values() for id_ in ids}
        for wanted in self.all():
            wanted.due = due & set(wanted.ids)
            wanted.refusals = {id_: asked.refusals[id_] for id_ in wanted.ids if id_ in asked.refusals}
            if not wanted.due:
                self._answered_for(wanted)

    def expect_gaps(self, ids: Iterable[int]) -> None:
        """Tell a Gap: what the router before had for these ids is lost."""
        for wanted in self.wanting(ids):
            self._expect_gap(wanted)
            self._tell_gap(wanted)
            wanted.missing_since_s = None

    # --- what the connection does --------------------------------------------------------------------------------

    def opened(self, frame_bytes_max: int, *, has_groups: bool = False) -> None:
        """Ask for all subscriptions over a connection that is open now; `has_groups`: they may name a group there."""
        self._frame_bytes_max = frame_bytes_max
        self._has_groups = has_groups
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
        """Deliver frames, each for the one subscription or attachment in `ids`; `positions`: of those of a keep, 0 of
        others. Return how many: all, or those before one for an attachment that says no position."""
        end = self._unplaced(ids, positions) if self._attachments and 0 in positions else len(ids)
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
        """Return the index of the first row of an attachment that has no position; the number of rows if all have."""
        for row, (id_, position) in enumerate(zip(ids, positions, strict=True)):
            if not position and id_ in self._attachments:
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
        """Put a gap into the inboxes that it concerns: all of them, where the router does not say which."""
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
            number = self._request(AckOf.SUBSCRIBE, [subscription.id for subscription in batch])
            try:
                self._send(
                    Subscribe(number, batch, options.own_messages, options.wait, durable=False, group=options.group)
                )
            except Refused as error:  # a single predicate, longer than the frames this router takes
                del self._requests[number]
                too_large = Refusal(batch[0].id, RefusalCode.TOO_LARGE, str(error))
                self._answer_one(batch[0].id, too_large, AckOf.SUBSCRIBE)

    def _refuse_group(self, subscriptions: Iterable[SubscriptionItem]) -> None:
        """Refuse what this router would take as no group at all, and so give to every member."""
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
            return  # this router is leaving: it stays asked for, and the next connection answers
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
        """Note, after a cut, that messages on their way to an active subscription are lost, as are those that come from
        now on."""
        if not wanted.was_active:
            return
        since_s, untold_s = self._heard_s() - ON_ITS_WAY_S, wanted.missing_since_s
        wanted.missing_since_s = since_s if untold_s is None else min(since_s, untold_s)
        self._returning.update(dict.fromkeys(wanted.ids, wanted))

    def _come_back(self, ids: Iterable[int]) -> None:
        """Put the Gap of the cut into those of these subscriptions for which no item has come since the cut."""
        for wanted in {wanted for id_ in ids if (wanted := self._returning.get(id_)) is not None}:
            self._tell_gap(wanted)
            if wanted.is_whole_at_once:
                wanted.missing_since_s = None

    def _tell_gap(self, wanted: PendingSubscription) -> None:
        """Put a Gap over what may be missing until now and was not told of yet."""
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
        """End a subscription of which the router refused a predicate: a part of what was asked for is not what was
        asked for."""
        error = SubscriptionRefused({wanted.text_of(id_): refusal for id_, refusal in wanted.refusals.items()})
        settle(wanted.waiter, error)
        wanted.inbox.end(error)
        self._stop(wanted)
        self.end(wanted, None, keep=True)

    def _stop(self, wanted: PendingSubscription) -> None:
        self._returned(wanted)
        for id_ in wanted.ids:
            self._inboxes.pop(id_, None)

    def _over(self, wanted: PendingSubscription) -> None:
        wanted.state = SubscriptionState.ENDED
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
    """Give what one SUBSCRIBE can ask for, with the options that it has in common."""
    by_options: dict[SubscribeOptions, list[SubscriptionItem]] = {}
    for each in wanted:
        by_options.setdefault(each.options, []).extend(each.subscriptions)
    for options, subscriptions in by_options.items():
        for batch in batches(subscriptions, frame_bytes_max):
            yield options, batch


def _answered(ack: Ack, refused: dict[int, Refusal], due: set[int]) -> Iterator[int]:
    """Give the ids in `due` that `ack` answers for; ids that were not asked for are ignored."""
    yield from (id_ for id_ in refused if id_ in due)
    for first, last in ack.ranges:
        if last - first < len(due):
            yield from (id_ for id_ in range(first, last + 1) if id_ in due)
        else:
            yield from (id_ for id_ in due if first <= id_ <= last)
