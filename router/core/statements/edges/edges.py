"""All edges of a router: the statements held and sent for each, as trees, links and interest change.

Law: `follow` makes the edges those of the trees in force, with the sessions that are up, whatever edges existed before.
An edge of the new trees that counts as everything is in the table before the trees are in force (E3), and an edge of
earlier trees stays there for as long as they do (E6). A router requests the full statement of a neighbour until the
neighbour has begun it.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from tamis.protocol.filters import EVERYTHING
from tamis.protocol.limits import CLASSES_MAX, EDGES_BYTES_MAX
from tamis.protocol.wire.edge_bodies import EdgeHeld, EdgeRequest, EdgeSaid, EdgeStatement
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.core.commands import Alarm, Install
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.edges.confirming import EdgeWait, EdgeWaits
from tamis.router.core.statements.edges.held import IDS_END, EdgeChange, HeldEdge, Missed, TooMuch
from tamis.router.core.statements.edges.interest import EdgeInterest, InterestOfClasses
from tamis.router.core.statements.edges.places import EVERY_CLASS, EdgePlace, EdgeTrees
from tamis.router.core.statements.edges.said import EdgeFeed, SaidEdge
from tamis.router.core.statements.links import CoreLink
from tamis.router.core.statements.own_predicate import OwnPredicate
from tamis.router.core.timers import Due
from tamis.router.core.times import MS

PACKED_EVERYTHING: Final = encode_filter(EVERYTHING)
GENERATIONS_MAX: Final = 4
"""R5b: the most generations of trees that are in force at one time."""
ASKED_MAX: Final = 2 * (CLASSES_MAX + 1)
"""Requests of one neighbour for edges that do not exist here yet; further ones are dropped, and repeated by the
neighbour."""
TOLD_MAX: Final = 16
"""The number of earlier sets of routers behind an edge to one neighbour, in the tree of one root, that are remembered
as stated."""
DOUBLINGS_MAX: Final = 4
"""The number of times that the wait for a full statement doubles: the request is repeated after 1, 2, 4, 8 and then
every 16 s."""
FORGET_AFTER_US: Final = 100 * MS
"""The time for which edges are stored beyond the hold of their trees: the switch has a clock of its own."""


class Says(enum.Enum):
    """The statement of one end of an edge to the other."""

    AGGREGATE = "the interest of the routers behind it, without covered filters"
    EVERYTHING = "everything: no statement is sent, as all messages go there"


SAID: Final = Says.AGGREGATE


@dataclass(frozen=True, slots=True)
class EdgePolicy:
    """The statements along a tree. Interest both ways: profile forwarding. Everything down and interest up: rendezvous,
    where all messages go up to the root (paper 003)."""

    up: Says = Says.AGGREGATE
    """The statement of a child to its parent."""
    down: Says = Says.AGGREGATE
    """The statement of a parent to its child."""

    def of_neighbour(self, place: EdgePlace) -> Says:
        """Return the neighbour's statement about the edge."""
        return self.down if place.is_up else self.up

    def of_own(self, place: EdgePlace) -> Says:
        """Return this router's statement about the edge."""
        return self.up if place.is_up else self.down


class PastEdge(NamedTuple):
    """An edge of trees that are in force for the hold only, or no longer."""

    held: HeldEdge
    until_us: int
    turn: int
    """The number of the new trees that no longer had the edge."""


def every_class(_: bytes) -> int:
    """Return the classes that a filter concerns in a strategy without classes."""
    return EVERY_CLASS


Name = tuple[int, int]
"""The root of a tree, and the neighbour."""


