"""Rights of clients on a durable subscription: its owner may do everything, others may attach and consume.

Law: ownership is enforced where clients prove their names by tokens; elsewhere names are unproven, so owners are
recorded without effect. A refusal reveals nothing of the policy of another client's subscription.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, Protocol

from tamis.protocol.errors import Refused
from tamis.protocol.peer_names import check_peer_name, is_generated
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.durable_bodies import Consume, CreateDurable
from tamis.router.durable.hosted import HostedDurable
from tamis.router.durable.refusals import RequestRefused

GIVE_A_NAME: Final = (
    "a durable subscription belongs to the name of its client, and this client's name was generated for one "
    "connection: give it a name (--name, or name= of connect)"
)
WHAT: Final = "the name of a durable subscription"

_log = logging.getLogger(__name__)


class Tokens(Protocol):
    """The part of a router's token file that Rights uses."""

    @property
    def has_token_of_anybody(self) -> bool:
        """Whether a token of the file lets a client use any name."""


class Rights:
    """Rights of owners. `tokens`: returns the token file in force, or None if clients need no token."""

    def __init__(self, tokens: Callable[[], Tokens | None]) -> None:
        self._tokens = tokens

    def tell(self) -> None:
        """Log whether ownership is enforced."""
        tokens = self._tokens()
        if tokens is None:
            _log.info("owners of durable subscriptions are recorded but not enforced: clients need no tokens")
        elif tokens.has_token_of_anybody:
            _log.info(
                "owners of durable subscriptions are enforced for the names of the token file; names that use the "
                "`*` token are unproven"
            )

    def may_make(self, owner: str, durable: CreateDurable, found: HostedDurable | None) -> None:
        """Raise RequestRefused if `owner` may not request `durable`. `found`: the subscription that has this name
        already, if any."""
        if self._tokens() is not None and is_generated(owner):
            raise RequestRefused(RefusalCode.NOT_ALLOWED, GIVE_A_NAME)
        if found is not None and not self.owns(owner, found):
            raise RequestRefused(RefusalCode.NOT_ALLOWED, f"the name {durable.name!r} is taken")

    def may_forget(self, client: str, held: HostedDurable) -> None:
        """Raise RequestRefused if `client` may not end the durable subscription."""
        if not self.owns(client, held):
            raise RequestRefused(
                RefusalCode.NOT_ALLOWED, f"{held.name!r} is another client's: only its owner may remove it"
            )

    def may_consume(self, client: str, consume: Consume, held: HostedDurable) -> None:
        """Raise RequestRefused if `client` may not attach with these options: `after` is the owner's alone."""
        if consume.after and not self.owns(client, held):
            raise RequestRefused(
                RefusalCode.NOT_ALLOWED,
                f"{held.name!r} is another client's: only its owner may skip messages; consume without `after`",
            )

    def owns(self, client: str, held: HostedDurable) -> bool:
        """Return whether `client` has all rights on the durable subscription."""
        return self._tokens() is None or client == held.owner


def check_names(durable: CreateDurable, are_known: Callable[[str], bool]) -> None:
    """Raise RequestRefused if the name of `durable` or of its dead letter destination is invalid; names for which
    `are_known` returns True pass."""
    for name in (durable.name, durable.policy.dead_letter):
        try:
            if name and not are_known(name):
                check_peer_name(name, WHAT)
        except Refused as error:
            raise RequestRefused(RefusalCode.NOT_ALLOWED, str(error)) from None
