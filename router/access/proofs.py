"""Proofs of a name other than a token of the rules: a certificate, or a signed token of an issuer.

Law: a certificate proves each of its names (SAN, DNS or URI), a signed token its subject, and either also proves the
names that begin with such a name and a `/`. The proven name owns what the client makes; a pattern of certificates
(`*.plant.example`) gives its roles to many owners. A proof decides again whenever the rules change, by what was proven.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tamis.protocol.access.principals import SUB_NAMES_BEGIN
from tamis.protocol.access.rules import AccessRules
from tamis.router.access.admitted import Admitted, Denial

if TYPE_CHECKING:  # a router without issuers starts without them
    from tamis.router.access.signed_tokens import SignedName, SignedTokens

NOT_VALID: Final = "this token is not valid for this name"
NOT_CERTIFIED: Final = "this client's name is not that of a principal in its certificate"


class Proofs:
    """The proofs of one router. `signed`: the issuers of `rules`; None if there are none."""

    def __init__(self, rules: AccessRules, signed: SignedTokens | None) -> None:
        self.rules, self.signed = rules, signed

    def use(self, rules: AccessRules, signed: SignedTokens | None) -> None:
        """Decide by other rules from now on."""
        self.rules, self.signed = rules, signed

    def by_certificate(self, names: frozenset[str], name: str) -> Admitted | Denial:
        """Return what a client `name` is admitted as whose certificate has these names, or the denial."""
        return self.certified(name, names) or Denial(NOT_CERTIFIED)

    def by_token(self, name: str, token: bytes) -> Admitted | Denial:
        """Return what a client `name` that sends a signed token is admitted as, or the denial. This takes a while, and
        may run in a thread."""
        found = self.signed.verified(name, token) if self.signed is not None else None
        return (found and self.admitted(found)) or Denial(NOT_VALID)

    def certified(self, name: str, names: Iterable[str]) -> Admitted | None:
        """Return what a client `name` is admitted as by names of a certificate; None if by none of them."""
        for proven in sorted(names, key=len, reverse=True):
            found = self.rules.of_certificate(proven) if _is_of(name, proven) else None
            if found is not None:
                return Admitted(None, proven, frozenset(found.rights.names), None, _Certified(self, frozenset(names)))
        return None

    def admitted(self, signed: SignedName) -> Admitted | None:
        """Return what the subject of a valid token is admitted as; None if its roles cannot be held together."""
        if not self.rules.agree(signed.roles):
            return None
        return Admitted(None, signed.principal, frozenset(signed.roles), signed.expires_s, _Signed(self, signed))


def _is_of(name: str, proven: str) -> bool:
    return name == proven or name.startswith(proven + SUB_NAMES_BEGIN)


@dataclass(frozen=True, slots=True)
class _Certified:
    """The names of a certificate, as a proof that decides again."""

    proofs: Proofs
    names: frozenset[str]

    def admitted(self, name: str) -> Admitted | None:
        return self.proofs.certified(name, self.names)


@dataclass(frozen=True, slots=True)
class _Signed:
    """A verified token, as a proof that decides again."""

    proofs: Proofs
    signed: SignedName

    def admitted(self, name: str) -> Admitted | None:
        tokens = self.proofs.signed
        found = tokens.again(name, self.signed) if tokens is not None else None
        return self.proofs.admitted(found) if found is not None else None
