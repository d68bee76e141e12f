"""What admission answers for a client: a grant, or a denial with its reason.

Law: the answer is given once, when the client proves who it is, and does not change. A grant is of everything: any
message may be published, any predicate subscribed to.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grant:
    """The client may come in."""

    token_digest: bytes | None = None
    """Digest of the token by which the client came in: the grant is over when that token is gone. None: no token is
    asked for."""
    principal: str | None = None
    """The owner of what the client makes; None: its name."""


@dataclass(frozen=True, slots=True)
class Denial:
    """The client may not come in; `problem` is what it is told."""

    problem: str
