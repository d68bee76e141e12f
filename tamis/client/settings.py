"""The settings of a client, checked when it is made.

Law: a Settings that exists can be put into a HELLO and an AUTH frame.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tamis.client.address import Endpoint, parse_addresses
from tamis.client.inbox import InboxBounds
from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.peer_names import check_peer_name

if TYPE_CHECKING:
    import ssl

HOLD_S_MIN: Final = 0.05
HOLD_S_MAX: Final = 3_600.0
"""The bounds of a hold time in seconds: below, a busy machine looks dead; above, a dead router is noticed too late."""
HOLD_S: Final = 10.0

INBOX_BYTES: Final = 4_194_304
INBOX_MESSAGES: Final = 65_536
"""The default bounds of an inbox: what a fast publisher sends in a tenth of a second, so that a pause of the
application costs nothing."""
INBOX_BYTES_MIN: Final = 1_024
INBOX_MESSAGES_MIN: Final = 1


@dataclass(frozen=True, slots=True)
class Settings:
    addresses: tuple[Endpoint, ...]
    name: str
    token: bytes | None
    hold_s: float
    inbox: InboxBounds
    tls: ssl.SSLContext | None = None

    def __post_init__(self) -> None:
        check_peer_name(self.name)
        if self.token is not None and not 1 <= len(self.token) <= limits.CREDENTIAL_BYTES_MAX:
            raise Refused(f"a token has 1 to {limits.CREDENTIAL_BYTES_MAX} bytes, not {len(self.token)}")
        if not HOLD_S_MIN <= self.hold_s <= HOLD_S_MAX:
            raise Refused(f"hold_s is {HOLD_S_MIN} to {HOLD_S_MAX:.0f} seconds, not {self.hold_s}")
        if self.inbox.bytes_max < INBOX_BYTES_MIN or self.inbox.messages_max < INBOX_MESSAGES_MIN:
            raise Refused(f"an inbox holds at least {INBOX_BYTES_MIN} bytes and {INBOX_MESSAGES_MIN} message")
        if self.tls is not None and not any(address.is_encrypted for address in self.addresses):
            raise Refused("tls= is for addresses that begin with tamis+tls://, and there is none")


def settings_of(
    addresses: tuple[str, ...],
    *,
    name: str | None,
    token: str | bytes | None,
    tls: ssl.SSLContext | None,
    hold_s: float,
    inbox_bytes: int,
    inbox_messages: int,
) -> Settings:
    """Check what `connect` was given and return it; a client without a name gets one that no other client has."""
    return Settings(
        addresses=parse_addresses(addresses),
        name=f"client-{secrets.token_hex(8)}" if name is None else name,
        token=token.encode() if isinstance(token, str) else token,
        hold_s=hold_s,
        inbox=InboxBounds(inbox_bytes, inbox_messages),
        tls=tls,
    )
