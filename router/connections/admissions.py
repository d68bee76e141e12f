"""Admitted and refused connections, counted and logged.

Law: each accepted connection is counted once, as admitted or by the reason of its refusal. At most LOGGED_PER_MINUTE
lines a minute are logged for one reason, and the next line has the number of those left out: strangers must not fill
the disk.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable
from typing import Final

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.peer_names import check_peer_name
from tamis.protocol.wire.codes import ErrorCode
from tamis.router.daemon.logs import fields

LOGGED_PER_MINUTE: Final = 20
_MINUTE_S: Final = 60.0

_log = logging.getLogger(__name__)


class Side(enum.StrEnum):
    """The kind of listener at which a connection came in."""

    CLIENT = "client"
    NEIGHBOUR = "neighbour"


class Reason(enum.StrEnum):
    """Why a connection was refused."""

    CREDENTIAL = "credential"  # the token, the secret, the certificate or the method is wrong
    NAME = "name"  # the name breaks the rules of names
    VERSION = "version"  # no version in common
    RULES = "rules"  # the peer broke a rule of the wire
    TLS = "tls"  # the TLS handshake failed
    TIMEOUT = "timeout"  # no greeting in time
    FULL = "full"  # no place left, or the router is stopping
    GAVE_WAY = "gave_way"  # another connection that had not greeted took its place
    DESCRIPTORS = "descriptors"  # the system has no open file left
    REPLACED = "replaced"  # a later start of a peer with that name is connected
    LEFT = "left"  # the peer closed the connection


_REASON_OF: Final = {
    ErrorCode.AUTHENTICATION_FAILED: Reason.CREDENTIAL,
    ErrorCode.VERSION_REFUSED: Reason.VERSION,
    ErrorCode.FULL: Reason.FULL,
    ErrorCode.REPLACED: Reason.REPLACED,
}


class NameRefused(FrameError):
    """Raised for a name that breaks the rules of names."""

    def __init__(self, problem: str) -> None:
        super().__init__(ErrorCode.AUTHENTICATION_FAILED, problem)


def check_said_name(name: str) -> None:
    """Raise NameRefused if `name` breaks the rules of names."""
    try:
        check_peer_name(name)
    except Refused as error:
        raise NameRefused(str(error)) from None


class TooLate(FrameError):
    """Raised when the next frame of the greeting is late."""

    def __init__(self, problem: str) -> None:
        super().__init__(ErrorCode.UNAUTHENTICATED, problem)


def reason_of(error: FrameError) -> Reason:
    """Return the reason of refusal for an error of the greeting."""
    if isinstance(error, NameRefused):
        return Reason.NAME
    if isinstance(error, TooLate):
        return Reason.TIMEOUT
    return _REASON_OF.get(ErrorCode(error.code), Reason.RULES)


class Admissions:
    """Counts and logs admissions and refusals. `clock`: returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.let_in = dict.fromkeys(Side, 0)
        self.refused = {(side, reason): 0 for side in Side for reason in Reason}
        self._clock = clock
        self._minute = 0.0
        self._lines: dict[tuple[Side, Reason], int] = {}
        self._unsaid: dict[tuple[Side, Reason], int] = {}

    def admit(self, side: Side, **said: object) -> None:
        """Count and log an admitted connection. `said`: its name, address and method, for the log."""
        self.let_in[side] += 1
        _log.info("admitted", extra=fields(side=side.value, **said))

    def refuse(self, side: Side, why: Reason, /, **said: object) -> None:
        """Count and log a refused connection. `said`: its name, if it sent one, address, method and error, for the log.
        A peer that has left (Reason.LEFT) is counted without a line, because port checks do that often."""
        key = side, why
        self.refused[key] += 1
        if why is Reason.LEFT:
            return
        if self._may_log(key):
            unsaid = {"suppressed": count} if (count := self._unsaid.pop(key, 0)) else {}
            _log.warning("not admitted", extra=fields(side=side.value, why=why.value, **said, **unsaid))
        else:
            self._unsaid[key] = self._unsaid.get(key, 0) + 1

    def _may_log(self, key: tuple[Side, Reason]) -> bool:
        now = self._clock()
        if now - self._minute >= _MINUTE_S:
            self._minute = now
            self._lines.clear()
        self._lines[key] = self._lines.get(key, 0) + 1
        return self._lines[key] <= LOGGED_PER_MINUTE
