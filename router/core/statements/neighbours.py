"""R4, R10: the exchange with each neighbour: after a link comes up, both ends compare, and each requests what it lacks.

Law: a new link takes part in flooding at once, and is stated to other routers once this end has caught up. A request
that is not answered is repeated for as long as the session lasts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from tamis.protocol.wire.edge_bodies import EdgeSaid
from tamis.protocol.wire.numbers import NO_DIGEST
from tamis.protocol.wire.routing_bodies import Known, Scope, SenderRequest, UpdateReply
from tamis.router.core.commands import Alarm
from tamis.router.core.statements.core_state import CoreState
from tamis.router.core.statements.exchange import PIECES_SINCE, Exchange, fits_whole
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.link_states import LinkStates
from tamis.router.core.statements.links import CoreLink
from tamis.router.core.statements.predicates import Predicates
from tamis.router.core.timers import Due

GAP_TRIES: Final = 5
"""Requests about a gap after which the issuer is informed (R9), as no router seems to hold the missing version."""
GAP_TRIES_MAX: Final = 10
"""Requests about a gap after which the gap is forgotten."""
DOUBLINGS_MAX: Final = 4
"""The number of times that the wait for a reply doubles: a request is repeated after 1, 2, 4, 8 and then every 16 s."""


class NeighbourTalks:
    def __init__(self, core_state: CoreState, exchange: Exchange, states: LinkStates, predicates: Predicates) -> None:
        self._core_state = core_state
        self._exchange = exchange
        self._states = states
        self._predicates = predicates
        self._requests = 0
        self.known_edges: Callable[[CoreLink], tuple[EdgeSaid, ...]] = lambda _: ()
        """Returns the last statement of each edge to the neighbour of a link."""
        predicates.collected = self._collected
        self._gaps: dict[int, tuple[Version | None, int]] = {}
        """Maps an issuer to the version that is missing, and how often it was requested."""

    # --- links

    def up(self, neighbour: int, session: int, cost: int, version: int, knows_durables: bool = True) -> None:
        link = self._core_state.links.up(neighbour, session, cost, version, knows_durables)
        if link is None:
            return
        self._states.links_changed()
        self.send_digest(link)
        self._core_state.timers.set((Due.ASK, neighbour), self._core_state.now_us + self._core_state.times.retry_us)
        self._plan_request(neighbour)

    def down(self, neighbour: int, session: int) -> None:
        if not self._core_state.links.down(neighbour, session):
            return
        self._core_state.timers.cancel((Due.REQUEST, neighbour))
        self._core_state.timers.cancel((Due.NEWS, neighbour))
        self._core_state.timers.cancel((Due.ASK, neighbour))
        self._core_state.timers.cancel((Due.ANSWER, neighbour))
        self._core_state.timers.cancel((Due.DURABLES_ASK, neighbour))
        self._predicates.lost(neighbour)
        self._core_state.epoch_validator.gone(neighbour)
        self._states.links_changed()

    def _caught_up(self, link: CoreLink) -> None:
        """Record that this end holds what the neighbour held at the time of the request."""
        link.asked, link.is_answered = 0, False
        self._core_state.timers.cancel((Due.ASK, link.neighbour))
        if not link.is_synced:
            link.is_synced = True
            self._states.links_changed()

    # --- sending requests

    def send_digest(self, link: CoreLink, durables: tuple[Known, ...] = ()) -> None:
        """Send a neighbour the digests of what is held; `durables` are the versions of statements about durable
        subscriptions, where the neighbour is to send what is newer."""
        request = self._request(Scope.NEIGHBOUR, self._exchange.digest(), self.known_edges(link), durables)
        self._core_state.send(link, request)

    def send_digests(self) -> None:
        """Send every neighbour the digest: routers have become reachable, or a gap is closed, and one end may lack what
        the other holds."""
        for link in self._core_state.links.by_neighbour.values():
            self.send_digest(link)

    def ask(self, link: CoreLink) -> None:
        """Request the state of a neighbour by sending the vectors, unless a reply to an earlier request is pending."""
        if not link.asked:
            link.tries = 0
            self._ask(link)

    def ask_for_news(self, neighbour: int) -> None:
        """Request the state of a neighbour that has named a version without stating it."""
        link = self._core_state.links.by_neighbour.get(neighbour)
        if link is not None:
            self.ask(link)

    def ask_again(self, neighbour: int) -> None:
        """Repeat the request to a neighbour, each time after a longer wait: a long reply takes time, and a repeated
        request makes it longer."""
        link = self._core_state.links.by_neighbour.get(neighbour)
        if link is None:
            return
        link.tries += 1
        if link.is_answered and self._predicates.collects_from(neighbour):
            self._wait(link)
        else:
            self._ask(link)

    def _ask(self, link: CoreLink) -> None:
        request = self._request(Scope.NEIGHBOUR)
        link.asked, link.is_answered = request.request, False
        self._core_state.send(link, request)
        self._wait(link)

    def _wait(self, link: CoreLink) -> None:
        wait_us = self._core_state.times.retry_us << min(link.tries, DOUBLINGS_MAX)
        self._core_state.timers.set((Due.ASK, link.neighbour), self._core_state.now_us + wait_us)

    def _request(
        self, scope: Scope, digest: bytes = b"", edges: tuple[EdgeSaid, ...] = (), durables: tuple[Known, ...] = ()
    ) -> SenderRequest:
        self._requests += 1
        known, topology = ((), ()) if digest else self._exchange.vectors()
        identity = self._core_state.identity
        spaces = self._core_state.spaces.digest if digest else b""
        of_durables = self._core_state.durables.rib.digest if digest else NO_DIGEST
        return SenderRequest(
            *(identity.number, identity.epoch, self._requests, scope, digest, known, topology, spaces, edges),
            durables=b"" if of_durables == NO_DIGEST else of_durables,
            durables_known=durables,
        )

    def periodic(self, neighbour: int) -> None:
        """R10: compare with a neighbour, even without a known change."""
        link = self._core_state.links.by_neighbour.get(neighbour)
        if link is not None:
            self.send_digest(link)
            self._plan_request(neighbour)

    def _plan_request(self, neighbour: int) -> None:
        """Schedule the next comparison, up to a third earlier or later than the period, which spreads the requests of
        all neighbours; the numbers of the routers choose the time, as the core has no randomness."""
        every_us = self._core_state.times.request_every_us
        spread = (self._core_state.me ^ neighbour ^ self._requests * 0x9E3779B97F4A7C15) % (2 * every_us // 3)
        self._core_state.timers.set(
            (Due.REQUEST, neighbour), self._core_state.now_us + every_us - every_us // 3 + spread
        )

    def close_gap(self, issuer: int) -> None:
        """R2: request a change whose base has not arrived, from the neighbour towards its issuer. A statement that no
        router seems to hold is forgotten after GAP_TRIES_MAX requests, or when its epoch is no longer valid. For an
        unreachable router no request is sent, and its statements stay as long as all other state of it (R8)."""
        core_state, newest = self._core_state, self._predicates.flood.newest(issuer)
        before, tries = self._gaps.pop(issuer, (None, 0))
        if newest is None or not self._predicates.is_behind(issuer):
            return
        core_state.timers.set((Due.GAP, issuer), core_state.now_us + core_state.times.retry_us)
        if self._predicates.collects(issuer):
            return
        link = core_state.link_towards(issuer)
        tries = (tries if newest == before else 0) + (link is not None)
        if tries > GAP_TRIES_MAX or not core_state.is_epoch_valid(issuer, newest.epoch):
            self._predicates.give_up(issuer)
            return
        self._gaps[issuer] = newest, tries
        if tries > GAP_TRIES and (change := core_state.rib.newest_pending(issuer)) is not None:
            core_state.tell_issuer(issuer, change)
        if link is not None:
            self.ask(link)

    # --- replying

    def requested(self, body: SenderRequest, link: CoreLink) -> None:
        if body.digest:
            if body.digest == self._exchange.digest():
                self._caught_up(link)
            else:
                self.ask(link)
            return
        found = self._exchange.compare(body)
        for state in found.states:
            self._core_state.send(link, state)
        link.answer = self._exchange.replies(body, found.entries, link.version)
        self.answer_on(link)
        self._tell_of_too_large(found.entries, link)
        if found.lacks:
            self.ask(link)

    def sent(self, link: CoreLink) -> None:
        """Continue a reply, as a long body has left; compare, if a body was not forwarded and there is room again."""
        self.answer_on(link)
        if link.is_left_out and link.has_room:
            link.is_left_out = False
            self.send_digest(link)

    def answer_on(self, link: CoreLink) -> None:
        """Send the rest of a reply, as far as there is room."""
        while link.answer is not None and link.has_room:
            reply = next(link.answer)
            if reply is None:
                self._core_state.timers.set((Due.ANSWER, link.neighbour), self._core_state.now_us + 1)
                return
            if not reply.more:
                link.answer = None
            self._core_state.send(link, reply, is_told=reply.more)

    def answer_later(self, neighbour: int) -> None:
        link = self._core_state.links.by_neighbour.get(neighbour)
        if link is not None:
            self.answer_on(link)

    def _tell_of_too_large(self, issuers: Iterable[int], link: CoreLink) -> None:
        core_state = self._core_state
        for issuer in issuers if link.version < PIECES_SINCE else ():
            if not fits_whole(core_state.rib.entries[issuer]) and core_state.may_correct(link.neighbour, issuer):
                one, other = map(core_state.topology.name_of, (issuer, link.neighbour))
                problem = f"speaks version {link.version}, which cannot carry the large predicate of {one}"
                core_state.out.append(Alarm(f"{other} {problem}"))

    def replied(self, body: UpdateReply, link: CoreLink) -> None:
        for entry in body.entries:
            self._predicates.hear_entry(entry, link.neighbour)
        if body.requester != self._core_state.me or body.request != link.asked or not link.asked:
            return
        link.is_answered = not body.more
        if body.more or self._predicates.collects_from(link.neighbour):
            self._wait(link)
        else:
            self._caught_up(link)

    def _collected(self, neighbours: set[int]) -> None:
        """Record that a large predicate from `neighbours` is now held."""
        for neighbour in neighbours:
            link = self._core_state.links.by_neighbour.get(neighbour)
            if link is not None and link.is_answered and not self._predicates.collects_from(neighbour):
                self._caught_up(link)
