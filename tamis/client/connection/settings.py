"""The settings of a client, checked when it is made.

Law: a Settings that exists can be put into a HELLO and an AUTH frame.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Final

from tamis.client.connection.address import Endpoint, parse_addresses
from tamis.client.connection.callbacks import NO_CALLBACKS, Callbacks
from tamis.client.connection.credential import Token, token_of
from tamis.client.connection.redial import PAUSE_S_MIN, REDIAL_S, REDIAL_S_MAX
from tamis.client.messages.in_space import spaces_of
from tamis.client.messages.inbox import InboxBounds
from tamis.protocol.errors import Refused
from tamis.protocol.peer_names import check_peer_name, generated_name
from tamis.protocol.spaces import NO_SPACES, SpaceSet

if TYPE_CHECKING:
    import ssl

HOLD_S_MIN: Final = 0.05
HOLD_S_MAX: Final = 3_600.0
"""The bounds of a hold time in seconds: below the minimum a busy machine looks dead; above the maximum a dead router is
noticed too late."""
HOLD_S: Final = 10.0

INBOX_BYTES: Final = 4_194_304
INBOX_MESSAGES: Final = 65_536
"""The default bounds of an inbox: what a fast publisher sends in a tenth of a second, which covers a pause of the
application."""
INBOX_BYTES_MIN: Final = 1_024
INBOX_MESSAGES_MIN: Final = 1


@dataclass(frozen=True, slots=True)
class Settings:
    addresses: tuple[Endpoint, ...]
    name: str
    token: Token
    hold_s: float
    inbox: InboxBounds
    tls: ssl.SSLContext | None = None
    redial_s: float = REDIAL_S
    callbacks: Callbacks = NO_CALLBACKS
    patience_s: float = 0.0
    spaces: SpaceSet = NO_SPACES
    outbox: Path | None = None

    def __post_init__(self) -> None:
        self._check_types()
        check_peer_name(self.name, "the name of a client")
        if self.token is not None and not callable(self.token):
            token_of(self.token)
        if not HOLD_S_MIN <= self.hold_s <= HOLD_S_MAX:
            raise Refused(f"hold_s is {HOLD_S_MIN} to {HOLD_S_MAX:.0f} seconds, not {self.hold_s}")
        if not 0 <= self.patience_s < math.inf:
            raise Refused(f"patience_s is 0 seconds or more, not {self.patience_s}")
        if not PAUSE_S_MIN <= self.redial_s <= REDIAL_S_MAX:
            raise Refused(f"redial_s is {PAUSE_S_MIN} to {REDIAL_S_MAX:.0f} seconds, not {self.redial_s}")
        if self.inbox.bytes_max < INBOX_BYTES_MIN or self.inbox.messages_max < INBOX_MESSAGES_MIN:
            raise Refused(f"an inbox holds at least {INBOX_BYTES_MIN} bytes and {INBOX_MESSAGES_MIN} message")
        if self.tls is not None and not any(address.is_encrypted for address in self.addresses):
            raise Refused("tls= needs an address that begins with tamis+tls://")

    def _check_types(self) -> None:
        _check_type("name", self.name, str, "text")
        _check_type("hold_s", self.hold_s, int | float, "a number of seconds")
        _check_type("patience_s", self.patience_s, int | float, "a number of seconds")
        _check_type("redial_s", self.redial_s, int | float, "a number of seconds")
        _check_type("inbox_bytes", self.inbox.bytes_max, int, "a whole number")
        _check_type("inbox_messages", self.inbox.messages_max, int, "a whole number")
        if self.tls is not None and not hasattr(self.tls, "wrap_bio"):  # without importing ssl
            raise Refused(f"tls is an ssl.SSLContext, not {type(self.tls).__name__}")


def settings_of(
    addresses: tuple[str, ...],
    *,
    name: str | None,
    token: str | Token,
    tls: ssl.SSLContext | None,
    hold_s: float,
    inbox_bytes: int,
    inbox_messages: int,
    redial_s: float = REDIAL_S,
    patience_s: float = 0.0,
    callbacks: Callbacks = NO_CALLBACKS,
    spaces: SpaceSet | Mapping[str, object] | None = None,
    outbox: str | os.PathLike[str] | None = None,
) -> Settings:
    """Return the checked arguments of `connect`; a client without a name gets a unique one."""
    if outbox is not None and name is None:
        raise Refused("outbox= needs name=, which identifies the messages after a restart")
    return Settings(
        addresses=parse_addresses(addresses),
        name=generated_name() if name is None else name,
        token=token.encode() if isinstance(token, str) else token,
        hold_s=hold_s,
        inbox=InboxBounds(inbox_bytes, inbox_messages),
        tls=tls,
        redial_s=redial_s,
        patience_s=patience_s,
        callbacks=callbacks,
        spaces=spaces_of(spaces),
        outbox=None if outbox is None else Path(outbox),
    )


def described(name: str, router: str | None, address: str | None) -> str:
    """Return the text that represents a client."""
    return f"{name!r}, connected to {router} at {address}" if router is not None else f"{name!r}, not connected"


def _check_type(what: str, value: object, types: type | UnionType, said: str) -> None:
    if not isinstance(value, types) or (isinstance(value, bool) and types is not bool):
        raise Refused(f"{what} is {said}, not {type(value).__name__}")
