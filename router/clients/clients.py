"""The clients of a router, by connection while they are connected.

The subscribers that they serve are kept by name while they are served, by interface until their filters are forgotten.

Law: a client has a place from its admission until its subscriber is forgotten. Of two clients with one name, the one
that came later stays. A client that came in by a token leaves when the token is gone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from tamis.native.results import OutOfMemory
from tamis.native.switch_values import Admission
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import NONCE_BYTES
from tamis.protocol.wire.client_bodies import GROUPS, KEPT, KEPT_VIEW, Lost
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.report_bodies import Report
from tamis.router.clients.client import Client
from tamis.router.clients.grants import Denial, Grant
from tamis.router.clients.greeting import AdmissionPolicy
from tamis.router.clients.interest import NO_INTEREST, LocalInterest, NetworkOfClients
from tamis.router.clients.keeping import Keeping, NoKeeping, why_nothing
from tamis.router.clients.moving import GoAways, addresses_in_reach
from tamis.router.clients.series import ClientSeries
from tamis.router.clients.slowing import Slowing
from tamis.router.clients.subscriber import Subscriber
from tamis.router.clients.tokens import TokenFile
from tamis.router.clients.trace_askers import TraceAskers
from tamis.router.connections.admissions import Reason, Side
from tamis.router.connections.connections import Connections
from tamis.router.connections.peer import Peer
from tamis.router.connections.waiting import WaitingRoom
from tamis.router.daemon.addresses import address_of


class Clients:
    """The clients of one router. `tokens` is None where no client is asked for one, and may be replaced at any time;
    then call `hold_against_tokens`."""

    def __init__(self, connections: Connections, tokens: TokenFile | None) -> None:
        self.connections, self.tokens = connections, tokens
        self.room = WaitingRoom(connections.places.greeting, time.monotonic, lambda: connections.is_behind)
        self.slowing = Slowing(time.monotonic)
        self.by_connection: dict[int, Client] = {}
        self.names: dict[str, Subscriber] = {}
        self.by_interface: dict[int, Subscriber] = {}
        self.trace_askers = TraceAskers()
        self.keeping: Keeping = NoKeeping(why_nothing(connections.settings.data))
        self.series = ClientSeries(connections.switch)
        self.new_interest: Callable[[], LocalInterest] = lambda: NO_INTEREST
        self._held_against = tokens.digests if tokens is not None else None

    def join(self, network: NetworkOfClients) -> None:
        """Tell `network` what clients want, from now on."""
        self.new_interest = lambda: LocalInterest(network)

    def policy(self) -> AdmissionPolicy:
        """Return what a client that connects now is asked, and told of this router."""
        settings = self.connections.settings
        return AdmissionPolicy(
            name=settings.id,
            epoch=self.connections.epoch,
            frame_bytes_max=settings.limits.frame_bytes,
            hold_ms=settings.keepalive.hold_ms,
            filters_max=settings.limits.filters_per_client,
            judge=self._judge if self.tokens is not None else None,
            nonce=lambda: os.urandom(NONCE_BYTES),
            newest=self.connections.switch.newest,
            capabilities=(GROUPS, KEPT, KEPT_VIEW),
        )

    # --- those that come -------------------------------------------------------------------------------------------

    def open(self, descriptor: int, peer: str) -> Client | None:
        """Open a client that has not greeted, over a socket that the switch owns from here on, or fed (-1); None:
        full."""
        client = None
        if self.has_place:
            client = self.connections.connect(
                descriptor, peer, lambda connection: Client(self.connections, self, connection, peer)
            )
        if client is None:
            self.turned_away(Reason.FULL, peer)
            return None
        client.wait_in(self.room, address_of(peer))
        self.by_connection[client.connection] = client
        return client

    @property
    def has_place(self) -> bool:
        """Is there room for one more client to be let in?"""
        return len(self.by_interface) < self.connections.places.clients

    def turned_away(self, reason: Reason, peer: str) -> None:
        """Count a client that was turned away before it became one."""
        self.connections.admissions.refuse(Side.CLIENT, reason, peer=peer)

    def admit(self, client: Client, name: str, admission: Admission, grant: Grant) -> Subscriber:
        """Let `client` in, whose greeting is over; return the subscriber that it serves. FrameError if there is no
        room."""
        switch = self.connections.switch
        try:
            switch.admit(client.connection, admission)
        except (OutOfMemory, Refused):
            raise FrameError(ErrorCode.FULL, "this router has no room for another client") from None
        subscriber = Subscriber(
            switch=switch,
            interface=switch.subscriber_of(client.connection),
            name=name,
            admission=admission,
            grant=grant,
            client=client,
            make_interest=self.new_interest,
        )
        self.by_interface[subscriber.interface] = subscriber
        return subscriber

    def admitted(self, subscriber: Subscriber) -> None:
        """Take in that `subscriber` is served now: another client of the same name has to go."""
        older = self.names.get(subscriber.name)
        self.names[subscriber.name] = subscriber
        connection = self.connections.switch.connection_of(subscriber.interface)
        if connection is not None:
            self.series.came(subscriber.name, connection, self.connections.settings.limits.client_series)
        if older is not None and older.client is not None:
            older.client.fail(FrameError(ErrorCode.REPLACED, f"another connection has come as {subscriber.name}"))

    def _judge(self, name: str, token: bytes) -> Grant | Denial:
        """Return whether a client `name` may come in with `token`. If the token file has been read again for that, end
        the sessions whose tokens are gone, whether this client comes in or not."""
        found = self.tokens.admits(name, token) if self.tokens is not None else Grant()
        self.hold_against_tokens()
        return found

    def hold_against_tokens(self) -> None:
        """End the sessions of clients that came in by a token that is gone, if tokens have changed."""
        digests = self.tokens.digests if self.tokens is not None else None
        if digests is not self._held_against:
            self._held_against = digests
            self.connections.each(self.by_connection, self._revoke)

    def _revoke(self, client: Client) -> None:
        tokens, subscriber = self.tokens, client.subscriber
        if tokens is None or subscriber is None or not client.is_open:
            return
        digest = subscriber.grant.token_digest
        if not (digest and tokens.still_admits(subscriber.name, digest)):
            client.fail(FrameError(ErrorCode.REVOKED, "the token by which you came in is gone or changed"))

    # --- those that go ---------------------------------------------------------------------------------------------

    def gone(self, client: Client) -> None:
        """Take in that the connection of `client` has ended: no client serves its subscriber any more."""
        del self.by_connection[client.connection]
        subscriber = client.subscriber
        if subscriber is not None:
            subscriber.client = None
            self.series.went(subscriber.name, client.connection)
            if self.names.get(subscriber.name) is subscriber:
                del self.names[subscriber.name]

    def forgotten(self, client: Client) -> None:
        """Give the place of `client` back: the filters of its subscriber are out of the table."""
        if client.subscriber is not None:
            del self.by_interface[client.subscriber.interface]

    def send_away(self, within_ms: int) -> None:
        """Tell the clients that move to go to another router, before this one drains."""
        connections = self.connections
        addresses = addresses_in_reach(connections.settings.entrances, connections.network.reaches)
        told = GoAways(within_ms, addresses)
        connections.each(self.by_connection, lambda client: told.tell(client) if client.moves else None)

    @property
    def movers(self) -> int:
        """How many clients are here that move."""
        return sum(client.moves for client in self.by_connection.values())

    def dismiss(self) -> None:
        """End the sessions of all clients now; what is queued still goes out."""
        self.connections.each(self.by_connection, Peer.leave)

    # --- what the network has for them -----------------------------------------------------------------------------

    def reported(self, report: Report) -> None:
        """Bring a report on a message to the client that asks."""
        self.trace_askers.bring(report)

    def lost(self, lost: Lost, before_s: float) -> None:
        """Tell each client that wanted something at `before_s` (monotonic) of a loss, behind what waits for it; and the
        keeps."""
        self.keeping.lost(lost, before_s)
        frame = encode(lost)
        self.connections.each(
            self.by_connection,
            lambda client: client.send(FrameKind.LOST, frame, urgent=False) if client.wanted_before(before_s) else None,
        )
