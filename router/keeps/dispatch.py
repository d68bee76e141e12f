"""Who gets which message of one keep, and what becomes of one that is not acknowledged.

Law: a message is out at one member at a time, and goes to the member with the most free credit. It is given out after
its record is on disk, lowest position first. Of messages that were never given out, so many may follow as `unacked_max`
leaves room for; a message that comes back goes out again without looking at that bound. With `order_by`, messages with
one value go to one member at a time, in order, and one that comes back takes along those that were given out behind it.
Only time by the steady clock counts.

This file says what the C of the switch is to do, and is what that C will be judged by: C will hold members, tries and
the queue, and hand out without waking Python. It is written to be read, not to be fast: each call walks all positions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tamis.protocol.wire.client_bodies import Range
from tamis.router.keeps.events import DeliverKept
from tamis.router.keeps.ledger import KeepAccount, value_of
from tamis.router.keeps.life import TRY_TABLE, TryChange, TryState
from tamis.router.keeps.records import MessageKept


@dataclass(slots=True)
class KeepMember:
    """One attachment. `replays`: positions that it gets before all others, without acknowledging them."""

    number: int
    credit: int
    sent: int = 0
    replays: deque[int] = field(default_factory=deque)

    @property
    def free(self) -> int:
        return self.credit - self.sent


@dataclass(slots=True)
class KeptTry:
    """A message that was given out and has not left. `holder`: who has it or had it last. `until_ms`: how long it is
    OUT or PAUSED. `given`: of all that were given out, which one it was last. `failures`: attempts that failed."""

    holder: int
    until_ms: int
    given: int
    deliveries: int = 1
    failures: int = 0
    state: TryState = TryState.OUT

    def change(self, change: TryChange) -> None:
        self.state = TRY_TABLE[self.state, change]


class Dispatch:
    """The members of one keep, and what they have."""

    def __init__(self, account: KeepAccount, recovered_below: int) -> None:
        """`recovered_below`: what has a lower position may have been given out before this life of the router."""
        self.account = account
        self.members: dict[int, KeepMember] = {}
        self.tries: dict[int, KeptTry] = {}
        self._given = 0
        self._recovered_below = recovered_below

    @property
    def out(self) -> set[int]:
        """Return the positions that members have."""
        return {position for position, tried in self.tries.items() if tried.state is TryState.OUT}

    def own(self, member: int, ranges: Sequence[Range]) -> list[int]:
        """Return the positions in `ranges` that `member` has, or had last."""
        mine = (position for position, tried in self.tries.items() if tried.holder == member)
        return [position for position in mine if any(first <= position <= last for first, last in ranges)]

    def attach(self, member: int, credit: int, latest: bool) -> None:
        replays = deque(self.account.past) if latest else deque[int]()
        self.members[member] = KeepMember(member, credit, replays=replays)

    def blame(self, member: int) -> int | None:
        """Count that an attempt has failed with what `member` was given first, of what it has: its peer has gone.
        Return the position if that was the last attempt, so that it has to leave."""
        held = self._held_by(member)
        oldest = min(held, key=lambda position: self.tries[position].given, default=None)
        return oldest if oldest is not None and self._has_failed(oldest) else None

    def detach(self, member: int) -> None:
        """Let `member` go; what it has is ready for others at once, and that is no attempt that failed."""
        del self.members[member]
        for position in self._held_by(member):
            self.tries[position].change(TryChange.MEMBER_LEFT)

    def forget(self, positions: Iterable[int]) -> None:
        """Take in that `positions` have left the keep."""
        for position in positions:
            self.tries.pop(position, None)

    def extend(self, position: int, now_ms: int) -> None:
        tried = self.tries[position]
        if tried.state is TryState.OUT:
            tried.change(TryChange.EXTENDED)
            tried.until_ms = now_ms + self.account.terms.ack_wait_ms

    def come_back(self, position: int, now_ms: int, delay_ms: int = 0) -> bool:
        """Take `position` back from its member for a time; return False if it was given out as often as it may be, and
        has to leave."""
        tried, terms = self.tries[position], self.account.terms
        if tried.state is not TryState.OUT:
            return True
        was_last = self._has_failed(position)
        backoff = terms.backoff_ms[min(tried.failures, len(terms.backoff_ms)) - 1] if terms.backoff_ms else 0
        for behind in self._given_behind(position):
            self.tries[behind].change(TryChange.MEMBER_LEFT)
        tried.change(TryChange.CAME_BACK)
        tried.until_ms = now_ms + (delay_ms or backoff)
        return not was_last

    def _has_failed(self, position: int) -> bool:
        """Count an attempt that failed; return whether there may be no other."""
        tried, most = self.tries[position], self.account.terms.deliveries_max
        tried.failures += 1
        return bool(most) and tried.failures >= most

    def overdue(self, now_ms: int) -> list[int]:
        """Return the positions that members have had for longer than they may."""
        return [position for position in sorted(self.out) if self.tries[position].until_ms <= now_ms]

    def due_ms(self) -> int | None:
        """Return when something happens by itself next."""
        return min((t.until_ms for t in self.tries.values() if t.state is not TryState.READY), default=None)

    def hand_out(self, committed: int, now_ms: int) -> Iterator[DeliverKept]:
        """Give what can be given now, of what is on disk up to `committed`."""
        for attached in self.members.values():
            yield from self._replayed(attached)
        at: dict[tuple[object, ...], int | None] = {}  # value of order_by: the member that has it; None: it waits
        for position, kept in self.account.open.items():
            value = value_of(kept, self.account.terms.order_by) if self.account.terms.order_by else None
            member = self._holder(position)
            if member is None and position <= committed and self._may_go(position, now_ms):
                member = self._member_for(at, value)
                if member is not None:
                    yield self._give(position, kept, self.members[member], now_ms)
            if value is not None:
                at[value] = member

    def _replayed(self, member: KeepMember) -> Iterator[DeliverKept]:
        while member.replays and member.free > 0:
            position = member.replays.popleft()
            if position in self.account.past:
                member.sent += 1
                past = self.account.past[position]
                yield DeliverKept(
                    *(member.number, position, past.message, 0),
                    replayed=True,
                    maybe_duplicate=False,
                    dead_letter=past.n != position,
                )

    def _holder(self, position: int) -> int | None:
        tried = self.tries.get(position)
        return tried.holder if tried is not None and tried.state is TryState.OUT else None

    def _may_go(self, position: int, now_ms: int) -> bool:
        tried = self.tries.get(position)
        if tried is None:
            return len(self.tries) < self.account.terms.unacked_max
        if tried.state is TryState.PAUSED and tried.until_ms <= now_ms:
            tried.change(TryChange.PAUSE_OVER)
        return tried.state is TryState.READY

    def _member_for(self, at: dict[tuple[object, ...], int | None], value: tuple[object, ...] | None) -> int | None:
        """Return who gets the next message, whose value of `order_by` is `value`; None: it waits."""
        if value is not None and value in at:
            holder = at[value]
            return holder if holder is not None and self.members[holder].free > 0 else None
        best = max(self.members.values(), key=lambda member: (member.free, -member.number), default=None)
        return best.number if best is not None and best.free > 0 else None

    def _give(self, position: int, kept: MessageKept, member: KeepMember, now_ms: int) -> DeliverKept:
        tried = self.tries.get(position)
        until_ms = now_ms + self.account.terms.ack_wait_ms
        self._given += 1
        if tried is None:
            tried = self.tries[position] = KeptTry(member.number, until_ms, self._given)
        else:
            tried.change(TryChange.GIVEN)
            tried.holder, tried.until_ms, tried.given = member.number, until_ms, self._given
            tried.deliveries += 1
        member.sent += 1
        maybe = kept.maybe_duplicate or position < self._recovered_below
        return DeliverKept(
            *(member.number, position, kept.message, tried.deliveries),
            replayed=False,
            maybe_duplicate=maybe,
            dead_letter=kept.n != position,
        )

    def _held_by(self, member: int) -> list[int]:
        return [position for position in self.out if self.tries[position].holder == member]

    def _given_behind(self, position: int) -> list[int]:
        """Return what is out and has a higher position and an equal value of `order_by`."""
        account = self.account
        name = account.terms.order_by
        value = value_of(account.open[position], name) if name else None
        return [o for o in self.out if o > position and value is not None and value_of(account.open[o], name) == value]
