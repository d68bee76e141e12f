"""Result of the admission of a client: a grant, or a denial with its reason.

Law: the result is decided once, when the client sends its credential, and does not change. A grant allows everything:
any message may be published, any predicate subscribed to.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grant:
    """The client is admitted."""

    token_digest: bytes | None = None
    """Digest of the token of the client: the grant ends when that token is removed. None if no token is required."""
    principal: str | None = None
    """The owner of durable subscriptions that the client makes; None for the name of the client."""


@dataclass(frozen=True, slots=True)
class Denial:
    """The client is not admitted; `problem` is the sentence that it receives."""

    problem: str
