"""Issuers of signed tokens (JWT), and the principals that their tokens name.

Law: an issuer names only principals that match its patterns and are no principal of the rules, and gives only roles
that the rules have: what a token says is never more than what the rules say of its issuer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tamis.protocol.access.patterns import NamePattern, first_match


@dataclass(frozen=True, slots=True)
class Issuer:
    """An issuer. `issuer` and `audience`: `iss` and `aud` of its tokens, compared exactly; `keys`: the file of its
    public keys; `roles_from`: the claim that lists roles beside `roles`."""

    name: str
    issuer: str
    audience: str
    keys: str
    algorithms: tuple[str, ...]
    names: tuple[NamePattern, ...]
    roles: tuple[str, ...] = ()
    roles_from: str | None = None

    def gives(self, subject: str) -> bool:
        """Return whether the issuer may name this principal."""
        return first_match(self.names, subject, subject) is not None

    def roles_of(self, claims: Mapping[str, object], known: Collection[str]) -> tuple[str, ...]:
        """Return the roles of a principal by the claims of its token; names that are no role are skipped, because a
        list of groups has names for other services."""
        listed = claims.get(self.roles_from) if self.roles_from is not None else None
        words = listed.split() if isinstance(listed, str) else listed if isinstance(listed, list) else []
        claimed = (word for word in words if isinstance(word, str) and word in known)
        return tuple(dict.fromkeys((*self.roles, *claimed)))
