"""The clients of a router, by connection while they are connected.

Their subscribers are indexed by name while they are served, and by interface until their filters are removed.

Law: a client has a place from its admission until the filters of its subscriber are removed. Of two clients with one
name the later one stays. A client that was admitted by a token is disconnected when the token is removed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Protocol

from tamis.native.results import OutOfMemory
from tamis.native.switch_values import Admission
from tamis.protocol.access.rules import AccessRules
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import NONCE_BYTES
from tamis.protocol.wire.client_bodies import (
    CONFIRMS_HELD,
    COPIES_MIN,
    DURABLE_VIEW,
    DURABLES,
    GROUPS,
    LISTS_ELSEWHERE,
    RESIDUAL,
    Lost,
)
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.report_bodies import Report
from tamis.protocol.wire.session_bodies import AUTH_AGAIN
from tamis.router.access.admitted import Admitted, Denial
from tamis.router.access.in_force import AccessInForce
from tamis.router.access.proofs import Proofs
from tamis.router.access.verifying import VerifyingThread
from tamis.router.clients.client import Client
from tamis.router.clients.durables import Durables, Elsewhere, NoDurables, NothingElsewhere, why_nothing
from tamis.router.clients.greeting import AdmissionPolicy
from tamis.router.clients.interest import NO_INTEREST, LocalInterest, Narrow, NetworkOfClients
from tamis.router.clients.moving import GoAways, addresses_in_reach
from tamis.router.clients.series import ClientSeries
from tamis.router.clients.subscriber import Serving, Subscriber
from tamis.router.clients.tokens import TokenFile
from tamis.router.clients.trace_askers import TraceAskers
from tamis.router.connections.admissions import Reason, Side
from tamis.router.connections.connections import Connections
from tamis.router.connections.peer import Peer
from tamis.router.connections.revoked import RevokedCertificates
from tamis.router.daemon.client_events import SubscriptionRemoved
from tamis.serving.addresses import address_of
from tamis.serving.slowing import Slowing
from tamis.serving.waiting import WaitingRoom

if TYPE_CHECKING:  # a router without issuers starts without them
    from tamis.router.access.signed_tokens import SignedTokens


class AdmittedPeer(Serving, Protocol):
    """The peer of a client's connection."""

    connection: int


