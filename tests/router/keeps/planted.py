"""Bugs that are planted in the keeps, each of which leaves one rule out: the judge has to find every one."""
# ruff: noqa: ARG002 - a bug often is to look at less

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from tamis.protocol.wire.client_bodies import AckVerdict, Range
from tamis.router.keeps import events as e
from tamis.router.keeps.dispatch import Dispatch
from tamis.router.keeps.keeps import Keeps
from tamis.router.keeps.ledger import KeepAccount, Ledger
from tamis.router.keeps.life import KeepState, TryState
from tamis.router.keeps.living import LivingKeep
from tamis.router.keeps.records import Leaving, LetterMoved, LogRecord, MessageKept, MessagesLeft

LAST = 2**64 - 1


def dispatching(broken: type[Dispatch]) -> type[Keeps]:
    """Keeps whose messages are handed out by `broken`."""

    class Broken(Keeps):
        def _live(self, account: KeepAccount, state: KeepState) -> LivingKeep:
            keep = super()._live(account, state)
            keep.dispatch.__class__ = broken
            return keep

    return Broken


def folding(broken: type[Ledger]) -> type[Keeps]:
    """Keeps whose ledger folds otherwise while a router lives; a start folds as ever."""

    class Broken(Keeps):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)
            self.ledger.__class__ = broken

    return Broken


class DeliversBeforeTheCommit(Dispatch):
    def hand_out(self, committed: int, now_ms: int) -> Iterator[e.DeliverKept]:
        return super().hand_out(LAST, now_ms)


class ConfirmsBeforeTheCommit(Keeps):
    def _answer_at(self, n: int, token: int) -> None:
        self._done(token)


class TakesAcksOfOthers(Dispatch):
    def own(self, member: int, ranges: Sequence[Range]) -> list[int]:
        return [p for p in self.tries if any(first <= p <= last for first, last in ranges)]


class TakesAcksOfWhatWasNotGiven(Keeps):
    def _acked(self, acked: e.MemberAcked) -> None:
        keep = self._served_by(acked.member)
        if keep is not None and acked.verdict is AckVerdict.DONE:
            covered = [p for p in keep.account.open if any(first <= p <= last for first, last in acked.ranges)]
            self._leave(keep, covered, Leaving.ACKED)
        super()._acked(acked)


class LosesInSilence(Keeps):
    def _tell_lost(self, keep: LivingKeep, how: Leaving, in_all: int) -> None:
        if how is not Leaving.DROPPED:
            super()._tell_lost(keep, how, in_all)


class CountsLossesTwice(Keeps):
    def _tell_lost(self, keep: LivingKeep, how: Leaving, in_all: int) -> None:
        super()._tell_lost(keep, how, 2 * in_all)


class StallsAtTheBound(Dispatch):
    """Redelivery counts against `unacked_max`, as what is given out does."""

    def _may_go(self, position: int, now_ms: int) -> bool:
        return len(self.tries) < self.account.terms.unacked_max and super()._may_go(position, now_ms)


class ForgetsWhoHasAValue(Dispatch):
    def _member_for(self, at: object, value: object) -> int | None:
        return super()._member_for({}, None)


class LeavesBehindWhatFollowed(Dispatch):
    """With `order_by`, one that comes back does not take along those that were given out behind it."""

    def _given_behind(self, position: int) -> list[int]:
        return []


class BlamesNobody(Dispatch):
    """What a consumer had first when its peer went away has not failed."""

    def blame(self, member: int) -> int | None:
        return None


class BlamesTheNewest(Dispatch):
    def blame(self, member: int) -> int | None:
        newest = max(self._held_by(member), key=lambda position: self.tries[position].given, default=None)
        return newest if newest is not None and self._has_failed(newest) else None


class ForgetsHowOften(Dispatch):
    def hand_out(self, committed: int, now_ms: int) -> Iterator[e.DeliverKept]:
        return (replace(d, deliveries=min(d.deliveries, 1)) for d in super().hand_out(committed, now_ms))


class LetsTheDeadGo(Keeps):
    """A dead letter leaves its keep, and does not come to the other."""

    def _append(self, record: LogRecord, token: int = 0) -> int:
        if isinstance(record, LetterMoved):
            record = MessagesLeft(record.keep, (record.position,), Leaving.DEAD)
        return super()._append(record, token)


class DeadLettersKeepTheirPosition(Ledger):
    def fold(self, n: int, record: LogRecord) -> None:
        if isinstance(record, LetterMoved):
            kept = self.keeps[record.keep].open[record.position]
            self.keeps[record.to].put(record.position, kept)
            self.keeps[record.keep].take((record.position,), Leaving.DEAD)
        else:
            super().fold(n, record)


