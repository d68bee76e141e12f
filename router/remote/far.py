"""The far ends of remote sessions: clients of other routers that consume or read durable subscriptions of this one.

Law: a far end is a client like any other to the durable subscriptions here, and may do nothing else. Its router has
proved its name; this one trusts the routers of its own domain with that, and no others: the switch lets no session
cross a border. What the client may do is judged again here, by the rules in force here and the roles that its router
names; roles that these rules do not have give no rights.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from tamis.native.remote import SwitchRemotes
from tamis.native.switch_values import Admission
from tamis.protocol.errors import FrameError
from tamis.protocol.limits import FRAME_BYTES_MIN
from tamis.protocol.wire.client_bodies import Ack, Credit
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.durable_bodies import CancelConsume, Consume, Get, RemoveDurable
from tamis.protocol.wire.frames import decode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.remote_bodies import RemoteHello, RemotePiece
from tamis.protocol.wire.session import CLIENT_CONNECTION, Session, SessionState
from tamis.router.access.admitted import Admitted
from tamis.router.access.client_rights import ClientRights
from tamis.router.clients.clients import Clients
from tamis.router.clients.subscriber import Subscriber
from tamis.router.connections.admissions import Side
from tamis.router.connections.peer import Peer

FAR_ENDS_MAX: Final = 1_024
FAR_ENDS_OF_ROUTER_MAX: Final = 256
"""Far ends here, and of the clients of one other router; further sessions are not begun."""
QUEUE_BYTES_MAX: Final = 262_144
"""Bytes of deliveries that wait for one session, besides those on the way: a far end takes 768 KiB at most."""
_MAY: Final = (Consume, CancelConsume, RemoveDurable, Get, Ack, Credit)


@dataclass(frozen=True, slots=True)
class ProvedElsewhere:
    """The proof of a client whose router has admitted it: it stays admitted until its session ends."""

    principal: str | None
    roles: frozenset[str]

    def admitted(self, name: str) -> Admitted:  # noqa: ARG002 - the name was proved there
        return Admitted(principal=self.principal, roles=self.roles, proof=self)


class FarClient(Peer):
    """The client of one remote session, whose far end is here. `router` is the number of the client's router."""

    CUT = "the client of another router was disconnected"
    IS_LINK = False
    SIDE = Side.CLIENT

    __slots__ = ("_clients", "_far", "_owner", "frame_bytes_max", "rights", "router", "subscriber")

    def __init__(self, far: FarEnds, clients: Clients, connection: int, peer: str, router: int) -> None:
        self._far, self._clients, self.router = far, clients, router
        super().__init__(clients.connections, connection, peer, Session(CLIENT_CONNECTION, is_connector=False))
        self.subscriber: Subscriber | None = None
        self.rights: ClientRights | None = None
        self.frame_bytes_max, self._owner = 0, ""
        self.on_output = far.remotes.flush

    @property
    def hold_ms(self) -> int:
        return 0

    @property
    def said(self) -> tuple[str | None, str | None]:
        return self.name or None, "remote"

    @property
    def principal(self) -> str:
        """The owner of durable subscriptions that are the client's."""
        return self._owner

    def receive(self, kind: FrameKind, frame: bytes) -> None:
        if self._is_ending:
            return
        body = decode(frame)
        if self._is_greeting:
            self._greet(body)
            return
        self._session.received(kind)
        if not isinstance(body, _MAY):
            raise FrameError(ErrorCode.UNEXPECTED_KIND, f"{kind.name} may not be sent to a router elsewhere")
        self._clients.durables.asked(self, body)

    def _greet(self, body: object) -> None:
        if not isinstance(body, RemoteHello) or stable_number(body.router) != self.router:
            raise FrameError(ErrorCode.UNEXPECTED_KIND, "a remote session begins with the REMOTE_HELLO of its router")
        access = self._clients.access
        admitted = Admitted()
        if access is not None:
            proof = ProvedElsewhere(body.principal or None, frozenset(body.roles if body.has_roles else ()))
            admitted = proof.admitted(body.name)
        limits = Admission(
            number=stable_number(body.name),
            queue_bytes_max=QUEUE_BYTES_MAX,
            credit_bytes=0,
            credit_frames=0,
            frame_bytes_max=max(body.frame_bytes_max, FRAME_BYTES_MIN),
            filters_max=0,
            version=body.version,
        )
        self.subscriber = self._clients.admit(self, body.name, limits, admitted)
        self.name, self._owner, self.frame_bytes_max = body.name, body.principal or body.name, limits.frame_bytes_max
        if access is not None:
            self.rights = ClientRights(access, self.subscriber)
        self._session.state = SessionState.OPEN
        self._greeted()

    def ended(self) -> None:
        super().ended()
        self._far.gone(self)
        self._clients.durables.left(self)
        if self.subscriber is not None:
            self.subscriber.client = None

    def forgotten(self) -> None:
        self._clients.free(self.subscriber)


class FarEnds:
    """The far ends at one router. `routers`: the ids of the others by number."""

    def __init__(self, clients: Clients, remotes: SwitchRemotes, routers: dict[int, str]) -> None:
        self._clients, self.remotes, self._routers = clients, remotes, routers
        self._of_router: Counter[int] = Counter()

    def begins(self, frame: bytes) -> None:
        """Begin the far end of a session by its first REMOTE; one without a place is not begun, and asks again."""
        piece = decode(frame)
        assert isinstance(piece, RemotePiece)  # noqa: S101 - the switch has read it
        router, connections = piece.sender, self._clients.connections
        has_place = self._of_router.total() < FAR_ENDS_MAX and self._of_router[router] < FAR_ENDS_OF_ROUTER_MAX
        if router not in self._routers or not has_place or connections.is_leaving or not self._clients.has_place:
            return
        client = connections.connect(
            *(-1, f"router {self._routers[router]}"),
            lambda connection: FarClient(self, self._clients, connection, f"router {self._routers[router]}", router),
        )
        if client is None:
            return
        self._of_router[router] += 1
        if self.remotes.accept(client.connection, frame):
            connections.poll_soon()
        else:
            client.vanish()

    def gone(self, client: FarClient) -> None:
        self._of_router[client.router] -= 1
