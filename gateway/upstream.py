"""The connection of one foreign client to the router.

Law: it shows the client's own credential, under a name of the client, so that the rules of the router decide what the
client may do. The gateway grants nothing.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from typing import Final, NamedTuple

from tamis.client.connection.core import NewOutbox
from tamis.client.connection.settings import HOLD_S, INBOX_BYTES, INBOX_MESSAGES, settings_of
from tamis.client.errors import ConnectFailed, NotAdmitted
from tamis.client.shells.pump import Pump
from tamis.native.codecs import Output
from tamis.protocol.errors import Refused
from tamis.serving.problem import RequestRefused, refused

OPENING_MAX: Final = 64
ANONYMOUS: Final = "http"
"""The name of a client that shows none."""
_ROUTER_GONE: Final = "no-router"


class Caller(NamedTuple):
    """Who makes a request: a name, and a token for it; None if it shows none."""

    name: str
    token: str | None

    def __repr__(self) -> str:
        return f"Caller({self.name!r})"


class NotLetIn(RequestRefused):
    """Raised when the router does not accept the credential of a request."""


class Upstreams:
    """What the connections of one gateway share. `router`: its address. `opening`: at most OPENING_MAX are being
    admitted at a time, so that strangers do not fill the router's places. `output`: the buffer of their codecs.
    `lines`: streams of lines that are being read, by name; `waiting_bytes`: text that waits for clients.
    """

    def __init__(self, router: str) -> None:
        self.router = router
        self.opening = asyncio.Semaphore(OPENING_MAX)
        self.output = Output()
        self.lines: Counter[str] = Counter()
        self.waiting_bytes = 0


class Upstream:
    """A connection for `caller`, under the name `NAME/SUFFIX`; `connect` makes it."""

    def __init__(self, shared: Upstreams, caller: Caller, suffix: str, outbox: NewOutbox | None = None) -> None:
        self.shared = shared
        self.name = f"{caller.name}/{suffix}"
        try:
            settings = settings_of(
                (shared.router,),
                name=self.name,
                token=caller.token,
                tls=None,
                hold_s=HOLD_S,
                inbox_bytes=INBOX_BYTES,
                inbox_messages=INBOX_MESSAGES,
            )
        except Refused as error:
            raise refused("credential", 401, str(error)) from None
        self._settings, self._outbox = settings, outbox
        self._pump: Pump | None = None

    @property
    def pump(self) -> Pump:
        """What runs the connection, once `connect` has begun."""
        assert self._pump is not None  # noqa: S101
        return self._pump

    @property
    def is_over(self) -> bool:
        """Whether the router will not admit this client again."""
        return self._pump is not None and self._pump.core.is_over

    async def connect(self) -> None:
        """Return when the router has admitted the client. Raise RequestRefused if it does not."""
        async with self.shared.opening:
            self._pump = Pump(self._settings, self._outbox)
            try:
                await self._pump.until_open()
            except NotAdmitted as error:
                await self.close()
                raise NotLetIn(refused("credential", 401, str(error)).problem) from None
            except ConnectFailed as error:
                await self.close()
                raise refused(_ROUTER_GONE, 503, str(error), (("Retry-After", "1"),)) from None
            except BaseException:
                await self.close()
                raise

    async def close(self) -> None:
        if self._pump is not None:
            await self._pump.stop()


def drawn() -> str:
    """Return a suffix that no other connection has."""
    return secrets.token_hex(6)
