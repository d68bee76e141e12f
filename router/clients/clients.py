"""The clients of a router: by connection while they are connected, by name once they are let in.

Law: a client has a place from its admission until its filters are forgotten. Of two clients with one name, the one that
came later stays. A client that came in by a token leaves when the token is gone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from tamis.protocol.errors import FrameError
from tamis.protocol.limits import NONCE_BYTES
from tamis.protocol.wire.client_bodies import Lost
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import Kind
from tamis.protocol.wire.report_bodies import Report
from tamis.router.clients.client import Client
from tamis.router.clients.greeting import AdmissionPolicy
from tamis.router.clients.slowing import Slowing
from tamis.router.clients.tokens import TokenFile
from tamis.router.clients.trace_askers import TraceAskers
from tamis.router.clients.wishes import NO_WISHES, ClientWishes, NetworkOfClients
from tamis.router.connections.admissions import Reason, Side
from tamis.router.connections.connections import Connections
from tamis.router.connections.other_end import OtherEnd
from tamis.router.connections.waiting import WaitingRoom
from tamis.router.daemon.addresses import address_of


class Clients:
    """`tokens` is None where nobody is asked for one, and may be replaced at any time; then call
    `hold_against_tokens`."""

    def __init__(self, plane: Connections, tokens: TokenFile | None) -> None:
        self.plane, self.tokens = plane, tokens
        self.room = WaitingRoom(plane.places.greeting, time.monotonic, lambda: plane.is_behind)
        self.slowing = Slowing(time.monotonic)
        self.by_connection: dict[int, Client] = {}
        self.names: dict[str, Client] = {}
        self.trace_askers = TraceAskers()
        self.new_wishes: Callable[[], ClientWishes] = lambda: NO_WISHES
        self._held_against = tokens.digests if tokens is not None else None
        self._let_in: set[int] = set()  # connections, until their filters are forgotten

    def join(self, network: NetworkOfClients) -> None:
        """Tell `network` what clients want, from now on."""
        self.new_wishes = lambda: ClientWishes(network)

    def policy(self) -> AdmissionPolicy:
        """What a client that connects now is asked, and told of this router."""
        settings = self.plane.settings
        return AdmissionPolicy(
            name=settings.id,
            epoch=self.plane.epoch,
            frame_bytes_max=settings.limits.frame_bytes,
            hold_ms=settings.keepalive.hold_ms,
            filters_max=settings.limits.filters_per_client,
            judge=self.tokens.admits if self.tokens is not None else None,
            nonce=lambda: os.urandom(NONCE_BYTES),
            newest=self.plane.switch.newest,
        )

    # --- those that come -------------------------------------------------------------------------------------------

    def open(self, descriptor: int, peer: str) -> Client | None:
        """A client that is going to greet, over a socket that is now the switch's, or fed (-1); None: full."""
        client = None
        if self.has_place:
            client = self.plane.connect(descriptor, peer, lambda connection: Client(self.plane, self, connection, peer))
        if client is None:
            self.turned_away(Reason.FULL, peer)
            return None
        client.wait_in(self.room, address_of(peer))
        self.by_connection[client.connection] = client
        return client

    @property
    def has_place(self) -> bool:
        """For one more client that is let in."""
        return len(self._let_in) < self.plane.places.clients

    def turned_away(self, reason: Reason, peer: str) -> None:
        """A client was, before it became one."""
        self.plane.admissions.refuse(Side.CLIENT, reason, peer=peer)

    def admitted(self, client: Client) -> None:
        """Its greeting is over."""
        older = self.names.get(client.name)
        self.names[client.name] = client
        self._let_in.add(client.connection)
        if older is not None:
            older.fail(FrameError(ErrorCode.REPLACED, f"another connection has come as {client.name}"))
        self.hold_against_tokens()

    def hold_against_tokens(self) -> None:
        """End the sessions of clients that came in by a token that is gone, if tokens have changed."""
        digests = self.tokens.digests if self.tokens is not None else None
        if digests is not self._held_against:
            self._held_against = digests
            self.plane.each(self.by_connection, self._revoke)

    def _revoke(self, client: Client) -> None:
        tokens, digest = self.tokens, client.token_digest
        if tokens is not None and client.is_open and not (digest and tokens.still_admits(client.name, digest)):
            client.fail(FrameError(ErrorCode.REVOKED, "the token by which you came in is gone or changed"))

    # --- those that go ---------------------------------------------------------------------------------------------

    def gone(self, client: Client) -> None:
        """Its connection has ended."""
        del self.by_connection[client.connection]
        if self.names.get(client.name) is client:
            del self.names[client.name]

    def forgotten(self, client: Client) -> None:
        """Its filters are out of the table: the place is free."""
        self._let_in.discard(client.connection)

    def dismiss(self) -> None:
        """They have to leave now."""
        self.plane.each(self.by_connection, OtherEnd.leave)

    # --- what the network has for them -----------------------------------------------------------------------------

    def reported(self, report: Report) -> None:
        """Bring a report on a message to the client that asks."""
        self.trace_askers.bring(report)

    def lost(self, lost: Lost, before_s: float) -> None:
        """Tell each client that wanted something at `before_s` (monotonic), behind what waits for it."""
        frame = encode(lost)
        self.plane.each(
            self.by_connection,
            lambda client: client.send(Kind.LOST, frame, urgent=False) if client.wanted_before(before_s) else None,
        )
