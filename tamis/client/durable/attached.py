"""One attachment to a keep, or one replay, as it outlives connections.

    ASKED --ACK--> ACTIVE --end--> ENDING --ACK--> ENDED          a cut: ASKED and ACTIVE are asked for again; what
      `--refused---------------------------------->-'             waited in the inbox comes again by itself

Law: the router may send `credit` messages more than the application has taken, so that is what waits here at most. An
acknowledgement names positions one by one, never a stretch in which others may lie that are on their way: ranges join
numbers that follow one another. What a cut has kept from the router is said again when the message comes again.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tamis.client.durable.kept_message import Handed, kept_head
from tamis.client.durable.seen import SETTLED, SeenIds
from tamis.client.gap import Gap, GapReason
from tamis.client.message import Message
from tamis.client.messages.inbox import Inbox, InboxBounds
from tamis.client.messages.waiter import Waiter, Waiters
from tamis.protocol.wire.client_bodies import Credit
from tamis.protocol.wire.deliver_view import DEAD_LETTER_BIT, KEPT_BITS_OFFSET, REPLAYED_BIT, KeptArea
from tamis.protocol.wire.header import ID_OFFSET, TIME_OFFSET
from tamis.protocol.wire.keep_bodies import Attach, Replay

CREDIT: Final = 500
"""Messages that a router may send ahead, by default."""
REPLAYED_MAX: Final = 262_144
"""Messages up to which a replay that was cut can begin again."""
CREDIT_MAX: Final = 1_000_000
_ID: Final = slice(ID_OFFSET, TIME_OFFSET)  # of a frame
_UNUSUAL: Final = REPLAYED_BIT | DEAD_LETTER_BIT
_OF_A_KEEP: Final = frozenset({GapReason.TOO_LARGE})
"""Losses that concern a keep, though they are not counted since it was made."""


class AttachedState(enum.Enum):
    ASKED = "waits for the router's answer, or for a connection"
    ACTIVE = "the router has it"
    ENDING = "waits for the router's answer to DETACH"
    ENDED = "over"


Make = Callable[[bytes, tuple[int, ...], int, bytes, object], Handed]
"""Makes a message as the shell hands it to the application, of what `Handed` is made of."""


@dataclass(frozen=True, slots=True)
class AttachOptions:
    """What an application asks of an attachment or a replay; `ask` is sent with a request and the id put in."""

    ask: Attach | Replay
    credit: int
    seen: SeenIds


class Attached:
    """One attachment or replay of a client."""

    def __init__(
        self,
        id_: int,
        options: AttachOptions,
        make: Make,
        work: object,
        bounds: InboxBounds,
        full: set[Inbox],
        waiter: Waiter,
    ) -> None:
        """`work` is what the verbs of the messages ask that `make` makes."""
        self.id = id_
        self.state = AttachedState.ASKED
        self.waiter: Waiter | None = waiter
        self.hidden = 0
        """Messages that came again and were not given to the application."""
        self.inbox = KeptBox(self, bounds, full)
        self.done: list[int] = []
        """Positions that the application has acknowledged and the router was not told of yet."""
        self.unconfirmed = Waiters()
        """Those who wait until all that the application has said so far is on the router's disk."""
        self.owes_word = False
        """Is the router to be told something that the application knows nothing of: of credit, or of what was settled
        and came again?"""
        self.seen = options.seen
        self._options = options
        self._make = make
        self._work = work
        self._matched = (id_,)
        self._connection = 0
        self._taken = 0  # on this connection: by the application, or hidden
        self._half = max(1, options.credit // 2)
        self._credit_at = self._half  # so much taken is worth a frame to say so
        self._waiting: set[int] = set()  # positions in the inbox
        self._told: dict[GapReason, int] = {}
        self._doubts = 0  # that were told
        self._doubted_to = 0  # position of the last doubt that was told by itself
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
        self._credit_at = self._half
        return replace(self._options.ask, request=request, id=self.id, credit_frames=self._options.credit)

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

    def arrived(self, frames: Sequence[bytes], positions: Sequence[int]) -> list[Handed]:
        """Return the messages of frames with one SATISFIED, LOG_POSITION and DELIVERIES as they are put into the inbox,
        without those that the application is not given."""
        handed, is_replay = [], self.is_replay
        make, matched, work, waiting, given = self._make, self._matched, self._work, self._waiting, self.seen.given
        for frame, position in zip(frames, positions, strict=True):
            identity = frame[_ID]
            if is_replay or frame[KEPT_BITS_OFFSET] & _UNUSUAL or position in waiting or identity in given:
                one = self.arrived_alone(frame)
                if one is not None:
                    handed.append(one)
            else:
                waiting.add(position)
                handed.append(make(frame, matched, position, identity, work))
        return handed

    def arrived_alone(self, frame: bytes) -> Handed | None:
        """Return the message of any frame of the keep; None: the application is not given it."""
        head = kept_head(frame)
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
        """Take the oldest item out of the inbox that the application is to be given: what `make` has made, or a Gap;
        None if there is none. What waited beside another copy of its message is hidden now."""
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
        """Is a message that is known not to be given? If it is settled it is to be acknowledged again."""
        seen = self.seen
        is_hidden = seen.hides(identity, self._connection, position)
        if seen.is_settled(identity):
            self.done.append(position)
        return is_hidden

    @property
    def wants_credit(self) -> bool:
        """Has so much been taken that it is worth a frame to say so?"""
        return self.state is AttachedState.ACTIVE and self._taken >= self._credit_at

    def wants_all(self) -> None:
        """Note that the application waits for as many as the router may send: what was taken is to be told now."""
        if self._credit_at > self._taken > self._credit_at - self._half:
            self._credit_at = self._taken

    def more_credit(self) -> Credit:
        """Return how much the router may send by now."""
        self._credit_at = self._taken + self._half
        return Credit(self._taken + self._options.credit, 0, self.id)

    def new_losses(self, gap: Gap) -> Gap | None:
        """Return what `gap`, which counts since the keep was made, says that was not said before; None: nothing."""
        if gap.in_all is None:
            return gap if gap.reason in _OF_A_KEEP or self._is_new_doubt(gap) else None
        more, doubts = gap.in_all - self._told.get(gap.reason, 0), gap.doubts - self._doubts
        if more <= 0 and doubts <= 0:
            return None
        self._told[gap.reason], self._doubts = gap.in_all, max(gap.doubts, self._doubts)
        if doubts <= 0:
            return Gap(gap.reason, more, None, in_all=gap.in_all)
        return Gap(gap.reason, None, None, in_all=gap.in_all, positions=gap.positions, doubts=gap.doubts)

    def _is_new_doubt(self, gap: Gap) -> bool:
        """Is it of this kept subscription alone, and was it not told before? It is told again to who attaches."""
        last = gap.positions[1] if gap.positions is not None else 0
        is_new = last > self._doubted_to
        self._doubted_to = max(last, self._doubted_to)
        return is_new

    # --- what the application says -------------------------------------------------------------------------------

    def acknowledge(self, message: Handed) -> None:
        """Note in `done` what `settle` returns; its steps are written out for a message that came under one position,
        as nearly all do."""
        given, identity, position = self.seen.given, message._identity, message.position
        known = given.get(identity)
        if known and known[1:] == (position,):
            given[identity] = SETTLED
            self.done.append(position)
        else:
            self.done += self.settle(message)

    def settle(self, message: Handed) -> tuple[int, ...]:
        """Return the positions of a message that the application settles now; none if it has done so before, or if it
        was replayed."""
        return self.seen.settle(message._identity, message.position) if message._identity else ()

    def wants_again(self, message: Handed) -> None:
        """Note that the application wants `message` to be given out again."""
        self.seen.wants_again(message._identity)

    # --- steps ---------------------------------------------------------------------------------------------------

    def _hide(self) -> None:
        self.hidden += 1
        self._taken += 1
        self.owes_word = True


def _identity(frame: bytes, head: KeptArea) -> bytes:
    """Return by what a message is known that is not replayed: its id. A dead letter is something else than its message,
    and than a letter of another keep about the same message: it is known by its position, too."""
    return frame[_ID] + head.position.to_bytes(8, "little") if head.dead_letter else frame[_ID]


class KeptBox(Inbox):
    """The inbox of an attachment: it drops nothing, as the router's credit bounds it."""

    __slots__ = ("_attached",)

    def __init__(self, attached: Attached, bounds: InboxBounds, full: set[Inbox]) -> None:
        super().__init__(bounds, full, lambda _: None)
        self._attached = attached

    def put(self, message: Message) -> None:
        handed = self._attached.arrived_alone(message._frame)
        if handed is not None:
            self._add((handed,), handed.frame_bytes)

    def put_run(self, frames: Sequence[bytes], ids: Sequence[int], positions: Sequence[int]) -> None:  # noqa: ARG002
        handed = self._attached.arrived(frames, positions)
        if handed:
            self._add(handed, sum([message.frame_bytes for message in handed]))

    def shut_if_past(self) -> None:
        """Drop nothing: the router's credit bounds what comes."""

    def put_gap(self, gap: Gap) -> None:
        new = self._attached.new_losses(gap)
        if new is not None:
            super().put_gap(new)

    def keep_gaps(self) -> None:
        """Forget the messages that wait, and keep the gaps."""
        gaps = [item for item in self.items if isinstance(item, Gap)]
        self.clear()
        self.items.extend(gaps)
