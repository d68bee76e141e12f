"""One attachment to a keep, or one replay, as it outlives connections.

    ASKED --ACK--> ACTIVE --end--> ENDING --ACK--> ENDED          a cut: ASKED and ACTIVE are asked for again; what
      `--refused---------------------------------->-'             waited in the inbox comes again by itself

Law: the router may send `credit` messages more than the application has taken, so that is what waits here at most. An
acknowledgement names positions one by one, never a stretch in which others may lie that are on their way: ranges join
numbers that follow one another. What a cut has kept from the router is said again when the message comes again.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from tamis.client.gap import Gap, GapReason
from tamis.client.inbox import Inbox, InboxBounds
from tamis.client.kept_message import Handed, kept_head
from tamis.client.message import Message
from tamis.client.seen import SeenId, SeenIds
from tamis.client.waiter import Waiter
from tamis.protocol.wire.client_bodies import Credit
from tamis.protocol.wire.deliver_view import KeptArea
from tamis.protocol.wire.keep_bodies import Attach, Replay

CREDIT: Final = 500
"""Messages that a router may send ahead, by default."""
REPLAYED_MAX: Final = 262_144
"""Messages up to which a replay that was cut can begin anew."""
CREDIT_MAX: Final = 1_000_000
_OF_A_KEEP: Final = frozenset({GapReason.TOO_LARGE})
"""Losses that concern a keep, though they are not counted since it was made."""


class AttachedState(enum.Enum):
    ASKED = "waits for the router's answer, or for a connection"
    ACTIVE = "the router has it"
    ENDING = "waits for the router's answer to DETACH"
    ENDED = "over"


Make = Callable[[bytes, KeptArea, "Attached"], Handed]
"""Makes a message as the shell hands it to the application."""


@dataclass(frozen=True, slots=True)
class AttachOptions:
    """What an application asks of an attachment or a replay; `ask` is sent with a request and the id put in."""

    ask: Attach | Replay
    credit: int
    seen: SeenIds | None


class Attached:
    """One attachment or replay of a client."""

    def __init__(
        self,
        id_: int,
        options: AttachOptions,
        make: Make,
        bounds: InboxBounds,
        full: set[Inbox],
        waiter: Waiter,
    ) -> None:
        self.id = id_
        self.state = AttachedState.ASKED
        self.waiter: Waiter | None = waiter
        self.hidden = 0
        """Messages that came again and were not given to the application."""
        self.inbox = KeptBox(self, bounds, full)
        self.done: list[int] = []
        """Positions that the application has acknowledged and the router was not told of yet."""
        self._options = options
        self._make = make
        self._connection = 0
        self._taken = 0  # on this connection: by the application, or hidden
        self._granted = options.credit
        self._waiting: set[int] = set()  # positions in the inbox
        self._has_settled_again = False  # since `settled_again` was asked
        self._told: dict[GapReason, int] = {}
        self._doubts = 0  # that were told
        self._replayed_before: set[int] = set()  # positions that a replay has brought

    @property
    def name(self) -> str:
        """The name of the keep; empty: it is a replay."""
        return self._options.ask.name if isinstance(self._options.ask, Attach) else ""

    @property
    def is_replay(self) -> bool:
        return isinstance(self._options.ask, Replay)

    def ask(self, request: int) -> Attach | Replay:
        """Return what asks for it on this connection."""
        self._granted = self._options.credit
        return replace(self._options.ask, request=request, id=self.id, credit_frames=self._granted)

    def answered(self) -> None:
        """Take in that the router has it. What is asked for once, `after` and `latest`, is not asked for again."""
        self.state = AttachedState.ACTIVE
        ask = self._options.ask
        if isinstance(ask, Attach):
            self._options = replace(self._options, ask=replace(ask, after=0, latest=False))

    @property
    def can_begin_anew(self) -> bool:
        """Is it known of each message whether it came before?"""
        return len(self._replayed_before) <= REPLAYED_MAX

    def cut(self) -> None:
        """Forget what waits, which comes again, and what the router was not told."""
        if self.is_replay:
            self._replayed_before -= {item.position for item in self.inbox.items if isinstance(item, Handed)}
        self._connection += 1
        self._taken = 0
        self.done.clear()
        self._waiting.clear()
        self.inbox.keep_gaps()

    # --- what comes ----------------------------------------------------------------------------------------------

    def arrived(self, message: Message) -> Handed | None:
        """Return a message that came as it is put into the inbox; None: the application is not given it."""
        head = kept_head(message._frame)
        if self.is_replay:
            return self._replayed(message, head)
        if head.replayed:
            return self._make(message._frame, head, self)
        if head.position in self._waiting:
            self._hide()
            return None
        if self._is_seen(seen_id(message, head), head.position):
            self._hide()
            return None
        self._waiting.add(head.position)
        return self._make(message._frame, head, self)

    def take(self) -> Message | Gap | None:
        """Take the oldest item out of the inbox that the application is to be given; None if there is none. What waited
        beside another copy of its message is hidden now."""
        while self.inbox.items:
            item = self.inbox.take()
            if not isinstance(item, Handed):
                return item
            self._waiting.discard(item.position)
            id_ = seen_id(item, item)
            if item.replayed or not self._is_seen(id_, item.position):
                self._taken += 1
                if self._options.seen is not None and not item.replayed:
                    self._options.seen.give(id_, self._connection, item.position)
                return item
            self._hide()
        return None

    def _is_seen(self, id_: SeenId, position: int) -> bool:
        """Is a message not to be given? If it is settled it is to be acknowledged again."""
        seen = self._options.seen
        hidden = seen.hides(id_, self._connection, position) if seen is not None else None
        if hidden is not None and hidden.is_settled:
            self.done.append(position)
            self._has_settled_again = True
        return hidden is not None

    @property
    def wants_credit(self) -> bool:
        """Has so much been taken that it is worth a frame to say so?"""
        free = self._taken + self._options.credit - self._granted
        return self.state is AttachedState.ACTIVE and free >= max(1, self._options.credit // 2)

    @property
    def owes_word(self) -> bool:
        """Is the router to be told something that the application knows nothing of: of credit, or of what was settled
        and came again?"""
        return self._has_settled_again or self.wants_credit

    def settled_again(self) -> bool:
        """Return whether, since this was asked last, something came again that was settled: it is in `done`."""
        had, self._has_settled_again = self._has_settled_again, False
        return had

    def more_credit(self) -> Credit:
        """Return how much the router may send by now."""
        self._granted = self._taken + self._options.credit
        return Credit(self._granted, 0, self.id)

    def new_losses(self, gap: Gap) -> Gap | None:
        """Return what `gap`, which counts since the keep was made, says that was not said before; None: nothing."""
        if gap.in_all is None:
            return gap if gap.reason in _OF_A_KEEP else None
        more, doubts = gap.in_all - self._told.get(gap.reason, 0), gap.doubts - self._doubts
        if more <= 0 and doubts <= 0:
            return None
        self._told[gap.reason], self._doubts = gap.in_all, max(gap.doubts, self._doubts)
        if doubts <= 0:
            return Gap(gap.reason, more, None, in_all=gap.in_all)
        return Gap(gap.reason, None, None, in_all=gap.in_all, positions=gap.positions, doubts=gap.doubts)

    # --- what the application says -------------------------------------------------------------------------------

    def settle(self, message: Handed) -> set[int]:
        """Return the positions of a message that the application settles now; none if it has done so before, or if it
        was replayed."""
        if message.replayed:
            return set()
        seen = self._options.seen
        return seen.settle(seen_id(message, message), message.position) if seen is not None else {message.position}

    def wants_again(self, message: Handed) -> None:
        """Note that the application wants `message` to be given out again."""
        if self._options.seen is not None:
            self._options.seen.wants_again(seen_id(message, message))

    # --- steps ---------------------------------------------------------------------------------------------------

    def _hide(self) -> None:
        self.hidden += 1
        self._taken += 1

    def _replayed(self, message: Message, head: KeptArea) -> Handed | None:
        """Return a message of a replay, unless it was there before a cut: a replay begins anew then."""
        if head.position in self._replayed_before:
            self._hide()
            return None
        self._replayed_before.add(head.position)
        return self._make(message._frame, head, self)


def seen_id(message: Message, head: KeptArea | Handed) -> SeenId:
    """Return by what a message of a keep is known: a dead letter by its position, too."""
    return (message.id, head.position) if head.dead_letter else message.id


class KeptBox(Inbox):
    """The inbox of an attachment: it drops nothing, as the router's credit bounds it."""

    __slots__ = ("_attached",)

    def __init__(self, attached: Attached, bounds: InboxBounds, full: set[Inbox]) -> None:
        super().__init__(bounds, full, lambda _: None)
        self._attached = attached

    def put(self, message: Message) -> None:
        handed = self._attached.arrived(message)
        if handed is not None:
            self.is_shut = False
            super().put(handed)

    def put_gap(self, gap: Gap) -> None:
        new = self._attached.new_losses(gap)
        if new is not None:
            super().put_gap(new)

    def keep_gaps(self) -> None:
        """Forget the messages that wait, and keep the gaps."""
        gaps = [item for item in self.items if isinstance(item, Gap)]
        self.clear()
        self.items.extend(gaps)
