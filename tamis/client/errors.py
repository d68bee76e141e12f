"""What can go wrong between a client and its router. A call that the client cannot carry out at all raises `Refused`.

ClientError (TamisError)
|-- ConnectFailed            no address could be connected to; the sentence lists why, address by address
|-- NotAdmitted              a router does not take our name, token or version; the client gives up
|-- ClientClosed             the client was closed, or is draining and begins nothing new
|-- PublishRefused           the router did not take a message: `code` and `reason`
|-- PublishUnknown           the connection was cut before the router answered: the message may have been taken or not
|-- NotStored                a message that had to be stored was published, and no keep is known to have it
|-- Unanswered               nobody has answered a request in time, or nobody asks for such messages
|-- SubscriptionRefused      the router did not take a subscription: `refusals` by predicate
|-- KeepRefused              the router did not make, attach to, forget or replay what was kept: `code` and `reason`
|-- AckUnknown               the connection was cut before the router answered: the message may come again or not
`-- OutboxFailed             the file of the outbox cannot be written: nothing is published any more
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
"""So many refused predicates are named in a message; `SubscriptionRefused.refusals` has all."""
STORED_NOWHERE: Final = "stored nowhere: no keep at this router wants it"


class ClientError(TamisError):
    """The root of the errors that a client raises, except for mistakes of its caller."""


class ConnectFailed(ClientError):
    """Raised when no address could be connected to."""


class NotAdmitted(ClientError):
    """Raised when the router does not let this client in: it asks for a token, refuses the one it got, or shares no
    version."""


class ClientClosed(ClientError):
    """Raised when the client has been closed, or drains."""


class PublishRefused(ClientError):
    """Raised when the router did not take a message, or could not store it for all who keep it (LOG_FULL). `code` is
    one of `RefusalCode`, or a newer number; `id` the message's, under which `publish_again` sends it; None: it was
    never sent."""

    def __init__(
        self, refusal: Refusal, id_: MessageId | None = None, frame: bytes = b"", *, retry: bool = False
    ) -> None:
        super().__init__(f"the router did not take the message: {explain_refusal(refusal)}")
        self.code = refusal.code
        self.reason = refusal.reason
        self.id = id_
        self.frame = frame
        """As it was sent; for `publish_again`."""
        self.retry = retry


class PublishUnknown(ClientError):
    """Raised when it is not known whether the router took a message."""


class NotStored(ClientError):
    """Raised when a message was published with `require_stored` and the router has not said that a keep has it. `id` is
    that of the message; `is_stored` is False if no keep wanted it, and None if that is not known."""

    def __init__(self, id_: MessageId, is_stored: bool | None) -> None:
        why = "the router did not say whether a keep has it" if is_stored is None else STORED_NOWHERE
        super().__init__(f"the message was published; {why}")
        self.id = id_
        self.is_stored = is_stored


class Unanswered(ClientError, TimeoutError):
    """Raised when nobody has answered a request in time, and at once when nobody asks for such messages."""


def unanswered_within(timeout_s: float) -> Unanswered:
    """Return what is raised when there is no answer after `timeout_s`."""
    return Unanswered(f"no answer within {timeout_s:g} s; `route` tells who would get the question")


class SubscriptionRefused(ClientError):
    """Raised when the router did not take a subscription. `refusals` says why, by the predicate's text."""

    def __init__(self, refusals: Mapping[str, Refusal]) -> None:
        lines = [
            f"{predicate}: {explain_refusal(refusal)}" for predicate, refusal in islice(refusals.items(), SHOWN_MAX)
        ]
        if len(refusals) > SHOWN_MAX:
            lines.append(f"and {len(refusals) - SHOWN_MAX:,} predicates more, {len(refusals):,} in all")
        super().__init__("the router did not take the subscription\n" + "\n".join(lines))
        self.refusals = dict(refusals)


class KeepRefused(ClientError):
    """Raised when the router did not do what was asked of a keep. `code` is one of `RefusalCode`, or a newer number."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"the router did not do it: {explain_refusal(refusal)}")
        self.code = refusal.code
        self.reason = refusal.reason


class AckUnknown(ClientError):
    """Raised when it is not known whether an acknowledgement is on disk; if it is not, the message comes again."""


class OutboxFailed(ClientError):
    """Raised when the file of a publisher's outbox cannot be written."""


def explain_refusal(refusal: Refusal) -> str:
    known = refusal.code in RefusalCode._value2member_map_
    name = RefusalCode(refusal.code).name if known else f"code {refusal.code}"
    return f"{name} ({refusal.reason})" if refusal.reason else name