class WritesNoAcks(Keeps):
    """An acknowledgement holds as long as the router lives."""

    def _leave(self, keep: LivingKeep, positions: Iterable[int], how: Leaving) -> None:
        left = tuple(positions)
        if left and how is Leaving.ACKED:
            keep.account.take(left, how)
            keep.dispatch.forget(left)
        else:
            super()._leave(keep, left, how)


class TakesRetriesForNew(Keeps):
    def _came(self, came: e.MessageCame) -> None:
        self.ledger.ids.pop(came.message.id, None)
        super()._came(came)


class DoesNotExtend(Dispatch):
    def extend(self, position: int, now_ms: int) -> None:
        pass


class GivesBackTooEarly(Dispatch):
    def overdue(self, now_ms: int) -> list[int]:
        return super().overdue(now_ms + 1)


class NeverTakesBack(Dispatch):
    def overdue(self, now_ms: int) -> list[int]:
        return []


class MeasuresByTheWall(Keeps):
    """What members have comes back by Unix time, which jumps."""

    def handle(self, event: e.KeepEvent, now: e.Clocks) -> list[e.KeepCommand]:
        return super().handle(event, e.Clocks(now.wall_ms, now.wall_ms))


class EndsTheLeaseOfTheServed(Keeps):
    def _let_time_act(self) -> None:
        super()._let_time_act()
        for number, keep in list(self.living.items()):
            idle_ms = keep.account.terms.idle_ms
            if idle_ms and keep.life.idle_since_ms + idle_ms <= self._now.steady_ms:
                self._forget(number)


class GivesTheNewestFirst(Dispatch):
    def hand_out(self, committed: int, now_ms: int) -> Iterator[e.DeliverKept]:
        self.account.open = dict(sorted(self.account.open.items(), reverse=True))
        yield from super().hand_out(committed, now_ms)


class SeedsWithEverything(Keeps):
    """A keep that starts with what is in the log takes what it does not want, too."""

    def _taken(self, keep: object) -> tuple[int, ...]:
        return tuple(self.ledger.messages()) if super()._taken(keep) else ()


class SeedsDeadLettersTwice(Ledger):
    """A keep that starts with what is in the log takes a dead letter by each number that it has."""

    def messages(self) -> dict[int, MessageKept]:
        return dict(sorted(item for keep in self.keeps.values() for item in (keep.past | keep.open).items()))


class GivesToSeveral(Dispatch):
    def _holder(self, position: int) -> int | None:
        tried = self.tries.get(position)
        if tried is not None and tried.state is TryState.OUT and len(self.members) > 1:
            tried.state = TryState.READY
        return super()._holder(position)


class ConfirmsWhatAKeepLacks(Keeps):
    def _lack(self, came: e.MessageCame, lacking: list[LivingKeep], wanted: int) -> None:
        self._done(came.token)


class ForgetsWhoHasIt(Ledger):
    """A second try goes to all keeps."""

    def _note_lack(self, record: MessageKept) -> None:
        super()._note_lack(record)
        if record.is_partial:
            self.partial[record.message.id].clear()


PLANTED: dict[str, Callable[[], type[Keeps]]] = {
    **{
        broken.__name__: lambda broken=broken: dispatching(broken)
        for broken in (
            *(DeliversBeforeTheCommit, TakesAcksOfOthers, StallsAtTheBound),
            *(ForgetsWhoHasAValue, LeavesBehindWhatFollowed, ForgetsHowOften, DoesNotExtend, GivesBackTooEarly),
            *(NeverTakesBack, GivesTheNewestFirst, GivesToSeveral, BlamesNobody, BlamesTheNewest),
        )
    },
    **{
        broken.__name__: lambda broken=broken: folding(broken)
        for broken in (DeadLettersKeepTheirPosition, ForgetsWhoHasIt, SeedsDeadLettersTwice)
    },
    **{
        broken.__name__: lambda broken=broken: broken
        for broken in (
            *(
                TakesAcksOfWhatWasNotGiven,
                ConfirmsBeforeTheCommit,
                ConfirmsWhatAKeepLacks,
                LosesInSilence,
                CountsLossesTwice,
                LetsTheDeadGo,
                WritesNoAcks,
            ),
            *(TakesRetriesForNew, MeasuresByTheWall, EndsTheLeaseOfTheServed, SeedsWithEverything),
        )
    },
}
