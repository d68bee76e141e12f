"""R1: the part that advertises this router's own predicate.

Law: `OwnPredicate` holds the advertised filters. A change is sent at once if the last one was long ago; a client that
waits until every router knows its filters (`Await`) gets its reply when all routers have confirmed. A change that
exceeds one body continues in further bodies, each a change of the previous one, as fast as the links accept them:
damping counts them as one change, and a link that accepts none for longer than damping lasts does not delay the others.
A whole predicate that exceeds one body is never flooded: neighbours detect it by digests, and request it.
"""

from __future__ import annotations

from collections.abc import Mapping

from tamis.protocol.wire.routing_bodies import Held, ReceiverAdvertisement
from tamis.router.core.commands import Reached
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.damper import Damper
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.held import Holders
from tamis.router.core.statements.own_predicate import OwnPredicate
from tamis.router.core.statements.rib import advertised
from tamis.router.core.timers import Due


class Advertiser:
    def __init__(self, core_state: CoreState, own: OwnPredicate) -> None:
        self._core_state = core_state
        self.own = own
        self.holders = Holders()
        self._damper = Damper(core_state.times.damp_first_us)
        self._is_going_on = False

    # --- interest of clients

    def wanted(self, filters: tuple[bytes, ...], ticket: int | None) -> None:
        for packed in filters:
            self.own.want(packed)
        if ticket is None:
            self.consider()
        else:
            self.awaited(ticket)

    def unwanted(self, filters: tuple[bytes, ...]) -> None:
        next_id = self.own.next_id
        for packed in filters:
            self.own.unwant(packed, self._core_state.now_us)
        self._advertised_since(next_id)
        if self.own.due_us is not None:
            self._core_state.timers.set_earlier((Due.NARROW, 0), self.own.due_us)
        self.consider()

    def _advertised_since(self, next_id: int) -> None:
        """Let tickets wait for filters that are advertised since `next_id` was the next id in place of wanted ones."""
        if self.own.next_id > next_id:
            self.holders.extend(self.own.next_id)

    def awaited(self, ticket: int) -> None:
        self.holders.add(ticket, self.own.next_id)
        self.consider()

    # --- advertisements

    def narrow(self) -> None:
        """Withdraw filters whose hold has ended (R7), at most one slice."""
        self.own.expire(self._core_state.now_us)
        if self.own.due_us is not None:
            self._core_state.timers.set((Due.NARROW, 0), max(self.own.due_us, self._core_state.now_us + 1))
        self.consider()

    def work(self) -> None:
        """Do one slice of the work that may wait: of covering, and of merging."""
        next_id = self.own.next_id
        self.own.work()
        self._advertised_since(next_id)
        if self.own.due_us is not None:
            due_us = max(self.own.due_us, self._core_state.now_us + 1)
            self._core_state.timers.set_earlier((Due.NARROW, 0), due_us)
        self.consider()

    def consider(self) -> None:
        """Issue pending changes, now or when damping allows it."""
        core_state, times = self._core_state, self._core_state.times
        if not (self.own.has_changes or self.holders.wants_issue):
            return
        is_waited_for = self.own.widens or self.holders.wants_issue
        most_us = times.damp_widen_max_us if is_waited_for else times.damp_narrow_max_us
        ready_us = self._damper.ready_us(most_us)
        if ready_us <= core_state.now_us:
            self._damper.issued(core_state.now_us, most_us)
            self.issue()
        else:
            core_state.timers.set_earlier((Due.ISSUE, 0), ready_us)

    def go_on(self) -> None:
        """Continue a change that exceeds one body, if every link has room."""
        if self._is_going_on and all(link.has_room for link in self._core_state.links.by_neighbour.values()):
            self.issue()

    def issue(self) -> None:
        """Advertise the change since the last advertisement, as much as fits one body, or the whole predicate where
        that is shorter."""
        core_state = self._core_state
        base = core_state.rib.entries[core_state.me].version
        change = self.own.issue()
        is_longer = len(change.added) + len(change.removed) > len(self.own.issued)
        if base.epoch != core_state.identity.epoch or (is_longer and not self.own.is_large):
            self._say_whole()
            return
        core_state.rib.restate(core_state.me, core_state.identity.next(), change.digest, self.own.size)
        self._tell(base.seq, change.added, tuple(change.removed))

    def say(self) -> None:
        """Advertise the whole predicate under a new version; earlier confirmations no longer count."""
        self.holders.again()
        if self.own.has_changes:
            self.own.issue()
        self._say_whole()

    def _say_whole(self) -> None:
        core_state = self._core_state
        core_state.rib.restate(core_state.me, core_state.identity.next(), self.own.digest, self.own.size)
        if self.own.is_large:
            core_state.soon(Due.DIGESTS)
            self._plan_more()
        else:
            self._tell(None, self.own.issued, ())

    def _plan_more(self) -> None:
        """Schedule the next body of a change that did not fit: as soon as the links have room, or when damping allows
        it regardless."""
        self._is_going_on = self.own.has_changes
        if self._is_going_on:
            self._core_state.soon(Due.MORE)
            self._core_state.timers.set_earlier(
                (Due.ISSUE, 0), self._core_state.now_us + self._core_state.times.damp_widen_max_us
            )

    def _tell(self, base_seq: int | None, added: Mapping[int, bytes], removed: tuple[int, ...]) -> None:
        """Flood an advertisement with these changes of the version `base_seq`; None: `added` is the whole predicate."""
        core_state, held = self._core_state, self._core_state.rib.entries[self._core_state.me]
        self._plan_more()
        body = ReceiverAdvertisement(
            core_state.me,
            *held.version,
            full=base_seq is None,
            base_seq=base_seq or 0,
            added=advertised(added),
            removed=removed,
            digest=held.digest,
            count=len(self.own.issued),
            confirm=self._asks_to_confirm(),
        )
        core_state.flood(body, is_told=self._is_going_on)
        self.check()

    def _asks_to_confirm(self) -> bool:
        """Return whether a client waits for the filters of this advertisement, and for no filter that is still to be
        advertised."""
        if not len(self.holders):
            return False
        is_waited_for = self.holders.issued(
            self._core_state.rib.entries[self._core_state.me].version, self.own.issued_below
        )
        self._core_state.timers.set((Due.CONFIRM, 0), self._core_state.now_us + self._core_state.times.retry_us)
        return is_waited_for

    # --- confirmations

    def held(self, body: Held) -> None:
        """Record which routers hold a version of this router's advertisement; a version that was never advertised is
        ignored."""
        if (body.epoch, body.seq) > self._core_state.identity.version:
            return
        self.holders.heard(Version(body.epoch, body.seq), body.holders)
        self.check()

    def check(self) -> None:
        """Reply to the tickets that are reached; called also when routers became unreachable. No reply is sent while a
        jump is due: then some router holds a statement of this router that it did not make, perhaps in place of a
        confirmed one."""
        core_state = self._core_state
        if (Due.JUMP, 0) in core_state.timers:
            return
        for ticket in self.holders.reached(core_state.trees.routers - {core_state.me}):
            core_state.out.append(Reached(ticket))
        if not len(self.holders):
            core_state.timers.cancel((Due.CONFIRM, 0))

    def confirm_again(self) -> None:
        """Request confirmation from all routers again, as some have not replied."""
        self.holders.again()
        self.consider()