class Clients:
    """The clients of one router. `tokens` is None if clients need no token of a file; after it is replaced, call
    `hold_against_tokens`. `access`: the rules in force; None if there are none, and clients may do everything."""

    def __init__(self, connections: Connections, tokens: TokenFile | None, access: AccessInForce | None = None) -> None:
        self.connections, self.tokens, self.access = connections, tokens, access
        self.room = WaitingRoom(connections.places.greeting, time.monotonic, lambda: connections.is_behind)
        self.slowing = Slowing(time.monotonic)
        self.proofs: Proofs | None = None
        """Proofs of names by certificates and signed tokens; None where no rules of access are in force."""
        self._revoked: RevokedCertificates | None = None
        self.verifying = VerifyingThread(connections.loop)
        self.by_connection: dict[int, Client] = {}
        self.names: dict[str, Subscriber] = {}
        self.by_interface: dict[int, Subscriber] = {}
        self.trace_askers = TraceAskers()
        self.durables: Durables = NoDurables(why_nothing(connections.settings.data))
        self.elsewhere: Elsewhere = NothingElsewhere()
        self.series = ClientSeries(connections.switch)
        self.new_interest: Callable[[Narrow | None], LocalInterest] = lambda _narrow: NO_INTEREST
        self._held_against = tokens.digests if tokens is not None else None

    def join(self, network: NetworkOfClients) -> None:
        """Announce the interest of clients to `network`, from now on."""
        self.new_interest = lambda narrow: LocalInterest(network, narrow)

    def policy(self, peer: str, certified: frozenset[str] = frozenset()) -> AdmissionPolicy:
        """Return the admission policy for a client that connects now from the address `peer`. `certified`: the names in
        its certificate."""
        proofs = self.proofs
        settings = self.connections.settings
        return AdmissionPolicy(
            name=settings.id,
            epoch=self.connections.epoch,
            frame_bytes_max=settings.limits.frame_bytes,
            hold_ms=settings.keepalive.hold_ms,
            filters_max=settings.limits.filters_per_client,
            judge=self._judge if self.needs_proof else None,
            nonce=lambda: os.urandom(NONCE_BYTES),
            newest=self.connections.switch.newest,
            capabilities=(
                *(GROUPS, DURABLES, DURABLE_VIEW, CONFIRMS_HELD, COPIES_MIN, AUTH_AGAIN, LISTS_ELSEWHERE, RESIDUAL),
            ),
            certified=partial(proofs.by_certificate, certified) if proofs is not None and certified else None,
            takes_signed=proofs is not None and proofs.signed is not None,
            full=self._full,
            slowed=partial(self.slowing.refusal, address_of(peer)) if self.needs_proof else None,
        )

    def verify(self, name: str, token: bytes, then: Callable[[Admitted | Denial], None]) -> bool:
        """Call `then` with the result for a signed token; return False, with nothing done, if too many wait."""
        proofs = self.proofs
        assert proofs is not None  # noqa: S101 - the policy offers no such method without them
        return self.verifying.ask(lambda: proofs.by_token(name, token), then)

    @property
    def needs_proof(self) -> bool:
        """Whether a client has to prove its name."""
        return self.tokens is not None or self.access is not None

    # --- admission -------------------------------------------------------------------------------------------------

    def open(
        self, descriptor: int, peer: str, certified: frozenset[str] = frozenset(), certificate: bytes = b""
    ) -> Client | None:
        """Open a client that has not greeted, over the socket `descriptor`, which the switch then owns, or fed by the
        caller (-1). `certified`: the names in its certificate, and `certificate`: itself, in DER. Return None if there
        is no room."""
        client = None
        if self.has_place:
            client = self.connections.connect(
                *(descriptor, peer),
                lambda connection: Client(self.connections, self, connection, peer, certified, certificate),
            )
        if client is None:
            self.turned_away(Reason.FULL, peer)
            return None
        client.wait_in(self.room, address_of(peer))
        self.by_connection[client.connection] = client
        self._hold_against_lists(client)  # they may have changed since its handshake
        return client

    @property
    def has_place(self) -> bool:
        """Whether one more client can be admitted."""
        return len(self.by_interface) < self.connections.places.clients

    def _full(self, name: str, admitted: Admitted) -> str:
        """Return which quota a further connection of this name or of its roles would exceed; "" if none."""
        return self.access.full(name, admitted, replaces=name in self.names) if self.access is not None else ""

    def turned_away(self, reason: Reason, peer: str) -> None:
        """Count a connection that was refused before a client was made for it."""
        self.connections.admissions.refuse(Side.CLIENT, reason, peer=peer)

    def out_of_descriptors(self) -> None:
        self.turned_away(Reason.DESCRIPTORS, "unknown")

    def admit(self, client: AdmittedPeer, name: str, admission: Admission, admitted: Admitted) -> Subscriber:
        """Admit `client`, whose greeting has succeeded; return the subscriber that it serves. Raise FrameError if there
        is no room."""
        switch = self.connections.switch
        try:
            if self.access is not None:
                admission = self.access.limited(name, admission, admitted)
            switch.admit(client.connection, admission)
        except (OutOfMemory, Refused):
            raise FrameError(ErrorCode.FULL, "this router has no room for another client") from None
        interface = switch.subscriber_of(client.connection)
        narrow = partial(self.access.announced, interface) if self.access is not None else None
        subscriber = Subscriber(
            switch=switch,
            interface=interface,
            name=name,
            admission=admission,
            admitted=admitted,
            client=client,
            make_interest=partial(self.new_interest, narrow),
        )
        if self.access is not None:
            self._guard(self.access, subscriber)
        self.by_interface[subscriber.interface] = subscriber
        return subscriber

    @staticmethod
    def _guard(access: AccessInForce, subscriber: Subscriber) -> None:
        try:
            access.guard(subscriber)
        except (OutOfMemory, Refused) as error:
            raise FrameError(
                ErrorCode.FULL, f"this router cannot enforce the rules for another client: {error}"
            ) from None
        access.came(subscriber)

    def admitted(self, subscriber: Subscriber) -> None:
        """Register `subscriber`, which is served from now on; an earlier client of its name is disconnected."""
        older = self.names.get(subscriber.name)
        self.names[subscriber.name] = subscriber
        connection = self.connections.switch.connection_of(subscriber.interface)
        if connection is not None:
            self.series.came(subscriber.name, connection, self.connections.settings.limits.client_series)
        if older is not None and older.client is not None:
            older.client.fail(
                FrameError(ErrorCode.REPLACED, f"another connection has taken the name {subscriber.name}")
            )

    def _judge(self, name: str, token: bytes) -> Admitted | Denial:
        """Return what a client `name` with `token` is admitted as, or the denial. If the token file was reloaded
        for that, also end the sessions whose tokens were removed."""
        if self.access is not None:
            return self.access.admits(name, token)
        found = self.tokens.admits(name, token) if self.tokens is not None else Admitted()
        self.hold_against_tokens()
        return found

    def change_access(self, rules: AccessRules, signed: SignedTokens | None = None) -> None:
        """Enforce other rules from the next message on, and end the sessions of clients that they do not admit.
        `signed`: their issuers. Raise OutOfMemory, or Refused beyond a limit; then nothing has changed."""
        assert self.access is not None  # noqa: S101 - rules are made at the start
        proofs = self.proofs
        before = (proofs.rules, proofs.signed) if proofs is not None else (rules, signed)
        if proofs is not None:
            proofs.use(rules, signed)
        try:
            ended = self.access.change(rules, list(self.by_interface.values()))
        except (OutOfMemory, Refused):
            if proofs is not None:
                proofs.use(*before)
            raise
        self.access.note_rules()
        for each in ended:
            client = self.by_interface[each.interface].client
            if client is not None:
                client.fail(FrameError(ErrorCode.REVOKED, "the rules of access no longer admit this client"))
        for subscriber in self.by_interface.values():
            self.end_memberships(subscriber)
        self.connections.work.add(self._restate())

    def admit_again(self, subscriber: Subscriber, admitted: Admitted) -> bool:
        """Let a client be what another credential has proved, from the next message on. Return whether it may stay.
        Raise OutOfMemory, or Refused beyond a limit; then nothing has changed."""
        if self.access is None:
            subscriber.admitted = admitted
            return True
        if not self.access.admit_again(subscriber, admitted):
            return False
        self.end_memberships(subscriber)
        self.connections.work.add(subscriber.restate_interest())
        return True

    def end_memberships(self, subscriber: Subscriber) -> None:
        """End the subscriptions of a client in worker groups that the rules in force do not let it join: other members
        get the messages."""
        access, client, connections = self.access, subscriber.client, self.connections
        if access is None or access.observes or client is None or not subscriber.groups:
            return
        rights, joined = access.class_of(subscriber).rights, subscriber.groups
        lost = {group for group in {*joined.values()} if not rights.group(subscriber.name, group).allowed}
        ids = [id_ for id_, group in joined.items() if group in lost]
        for id_ in ids:
            connections.switch.unsubscribe(subscriber.interface, id_)
            del joined[id_]
            connection = connections.switch.connection_of(subscriber.interface) or 0
            connections.events.tell(SubscriptionRemoved, subscriber.name, connection, id_)
        if ids:
            connections.settle()
            connections.work.add(subscriber.interest.remove(ids))
            access.usage.has_filters(subscriber.interface, subscriber.filters)
        for group in sorted(lost):
            text = f"the rules of access no longer let this client be in worker group {group}: its subscription ended"
            client.fail(FrameError(ErrorCode.BAD_FILTER, text), FrameKind.SUBSCRIBE)

    def _restate(self) -> Generator[None, None, None]:
        """State to the network what the rules of now leave of the interest of all clients, in slices."""
        for subscriber in list(self.by_interface.values()):
            yield from subscriber.restate_interest()

    def hold_against_tokens(self) -> None:
        """End the sessions of clients whose token was removed, if the tokens have changed since the last call."""
        digests = self.tokens.digests if self.tokens is not None else None
        if digests is not self._held_against:
            self._held_against = digests
            self.connections.each(self.by_connection, self._revoke)

    def _revoke(self, client: Client) -> None:
        tokens, subscriber = self.tokens, client.subscriber
        if tokens is None or subscriber is None or not client.is_open:
            return
        digest = subscriber.admitted.token_digest
        if not (digest and tokens.still_admits(subscriber.name, digest)):
            client.fail(FrameError(ErrorCode.REVOKED, "the token of this connection was removed or changed"))

    def use_revoked(self, revoked: RevokedCertificates | None) -> None:
        """End the sessions of clients whose certificate these lists refuse, now and from now on."""
        self._revoked = revoked
        self.connections.each(self.by_connection, self._hold_against_lists)

    def _hold_against_lists(self, client: Client) -> None:
        revoked = self._revoked
        if revoked is not None and client.certificate and (problem := revoked.refusal(client.certificate)):
            client.fail(FrameError(ErrorCode.REVOKED, problem))

    # --- end -------------------------------------------------------------------------------------------------------

    def gone(self, client: Client) -> None:
        """Remove `client`, whose connection has ended; its subscriber is no longer served."""
        del self.by_connection[client.connection]
        subscriber = client.subscriber
        if subscriber is not None:
            subscriber.client = None
            self.series.went(subscriber.name, client.connection)
            if self.names.get(subscriber.name) is subscriber:
                del self.names[subscriber.name]

    def forgotten(self, client: Client) -> None:
        """Free the place of `client`: the filters of its subscriber are out of the table."""
        self.free(client.subscriber)

    def free(self, subscriber: Subscriber | None) -> None:
        """Free the place of an admitted client; None: it was not admitted."""
        if subscriber is not None:
            del self.by_interface[subscriber.interface]
            if self.access is not None:
                self.access.gone(subscriber.interface)
                self.access.rates.gone(subscriber.name)

    def send_away(self, within_ms: int) -> None:
        """Send GO_AWAY to the clients that can move to another router, before this one drains."""
        connections = self.connections
        addresses = addresses_in_reach(connections.settings.entrances, connections.network.reaches)
        told = GoAways(within_ms, addresses)
        connections.each(self.by_connection, lambda client: told.tell(client) if client.moves else None)

    @property
    def movers(self) -> int:
        """The number of clients that can move to another router."""
        return sum(client.moves for client in self.by_connection.values())

    def dismiss(self) -> None:
        """End the sessions of all clients; queued frames are still sent."""
        self.connections.each(self.by_connection, Peer.leave)

    # --- from the network ------------------------------------------------------------------------------------------

    def reported(self, report: Report) -> None:
        """Send a report on a message to the client that traces it."""
        self.trace_askers.bring(report)

    def lost(self, lost: Lost, before_s: float) -> None:
        """Report a loss to the durable subscriptions, and to each client that had a subscription at `before_s`
        (monotonic), after its queued frames."""
        self.durables.lost(lost, before_s)
        frame = encode(lost)
        self.connections.each(
            self.by_connection,
            lambda client: client.send(FrameKind.LOST, frame, urgent=False) if client.wanted_before(before_s) else None,
        )
