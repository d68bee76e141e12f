"""Which frames each side may send, and when: the life of a connection as tables.

    HELLO_DUE -> WELCOME_DUE -> AUTH_DUE -> VERDICT_DUE -> OPEN -> CONNECTOR_DRAINING  -> BOTH_DRAINING
                                                                `-> ACCEPTOR_DRAINING -'

The connector (a client, or the router that dialled) and the acceptor (a router) take turns until OPEN; from there each
sends at any time, and after its DRAIN it starts nothing new. Law: this file alone decides whether a kind of frame may
be sent. A pair that is absent from a side's table is an error of that side; a fatal error ends the connection from any
state.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final, NamedTuple

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.kinds import FrameKind


class SessionState(enum.Enum):
    """The state of a connection, equal at both ends; before OPEN it is named by the frame that is due."""

    HELLO_DUE = "the connector's HELLO is due"
    WELCOME_DUE = "the acceptor's WELCOME is due"
    AUTH_DUE = "the connector's AUTH is due"
    VERDICT_DUE = "the acceptor's AUTHENTICATED is due"
    OPEN = "open"
    CONNECTOR_DRAINING = "the connector has sent DRAIN"
    ACCEPTOR_DRAINING = "the acceptor has sent DRAIN"
    BOTH_DRAINING = "both have sent DRAIN"
    CLOSED = "closed"


Table = dict[tuple[SessionState, FrameKind], SessionState]

_GREETING: Final = frozenset(
    {SessionState.HELLO_DUE, SessionState.WELCOME_DUE, SessionState.AUTH_DUE, SessionState.VERDICT_DUE}
)
_ALIVE: Final = frozenset({FrameKind.ERROR, FrameKind.PING, FrameKind.PONG})

_CLIENT_BEGINS: Final = frozenset(
    {
        *(FrameKind.PUBLISH, FrameKind.DRY_RUN, FrameKind.SUBSCRIBE),
        *(FrameKind.CREATE_DURABLE, FrameKind.CONSUME, FrameKind.REPLAY, FrameKind.CREDIT),
    }
)
_CLIENT_GOES_ON: Final = _ALIVE | {
    *(FrameKind.UNSUBSCRIBE, FrameKind.ACK, FrameKind.CANCEL_CONSUME, FrameKind.REMOVE_DURABLE),
    *(FrameKind.LIST_DURABLES, FrameKind.GET, FrameKind.AUTH),
}
_HOME_BEGINS: Final = frozenset({FrameKind.CREDIT, FrameKind.GO_AWAY})
_HOME_GOES_ON: Final = _ALIVE | {
    FrameKind.DELIVER,
    FrameKind.ACK,
    FrameKind.LOST,
    FrameKind.REPLAY_END,
    FrameKind.DURABLES_LISTED,
    FrameKind.TRACE_RECORD,
    FrameKind.DRY_RUN_REPORT,
}
_ROUTER_BEGINS: Final = frozenset({FrameKind.SR})
_ROUTER_GOES_ON: Final = _ALIVE | {
    *(FrameKind.PUBLISH, FrameKind.DRY_RUN, FrameKind.LOST, FrameKind.TRACE_RECORD, FrameKind.DRY_RUN_REPORT),
    *(FrameKind.LSA, FrameKind.RA, FrameKind.UR, FrameKind.HELD, FrameKind.EPOCH_REFUSED, FrameKind.SPACE),
    *(FrameKind.EA, FrameKind.EH, FrameKind.ER, FrameKind.DURABLES, FrameKind.DURABLES_HELD),
    *(FrameKind.DIRECTED, FrameKind.CUSTODY_ACK, FrameKind.CUSTODY_ASK, FrameKind.GAP, FrameKind.REMOTE),
    FrameKind.FINISHED,
}

_CONNECTOR_GREETS: Final[Table] = {
    (SessionState.HELLO_DUE, FrameKind.HELLO): SessionState.WELCOME_DUE,
    (SessionState.AUTH_DUE, FrameKind.AUTH): SessionState.VERDICT_DUE,
}
_ACCEPTOR_GREETS: Final[Table] = {
    (SessionState.WELCOME_DUE, FrameKind.WELCOME): SessionState.AUTH_DUE,
    (SessionState.VERDICT_DUE, FrameKind.AUTHENTICATED): SessionState.OPEN,
}
_ERROR_ENDS_GREETING: Final[Table] = {(state, FrameKind.ERROR): SessionState.CLOSED for state in _GREETING}

_CONNECTOR_DRAINS: Final = {
    SessionState.OPEN: SessionState.CONNECTOR_DRAINING,
    SessionState.ACCEPTOR_DRAINING: SessionState.BOTH_DRAINING,
}
_ACCEPTOR_DRAINS: Final = {
    SessionState.OPEN: SessionState.ACCEPTOR_DRAINING,
    SessionState.CONNECTOR_DRAINING: SessionState.BOTH_DRAINING,
}


def _open_life(
    begins: frozenset[FrameKind], goes_on: frozenset[FrameKind], drains: Mapping[SessionState, SessionState]
) -> Table:
    """Return a side's table while it is open: before its DRAIN it may start and continue exchanges, after it only
    continue them."""
    before = {(state, kind): state for state in drains for kind in begins | goes_on}
    at = {(state, FrameKind.DRAIN): after for state, after in drains.items()}
    return before | at | {(state, kind): state for state in drains.values() for kind in goes_on}


class Sides(NamedTuple):
    """The two tables of a connection."""

    connector: Table
    acceptor: Table


CLIENT_CONNECTION: Final = Sides(
    _CONNECTOR_GREETS | _ERROR_ENDS_GREETING | _open_life(_CLIENT_BEGINS, _CLIENT_GOES_ON, _CONNECTOR_DRAINS),
    _ACCEPTOR_GREETS | _ERROR_ENDS_GREETING | _open_life(_HOME_BEGINS, _HOME_GOES_ON, _ACCEPTOR_DRAINS),
)
LINK: Final = Sides(
    _CONNECTOR_GREETS | _ERROR_ENDS_GREETING | _open_life(_ROUTER_BEGINS, _ROUTER_GOES_ON, _CONNECTOR_DRAINS),
    _ACCEPTOR_GREETS | _ERROR_ENDS_GREETING | _open_life(_ROUTER_BEGINS, _ROUTER_GOES_ON, _ACCEPTOR_DRAINS),
)


class Session:
    """The state of a connection at one end. Report every frame sent and received to it, in order, before acting on the
    frame.

    An acceptor learns only from HELLO whether its peer is a client or a router: until then the tables agree.
    """

    def __init__(self, sides: Sides, is_connector: bool) -> None:
        self._is_connector = is_connector
        self.state = SessionState.HELLO_DUE
        self.use(sides)

    def use(self, sides: Sides) -> None:
        """Use the tables of another kind of connection from now on, as an acceptor does after HELLO."""
        self._ours, self._theirs = sides if self._is_connector else (sides.acceptor, sides.connector)

    def sent(self, kind: FrameKind) -> None:
        """Record that this end is about to send `kind`; Refused if it may not send it now."""
        if (self.state, kind) not in self._ours:
            raise Refused(f"{kind.name} may not be sent now: {self.state.value}")
        self.state = self._ours[self.state, kind]

    def received(self, kind: FrameKind) -> None:
        """Record that the peer has sent `kind`; FrameError if the peer may not send it now."""
        if (self.state, kind) not in self._theirs:
            raise FrameError(ErrorCode.UNEXPECTED_KIND, f"{kind.name} may not be received now: {self.state.value}")
        self.state = self._theirs[self.state, kind]

    def closed(self) -> None:
        """Record that the connection has ended, by a fatal error or otherwise."""
        self.state = SessionState.CLOSED
