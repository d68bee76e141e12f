"""R19: the exchange of statements about durable subscriptions.

Law: a router states its durable subscriptions with a freshness, apart from its predicate; a statement is forwarded once
if it is fresher than all earlier ones of its issuer (R3), and of two of equal freshness the one of the larger digest is
in force until their issuer, which is told of both, states a newer one (R2, R9). A change that arrives before its base
waits for it, and is requested once that takes too long. Neighbours compare digests over all of them beside those over
all other state (`SenderRequest.durables`), never within them; where the two differ, each sends the versions that it
knows, and the other what is newer, changes or the whole (R4, R10), once a second at most. A router confirms a statement
once its owner has stored it (R19b). Statements outlive the reach of their issuer, and restarts (R19c); R8 is not for
them. A router that has a log states it, without durable subscriptions too, once it knows of others (R19e); one with
durable subscriptions requests confirmation, less and less often, until each in reach that has a log has confirmed
(R19d). None of this goes to a neighbour without the capability, or delays messages, but those that are to be confirmed
as stored right after a start (C14).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tamis.protocol.limits import DURABLES_KNOWN_BYTES_MAX, DURABLES_STATED_BYTES_MAX
from tamis.protocol.wire.custody_bodies import NO_LOG, LogLife
from tamis.protocol.wire.home_bodies import DurablesHeld, DurablesHolder, DurablesStatement, NumberedDurable, name_in
from tamis.protocol.wire.numbers import NO_DIGEST, moved, weight_of
from tamis.protocol.wire.routing_bodies import Known, SenderRequest
from tamis.router.core.commands import Alarm, DurablesKnown, DurablesStoredAt, StoreDurables
from tamis.router.core.rate_limiter import RateLimiter
from tamis.router.core.statements.compact.pages import PackedPages
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.damper import Damper
from tamis.router.core.statements.flood import Flood
from tamis.router.core.statements.freshness import Verdict, Version
from tamis.router.core.statements.held import Confirmations, Holders
from tamis.router.core.statements.known_durables import REPLACED_PER_SLICE, NoRoomForDurables
from tamis.router.core.statements.links import CoreLink
from tamis.router.core.statements.recent_changes import RecentChanges
from tamis.router.core.statements.rib import AppliedChange, HeldPredicate, MissingBase
from tamis.router.core.statements.sizes import LONG_SHARE, is_large, listed_size, size_of
from tamis.router.core.statements.storing import StoringRouters
from tamis.router.core.timers import Due
from tamis.router.core.times import S

ALARM_EVERY_US: Final = 60 * S
"""The least time between two alarms about one issuer."""
PATIENCE_MAX_US: Final = 64 * S
"""The longest wait before confirmations that routers owe are requested again; it doubles up to that."""


@dataclass(slots=True)
class _Replacing:
    """The whole of an issuer that is being taken in slices; `later`: a newer one, which follows."""

    body: DurablesStatement
    is_fresh: bool
    work: Generator[None, None, AppliedChange | None]
    later: DurablesStatement | None = None


class DurableTalks:
    def __init__(self, core_state: CoreState) -> None:
        self._core_state = core_state
        self._known = core_state.durables
        self.send_digest: Callable[[CoreLink, tuple[Known, ...]], None] = lambda link, known: None  # noqa: ARG005
        """Sends a neighbour the digests of all that is held, with these versions of statements; the core sets it."""
        self.flood = Flood()
        self.holders = Holders()
        self.storing = StoringRouters(self._known)
        self.confirmations: Confirmations[DurablesHolder, DurablesHeld] = Confirmations(DurablesHeld)
        self._damper = Damper(core_state.times.damp_first_us)
        self._recent = RecentChanges()
        self._replacing: dict[int, _Replacing] = {}
        self._stored: dict[int, tuple[Version, LogLife]] = {}
        """The version of each issuer that this router's owner has stored, and its log."""
        self._log = 0
        self._changes: dict[int, bytes | None] = {}
        """What is still to be stated of the durable subscriptions of this router; None: removed."""
        self._wanted_size = 0
        """Of all of them, stated or to be stated."""
        self._is_stating = False
        """Whether this router has stated something, or some router holds a statement of an earlier life."""
        self._patience_us = core_state.times.retry_us
        self._asked: frozenset[int] = frozenset()
        """The routers that owed a confirmation when it was last requested."""
        self._has_compared = self._is_in_step = False
        self._answered = RateLimiter(core_state.times.answer_every_us)
        self._corrected = RateLimiter(core_state.times.answer_every_us)
        self._alarmed = RateLimiter(ALARM_EVERY_US)

    # --- the durable subscriptions of this router

    def state(self, log: int, added: Mapping[int, bytes], removed: Iterable[int]) -> None:
        """Note what this router has made and removed, if anything; `log` is the id of its log."""
        self._log = log
        for number in removed:
            packed = self._wanted(number)
            if packed is not None:
                self._wanted_size -= size_of((packed,))
                self._changes[number] = None
        for number, packed in added.items():
            before = self._wanted(number)
            size = size_of((packed,)) - (size_of((before,)) if before is not None else 0)
            if self._wanted_size + size > DURABLES_STATED_BYTES_MAX:
                most = f"at most {DURABLES_STATED_BYTES_MAX:,} bytes of durable subscriptions are stated"
                self._alarm(self._core_state.me, f"durable subscription {name_in(packed)} is not stated: {most}")
                continue
            self._changes[number] = packed
            self._wanted_size += size
        self.consider()

    def _wanted(self, number: int) -> bytes | None:
        """Return a durable subscription of this router, stated or to be stated; None: it has none of this number."""
        if number in self._changes:
            return self._changes[number]
        return self._known.rib.filters(self._core_state.me).get(number)

    def consider(self) -> None:
        """Issue pending changes, now or when damping allows it."""
        core_state = self._core_state
        if not (self._changes or self.holders.wants_issue or self._is_log_unsaid):
            return
        most_us = core_state.times.damp_widen_max_us
        ready_us = self._damper.ready_us(most_us)
        if ready_us > core_state.now_us:
            core_state.timers.set_earlier((Due.DURABLES_ISSUE, 0), ready_us)
            return
        self._damper.issued(core_state.now_us, most_us)
        self._issue()

    @property
    def _is_log_unsaid(self) -> bool:
        """Whether something of durable subscriptions is known, and others do not know this router's log."""
        return bool(self._known.homes) and self._known.log_of(self._core_state.me) != self._log

    def forget_confirmations(self) -> None:
        """Forget which versions routers hold, as this router's epoch was lowered."""
        self.holders.forget()
        self.storing.again()

    def say(self) -> None:
        """State the whole under a new version, if this router has anything to state; earlier confirmations no longer
        count."""
        self.holders.again()
        self.storing.again()
        if self._is_stating:
            self._say_whole()

    def _issue(self) -> None:
        core_state, rib = self._core_state, self._known.rib
        held = rib.entries.get(core_state.me)
        if held is None or held.version.epoch != core_state.identity.epoch:
            self._is_stating = True
            self._say_whole()
            return
        base = held.version.seq, held.digest
        self._tell(base, self._apply(held))

    def _say_whole(self) -> None:
        """State the whole, with what has changed."""
        me, rib = self._core_state.me, self._known.rib
        if me not in rib.entries:
            rib.put(me, HeldPredicate(self._core_state.identity.version, NO_DIGEST, PackedPages()))
        self._apply(rib.entries[me])
        self._tell(None, AppliedChange(rib.filters(me), ()))

    def _apply(self, held: HeldPredicate) -> AppliedChange:
        """Apply the changes that are still to be stated, under a new version; return what changes."""
        core_state, known, changes = self._core_state, self._known, self._changes
        me, self._changes = core_state.me, {}
        added = {number: packed for number, packed in changes.items() if packed is not None}
        gone = {number: held.filters.pop(number) for number in changes if number in held.filters}
        held.filters.update(added)
        weight = weight_of(added.items()) - weight_of(gone.items())
        known.rib.restate(me, core_state.identity.next(), moved(held.digest, weight), self._wanted_size)
        known.name(me, added.items())
        known.unname(me, gone.items())
        return AppliedChange(added, tuple(gone))

    def _tell(self, base: tuple[int, bytes] | None, change: AppliedChange) -> None:
        """Flood a statement with a change of the version with number and digest `base`; None: `change` has the
        whole."""
        core_state, base_seq = self._core_state, base[0] if base is not None else None
        me, held = core_state.me, self._known.rib.entries[core_state.me]
        if base_seq is None or change.added:
            self._patience_us = core_state.times.retry_us
            self.storing.issued(held.version)
        body = DurablesStatement(
            *(me, core_state.identity.name, *held.version, self._log, base_seq is None, base_seq or 0),
            *(tuple(map(NumberedDurable._make, change.added.items())), change.removed, held.digest),
            *(len(held.filters), self._asks_to_confirm(held.version)),
        )
        self._known.restate(body)
        if base is not None:
            self._recent.note(base[1], body)
        self.flood.is_fresh(me, held.version)
        core_state.flood(body)
        self.check()

    def _asks_to_confirm(self, version: Version) -> bool:
        core_state, times = self._core_state, self._core_state.times
        self._asked = self.storing.owing(core_state.trees.routers)
        if not (len(self.holders) or self._asked):
            return False
        wait_us = times.retry_us if len(self.holders) else self._patience_us
        core_state.timers.set((Due.DURABLES_CONFIRM, 0), core_state.now_us + wait_us)
        self.holders.issued(version)
        return True

    # --- tickets: which routers know of them

    def awaited(self, ticket: int, wait_us: int) -> None:
        """Reply to `ticket` once all routers in reach have stored what this router has now, or after `wait_us`."""
        self.holders.add(ticket)
        self._core_state.timers.set((Due.DURABLES_LATE, ticket), self._core_state.now_us + wait_us)
        self.consider()

    def late(self, ticket: int) -> None:
        """End the wait of a ticket."""
        reachable = self._core_state.trees.routers - {self._core_state.me}
        holding = self.holders.give_up(ticket) & reachable
        self._answer(ticket, holding, reachable - holding)

    def held(self, body: DurablesHeld) -> None:
        """Record which routers have stored a version of this router, or pass it on towards its issuer."""
        core_state, version = self._core_state, Version(body.epoch, body.seq)
        if body.issuer != core_state.me:
            self.confirmations.add(body.issuer, version, body.holders, body.rest)
            core_state.timers.set_earlier((Due.DURABLES_HELD, 0), core_state.now_us + core_state.times.held_merge_us)
        elif version <= core_state.identity.version:
            self.holders.heard(version, (holder.router for holder in body.holders))
            if moved := self.storing.heard(version, body.holders, core_state.trees.routers - {core_state.me}):
                core_state.out.append(DurablesStoredAt(moved))
            self.check()

    def check(self) -> None:
        """Reply to the tickets that are reached, and see to it that routers which owe a confirmation are asked; called
        also when other routers are in reach than before."""
        core_state = self._core_state
        if (Due.JUMP, 0) in core_state.timers:
            return
        reachable = core_state.trees.routers - {core_state.me}
        self.storing.keep(reachable)
        for ticket in self.holders.reached(reachable):
            self._answer(ticket, reachable, frozenset())
        self._ask_to_confirm_later()

    def _ask_to_confirm_later(self) -> None:
        """Plan the next request for confirmation if one is owed: soon, if by a router that was not asked before."""
        core_state = self._core_state
        owing = self.storing.owing(core_state.trees.routers)
        if owing - self._asked:
            self._patience_us = core_state.times.retry_us
        if owing:
            core_state.timers.set_earlier((Due.DURABLES_CONFIRM, 0), core_state.now_us + self._patience_us)

    def _answer(self, ticket: int, holding: frozenset[int], missing: frozenset[int]) -> None:
        self._core_state.timers.cancel((Due.DURABLES_LATE, ticket))
        self._core_state.out.append(DurablesKnown(ticket, self.storing.holders(holding), tuple(sorted(missing))))

    def confirm_again(self) -> None:
        """Request confirmation from all routers again, as some have not replied; a ticket goes on to wait for its
        version, or a fresher one."""
        if len(self.holders) or self.storing.owing(self._core_state.trees.routers):
            self._patience_us = min(2 * self._patience_us, PATIENCE_MAX_US)
            self._issue()

    # --- statements of others

    def recall(self, statements: Iterable[DurablesStatement], written: LogLife) -> None:
        """C13: hold what this router's log, `written`, had of others when it started."""
        for statement in statements:
            self._known.recall(statement)
            version = Version(statement.epoch, statement.seq)
            self.flood.is_fresh(statement.issuer, version)
            self._stored[statement.issuer] = version, written

    def hear(self, body: DurablesStatement, link: CoreLink) -> None:
        core_state, version = self._core_state, Version(body.epoch, body.seq)
        if not link.knows_durables or not core_state.believes(body.issuer, version.epoch, link.neighbour):
            return
        if body.issuer == core_state.me:
            self._hear_of_me(version, body.digest, link)
            return
        is_fresh = self.flood.is_fresh(body.issuer, version)
        if is_fresh:
            self._pass_on(body, link.neighbour)
        if body.confirm:
            self.confirmations.asked(body.issuer, version)
        verdict = self._known.rib.judge(body.issuer, version, body.digest)
        if verdict is Verdict.NEWER or (verdict is Verdict.CONFLICT and self._prevails(body)):
            self._take(body, is_fresh)
        elif verdict is Verdict.OLDER:
            self._correct(body.issuer, version, link)
        if verdict is Verdict.CONFLICT:
            self._tell_issuer(body)
        self._confirm(body.issuer)

    def stored(self, issuer: int, version: Version, written: LogLife) -> None:
        """C12: confirm a statement that this router's owner has stored in this log."""
        self._stored[issuer] = version, written
        self._confirm(issuer)

    @property
    def is_in_step(self) -> bool:
        """C14: whether this router has stored, at some time since its start, all that a neighbour knew; of neighbours
        without the capability there is nothing to know."""
        core_state = self._core_state
        if not self._is_in_step:
            links = core_state.links.by_neighbour.values()
            has_compared = self._has_compared or (links and not any(link.knows_durables for link in links))
            self._is_in_step = bool(has_compared) and all(map(self._is_stored, self._known.rib.entries))
        return self._is_in_step

    def _is_stored(self, issuer: int) -> bool:
        """Return whether what an issuer states is in the log, unless it is this router or its statement is refused."""
        version, written = self._stored.get(issuer, (None, NO_LOG))
        is_due = issuer != self._core_state.me and issuer not in self._known.refused
        return not is_due or (written != NO_LOG and version == self._known.rib.version(issuer))

    def say_held(self) -> None:
        for body in self.confirmations.take():
            link = self._core_state.link_towards(body.issuer)
            if link is not None and link.knows_durables:
                self._core_state.send(link, body)

    def unlearn(self, issuer: int, above: int) -> None:
        """Forget what is held of `issuer` if its epoch is later than `above`."""
        while issuer in self._replacing:  # the rest at once: it is forgotten, too, or below
            self.replace_on(issuer)
        self._core_state.timers.cancel((Due.DURABLES_REPLACE, issuer))
        version = self._known.rib.version(issuer)
        if version is not None and version.epoch > above:
            if issuer == self._core_state.me:  # its own are stated again
                self._changes = {**self._known.rib.filters(issuer), **self._changes}
            self._known.forget(issuer)
            self.flood.forget(issuer)
            self._recent.forget(issuer)
            self._core_state.timers.cancel((Due.DURABLES_GAP, issuer))
            self.confirmations.forget(issuer)
            self._stored.pop(issuer, None)

    def _hear_of_me(self, version: Version, digest: bytes, link: CoreLink | None) -> None:
        core_state, held = self._core_state, self._known.rib.entries.get(self._core_state.me)
        self._is_stating = True
        if held is None and version < core_state.identity.version:
            self._say_whole()
        elif held is None or version > held.version or (version == held.version and digest != held.digest):
            core_state.hear_of_me(version)
        elif version < held.version and link is not None:
            self._correct(core_state.me, version, link)

    def _pass_on(self, body: DurablesStatement, but: int) -> None:
        if len(body.added) > REPLACED_PER_SLICE or is_large(LONG_SHARE * listed_size(body.added)):
            self._core_state.pass_on(body, but)
        else:
            self._core_state.flood(body, but)

    def _prevails(self, body: DurablesStatement) -> bool:
        return body.full and body.digest > self._known.rib.entries[body.issuer].digest

    def _take(self, body: DurablesStatement, is_fresh: bool) -> None:
        held = self._known.rib.entries.get(body.issuer)
        count = len(body.added) + (len(held.filters) if held is not None else 0)
        if body.issuer in self._replacing:
            self._take_later(body)
        elif body.full and count > REPLACED_PER_SLICE:
            self._replacing[body.issuer] = _Replacing(body, is_fresh, self._known.replacing(body))
            self.replace_on(body.issuer)
        elif self._hold(body):
            self._has_taken(body.issuer, is_fresh)

    def _take_later(self, body: DurablesStatement) -> None:
        """Note a statement of an issuer whose whole is being taken: the newest whole, and changes."""
        replacing = self._replacing[body.issuer]
        newest = replacing.later or replacing.body
        if not body.full:
            self._known.rib.put_off(body)
        elif (body.epoch, body.seq) > (newest.epoch, newest.seq):
            replacing.later = body

    def replace_on(self, issuer: int) -> None:
        """Do the next slice of taking a long whole."""
        replacing = self._replacing[issuer]
        try:
            next(replacing.work)
        except StopIteration as done:
            is_held = self._note(replacing.body, done.value)
        except NoRoomForDurables:
            is_held = self._refuse(replacing.body)
        else:
            self._core_state.timers.set((Due.DURABLES_REPLACE, issuer), self._core_state.now_us + 1)
            return
        del self._replacing[issuer]
        later = replacing.later
        if later is not None:
            self._take(later, is_fresh=False)
        if is_held:
            self._has_taken(issuer, replacing.is_fresh)

    def _has_taken(self, issuer: int, is_fresh: bool) -> None:
        """Apply changes that waited for what is held now, and do what follows."""
        core_state, rib = self._core_state, self._known.rib
        while issuer not in self._replacing:
            pending = rib.next_pending(issuer)
            if not isinstance(pending, DurablesStatement) or not self._hold(pending):
                break
        if not rib.waits(issuer):
            core_state.timers.cancel((Due.DURABLES_GAP, issuer))
        if not is_fresh:  # a gap is closed; neighbours may have asked meanwhile
            core_state.timers.set_earlier((Due.DIGESTS, 0), core_state.now_us + core_state.times.base_wait_us)
        self._ask_to_confirm_later()
        self.consider()

    def _hold(self, body: DurablesStatement) -> bool:
        """Apply a statement, and let what it changes be stored; return whether it is held now. One that arrived before
        its base waits for that."""
        core_state, known = self._core_state, self._known
        base = known.rib.entries.get(body.issuer)
        digest = base.digest if base is not None else NO_DIGEST
        try:
            change = known.replace(body) if body.full else known.apply(body)
        except MissingBase:
            known.rib.put_off(body)
            gap = Due.DURABLES_GAP, body.issuer
            core_state.timers.set_earlier(gap, core_state.now_us + core_state.times.base_wait_us)
            return False
        except NoRoomForDurables:
            return self._refuse(body)
        if not body.full:
            self._recent.note(digest, body)
        return self._note(body, change)

    def _note(self, body: DurablesStatement, change: AppliedChange | None) -> bool:
        """Let what has changed be stored; return whether anything has."""
        if change is not None:
            about = body.issuer, body.name, body.log, body.epoch, body.seq
            self._core_state.out.append(StoreDurables(*about, change.added, change.removed))
        return change is not None

    def _refuse(self, body: DurablesStatement) -> bool:
        most = f"at most {DURABLES_KNOWN_BYTES_MAX:,} bytes of other routers' durable subscriptions are stored"
        self._alarm(body.issuer, f"what {body.name} states about its durable subscriptions is refused: {most}")
        return False

    def close_gap(self, issuer: int) -> None:
        """Request a change whose base has not arrived in time, from the neighbour towards its issuer, or from any."""
        core_state, links = self._core_state, self._core_state.links.by_neighbour.values()
        newest, held = self.flood.newest(issuer), self._known.rib.version(issuer)
        if newest is None or (held is not None and held >= newest):
            return
        towards = core_state.link_towards(issuer)
        found = [link for link in (*filter(None, (towards,)), *links) if link.knows_durables]
        if found:
            self._ask(found[0])

    def _confirm(self, issuer: int) -> None:
        core_state = self._core_state
        version, written = self._stored.get(issuer, (None, NO_LOG))
        if version is None or version != self._known.rib.version(issuer) or issuer in self._known.refused:
            return
        if self.confirmations.holds(issuer, version, DurablesHolder(core_state.me, *written)):
            core_state.timers.set_earlier((Due.DURABLES_HELD, 0), core_state.now_us + core_state.times.held_merge_us)

    # --- repair

    def compare(self, request: SenderRequest, link: CoreLink) -> None:
        """Reply to a request whose digest of durable subscriptions differs from this router's."""
        rib, theirs = self._known.rib, request.durables or NO_DIGEST
        if not link.knows_durables or not request.digest:
            return
        if theirs == rib.digest:
            self._has_compared = True
            return
        if not (request.durables_known or theirs == NO_DIGEST):
            self._ask(link)
            return
        if not self._answered.may((link.neighbour, link.session), self._core_state.now_us):
            self._compare_later(link)
            return
        known, lacks = {each.issuer: each for each in request.durables_known}, False
        for issuer, held in rib.entries.items():
            their = known.get(issuer)
            if their is not None and (their.epoch, their.seq, their.digest) >= (*held.version, held.digest):
                continue
            if issuer not in self._known.refused:
                self._send_newer(issuer, their, link)
        for each in request.durables_known:
            lacks |= self._is_lacking(each)
        if lacks:
            self._ask(link)

    def _send_newer(self, issuer: int, their: Known | None, link: CoreLink) -> None:
        """Send a neighbour the changes since its version, or the whole if they are not known any longer."""
        changes: list[DurablesStatement] = []
        if their is not None:
            version, newest = Version(their.epoch, their.seq), self._known.rib.entries[issuer].version
            changes = self._recent.since(issuer, version, their.digest, newest)
        for body in changes or [self._known.statement(issuer)]:
            self._core_state.send(link, body)

    def compare_again(self, neighbour: int) -> None:
        """Compare with a neighbour once more after a request, whose answer may have been lost or refused."""
        link = self._core_state.links.by_neighbour.get(neighbour)
        if link is not None:
            self.send_digest(link, ())

    def _is_lacking(self, each: Known) -> bool:
        core_state, held = self._core_state, self._known.rib.entries.get(each.issuer)
        if not core_state.is_epoch_valid(each.issuer, each.epoch):
            return False
        if each.issuer == core_state.me:
            self._hear_of_me(Version(each.epoch, each.seq), each.digest, None)
            return False
        return held is None or (each.epoch, each.seq, each.digest) > (*held.version, held.digest)

    def _ask(self, link: CoreLink) -> None:
        """Request what this router lacks, unless it was requested a moment ago."""
        if (Due.DURABLES_ASK, link.neighbour) in self._core_state.timers:
            return
        entries = self._known.rib.entries
        self.send_digest(link, tuple([Known(issuer, *held.version, held.digest) for issuer, held in entries.items()]))
        self._compare_later(link)

    def _compare_later(self, link: CoreLink) -> None:
        due_us = self._core_state.now_us + self._core_state.times.retry_us
        self._core_state.timers.set_earlier((Due.DURABLES_ASK, link.neighbour), due_us)

    def _correct(self, issuer: int, version: Version, link: CoreLink) -> None:
        """Send the held statement to a neighbour that states one of an earlier life of the issuer. A neighbour that is
        merely late receives what is newer anyway, and the whole of ten thousand would make it later."""
        key, entries = (issuer, link.neighbour), self._known.rib.entries
        is_late = version.epoch == entries[issuer].version.epoch
        if not is_late and issuer not in self._known.refused and self._corrected.may(key, self._core_state.now_us):
            self._core_state.send(link, self._known.statement(issuer))

    def _tell_issuer(self, body: DurablesStatement) -> None:
        """R2: send the issuer a statement of equal freshness that it may not have made."""
        link = self._core_state.link_towards(body.issuer)
        if link is not None and self._corrected.may((body.issuer, link.neighbour), self._core_state.now_us):
            if body.issuer not in self._known.refused:
                self._core_state.send(link, self._known.statement(body.issuer))
            self._core_state.send(link, body)

    def _alarm(self, issuer: int, text: str) -> None:
        if self._alarmed.may(issuer, self._core_state.now_us):
            self._core_state.out.append(Alarm(text))
