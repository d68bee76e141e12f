"""E2, E5, E7: the statement to a neighbour about the routers behind this end of an edge.

Law: the statement is the union of its feeds: the interest of this router's clients, and the statements of the other
tree neighbours. The neighbour's own statement does not feed it. A new filter is sent at once; a change that only
removes is damped. Nothing is sent before the neighbour has requested it, which it does as soon as it counts the same
routers here. The statement is *complete* once all of its feeds are; it stays complete for this set of routers, as
former feeds go on feeding it until all present ones are complete.

    idle --request--> full statement, a slice a body --all feeds complete--> complete, then changes
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, Protocol

from tamis.protocol.limits import FILTER_OVERHEAD_BYTES
from tamis.protocol.wire import numbers
from tamis.protocol.wire.edge_bodies import EdgeFilter, EdgeSaid, EdgeStatement
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.damper import Damper
from tamis.router.core.statements.edges.places import EdgePlace
from tamis.router.core.statements.edges.storing import Marking
from tamis.router.core.statements.links import CoreLink
from tamis.router.core.statements.own_predicate import Issue, OwnPredicate
from tamis.router.core.statements.sizes import cut
from tamis.router.core.timers import Due

AT_ONCE: Final = 200
"""Filters of a change that are applied at once; a longer change is applied in slices."""
PER_SLICE: Final = 1_000
"""Filters applied in one slice: a few milliseconds."""
FORMER_MAX: Final = 8
"""The most former feeds of a statement. Beyond that the statement begins again, incomplete."""


class EdgeFeed(Protocol):
    """A source of filters that are forwarded, by id."""

    @property
    def filters(self) -> Mapping[int, bytes]: ...

    @property
    def is_complete(self) -> bool: ...

    @property
    def size(self) -> int:
        """The bytes that count for EDGES_BYTES_MAX."""


class SaidEdge:
    """The statement of one edge in one session. `wanted` holds the filters, each once, however many feeds have it."""

    def __init__(
        self, place: EdgePlace, link: CoreLink, core_state: CoreState, wanted: OwnPredicate, seqs: Iterator[int]
    ) -> None:
        self.place, self.link = place, link
        self._core_state, self._seqs = core_state, seqs
        self.wanted = wanted
        self.feeds: dict[EdgeFeed, None] = {}
        self._former: dict[EdgeFeed, None] = {}
        """Former feeds, on which a neighbour relies until all of `feeds` are complete."""
        self._jobs: deque[tuple[bool, Iterator[bytes]]] = deque()
        """The changes that are still to be applied: whether filters are wanted, and the filters."""
        self._damper = Damper(core_state.times.damp_first_us)
        self._is_asked = False
        """Whether the neighbour has requested the full statement, which has not begun yet."""
        self._asked_damper = Damper(core_state.times.damp_first_us)
        self._whole: Iterator[list[tuple[int, bytes]]] = iter(())
        self._ahead: list[tuple[int, bytes]] | None = None
        """The next slice of a full statement in progress, after which `_whole` continues; None: there is none."""
        self.is_begun = self._is_full_due = False
        self.is_complete = False
        """Whether the last statement is complete."""
        self.seq = 0
        self.digest = numbers.NO_DIGEST
        self.count = 0
        """The number of filters in the statement."""
        self._widened_seq = self._confirmed_seq = 0
        self._confirm_due = False
        self._awaited_seq = -1
        """The seq above which a confirmation was last requested; below `_confirmed_seq`: it has arrived."""

    # --- feeds

    def feed_by(self, feeds: Iterable[EdgeFeed]) -> None:
        """Make `feeds` the feeds from now on. Former feeds go on until all of them are complete, if the neighbour
        relies on the statement."""
        now = dict.fromkeys(feeds)
        for feed in now:  # this order gives equal events equal statements
            if feed in self._former:
                del self._former[feed]
            elif feed not in self.feeds:
                self._take(True, list(feed.filters.values()))
        former = [feed for feed in self.feeds if feed not in now]
        self.feeds = now
        for feed in former:
            if self.is_complete:
                self._former[feed] = None
            else:
                self._take(False, list(feed.filters.values()))
        if len(self._former) > FORMER_MAX:
            self.is_complete = False
            self.begin()
        self._drop_former()

    @property
    def former(self) -> Collection[EdgeFeed]:
        """The former feeds that still count."""
        return self._former

    @property
    def size(self) -> int:
        """The bytes that count for EDGES_BYTES_MAX. The filters themselves count where they are held."""
        return FILTER_OVERHEAD_BYTES * self.wanted.wanted_count

    def is_fed_by(self, feed: EdgeFeed) -> bool:
        return feed in self.feeds or feed in self._former

    def changed(self, added: Collection[bytes], removed: Collection[bytes]) -> None:
        """Queue a change of a feed. The caller must not mutate the arguments afterwards."""
        self._take(True, added)
        self._take(False, removed)

    def forgot(self, gone: Collection[bytes]) -> None:
        """Queue the removal of filters that a feed has forgotten although they may still be wanted: the statement is
        incomplete until that feed is complete."""
        if self.is_complete:
            self.begin()
        self._take(False, gone)

    def _take(self, is_wanted: bool, filters: Collection[bytes]) -> None:
        if not filters:
            return
        self._jobs.append((is_wanted, iter(filters)))
        if len(self._jobs) == 1 and len(filters) <= AT_ONCE:
            self._take_slice()

    def _take_slice(self) -> None:
        now_us, room = self._core_state.now_us, PER_SLICE
        while room and self._jobs:
            is_wanted, filters = self._jobs[0]
            some = list(islice(filters, room))
            room -= len(some)
            for packed in some:
                if is_wanted:
                    self.wanted.want(packed)
                else:
                    self.wanted.unwant(packed, now_us)
            if room:
                self._jobs.popleft()

    def _drop_former(self) -> None:
        if self._former and self._is_fed_wholly:
            for feed in self._former:
                self._take(False, list(feed.filters.values()))
            self._former.clear()

    @property
    def _is_fed_wholly(self) -> bool:
        return all(feed.is_complete for feed in self.feeds)

    @property
    def has_work(self) -> bool:
        return bool(self._jobs) or self.wanted.has_work

    def work(self) -> None:
        """Do a slice of long work: applying filters, or covering."""
        if self._jobs:
            self._take_slice()
        elif self.wanted.has_work:
            self.wanted.work()

    # --- sending

    def asked(self) -> None:
        """Send the full statement to a neighbour that requests it: at once, and delayed where it repeats the request.
        The request is short and the statement may be long."""
        self._is_asked = True
        self.consider()

    def _answer(self) -> None:
        core_state = self._core_state
        ready_us = self._asked_damper.ready_us(core_state.times.retry_us)
        if ready_us > core_state.now_us:
            core_state.timers.set_earlier((Due.EDGE_SAY, self.place.neighbour), ready_us)
            return
        self._asked_damper.issued(core_state.now_us, core_state.times.retry_us)
        self._is_asked = False
        self.begin()

    def begin(self) -> None:
        """Begin the full statement, as the neighbour has requested it or must not rely on what it holds. A statement
        that is due to begin is not begun again: a waiting neighbour repeats its request."""
        if self._is_full_due:
            return
        self.is_begun = self._is_full_due = True
        self.is_complete = False
        # The neighbour may have dropped the request to confirm.
        self._confirm_due |= self._awaited_seq >= self._confirmed_seq
        self._whole = cut(list(self.wanted.issued.items()))
        self._ahead = next(self._whole, None)

    @property
    def known(self) -> EdgeSaid | None:
        """The statement that the neighbour must hold; None: it is not certain at the moment."""
        if not self.is_begun or self._is_full_due or self._ahead is not None or self.link.unsent:
            return None
        return EdgeSaid(self.place.root, self.place.before, self.seq, self.digest)

    def consider(self) -> None:
        """Send pending statements, as far as room and damping allow."""
        if self._is_asked:
            self._answer()
        self._drop_former()
        self.wanted.expire(self._core_state.now_us)
        if self.wanted.has_work and not self._jobs:
            self.wanted.work()  # covered filters need not be sent first
        while self.is_begun and self.link.has_room and self._has_something():
            if not self._may_go():
                return
            self._say(self._next_change())

    def _has_something(self) -> bool:
        is_stated = self._is_full_due or self._ahead is not None or self.wanted.has_changes
        return is_stated or self._becomes_complete or (self._confirm_due and self._is_all_said)

    def _may_go(self) -> bool:
        """Return whether damping allows the next change now; it delays only removals (E5)."""
        core_state = self._core_state
        if not self._is_narrowing:
            return True
        most_us = core_state.times.damp_hop_max_us
        ready_us = self._damper.ready_us(most_us)
        if ready_us > core_state.now_us:
            core_state.timers.set_earlier((Due.EDGE_SAY, self.place.neighbour), ready_us)
            return False
        self._damper.issued(core_state.now_us, most_us)
        return True

    @property
    def _is_narrowing(self) -> bool:
        """Return whether the next change only removes filters."""
        is_whole = self._is_full_due or self._ahead is not None
        return not (is_whole or self.wanted.widens or self._becomes_complete or self._confirm_due)

    def _next_change(self) -> Issue:
        """Return the next slice of the full statement, or the next change."""
        if self._ahead is None:
            return self.wanted.issue()
        some, self._ahead = self._ahead, next(self._whole, None)
        return Issue(dict(some), {}, self.digest)

    @property
    def _is_all_said(self) -> bool:
        return not (self._jobs or self._is_full_due or self.wanted.widens) and self._ahead is None

    @property
    def _becomes_complete(self) -> bool:
        return not self.is_complete and self._is_all_said and not self._former and self._is_fed_wholly

    def _say(self, change: Issue) -> None:
        core_state, is_full, base_seq = self._core_state, self._is_full_due, self.seq
        if is_full:
            self.digest, self.count, base_seq = numbers.NO_DIGEST, 0, 0
        weight = numbers.weight_of(change.added.items()) - numbers.weight_of(change.removed.items())
        self.digest = numbers.moved(self.digest, weight)
        self.count += len(change.added) - len(change.removed)
        self._is_full_due = False
        self.is_complete = self.is_complete or self._becomes_complete
        self.seq = next(self._seqs)
        if change.added:
            self._widened_seq = self.seq
        confirm = self._confirm_due and self._is_all_said
        self._confirm_due = self._confirm_due and not confirm
        marked = self.wanted.cover.marked if isinstance(self.wanted.cover, Marking) else ()
        body = EdgeStatement(
            self.place.root,
            self.place.before,
            core_state.identity.epoch,
            self.seq,
            is_full,
            base_seq,
            tuple([EdgeFilter(id_, packed, packed in marked) for id_, packed in change.added.items()]),
            tuple(change.removed),
            self.digest,
            self.count,
            self.is_complete,
            confirm,
        )
        core_state.send(self.link, body, is_told=not self._is_all_said)

    # --- confirmations (E8)

    def ask_to_confirm(self) -> int | None:
        """Request that the neighbour confirm all that feeds this now. Return the seq above which a confirmation proves
        it; None: all is confirmed."""
        if self._is_all_said and self.is_begun and self._widened_seq <= self._confirmed_seq:
            return None
        self._confirm_due = True
        self._awaited_seq = self.seq
        return self.seq

    def confirmed(self, seq: int) -> None:
        self._confirmed_seq = max(self._confirmed_seq, seq)