class Edges:
    """`make_predicate` makes the predicate stated for one edge; `reached` is called with the ticket of each wait that
    ended; `classes_of` returns which classes of messages a packed filter concerns, as bits."""

    held_of: ClassVar[type[HeldEdge]] = HeldEdge
    said_of: ClassVar[type[SaidEdge]] = SaidEdge

    def __init__(
        self,
        core_state: CoreState,
        own: OwnPredicate,
        make_predicate: Callable[[], OwnPredicate],
        policy: EdgePolicy,
        reached: Callable[[int], None],
        classes_of: Callable[[bytes], int] = every_class,
    ) -> None:
        self._core_state, self._make_predicate = core_state, make_predicate
        self._policy, self._reached = policy, reached
        self.interest = EdgeInterest(core_state, own, self._issued)
        self.waits = EdgeWaits(self._ended)
        self.trees: tuple[EdgeTrees, ...] = ()
        self.held: dict[Name, HeldEdge] = {}
        self.said: dict[Name, SaidEdge] = {}
        self.past: dict[int, PastEdge] = {}
        """Maps the number of an edge of earlier trees to that edge."""
        self._turn = 0
        """The number of changes of trees."""
        self._told: dict[Name, dict[bytes, CoreLink]] = {}
        """The statements for edges of earlier trees, by the routers (and classes) behind them, with the link of their
        session. A neighbour may still rely on one: a neighbour that learns of two changes at once sees no other edge in
        between, and sends no request."""
        self._asked: dict[Name, bytes] = {}
        """Requests of neighbours for sets of routers that this router does not have behind its end."""
        self._classes_of = classes_of
        self._parts: dict[int, InterestOfClasses] = {}
        """Maps the classes of a tree to the interest of clients that feeds it."""
        self._guards = itertools.count(IDS_END)
        self._seqs = itertools.count(1)

    # --- edges come and go

    def follow(self, trees: tuple[EdgeTrees, ...]) -> None:
        """Make the edges those of `trees`, over the links that are up."""
        self._turn += trees is not self.trees
        self.trees = trees
        places = {(tree.root, place.neighbour): place for tree in self.trees for place in tree.places.values()}
        all_classes = {place.classes for place in places.values()}
        self._parts = {
            classes: self._parts.get(classes) or InterestOfClasses(self.interest, self._classes_of, classes)
            for classes in sorted(all_classes)
        }
        policy = self._policy
        self._follow_held({name: place for name, place in places.items() if policy.of_neighbour(place) is SAID})
        self._follow_said({name: place for name, place in places.items() if policy.of_own(place) is SAID})
        self.waits.restart(self.said.values())
        self._consider()

    def link_changed(self, neighbour: int) -> None:
        """Handle the begin or end of the session with a neighbour."""
        for kept in (self._asked, self._told):
            for name in [name for name in kept if name[1] == neighbour]:
                del kept[name]
        self.waits.forget(neighbour)
        self.follow(self.trees)

    def _follow_held(self, places: dict[Name, EdgePlace]) -> None:
        before, self.held = self.held, {}
        links = self._core_state.links.by_neighbour
        for name, place in places.items():
            held = before.get(name)
            if held is None or not self._is_stored(held, place):
                held = self._revived(place)
            else:
                del before[name]
            self.held[name] = held
            link = links.get(place.neighbour)
            session = link.session if link is not None else 0
            is_said = held.is_said_in(session)
            held.tries *= held.session == session
            held.session = session
            if not is_said:
                self._unknown(held)
                self._ask(held)
        until_us = self._core_state.now_us + self._core_state.times.tree_hold_us + FORGET_AFTER_US
        for held in before.values():
            held.session = 0
            self.past[held.number] = PastEdge(held, until_us, self._turn)
        self.forget()

    def _is_stored(self, held: HeldEdge, place: EdgePlace) -> bool:
        """E6: return whether `held` is the edge at `place`: between the same routers, with the same set behind."""
        return held.number == place.number

    def _revived(self, place: EdgePlace) -> HeldEdge:
        found = self.past.pop(place.number, None)
        held = self.held_of(place) if found is None else found.held
        held.place = place
        return held

    def _follow_said(self, places: dict[Name, EdgePlace]) -> None:
        before, self.said = self.said, {}
        links = self._core_state.links.by_neighbour
        for name, place in places.items():
            link = links.get(place.neighbour)
            if link is None:
                continue
            said = before.get(name)
            if said is None or said.place.before != place.before or said.link is not link:
                said = self.said_of(place, link, self._core_state, self._make_predicate(), self._seqs)
            else:
                del before[name]
            said.place = place
            self.said[name] = said
            said.feed_by(self._feeds(place))
            is_told = self._told.get(name, {}).pop(place.before, None) is link
            is_asked = self._asked.get(name) == place.before
            if is_asked:
                del self._asked[name]
            if is_told or is_asked:
                said.begin()
        for name, said in before.items():
            if said.is_begun and said.link in links.values():
                told = self._told.setdefault(name, {})
                told[said.place.before] = said.link
                while len(told) > TOLD_MAX:
                    del told[next(iter(told))]

    def _feeds(self, place: EdgePlace) -> Iterator[EdgeFeed]:
        yield self._parts[place.classes]
        for (root, neighbour), held in self.held.items():
            if root == place.root and neighbour != place.neighbour:
                yield held

    def forget(self) -> None:
        """Drop the statements held of edges whose trees are no longer in force."""
        for number, (held, until_us, turn) in list(self.past.items()):
            if until_us <= self._core_state.now_us or turn <= self._turn - GENERATIONS_MAX:
                del self.past[number]
                ids = (*held.filters, *(() if held.guard is None else (held.guard,)))
                if ids:
                    self._core_state.out.append(Install(number, {}, ids))
        if self.past:
            soonest_us = min(past.until_us for past in self.past.values())
            self._core_state.timers.set((Due.EDGE_FORGET, 0), soonest_us)

    # --- statements of neighbours

    def heard(self, body: EdgeStatement, link: CoreLink) -> None:
        held = self.held.get((body.root, link.neighbour))
        if held is None or held.place.behind != body.behind or held.session != link.session:
            return  # about a set of routers other than the set here: requested as soon as the sets agree
        self._hear(held, body, held.hear)

    def _hear(
        self, held: HeldEdge, body: EdgeStatement, take: Callable[[EdgeStatement, int], list[EdgeChange] | None]
    ) -> None:
        before = held.is_complete
        try:
            changes = take(body, self._room_for(held))
        except Missed:
            self._miss(held)
        except TooMuch:
            self._give_up(held)
        else:
            if not held.is_complete:
                self._guard(held)
            if changes is not None:
                self._took(held, changes, body, before != held.is_complete)

    def _room_for(self, held: HeldEdge) -> int:
        """Return the bytes that a statement about `held` may take. Its filters are held, and sent to others."""
        feeds: set[EdgeFeed] = {*self.held.values(), *(past.held for past in self.past.values())}
        feeds.update(*(said.former for said in self.said.values()))
        taken = sum(feed.size for feed in feeds) + sum(said.size for said in self.said.values())
        return (EDGES_BYTES_MAX - taken) // (1 + sum(said.is_fed_by(held) for said in self.said.values()))

    def _miss(self, held: HeldEdge) -> None:
        """Request the full statement of an edge of which a part was missed, unless a request is pending."""
        is_asked = not held.is_answered
        self._unknown(held)
        if not is_asked:
            self._ask(held)

    def _took(self, held: HeldEdge, changes: list[EdgeChange], body: EdgeStatement, has_turned: bool) -> None:
        """Forward the changes of `body`. `has_turned`: the edge became complete or incomplete by them."""
        self._install(held, changes)
        for said in self.said.values():
            if said.is_fed_by(held):
                for change in changes:
                    said.changed(change.added.values(), change.removed.values())
        if body.confirm:
            answer = EdgeHeld(body.root, body.behind, body.epoch, body.seq)
            self.waits.begin(EdgeWait(None, held.place.neighbour, answer), self._others(body.root))
        if has_turned or body.confirm or any(change.added or change.removed for change in changes):
            self._consider()

    def _others(self, root: int) -> list[SaidEdge]:
        return [said for (of, _), said in self.said.items() if of == root]

    def _install(self, held: HeldEdge, changes: list[EdgeChange]) -> None:
        """Put changes into the table; the filter for everything leaves it once the edge is complete."""
        for change in changes:
            gone = tuple([id_ for id_ in change.removed if id_ not in held.filters])
            if change.added or gone:
                self._core_state.out.append(Install(held.number, change.added, gone))
        if held.is_complete and held.guard is not None:
            self._core_state.out.append(Install(held.number, {}, (held.guard,)))
            held.guard = None

    def _unknown(self, held: HeldEdge) -> None:
        """E3: let the edge count as everything until it is complete."""
        held.unknown()
        self._guard(held)

    def _guard(self, held: HeldEdge) -> None:
        if held.guard is None:
            held.guard = next(self._guards)
            everything = {held.guard: PACKED_EVERYTHING}
            self._core_state.out.append(Install(held.number, everything, (), at_once=True))

    def _ask(self, held: HeldEdge) -> None:
        """Request the full statement of an edge from a neighbour, and repeat the request, each time after a longer
        wait, until the statement begins."""
        core_state, place = self._core_state, held.place
        link = core_state.links.by_neighbour.get(place.neighbour)
        if link is not None:
            core_state.send(link, EdgeRequest(place.root, place.behind))
            wait_us = core_state.times.retry_us << min(held.tries, DOUBLINGS_MAX)
            held.tries += 1
            core_state.timers.set((Due.EDGE_ASK, held.number), core_state.now_us + wait_us)

    def _give_up(self, held: HeldEdge) -> None:
        """Forget the filters of an edge whose statement exceeds the room; the edge counts as everything from then on,
        and its statement is requested again at long intervals."""
        core_state, neighbour = self._core_state, held.place.neighbour
        self._unknown(held)
        gone = held.forget()
        self._install(held, [gone])
        for said in self.said.values():
            if said.is_fed_by(held):
                said.forgot(gone.removed.values())
        self._consider()
        held.tries = DOUBLINGS_MAX
        wait_us = core_state.times.retry_us << DOUBLINGS_MAX
        core_state.timers.set((Due.EDGE_ASK, held.number), core_state.now_us + wait_us)
        if core_state.may_correct(core_state.me, held.number):
            who = core_state.topology.name_of(neighbour)
            text = f"filters of edges from {who} exceed {EDGES_BYTES_MAX} bytes: all messages are sent there"
            core_state.out.append(Alarm(text))

    def ask_again(self, number: int) -> None:
        for held in self.held.values():
            if held.number == number and not held.is_answered:
                self._ask(held)

    def requested(self, body: EdgeRequest, link: CoreLink) -> None:
        name = body.root, link.neighbour
        said = self.said.get(name)
        if said is not None and said.place.before == body.behind:
            said.asked()
        elif name in self._asked or sum(name[1] == link.neighbour for name in self._asked) < ASKED_MAX:
            self._asked[name] = body.behind

    def compare(self, said: Iterable[EdgeSaid], link: CoreLink) -> None:
        """R10: compare the neighbour's record of its statements with the held ones, to find statements that were lost
        unnoticed or forged."""
        for root, behind, seq, digest in said:
            held = self.held.get((root, link.neighbour))
            if held is None or held.place.behind != behind or not held.is_answered or held.has_work:
                continue
            if (seq, digest) != (held.seq, held.digest):  # a link keeps the order, which makes both the latest
                self._miss(held)

    def known(self, link: CoreLink) -> tuple[EdgeSaid, ...]:
        """Return the latest statement of each edge to a neighbour, with which it compares its held statements."""
        of = [said.known for (_, neighbour), said in self.said.items() if neighbour == link.neighbour]
        return tuple([each for each in of if each is not None])

    # --- interest of clients

    def _issued(self, change: EdgeChange) -> None:
        for part in self._parts.values():
            concerning = [list(filter(part.has, each.values())) for each in change]
            for said in self.said.values():
                if said.is_fed_by(part):
                    said.changed(*concerning)
        self._begin_tickets()
        self._consider()

    def awaited(self, ticket: int) -> None:
        self.interest.awaited(ticket)
        self._begin_tickets()
        self._consider()

    def _begin_tickets(self) -> None:
        """Begin the waits whose filters have all been issued."""
        ready = self.interest.ready()
        for ticket in ready:
            self.waits.begin(EdgeWait(ticket), self.said.values())
        if ready:
            due_us = self._core_state.now_us + self._core_state.times.retry_us
            self._core_state.timers.set_earlier((Due.EDGE_CONFIRM, 0), due_us)

    def held_by(self, body: EdgeHeld, link: CoreLink) -> None:
        said = self.said.get((body.root, link.neighbour))
        is_of_now = body.epoch == self._core_state.identity.epoch
        if said is not None and said.place.before == body.behind and is_of_now and body.seq <= said.seq:
            said.confirmed(body.seq)
            self.waits.confirmed(said, body.seq)

    def confirm_again(self) -> None:
        if self.waits.has_tickets:
            self.waits.restart(self.said.values(), only_tickets=True)
            due_us = self._core_state.now_us + self._core_state.times.retry_us
            self._core_state.timers.set((Due.EDGE_CONFIRM, 0), due_us)
            self._consider()

    def _ended(self, wait: EdgeWait) -> None:
        if wait.ticket is not None:
            self._reached(wait.ticket)
            return
        link = self._core_state.links.by_neighbour.get(wait.asker or 0)
        if link is not None and wait.answer is not None:
            self._core_state.send(link, wait.answer)

    # --- statements to neighbours

    def _consider(self) -> None:
        for said in self.said.values():
            said.consider()
        self.waits.check()

    def consider(self, neighbour: int) -> None:
        """Continue the statements to a neighbour: there is room again, or damping allows it."""
        for (_, other), said in self.said.items():
            if other == neighbour:
                said.consider()

    @property
    def has_work(self) -> bool:
        has_work = self.interest.own.has_work or any(held.has_work for held in self.held.values())
        return has_work or any(said.has_work for said in self.said.values())

    def work(self) -> None:
        """Do a slice of the long work of each edge, and of the interest of clients."""
        if self.interest.own.has_work:
            self.interest.work()
        for held in [held for held in self.held.values() if held.has_work]:
            if not held.is_comparing:
                self._hear(held, held.next_waiting(), held.take)
            elif (changes := held.work()) is not None and held.whole_by is not None:
                self._took(held, changes, held.whole_by, has_turned=True)
        for said in self.said.values():
            if said.has_work:
                said.work()
                said.consider()

    # --- figures

    @property
    def unfinished(self) -> dict[str, int]:
        return {
            "incomplete edges": sum(not held.is_complete for held in self.held.values() if held.session),
            "waits for edges": len(self.waits) + self.interest.tickets,
        }
