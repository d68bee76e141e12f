"""What a client shows to be admitted: its token, and on an open connection the next one.

Law: one token at a time waits for its answer. A connection that is made meanwhile is greeted with that token, and being
admitted is the answer. A function that returns tokens is called for each greeting, and again before the token that it
returned expires; one that raises, or whose token is refused, is called again later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import inf
from typing import Final, Protocol

from tamis.client.errors import TokenRefused, explain_refusal
from tamis.client.messages.waiter import Waiter, settle
from tamis.protocol.errors import Refused
from tamis.protocol.limits import CREDENTIAL_BYTES_MAX
from tamis.protocol.shown import shown
from tamis.protocol.wire.client_bodies import Ack
from tamis.protocol.wire.frames import Body
from tamis.protocol.wire.session_bodies import Auth, AuthMethod

Token = bytes | Callable[[], str | bytes] | None
"""A token, or a function that returns one; None for a client without."""

NOT_AGAIN: Final = "this router takes no token on an open connection: it is of an earlier version"
EARLY_S: Final = 60.0
"""How long before its end a token is renewed, at most: a fifth of the time that it has left when it is shown."""
PAUSE_S: Final = 1.0
"""The shortest time between two calls of a function that returns tokens, on one connection."""
_SIGNED: Final = re.compile(rb"eyJ[\w-]*(?:\.[\w-]+){2}")
"""The form of a signed token: three parts in base64url, of which the first is a JSON object."""


class TokenLine(Protocol):
    """The line on which a token is shown. `token`: that of its greeting."""

    router: str
    now: float
    token: bytes | None
    methods: tuple[int, ...]
    takes_auth: bool

    @property
    def is_open(self) -> bool: ...

    def send(self, body: Body) -> None: ...


@dataclass(slots=True)
class _WaitingToken:
    """A token that waits for its answer on a line; `waiter` is None if the client shows it by itself."""

    token: bytes
    waiter: Waiter | None
    line: TokenLine


class Credential:
    """The tokens of one client. `unix_s` returns the time; `tell` logs a sentence."""

    def __init__(self, given: Token, unix_s: Callable[[], float], tell: Callable[[str], object]) -> None:
        self._given, self._unix_s, self._tell = given, unix_s, tell
        self._asked: _WaitingToken | None = None
        self._ends = inf  # when the token of a function expires, by the clock of the lines
        self.due = inf
        """When to renew the token, by the clock of the lines."""

    @property
    def renews(self) -> bool:
        """Whether a function returns further tokens."""
        return callable(self._given)

    @property
    def awaits_answer(self) -> bool:
        return self._asked is not None

    def token(self) -> bytes | None:
        """Return the token for a greeting. Raise what a function raises, or Refused if it returns none."""
        if self._asked is not None:
            return self._asked.token
        return token_of(self._given()) if callable(self._given) else self._given

    def show(self, token: str | bytes, line: TokenLine, waiter: Waiter) -> None:
        """Show another token, for which the one before is forgotten once the router has accepted it. Refused if that
        cannot be done now."""
        if self.renews:
            raise Refused("token= is a function, which the client calls before its token expires")
        if self._asked is not None:
            raise Refused("the token before has no answer yet")
        next_one = token_of(token)
        if line.is_open and not line.takes_auth:
            self._given = next_one
            raise Refused(f"{NOT_AGAIN}; the token is for the next connection")
        asked = _WaitingToken(next_one, waiter, line)
        if line.is_open:
            self._send(asked)
        self._asked = asked

    # --- what the connection does --------------------------------------------------------------------------------

    def opened(self, line: TokenLine) -> None:
        """Record that a router has admitted the client over `line`."""
        asked = self._asked
        if asked is None:
            self._plan(line.token, line.now)
        elif asked.token == line.token:
            self._accepted(asked, line)
        else:
            asked.line = line
            try:
                self._send(asked)
            except Refused as error:
                self.closed(error)

    def cut(self) -> None:
        """Record that the client has no connection."""
        self.due = inf

    def closed(self, reason: Exception) -> None:
        """End the wait for an answer."""
        if self._asked is not None:
            settle(self._asked.waiter, reason)
            self._asked = None

    def answered(self, line: TokenLine, ack: Ack) -> None:
        asked = self._asked
        if asked is None or asked.line is not line:
            return
        if not ack.refusals:
            self._accepted(asked, line)
            return
        self._asked = None
        if asked.waiter is None:
            self._tell(f"the router refused the next token: {shown(explain_refusal(ack.refusals[0]))}")
            self._later(line.now)
        else:
            settle(asked.waiter, TokenRefused(ack.refusals[0]))

    def tick(self, line: TokenLine, now: float) -> None:
        """Renew the token if that is due."""
        if now < self.due:
            return
        self._later(now)
        if not line.is_open or self._asked is not None:
            return
        if not line.takes_auth:
            self._tell(f"{NOT_AGAIN}; the connection ends with its token")
            self.due = inf
            return
        try:
            token = self.token()
            assert token is not None  # noqa: S101 - only tokens of a function are due
            asked = _WaitingToken(token, None, line)
            self._send(asked)
        except Exception as error:  # of the application's function, too
            self._tell(f"there is no next token: {error!r}")
        else:
            self._asked = asked

    def _send(self, asked: _WaitingToken) -> None:
        if not asked.line.takes_auth:
            raise Refused(NOT_AGAIN)
        auth = auth_by(asked.token, asked.line.methods)
        if auth is None:
            raise Refused(f'router "{asked.line.router}" requires no token')
        asked.line.send(auth)

    def _accepted(self, asked: _WaitingToken, line: TokenLine) -> None:
        self._asked = None
        if not self.renews:
            self._given = asked.token
        settle(asked.waiter)
        self._plan(asked.token, line.now)

    def _plan(self, token: bytes | None, now: float) -> None:
        """Set when the token that was accepted is to be renewed."""
        expires_s = expiry_of(token) if self.renews and token is not None else None
        left = inf if expires_s is None else expires_s - self._unix_s()
        self._ends = now + left
        self.due = inf if left == inf else now + max(PAUSE_S, left - min(EARLY_S, left / 5))

    def _later(self, now: float) -> None:
        self.due = now + max(PAUSE_S, min(EARLY_S, (self._ends - now) / 2))


def token_of(given: object) -> bytes:
    """Return a token as bytes; Refused if it cannot be one."""
    if not isinstance(given, str | bytes):
        raise Refused(f"token is text or bytes, not {type(given).__name__}")
    token = given.encode() if isinstance(given, str) else given
    if not 1 <= len(token) <= CREDENTIAL_BYTES_MAX:
        raise Refused(f"a token has 1 to {CREDENTIAL_BYTES_MAX} bytes, not {len(token)}")
    return token


def auth_by(token: bytes, methods: Collection[int]) -> Auth | None:
    """Return the frame that shows a token by one of `methods`; None if none is for tokens."""
    if AuthMethod.JWT in methods and _SIGNED.fullmatch(token):
        return Auth(AuthMethod.JWT, token)
    return Auth(AuthMethod.TOKEN, token) if AuthMethod.TOKEN in methods else None


def expiry_of(token: bytes) -> float | None:
    """Return when a signed token says that it expires (Unix seconds); None if it is not signed, or does not say it. The
    router is who verifies it."""
    if not _SIGNED.fullmatch(token):
        return None
    import json
    from base64 import urlsafe_b64decode

    claims = token.split(b".")[1]
    try:
        expires_s = json.loads(urlsafe_b64decode(claims + b"=" * (-len(claims) % 4)))["exp"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_time = isinstance(expires_s, int | float) and not isinstance(expires_s, bool) and abs(expires_s) < 2**53
    return float(expires_s) if is_time else None
