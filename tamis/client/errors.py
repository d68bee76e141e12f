"""The errors of a client. A call with invalid arguments raises `Refused` and sends nothing.

ClientError (TamisError)
|-- ConnectFailed            no address could be connected to; the sentence lists why, address by address
|-- NotAdmitted              the router does not accept the name, token or version; the client gives up
|-- ClientClosed             the client was closed, or is draining and starts nothing new
|-- PublishRefused           the router refused a message: `code` and `reason`
|-- PublishUnknown           the connection was cut before the router answered: it may have accepted the message
|-- NotStored                a message that had to be stored was published, and it is not known to be stored
|-- Unanswered               no answer to a request arrived in time, or nothing subscribes to such messages
|-- SubscriptionRefused      the router refused a subscription: `refusals` by predicate
|-- DurableRefused           the router refused a request about a durable subscription: `code` and `reason`
|-- TokenRefused             the router refused a token on an open connection: `code` and `reason`
|-- AckUnknown               the connection was cut before the router answered: the message may arrive again
`-- OutboxFailed             the file of the outbox cannot be written: nothing more is published
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

from tamis.protocol.errors import TamisError
from tamis.protocol.messages import MessageId
from tamis.protocol.wire.client_bodies import Refusal
from tamis.protocol.wire.codes import RefusalCode

SHOWN_MAX: Final = 3
"""The most refused predicates that the text of an error names; `SubscriptionRefused.refusals` has all."""
STORED_NOWHERE: Final = "not stored: no durable subscription that the router knows matches"


class ClientError(TamisError):
    """The base class of the errors of a client, except `Refused`."""


class ConnectFailed(ClientError):
    """Raised when none of the addresses accepts a connection."""


class NotAdmitted(ClientError):
    """Raised when the router does not admit this client: it requires a token, refuses the given one, or supports no
    version of the protocol that the client supports."""


class ClientClosed(ClientError):
    """Raised when the client is closed or draining, or when a subscription or a consumer has ended."""


class PublishRefused(ClientError):
    """Raised when the router refused a message, or could not store it for all durable subscriptions that match it
    (LOG_FULL). `code` is a `RefusalCode`, or the number of a newer one. `id` is that of the message, under which
    `publish_again` sends it; None if it was never sent."""

    def __init__(
        self, refusal: Refusal, id_: MessageId | None = None, frame: bytes = b"", *, retry: bool = False
    ) -> None:
        super().__init__(f"the router refused the message: {explain_refusal(refusal)}")
        self.code = refusal.code
        self.reason = refusal.reason
        self.id = id_
        self.frame = frame
        """The frame as it was sent, for `publish_again`."""
        self.retry = retry


class PublishUnknown(ClientError):
    """Raised when it is unknown whether the router accepted a message."""


class NotStored(ClientError):
    """Raised when a message was published with `require_stored` and the router did not confirm that a durable
    subscription has it. `id` is that of the message; `is_stored` is False if no durable subscription matched it, and
    None if that is unknown."""

    def __init__(self, id_: MessageId, is_stored: bool | None) -> None:
        why = "the router did not report whether it is stored" if is_stored is None else STORED_NOWHERE
        super().__init__(f"the message was published; {why}")
        self.id = id_
        self.is_stored = is_stored


class Unanswered(ClientError, TimeoutError):
    """Raised when no answer to a request arrived in time, and at once when nothing subscribes to such messages."""


def unanswered_within(timeout_s: float) -> Unanswered:
    """Return the error for a request without an answer after `timeout_s`."""
    return Unanswered(f"no answer within {timeout_s:g} s; `route` shows which clients would receive the question")


class SubscriptionRefused(ClientError):
    """Raised when the router refused a subscription. `refusals` has the refusals by the text of the predicate."""

    def __init__(self, refusals: Mapping[str, Refusal]) -> None:
        lines = [
            f"{predicate}: {explain_refusal(refusal)}" for predicate, refusal in islice(refusals.items(), SHOWN_MAX)
        ]
        if len(refusals) > SHOWN_MAX:
            lines.append(f"and {len(refusals) - SHOWN_MAX:,} more predicates, {len(refusals):,} in all")
        super().__init__("the router refused the subscription\n" + "\n".join(lines))
        self.refusals = dict(refusals)


class DurableRefused(ClientError):
    """Raised when the router refused a request about a durable subscription. `code` is a `RefusalCode`, or the number
    of a newer one."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"the router refused the request: {explain_refusal(refusal)}")
        self.code = refusal.code
        self.reason = refusal.reason


class TokenRefused(ClientError):
    """Raised when the router refused a token on an open connection, which goes on with the token before. `code` is a
    `RefusalCode`, or the number of a newer one."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"the router refused the token: {explain_refusal(refusal)}")
        self.code = refusal.code
        self.reason = refusal.reason


class AckUnknown(ClientError):
    """Raised when it is unknown whether an acknowledgement is on disk; if it is not, the message arrives again."""


class OutboxFailed(ClientError):
    """Raised when the file of an outbox cannot be written."""


def explain_refusal(refusal: Refusal) -> str:
    known = refusal.code in RefusalCode._value2member_map_
    name = RefusalCode(refusal.code).name if known else f"code {refusal.code}"
    return f"{name} ({refusal.reason})" if refusal.reason else name
