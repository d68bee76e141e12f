"""Who was let in and who was not: counted, and said in the log.

Law: each connection that was accepted is counted once, as let in or by the reason why not. Of one reason at most
LOGGED_PER_MINUTE lines are written a minute, the others counted in the next one: strangers must not fill the disk.
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
    """Which door somebody came to."""

    CLIENT = "client"
    NEIGHBOUR = "neighbour"


class Reason(enum.StrEnum):
    """Why somebody was not let in."""

    CREDENTIAL = "credential"  # the token, the secret, the certificate or the method is wrong
    NAME = "name"  # a name that nobody may have
    VERSION = "version"  # no version in common
    RULES = "rules"  # it broke a rule of the wire
    TLS = "tls"  # the handshake failed
    TIMEOUT = "timeout"  # no greeting in time
    FULL = "full"  # no place left, or the router is stopping
    GAVE_WAY = "gave_way"  # another one that had not greeted took its place
    DESCRIPTORS = "descriptors"  # the system has no open file left
    REPLACED = "replaced"  # a later start of that name is there
    LEFT = "left"  # it went away by itself


_REASON_OF: Final = {
    ErrorCode.AUTHENTICATION_FAILED: Reason.CREDENTIAL,
    ErrorCode.VERSION_REFUSED: Reason.VERSION,
    ErrorCode.FULL: Reason.FULL,
    ErrorCode.REPLACED: Reason.REPLACED,
}


class NameRefused(FrameError):
    """A name that nobody may have."""

    def __init__(self, problem: str) -> None:
        super().__init__(ErrorCode.AUTHENTICATION_FAILED, problem)


def check_said_name(name: str) -> None:
    """NameRefused for one that nobody may have."""
    try:
        check_peer_name(name)
    except Refused as error:
        raise NameRefused(str(error)) from None


class TooLate(FrameError):
    """No greeting in time."""

    def __init__(self, problem: str) -> None:
        super().__init__(ErrorCode.UNAUTHENTICATED, problem)


def reason_of(error: FrameError) -> Reason:
    """Why an error of the greeting keeps somebody out."""
    if isinstance(error, NameRefused):
        return Reason.NAME
    if isinstance(error, TooLate):
        return Reason.TIMEOUT
    return _REASON_OF.get(ErrorCode(error.code), Reason.RULES)


class Admissions:
    """`clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.let_in = dict.fromkeys(Side, 0)
        self.refused = {(side, reason): 0 for side in Side for reason in Reason}
        self._clock = clock
        self._minute = 0.0
        self._lines: dict[tuple[Side, Reason], int] = {}
        self._unsaid: dict[tuple[Side, Reason], int] = {}

    def admit(self, side: Side, **said: object) -> None:
        """`said`: the name, the address and the method."""
        self.let_in[side] += 1
        _log.info("let in", extra=fields(side=side.value, **said))

    def refuse(self, side: Side, why: Reason, /, **said: object) -> None:
        """`said`: the name that was said, if one was, the address, the method and what was wrong. Who leaves without a
        word is counted alone: checks of a port do that all day."""
        key = side, why
        self.refused[key] += 1
        if why is Reason.LEFT:
            return
        if self._may_log(key):
            unsaid = {"suppressed": count} if (count := self._unsaid.pop(key, 0)) else {}
            _log.warning("not let in", extra=fields(side=side.value, why=why.value, **said, **unsaid))
        else:
            self._unsaid[key] = self._unsaid.get(key, 0) + 1

    def _may_log(self, key: tuple[Side, Reason]) -> bool:
        now = self._clock()
        if now - self._minute >= _MINUTE_S:
            self._minute = now
            self._lines.clear()
        self._lines[key] = self._lines.get(key, 0) + 1
        return self._lines[key] <= LOGGED_PER_MINUTE
