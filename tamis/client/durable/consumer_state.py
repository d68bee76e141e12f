"""One consumer of a durable subscription, or one replay, which outlives connections.

    ASKED --ACK--> ACTIVE --end--> ENDING --ACK--> ENDED          after a cut, ASKED and ACTIVE are requested again;
      `--refused---------------------------------->-'             messages that were in the inbox arrive again

Law: the router may send `credit` messages more than the application has taken, so at most `credit` wait here. An
acknowledgement names exact positions: its ranges join only consecutive numbers, and never include a message that is
still in flight. Acknowledgements that a cut has lost are sent again when the message arrives again.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tamis.client.durable.seen import SETTLED, SeenIds
from tamis.client.durable.stored_message import Handed, stored_head
from tamis.client.gap import Gap, GapReason
from tamis.client.message import Message
from tamis.client.messages.inbox import Inbox, InboxBounds
from tamis.client.messages.waiter import Waiter, Waiters
from tamis.protocol.wire.client_bodies import Credit
from tamis.protocol.wire.deliver_view import DEAD_LETTER_BIT, REPLAYED_BIT, STORED_BITS_OFFSET, StoredArea
from tamis.protocol.wire.durable_bodies import Consume, Replay
from tamis.protocol.wire.header import ID_OFFSET, TIME_OFFSET

CREDIT: Final = 500
"""Messages that a router may send ahead, by default."""
REPLAYED_MAX: Final = 262_144
"""The most messages of a replay that can be restarted after a cut."""
CREDIT_MAX: Final = 1_000_000
_ID: Final = slice(ID_OFFSET, TIME_OFFSET)  # of a frame
_UNUSUAL: Final = REPLAYED_BIT | DEAD_LETTER_BIT
_OF_A_DURABLE: Final = frozenset({GapReason.TOO_LARGE})
"""Losses of a durable subscription that carry no total since it was made."""


class ConsumerPhase(enum.Enum):
    ASKED = "waits for the router's answer, or for a connection"
    ACTIVE = "the router has it"
    ENDING = "waits for the router's answer to CANCEL_CONSUME"
    ENDED = "over"


Make = Callable[[bytes, tuple[int, ...], int, bytes, object], Handed]
"""Makes the message that the shell gives to the application, from the arguments of `Handed`."""


@dataclass(frozen=True, slots=True)
class ConsumeOptions:
    """The options of a consumer or a replay; `ask` is sent after its request number and id are set."""

    ask: Consume | Replay
    credit: int
    seen: SeenIds


class ConsumerState:
    """One consumer or replay of a client."""

    def __init__(
        self,
        id_: int,
        options: ConsumeOptions,
        make: Make,
        work: object,
        bounds: InboxBounds,
        full: set[Inbox],
        waiter: Waiter,
    ) -> None:
        """`work` is the shell's consumer, which the verbs of the messages made by `make` call."""
        self.id = id_
        self.state = ConsumerPhase.ASKED
        self.was_attached = False
        """Whether a router has accepted it at some time."""
        self.waiter: Waiter | None = waiter
        self.hidden = 0
        """How many messages arrived again and were not given to the application."""
        self.inbox = ConsumerInbox(self, bounds, full)
        self.done: list[int] = []
        """Positions that the application has acknowledged and that were not sent to the router yet."""
        self.unconfirmed = Waiters()
        """Waiters for the time when all acknowledgements until now are on the router's disk."""
        self.owes_word = False
        """Whether there is something to send that the application does not cause: credit, or an acknowledgement of a
        settled message that arrived again."""
        self.seen = options.seen
        self._options = options
        self._make = make
        self._work = work
        self._matched = (id_,)
        self._connection = 0
        self._taken = 0  # on this connection: taken by the application, or hidden
        self._half = max(1, options.credit // 2)
        self._credit_at = self._half  # the count of taken messages at which credit is sent
        self._waiting: set[int] = set()  # positions in the inbox
        self._told: dict[GapReason, int] = {}
        self._unknowns = 0  # unknown ranges that were reported
        # the latest unknown range that was reported on its own: what it begins with, its last position, its count
        self._unknown: tuple[tuple[GapReason, int] | None, int, int] = (None, 0, 0)
        self._replayed_before: set[int] = set()  # positions that a replay has delivered

    @property
    def name(self) -> str:
        """The name of the durable subscription; empty for a replay."""
        return self._options.ask.name if isinstance(self._options.ask, Consume) else ""

    @property
    def is_replay(self) -> bool:
        return isinstance(self._options.ask, Replay)

    def ask(self, request: int) -> Consume | Replay:
        """Return the request to send on this connection."""
        self._credit_at = self._half
        return replace(self._options.ask, request=request, id=self.id, credit_frames=self._options.credit)

    def answered(self) -> None:
        """Record that the router has accepted the request. `after` and `latest` apply once and are not sent again."""
        self.state, self.was_attached = ConsumerPhase.ACTIVE, True
        ask = self._options.ask
        if isinstance(ask, Consume):
            self._options = replace(self._options, ask=replace(ask, after=0, latest=False))

    @property
    def can_begin_anew(self) -> bool:
        """Whether the replay can be restarted, since all positions that it has delivered are known."""
        return len(self._replayed_before) <= REPLAYED_MAX

    def cut(self) -> None:
        """Forget the waiting messages, which arrive again, and the acknowledgements that were not sent."""
        if self.is_replay:
            self._replayed_before -= {item.position for item in self.inbox.items if isinstance(item, Handed)}
        self._connection += 1
        self._taken = 0
        self.done.clear()
        self._waiting.clear()
        self.inbox.durable_gaps()

    # --- what comes ----------------------------------------------------------------------------------------------

    def arrived(self, frames: Sequence[bytes], positions: Sequence[int]) -> list[Handed]:
        """Return the messages of frames with one SATISFIED, LOG_POSITION and DELIVERIES, to be put into the inbox,
        without the hidden ones."""
        handed, is_replay = [], self.is_replay
        make, matched, work, waiting, given = self._make, self._matched, self._work, self._waiting, self.seen.given
        for frame, position in zip(frames, positions, strict=True):
            identity = frame[_ID]
            if is_replay or frame[STORED_BITS_OFFSET] & _UNUSUAL or position in waiting or identity in given:
                one = self.arrived_alone(frame)
                if one is not None:
                    handed.append(one)
            else:
                waiting.add(position)
                handed.append(make(frame, matched, position, identity, work))
        return handed

    def arrived_alone(self, frame: bytes) -> Handed | None:
        """Return the message of any frame of the durable subscription; None if it is hidden from the application."""
        head = stored_head(frame)
        position = head.position
        identity = b"" if head.replayed else _identity(frame, head)
        if self.is_replay:
            is_hidden = position in self._replayed_before
            self._replayed_before.add(position)
        else:
            is_hidden = bool(identity) and (
                position in self._waiting or (identity in self.seen.given and self._is_seen(identity, position))
            )
        if is_hidden:
            self._hide()
            return None
        if identity:
            self._waiting.add(position)
        return self._make(frame, self._matched, position, identity, self._work)

    def take(self) -> Any:  # noqa: ANN401 - the shell knows what it makes
        """Take the oldest item for the application out of the inbox: a message from `make`, or a Gap; None if there is
        none. Messages of which another copy was given meanwhile are hidden now."""
        inbox = self.inbox
        while inbox.items:
            item = inbox.take()
            if not isinstance(item, Handed):
                return item
            identity = item._identity
            if identity:
                position = item.position
                self._waiting.discard(position)
                given, new = self.seen.given, (self._connection, position)
                if given.setdefault(identity, new) is not new:
                    if self._is_seen(identity, position):
                        self._hide()
                        continue
                elif len(given) > self.seen.room:
                    self.seen.forget_oldest()
            self._taken = taken = self._taken + 1
            if taken >= self._credit_at:
                self.owes_word = True
            return item
        return None

    def _is_seen(self, identity: bytes, position: int) -> bool:
        """Return whether a known message is to be hidden. If it is settled, queue its acknowledgement again."""
        seen = self.seen
        is_hidden = seen.hides(identity, self._connection, position)
        if seen.is_settled(identity):
            self.done.append(position)
        return is_hidden

    @property
    def wants_credit(self) -> bool:
        """Whether enough messages were taken to justify a CREDIT frame."""
        return self.state is ConsumerPhase.ACTIVE and self._taken >= self._credit_at

    def wants_all(self) -> None:
        """Note that the application waits for as many messages as the router may send: report what was taken now."""
        if self._credit_at > self._taken > self._credit_at - self._half:
            self._credit_at = self._taken

    def more_credit(self) -> Credit:
        """Return a CREDIT with the total that the router may send."""
        self._credit_at = self._taken + self._half
        return Credit(self._taken + self._options.credit, 0, self.id)

    def new_losses(self, gap: Gap) -> Gap | None:
        """Return the part of `gap` that is new, where `gap` counts since the durable subscription was made; None if
        there is none."""
        if gap.in_all is None:
            return gap if gap.reason in _OF_A_DURABLE else self._new_unknown(gap)
        more, unknowns = gap.in_all - self._told.get(gap.reason, 0), gap.unknown_ranges - self._unknowns
        if more <= 0 and unknowns <= 0:
            return None
        self._told[gap.reason], self._unknowns = gap.in_all, max(gap.unknown_ranges, self._unknowns)
        if unknowns <= 0:
            return Gap(gap.reason, more, None, in_all=gap.in_all)
        return Gap(
            gap.reason, None, None, in_all=gap.in_all, positions=gap.positions, unknown_ranges=gap.unknown_ranges
        )

    def _new_unknown(self, gap: Gap) -> Gap | None:
        """Return the part of an unknown range of this durable subscription that was not reported before; None if there
        is none. The router reports each one again to every new consumer, and one that has grown from where it began."""
        known, known_to, counted = self._unknown
        if gap.positions is None or gap.positions[1] <= known_to:
            return None
        begins = (gap.reason, gap.positions[0])
        self._unknown = (begins, gap.positions[1], gap.count or 0)
        return replace(gap, count=gap.count - counted) if gap.count and begins == known else gap

    # --- acknowledgements ----------------------------------------------------------------------------------------

    def acknowledge(self, message: Handed) -> None:
        """Append to `done` what `settle` returns. The common case, a message that arrived under one position, is
        handled here for speed."""
        given, identity, position = self.seen.given, message._identity, message.position
        known = given.get(identity)
        if known and known[1:] == (position,):
            given[identity] = SETTLED
            self.done.append(position)
        else:
            self.done += self.settle(message)

    def settle(self, message: Handed) -> tuple[int, ...]:
        """Return the positions of a message that becomes settled now; none if it was settled before, or was
        replayed."""
        return self.seen.settle(message._identity, message.position) if message._identity else ()

    def wants_again(self, message: Handed) -> None:
        """Record that the application wants `message` to be delivered again."""
        self.seen.wants_again(message._identity)

    # --- steps ---------------------------------------------------------------------------------------------------

    def _hide(self) -> None:
        self.hidden += 1
        self._taken += 1
        self.owes_word = True


def _identity(frame: bytes, head: StoredArea) -> bytes:
    """Return the key of a message that is not replayed: its id. A dead letter differs from its message, and from a dead
    letter of another durable subscription about that message: its key includes the position."""
    return frame[_ID] + head.position.to_bytes(8, "little") if head.dead_letter else frame[_ID]


class ConsumerInbox(Inbox):
    """The inbox of a consumer. It drops nothing, since the credit given to the router bounds it."""

    __slots__ = ("_consumer",)

    def __init__(self, consumer: ConsumerState, bounds: InboxBounds, full: set[Inbox]) -> None:
        super().__init__(bounds, full, lambda _: None)
        self._consumer = consumer

    def put(self, message: Message) -> None:
        handed = self._consumer.arrived_alone(message._frame)
        if handed is not None:
            self._add((handed,), handed.frame_bytes)

    def put_run(self, frames: Sequence[bytes], ids: Sequence[int], positions: Sequence[int]) -> None:  # noqa: ARG002
        handed = self._consumer.arrived(frames, positions)
        if handed:
            self._add(handed, sum([message.frame_bytes for message in handed]))

    def shut_if_past(self) -> None:
        """Drop nothing: the credit bounds what arrives."""

    def put_gap(self, gap: Gap) -> None:
        new = self._consumer.new_losses(gap)
        if new is not None:
            super().put_gap(new)

    def durable_gaps(self) -> None:
        """Forget the waiting messages; keep the gaps."""
        gaps = [item for item in self.items if isinstance(item, Gap)]
        self.clear()
        self.items.extend(gaps)
