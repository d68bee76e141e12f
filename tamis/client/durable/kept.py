"""The durable subscriptions of a client: open requests, attachments, replays, acknowledgements.

Law: KEEP and FORGET are idempotent, so requests without an answer are sent again after a cut, and so is each
attachment. Acknowledgements are collected and sent with the next output, as many positions in a frame as fit. Whether
an acknowledgement arrived before a cut is unknown (AckUnknown); if an acknowledged message arrives again, it is
acknowledged again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from tamis.client.durable.attached import Attached, AttachedState, AttachOptions, Make
from tamis.client.durable.kept_message import Handed
from tamis.client.durable.seen import SeenIds
from tamis.client.errors import AckUnknown, ClientClosed, KeepRefused
from tamis.client.messages.registry import Registry
from tamis.client.messages.waiter import Waiter, settle
from tamis.protocol.limits import ACK_ANSWERS_MAX, ACK_ITEMS_MAX
from tamis.protocol.wire.client_bodies import Ack, AckOf, AckVerdict, Range, Refusal, ranges_of
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.frames import Body
from tamis.protocol.wire.keep_bodies import Detach, ForgetKeep, Keep, ReplayEnd

NOT_KEPT: Final = "this router knows of no kept subscriptions: it is of an earlier version"
OVER: Final = "the attachment has ended: what it had goes to others"
NO_CONNECTION: Final = "there is no connection: the message is acknowledged when it comes again"
CUT: Final = "the connection was cut before the router answered"
CUT_REPLAY: Final = "a long replay was cut: begin another one with since= what came last"
ACKS_AT_ONCE: Final = 10_000
"""The number of collected positions at which they are sent."""
_FRAME_SPARE: Final = 128
_RANGE_BYTES: Final = 19
_OVER: Final = (AttachedState.ENDING, AttachedState.ENDED)
_AGAIN: Final = frozenset({AckOf.KEEP, AckOf.FORGET})
"""Idempotent requests, which are sent again after a cut."""


@dataclass(slots=True)
class _KeepAsked:
    """A request without an answer. `attached`: the attachment that it concerns, if any."""

    of: AckOf
    body: Body
    waiter: Waiter | None
    attached: Attached | None = None
    is_second_attempt: bool = False


class KeptCore:
    """The requests, attachments and replays of one client. `send` appends a control frame to the output."""

    def __init__(self, registry: Registry, send: Callable[[Body], None]) -> None:
        self._registry = registry
        self._send = send
        self._numbers = count(1)
        self._asked: dict[int, _KeepAsked] = {}
        self._attached: dict[int, Attached] = {}
        self._seen: dict[str, SeenIds] = {}
        self._answers = 0  # ACKs without an answer
        self._due: set[Attached] = set()  # attachments with acknowledgements that were not sent yet
        self._frame_bytes_max = 0  # 0: no connection is open
        self._is_known = False  # whether the router supports durable subscriptions

    @property
    def awaits_answer(self) -> bool:
        return bool(self._asked)

    @property
    def is_idle(self) -> bool:
        """Whether there is no attachment and no request without an answer."""
        return not (self._asked or self._attached)

    # --- commands of the user ------------------------------------------------------------------------------------

    def keep(self, keep: Keep, waiter: Waiter) -> None:
        """Make a durable subscription, or find one of equal policy; settle `waiter` when it is on disk."""
        number = next(self._numbers)
        self._ask(number, _KeepAsked(AckOf.KEEP, replace(keep, request=number), waiter))

    def forget(self, name: str, waiter: Waiter) -> None:
        """Remove a durable subscription; settle `waiter` when that is on disk."""
        number = next(self._numbers)
        self._ask(number, _KeepAsked(AckOf.FORGET, ForgetKeep(number, name), waiter))

    def seen(self, name: str, most: int) -> SeenIds:
        """Return the record of seen messages of a durable subscription, with room for at least `most`."""
        if most == 0:
            return SeenIds(0)
        seen = self._seen.setdefault(name, SeenIds(most))
        seen.remember(most)
        return seen

    def attach(self, options: AttachOptions, make: Make, work: object, waiter: Waiter) -> Attached:
        """Attach to a durable subscription, or begin a replay; settle `waiter` when the router has answered. `make`
        makes the messages, whose verbs call `work`."""
        registry = self._registry
        id_ = registry.next_id()
        attached = Attached(id_, options, make, work, registry.bounds, registry.full, waiter)
        self._attached[id_] = attached
        registry.claim(id_, attached.inbox)
        if self._frame_bytes_max:
            self._ask_for(attached)
        return attached

    def detach(self, attached: Attached, waiter: Waiter | None) -> None:
        """End an attachment or a replay, after its pending acknowledgements are sent. Settle `waiter` when the router
        has answered."""
        self._tell(attached)
        attached.inbox.clear()
        attached.inbox.end()
        was_asked = self._frame_bytes_max and attached.state in (AttachedState.ASKED, AttachedState.ACTIVE)
        if attached.state is AttachedState.ENDED or not was_asked:
            self._over(attached)
            settle(waiter)
            return
        settle(attached.waiter)
        attached.state, attached.waiter = AttachedState.ENDING, waiter
        self._registry.release(attached.id)
        number = next(self._numbers)
        self._ask(number, _KeepAsked(AckOf.DETACH, Detach(number, attached.id), None, attached))

    def detach_all(self) -> None:
        """End all attachments and replays, as part of a drain."""
        for attached in list(self._attached.values()):
            if attached.state is not AttachedState.ENDING:
                self.detach(attached, None)

    def took(self, attached: Attached) -> None:
        """Record that the application has taken an item or found none; send credit if it is due."""
        attached.owes_word = False
        if attached.done:
            self._due.add(attached)
        if attached.wants_credit and self._frame_bytes_max:
            self._send(attached.more_credit())

    def wants_all(self, attached: Attached) -> None:
        """Let the router send all messages that the credit allows, since the application waits for them."""
        attached.wants_all()
        self.took(attached)

    def acknowledge(self, attached: Attached, message: Handed) -> None:
        """Record that the application has acknowledged `message`."""
        if attached.state in _OVER:
            raise ClientClosed(OVER)
        attached.acknowledge(message)
        self._due.add(attached)
        if len(attached.done) >= ACKS_AT_ONCE:
            self._tell(attached)

    def confirm(self, attached: Attached, waiter: Waiter) -> None:
        """Settle `waiter` when all acknowledgements of `attached` until now are on disk."""
        if attached.is_replay:
            settle(waiter)
        elif attached.state is not AttachedState.ACTIVE:
            settle(waiter, AckUnknown(NO_CONNECTION))
        else:
            attached.unconfirmed.append(waiter)
            self._due.add(attached)

    def say(
        self, attached: Attached, message: Handed, verdict: AckVerdict, delay_ms: int = 0, reason: str = ""
    ) -> None:
        """Send a verdict on `message`: deliver it again, extend its timeout, or reject it."""
        if attached.state in _OVER:
            raise ClientClosed(OVER)
        if message.replayed:
            return
        if verdict is AckVerdict.AGAIN:
            attached.wants_again(message)
        positions = attached.settle(message) if verdict is AckVerdict.REJECT else (message.position,)
        if positions:
            self._say(attached, positions, verdict, delay_ms, reason)

    # --- what the connection does --------------------------------------------------------------------------------

    def opened(self, frame_bytes_max: int, *, is_known: bool) -> None:
        """Send again all requests without an answer, and all attachments; `is_known`: this router supports durable
        subscriptions."""
        self._frame_bytes_max, self._is_known = frame_bytes_max, is_known
        for number, asked in list(self._asked.items()):
            self._ask(number, asked)
        for attached in list(self._attached.values()):
            self._ask_for(attached)

    def cut(self) -> None:
        self._frame_bytes_max = self._answers = 0
        self._due.clear()
        for number, asked in list(self._asked.items()):
            asked.is_second_attempt = True
            if asked.of not in _AGAIN:
                del self._asked[number]
                settle(asked.waiter, AckUnknown(CUT))
        for attached in list(self._attached.values()):
            settle(attached.unconfirmed.taken(), AckUnknown(CUT))
            attached.cut()
            if attached.state is AttachedState.ENDING:
                self._over(attached)
            elif not attached.can_begin_anew:
                attached.inbox.end(AckUnknown(CUT_REPLAY))
                self._over(attached)
            else:
                attached.state = AttachedState.ASKED

    def closed(self, error: Exception | None) -> None:
        """End for good: every call fails, every iterator ends, or raises `error`."""
        self.cut()
        reason = error or ClientClosed("the client is closed")
        for asked in self._asked.values():
            settle(asked.waiter, reason)
        self._asked.clear()
        for attached in list(self._attached.values()):
            attached.inbox.end(error)
            settle(attached.waiter, reason)
            self._over(attached)

    def flush(self) -> None:
        """Append the collected acknowledgements to the output."""
        while self._due:
            self._tell(self._due.pop())

    @property
    def has_acks(self) -> bool:
        """Whether there are acknowledgements that were not sent yet."""
        return bool(self._due)

    def arrived(self) -> None:
        """Process the side effects of arrived messages: acknowledge settled ones again, and send credit for hidden
        ones."""
        for attached in self._attached.values():
            if attached.owes_word:
                self.took(attached)

    def answer(self, ack: Ack) -> None:
        """Process the router's answer; ignore one to a request that a cut or its caller has ended."""
        asked = self._asked.get(ack.request)
        if asked is None or asked.of is not ack.of:
            return
        refusal = ack.refusals[0] if ack.refusals else None
        if refusal is not None and refusal.code == RefusalCode.DRAINING and asked.of is not AckOf.DETACH:
            return  # this router drains: the request stays open for the next connection
        del self._asked[ack.request]
        if asked.of is AckOf.DELIVER:
            self._answers -= 1
            self._due.update(each for each in self._attached.values() if each.unconfirmed)
        if asked.of is AckOf.FORGET and asked.is_second_attempt and _is_gone(refusal):
            refusal = None  # the first attempt has removed it
        if asked.attached is None or asked.of is AckOf.DELIVER:
            settle(asked.waiter, None if refusal is None else KeepRefused(refusal))
        else:
            self._answer_for(asked.attached, asked.of, refusal)

    def replay_ended(self, end: ReplayEnd) -> None:
        """Record that a replay is over, or that the durable subscription of an attachment was removed."""
        attached = self._attached.get(end.id)
        if attached is not None:
            attached.inbox.end(KeepRefused(Refusal(end.id, end.code, end.reason)) if end.code else None)
            self._over(attached)

    # --- steps ---------------------------------------------------------------------------------------------------

    def _ask(self, number: int, asked: _KeepAsked) -> None:
        """Send a request, or store it for the next connection."""
        if not self._frame_bytes_max:
            self._asked[number] = asked
        elif not self._is_known:
            self._asked.pop(number, None)
            error = KeepRefused(Refusal(0, RefusalCode.NO_LOG, NOT_KEPT))
            if asked.attached is None:
                settle(asked.waiter, error)
            else:
                self._fail(asked.attached, error)
        else:
            self._asked[number] = asked
            self._send(asked.body)

    def _ask_for(self, attached: Attached) -> None:
        number = next(self._numbers)
        of = AckOf.REPLAY if attached.is_replay else AckOf.ATTACH
        self._ask(number, _KeepAsked(of, attached.ask(number), None, attached))

    def _answer_for(self, attached: Attached, of: AckOf, refusal: Refusal | None) -> None:
        if of is AckOf.DETACH:
            self._over(attached)
        elif attached.state is AttachedState.ENDING:
            pass  # only the answer to DETACH counts
        elif refusal is None:
            attached.answered()
            settle(attached.waiter)
            self.took(attached)
        else:
            self._fail(attached, KeepRefused(refusal))

    def _fail(self, attached: Attached, error: KeepRefused) -> None:
        attached.inbox.end(error)
        settle(attached.waiter, error)
        self._over(attached)

    def _over(self, attached: Attached) -> None:
        attached.state = AttachedState.ENDED
        settle(attached.unconfirmed.taken(), AckUnknown(OVER))
        self._attached.pop(attached.id, None)
        self._due.discard(attached)
        self._registry.release(attached.id)
        attached.inbox.end()
        settle(attached.waiter)

    def _tell(self, attached: Attached) -> None:
        """Send the acknowledged positions, once the router has answered the ATTACH."""
        self._due.discard(attached)
        if attached.state is AttachedState.ASKED:
            return
        done, attached.done = attached.done, []
        if attached.state is not AttachedState.ACTIVE:
            return
        frames = list(self._in_frames(ranges_of(done))) if done else []
        if not attached.unconfirmed or self._answers == ACK_ANSWERS_MAX:  # confirm them later
            for some in frames:
                self._send(Ack(AckOf.DELIVER, 0, some, subscription=attached.id))
            return
        last = frames.pop() if frames else ()
        for some in frames:
            self._send(Ack(AckOf.DELIVER, 0, some, subscription=attached.id))
        number = next(self._numbers)
        ack = Ack(AckOf.DELIVER, number, last, subscription=attached.id)
        self._asked[number] = _KeepAsked(AckOf.DELIVER, ack, attached.unconfirmed.taken(), attached)
        self._answers += 1
        self._send(ack)

    def _say(
        self, attached: Attached, positions: Sequence[int], verdict: AckVerdict, delay_ms: int = 0, reason: str = ""
    ) -> None:
        """Send an ACK with a verdict of its own, after the acknowledgements before it."""
        self._tell(attached)
        if attached.state is AttachedState.ACTIVE:
            ranges = ranges_of(positions)
            ack = Ack(AckOf.DELIVER, 0, ranges, (), verdict, attached.id, delay_ms, reason)
            self._send(ack)

    def _in_frames(self, ranges: Sequence[Range]) -> Iterator[tuple[Range, ...]]:
        most = max(1, min(ACK_ITEMS_MAX, (self._frame_bytes_max - _FRAME_SPARE) // _RANGE_BYTES))
        for start in range(0, len(ranges), most):
            yield tuple(ranges[start : start + most])


def _is_gone(refusal: Refusal | None) -> bool:
    return refusal is not None and refusal.code == RefusalCode.NO_SUCH_KEEP
