"""Result of the admission of a client: what it is admitted as, or a denial with its reason.

Law: the result is decided once, when the client sends its credential, by its full name, which it said in HELLO and the
credential proves. It does not change; changed tokens or rules yield another one, or end the session.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Proof(Protocol):
    """How a client proved its name, if not by a token of a file."""

    def admitted(self, name: str) -> Admitted | None:
        """Return what the client with this name is admitted as by the rules of now; None: its session ends."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The client is admitted."""

    token_digest: bytes | None = None
    """Digest of its token: the session ends when that token is removed. None if it sent none."""
    principal: str | None = None
    """The line of the token file or of the rules that it proved; None for the name of the client."""
    roles: frozenset[str] | None = None
    """The names of its roles, which are its class. None if the router has no rules: then everything is allowed."""
    until_s: float | None = None
    """When the session ends (Unix seconds); None: it has no such time."""
    proof: Proof | None = None
    """Decides again when the rules have changed; None: `token_digest` does."""


@dataclass(frozen=True, slots=True)
class Denial:
    """The client is not admitted; `problem` is the sentence that it receives."""

    problem: str
