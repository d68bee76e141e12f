"""The keeps of one router: what happens to them goes in, what is to be done comes out.

Law: `handle` knows no clock, no socket and no disk. It changes what a keep has by appending a record and folding it,
and answers, delivers and tells of a loss when that record is on disk. So whatever a client was told is there after a
crash. A crash takes what is not on disk, and what this life alone knows: members, tries, pauses and leases.

In the router, making, attaching, forgetting, quotas and leases stay Python, a few in a second; what is done for each
message (`MessageCame`, `MemberAcked`, `LogCommitted`, and `dispatch.py`) will be C, and this file its judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from tamis.protocol.evaluate import filter_matches
from tamis.protocol.messages import MessageId
from tamis.protocol.wire.client_bodies import AckVerdict
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.keep_bodies import Keep, Overflow, StartAt
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.keeps.commits import NOBODY, Commits
from tamis.router.keeps.events import (
    AnswerDone,
    AnswerRefused,
    AppendRecord,
    AttachAsked,
    Clocks,
    CutMember,
    ForgetAsked,
    KeepAsked,
    KeepCommand,
    KeepEvent,
    LogCommitted,
    LogStands,
    MemberAcked,
    MemberCredit,
    MemberGone,
    MessageCame,
    TellLost,
    TimePassed,
)
from tamis.router.keeps.ledger import KeepAccount, Ledger
from tamis.router.keeps.life import KeepChange, KeepState
from tamis.router.keeps.living import KeepQuotas, LivingKeep
from tamis.router.keeps.records import (
    COUNTER_BITS,
    LOSSES,
    KeepForgotten,
    KeepMade,
    Leaving,
    LetterMoved,
    LogRecord,
    MessageKept,
    MessagesLeft,
    MessageUnstored,
)
from tamis.router.keeps.retention import has_room, leaving

LOG_HAS_FAILED: Final = (RefusalCode.LOG_FAILED, "the log cannot be written")


class Keeps:
    """See above. `life`: of the log, raised and on disk before the first number of it is used."""

    def __init__(self, life: int, recovered: Iterable[tuple[int, LogRecord]], quotas: KeepQuotas, now: Clocks) -> None:
        """`recovered`: the records that are on disk, ascending."""
        self.quotas = quotas
        self.ledger = Ledger()
        for n, record in recovered:
            self.ledger.fold(n, record)
        self._next = (life << COUNTER_BITS) + 1
        self._stands = LogStands(is_full=False, has_failed=False)
        self._now = now
        self._commands: list[KeepCommand] = []
        self._taken_in: Final[dict[type, Callable[[Any], None]]] = {
            KeepAsked: self._make,
            ForgetAsked: self._forget_named,
            AttachAsked: self._attach,
            MemberGone: self._detach,
            MemberCredit: self._raise_credit,
            MemberAcked: self._acked,
            MessageCame: self._came,
            LogCommitted: self._on_disk,
            LogStands: self._log_stands,
            TimePassed: lambda _: None,
        }
        self.commits = Commits(self._next - 1)
        self._keep_of: dict[int, int] = {}
        self.living = {number: self._live(account, KeepState.IDLE) for number, account in self.ledger.keeps.items()}
        for keep in self.living.values():
            keep.lost = {how: count for how, count in keep.account.left.items() if how in LOSSES}

    def handle(self, event: KeepEvent, now: Clocks) -> list[KeepCommand]:
        """Take in `event`, and return what is to be done, in order."""
        self._now, self._commands = now, []
        self._taken_in[type(event)](event)
        self._let_time_act()
        for keep in self.living.values():
            self._commands += keep.dispatch.hand_out(self.commits.upto, now.steady_ms)
        return self._commands

    def due_ms(self) -> int | None:
        """Return when, by the steady clock, `TimePassed` is due at the latest; times by Unix time need a look now and
        then besides."""
        dues = [due for keep in self.living.values() if (due := keep.dispatch.due_ms()) is not None]
        leases = [
            ends
            for keep in self.living.values()
            if (ends := keep.life.lease_ends_ms(keep.account.terms.idle_ms)) is not None
        ]
        return min(dues + leases, default=None)

    # ---- the log ----

    def _append(self, record: LogRecord, token: int = NOBODY) -> int:
        """Append `record` and fold it; `token` is answered when it is on disk. Returns its number."""
        n, self._next = self._next, self._next + 1
        self.ledger.fold(n, record)
        self._commands.append(AppendRecord(n, record))
        self._answer_at(n, token)
        return n

    def _answer_at(self, n: int, token: int) -> None:
        """Answer `token` when the records up to `n` are on disk."""
        if token != NOBODY:
            self._when_on_disk(n, lambda: self._done(token), token)

    def _when_on_disk(self, n: int, then: Callable[[], None], token: int = NOBODY) -> None:
        if n > self.commits.upto and self._stands.has_failed:
            self._refuse(token, *LOG_HAS_FAILED)
        else:
            self.commits.await_(n, then, token)

    def _on_disk(self, committed: LogCommitted) -> None:
        self.commits.reach(committed.n)

    def _log_stands(self, stands: LogStands) -> None:
        self._stands = stands
        if stands.has_failed:
            for token in self.commits.give_up():
                self._refuse(token, *LOG_HAS_FAILED)

    # ---- keeps ----

    def _make(self, asked: KeepAsked) -> None:
        found = self.ledger.named(asked.keep.name)
        if found is not None:
            differing = found.terms.differing(asked.keep.terms)
            if differing:
                self._refuse(asked.token, RefusalCode.KEEP_DIFFERS, f"it differs in {', '.join(differing)}")
            else:
                self._answer_at(found.number, asked.token)
            return
        made = [account.made for account in self.ledger.keeps.values()]
        own = [each.terms.bytes for each in made if each.owner == asked.owner]
        refusal = self.quotas.exceeded(len(made), len(own), sum(own), asked.keep)
        if refusal:
            self._refuse(asked.token, RefusalCode.OVER_QUOTA, refusal)
        elif self._stands.has_failed:
            self._refuse(asked.token, *LOG_HAS_FAILED)
        else:
            record = KeepMade(asked.keep.name, asked.owner, asked.keep.terms, self._taken(asked.keep))
            number = self._append(record)
            self.living[number] = self._live(self.ledger.keeps[number], KeepState.MAKING)
            self._when_on_disk(number, lambda: self._made(number, asked.token), asked.token)

    def _made(self, number: int, token: int) -> None:
        if number in self.living:
            self.living[number].life.change(KeepChange.COMMITTED, self._now.steady_ms)
        self._done(token)

    def _live(self, account: KeepAccount, state: KeepState) -> LivingKeep:
        """`commits.upto` is still the number below the first of this life when keeps are recovered."""
        below = self.commits.upto if state is KeepState.IDLE else 0
        return LivingKeep(account, state, self._now.steady_ms, below)

    def _taken(self, keep: Keep) -> tuple[int, ...]:
        """Return the numbers of the messages in the log that `keep` starts with; after an identity that is not known,
        all of them."""
        if keep.start is StartAt.NEW:
            return ()
        filters = [decode_filter(packed) for packed in keep.terms.filters]
        after = self.ledger.ids.get(MessageId(keep.after_origin, keep.after_counter), 0)
        since_ms = keep.start_ns // 1_000_000 if keep.start is StartAt.TIME else 0
        return tuple(
            n
            for n, kept in self.ledger.messages().items()
            if n > after
            and kept.at_ms >= since_ms
            and any(filter_matches(filter_, kept.message.attributes) for filter_ in filters)
        )

    def _forget_named(self, asked: ForgetAsked) -> None:
        found = self.ledger.named(asked.name)
        if found is None:
            self._refuse(asked.token, RefusalCode.NO_SUCH_KEEP, f"there is no keep {asked.name!r}")
        elif self._stands.has_failed:
            self._refuse(asked.token, *LOG_HAS_FAILED)
        else:
            self._forget(found.number, asked.token)

    def _forget(self, number: int, token: int = NOBODY) -> None:
        for member in self.living.pop(number).dispatch.members:
            del self._keep_of[member]
            self._commands.append(CutMember(member))
        self._append(KeepForgotten(number), token)

    # ---- members ----

    def _attach(self, asked: AttachAsked) -> None:
        token, member, attach = asked.token, asked.member, asked.attach
        found = self.ledger.named(attach.name)
        keep = self.living[found.number] if found is not None else None
        if keep is None or keep.life.state is KeepState.MAKING:
            self._refuse(token, RefusalCode.NO_SUCH_KEEP, f"there is no keep {attach.name!r}")
            return
        members = keep.dispatch.members
        refusal = self.quotas.too_many(len(members))
        if refusal:
            self._refuse(token, RefusalCode.OVER_QUOTA, refusal)
            return
        if not members:
            keep.life.change(KeepChange.FIRST_ATTACHED, self._now.steady_ms)
        out = keep.dispatch.out
        self._leave(keep, [p for p in keep.account.open if p <= attach.after and p not in out], Leaving.SKIPPED)
        keep.dispatch.attach(member, attach.credit_frames, attach.latest)
        self._keep_of[member] = keep.account.number
        self._done(token)
        self._commands += [TellLost(member, how, in_all) for how, in_all in keep.lost.items()]

    def _detach(self, gone: MemberGone) -> None:
        member = gone.member
        keep = self._served_by(member)
        if keep is not None:
            dying = keep.dispatch.blame(member) if gone.is_lost else None
            if dying is not None:
                self._kill(keep, dying, "its consumers went away while they had it")
            del self._keep_of[member]
            keep.dispatch.detach(member)
            if not keep.dispatch.members:
                keep.life.change(KeepChange.LAST_DETACHED, self._now.steady_ms)

    def _raise_credit(self, raised: MemberCredit) -> None:
        keep = self._served_by(raised.member)
        if keep is not None:
            mine = keep.dispatch.members[raised.member]
            mine.credit = max(mine.credit, raised.frames_total)

    def _served_by(self, member: int) -> LivingKeep | None:
        """Return the keep to which `member` is attached; None if it was forgotten meanwhile."""
        number = self._keep_of.get(member)
        return None if number is None else self.living[number]

    def _acked(self, acked: MemberAcked) -> None:
        keep = self._served_by(acked.member)
        if keep is None:
            self._refuse(acked.token, RefusalCode.NO_SUCH_ID, "the keep is forgotten")
            return
        own, now_ms = keep.dispatch.own(acked.member, acked.ranges), self._now.steady_ms
        match acked.verdict:
            case AckVerdict.DONE:
                self._leave(keep, own, Leaving.ACKED)
            case AckVerdict.AGAIN:
                for position in sorted(own):
                    self._take_back(keep, position, acked.delay_ms, acked.reason)
            case AckVerdict.EXTEND:
                for position in own:
                    keep.dispatch.extend(position, now_ms)
            case AckVerdict.REJECT:
                for position in sorted(own):
                    self._kill(keep, position, acked.reason or "rejected")
        self._answer_at(self._next - 1, acked.token)

    # ---- messages ----

    def _came(self, came: MessageCame) -> None:
        """Store a message for those that want it and do not have it, where there is room; whatever one of them does, it
        goes to all others."""
        stored = self.ledger.ids.get(came.message.id)
        having = self.ledger.partial.get(came.message.id)
        if stored is not None and having is None:
            self._answer_at(stored, came.token)
            return
        all_ = [self.living[number] for number in came.keeps if number in self.living]
        wanted = [keep for keep in all_ if keep.account.number not in (having or ())]
        taking = [keep for keep in wanted if self._has_room(keep, came.size)]
        if taking:
            maybe = came.is_retry and self.ledger.has_forgotten_ids
            numbers = tuple(keep.account.number for keep in taking)
            is_partial = len(taking) < len(wanted)
            now_ms = self._now.wall_ms
            stored = self._append(
                MessageKept(
                    self._next, came.message, came.size, numbers, now_ms, came.expires_ms, maybe, is_partial=is_partial
                )
            )
        lacking = [keep for keep in wanted if keep not in taking]
        if lacking:
            self._lack(came, lacking, len(all_))
        elif stored is not None:
            self._answer_at(stored, came.token)
        else:
            self._done(came.token)

    def _lack(self, came: MessageCame, lacking: list[LivingKeep], wanted: int) -> None:
        """`lacking` have no room for a message that so many keeps want."""
        if came.token != NOBODY:
            code, why = self._log_refuses() or (RefusalCode.LOG_FULL, f"keep {lacking[0].account.made.name!r} is full")
            self._refuse(came.token, code, f"stored in {wanted - len(lacking)} of {wanted}: {why}")
        elif not self._stands.has_failed:
            for keep in lacking:
                self._append(MessageUnstored(keep.account.number))
                self._tell_lost_when_on_disk(keep, Leaving.DROPPED)

    def _log_refuses(self) -> tuple[RefusalCode, str] | None:
        """Return why the log takes no message; None: it does."""
        if self._stands.has_failed:
            return LOG_HAS_FAILED
        return (RefusalCode.LOG_FULL, "the log has no room") if self._stands.is_full else None

    def _has_room(self, keep: LivingKeep, size: int) -> bool:
        is_refusing = keep.account.terms.overflow is Overflow.REFUSE
        return self._log_refuses() is None and (not is_refusing or has_room(keep.account, size))

    def _let_time_act(self) -> None:
        """Take back what members have had for too long, let go what the terms say, and end leases."""
        for keep in self.living.values():
            for position in keep.dispatch.overdue(self._now.steady_ms):
                self._take_back(keep, position, 0, "")
        for number, keep in list(self.living.items()):
            for positions, how in leaving(keep.account, keep.dispatch.out, self._now.wall_ms):
                self._leave(keep, positions, how)
            ends_ms = keep.life.lease_ends_ms(keep.account.terms.idle_ms)
            if ends_ms is not None and ends_ms <= self._now.steady_ms:
                self._forget(number)

    def _take_back(self, keep: LivingKeep, position: int, delay_ms: int, reason: str) -> None:
        if not keep.dispatch.come_back(position, self._now.steady_ms, delay_ms):
            self._kill(keep, position, reason or f"given out {keep.account.terms.deliveries_max} times")

    def _kill(self, keep: LivingKeep, position: int, reason: str) -> None:
        """Move `position` to the dead letter place of its keep or, where there is none with room for it, let it go as a
        loss."""
        to = self.ledger.named(keep.account.terms.dead_letter)
        kept = keep.account.open[position]
        if to is None or (to.terms.overflow is Overflow.REFUSE and not has_room(to, kept.size)):
            self._leave(keep, [position], Leaving.UNDELIVERABLE)
            return
        tried = keep.dispatch.tries[position]
        self._append(LetterMoved(keep.account.number, position, to.number, tried.deliveries, reason))
        keep.dispatch.forget([position])

    def _leave(self, keep: LivingKeep, positions: Iterable[int], how: Leaving) -> None:
        left = tuple(positions)
        if left:
            self._append(MessagesLeft(keep.account.number, left, how))
            keep.dispatch.forget(left)
            if how in LOSSES:
                self._tell_lost_when_on_disk(keep, how)

    def _tell_lost_when_on_disk(self, keep: LivingKeep, how: Leaving) -> None:
        in_all = keep.account.left[how]
        self._when_on_disk(self._next - 1, lambda: self._tell_lost(keep, how, in_all))

    def _tell_lost(self, keep: LivingKeep, how: Leaving, in_all: int) -> None:
        if in_all > keep.lost.get(how, 0):
            keep.lost[how] = in_all
            self._commands += [TellLost(member, how, in_all) for member in keep.dispatch.members]

    # ---- answers ----

    def _done(self, token: int) -> None:
        if token != NOBODY:
            self._commands.append(AnswerDone(token))

    def _refuse(self, token: int, code: RefusalCode, reason: str) -> None:
        if token != NOBODY:
            self._commands.append(AnswerRefused(token, code, reason))
