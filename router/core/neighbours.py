"""R4, R10: the part that deals with each neighbour: a link that comes up, what the two compare, what one asks the
other.

Law: a new link takes part in flooding at once, and is told to the world when this end has caught up. A request that is
not answered is asked again for as long as the session lasts.
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.wire.routing_bodies import Scope, SenderRequest, UpdateReply
from tamis.router.core.desk import Desk
from tamis.router.core.exchange import Exchange
from tamis.router.core.freshness import Version
from tamis.router.core.link_states import LinkStates
from tamis.router.core.links import Link
from tamis.router.core.predicates import Predicates

GAP_TRIES: Final = 5
"""After so many questions nobody seems to hold what was heard of: then its issuer is told (R9)."""
DOUBLINGS_MAX: Final = 4
"""A question is asked again after 1, 2, 4, 8 and then every 16 s."""


class Neighbours:
    def __init__(self, desk: Desk, exchange: Exchange, states: LinkStates, predicates: Predicates) -> None:
        self._desk = desk
        self._exchange = exchange
        self._states = states
        self._predicates = predicates
        self._requests = 0
        self._gaps: dict[int, tuple[Version | None, int]] = {}
        """Issuer -> what was heard of, and how often it was asked for."""

    # --- links

    def up(self, neighbour: int, session: int, cost: int) -> None:
        link = self._desk.links.up(neighbour, session, cost)
        if link is None:
            return
        self._states.links_changed()
        self.send_digest(link)
        self._desk.timers.set(("ask", neighbour), self._desk.now_us + self._desk.times.retry_us)
        self._plan_request(neighbour)

    def down(self, neighbour: int, session: int) -> None:
        if not self._desk.links.down(neighbour, session):
            return
        self._desk.timers.cancel(("request", neighbour))
        self._desk.timers.cancel(("ask", neighbour))
        self._desk.plausible.gone(neighbour)
        self._states.links_changed()

    def _caught_up(self, link: Link) -> None:
        """This end holds what the other held when it was asked."""
        link.asked = 0
        self._desk.timers.cancel(("ask", link.neighbour))
        if not link.is_synced:
            link.is_synced = True
            self._states.links_changed()

    # --- asking

    def send_digest(self, link: Link) -> None:
        self._desk.send(link, self._request(Scope.NEIGHBOUR, self._exchange.digest()))

    def send_digests(self) -> None:
        """Routers have come within reach, or a gap is closed: a neighbour may lack what is known here, or the
        reverse."""
        for link in self._desk.links.by_neighbour.values():
            self.send_digest(link)

    def ask(self, link: Link) -> None:
        """With the vectors, unless an answer to them is under way."""
        if not link.asked:
            link.tries = 0
            self._ask(link)

    def ask_again(self, neighbour: int) -> None:
        """Ever more patiently: a long answer takes its time, and asking again makes it longer."""
        link = self._desk.links.by_neighbour.get(neighbour)
        if link is not None:
            link.tries += 1
            self._ask(link)

    def _ask(self, link: Link) -> None:
        request = self._request(Scope.NEIGHBOUR)
        link.asked = request.request
        self._desk.send(link, request)
        wait_us = self._desk.times.retry_us << min(link.tries, DOUBLINGS_MAX)
        self._desk.timers.set(("ask", link.neighbour), self._desk.now_us + wait_us)

    def _request(self, scope: Scope, digest: bytes = b"") -> SenderRequest:
        self._requests += 1
        known, topology = ((), ()) if digest else self._exchange.vectors()
        identity = self._desk.identity
        return SenderRequest(identity.number, identity.epoch, self._requests, scope, digest, known, topology)

    def periodic(self, neighbour: int) -> None:
        """R10: compare, however quiet it is."""
        link = self._desk.links.by_neighbour.get(neighbour)
        if link is not None:
            self.send_digest(link)
            self._plan_request(neighbour)

    def _plan_request(self, neighbour: int) -> None:
        """A third more or less than the period, so that not all ask at once; by numbers, as there is no chance here."""
        every_us = self._desk.times.request_every_us
        spread = (self._desk.me ^ neighbour ^ self._requests * 0x9E3779B97F4A7C15) % (2 * every_us // 3)
        self._desk.timers.set(("request", neighbour), self._desk.now_us + every_us - every_us // 3 + spread)

    def close_gap(self, issuer: int) -> None:
        """R2: the base has not come: ask, where it must be known if it is anywhere."""
        desk = self._desk
        if not self._predicates.is_behind(issuer):
            self._gaps.pop(issuer, None)
            return
        newest = self._predicates.flood.newest(issuer)
        before, tries = self._gaps.get(issuer, (None, 0))
        tries = tries + 1 if newest == before else 1
        self._gaps[issuer] = newest, tries
        if tries > GAP_TRIES and (change := desk.rib.newest_pending(issuer)) is not None:
            desk.tell_issuer(issuer, change)
        desk.timers.set(("gap", issuer), desk.now_us + desk.times.retry_us)
        hop = desk.trees.next_hop(issuer)
        link = desk.links.by_neighbour.get(hop) if hop is not None else None
        if link is not None:
            self.ask(link)

    # --- being asked

    def requested(self, body: SenderRequest, link: Link) -> None:
        if body.digest:
            if body.digest == self._exchange.digest():
                self._caught_up(link)
            else:
                self.ask(link)
            return
        found = self._exchange.compare(body)
        for state in found.states:
            self._desk.send(link, state)
        for reply in self._exchange.replies(body, found.entries):
            self._desk.send(link, reply)
        if found.lacks:
            self.ask(link)

    def replied(self, body: UpdateReply, link: Link) -> None:
        for entry in body.entries:
            self._predicates.hear_entry(entry, link.neighbour)
        if body.requester == self._desk.me and body.request == link.asked != 0 and not body.more:
            self._caught_up(link)
