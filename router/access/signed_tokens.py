"""Verification of signed tokens (JWT, RFC 7519, in the compact form of a JWS).

    header.claims.signature, each in base64url without padding

Law: the issuer in the claims selects an issuer of the rules, and that issuer's keys and algorithms decide; nothing in
the header does, except which of its keys is asked. A token is refused before its signature is computed if it is
malformed, too long or too deep, repeats a member, or has `crit`. All refusals are one answer: None.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tamis.protocol.access.issuers import Issuer
from tamis.protocol.access.principals import SUB_NAMES_BEGIN
from tamis.protocol.errors import Refused
from tamis.protocol.limits import CREDENTIAL_BYTES_MAX
from tamis.protocol.peer_names import check_peer_name
from tamis.router.access.keys import KeyFile, VerifyingKey
from tamis.serving.cannot_start import CannotStart

LIFE_S_MAX: Final = 86_400
"""The longest time until a token expires: who is removed at the issuer loses access within a day."""
SKEW_S: Final = 60
"""How far the clock of an issuer may be ahead."""
DEPTH_MAX: Final = 8
"""Nesting of lists and objects in a header or in claims."""
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class SignedName:
    """What a valid token says: the principal, its roles, and the Unix time at which its session ends."""

    principal: str
    roles: tuple[str, ...]
    expires_s: float
    claims: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)
    key: VerifyingKey | None = field(default=None, compare=False, repr=False)
    """The key that verified it."""


class SignedTokens:
    """The issuers of the rules. Raise CannotStart if the keys of one cannot be used. `roles`: those of the rules;
    `is_listed`: returns whether a name is that of a principal of the rules; `clock`: returns Unix time in seconds."""

    def __init__(
        self,
        issuers: Iterable[Issuer],
        roles: Iterable[str],
        is_listed: Callable[[str], bool],
        clock: Callable[[], float],
    ) -> None:
        self._roles, self._is_listed, self._clock = frozenset(roles), is_listed, clock
        try:
            self._issuers = {each.issuer: (each, KeyFile(each.keys, each.algorithms)) for each in issuers}
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in ("jwt", "cryptography"):
                raise
            raise CannotStart("access: issuers need pyjwt: pip install 'tamis[jwt]'") from error

    def verified(self, name: str, token: bytes) -> SignedName | None:
        """Return what `token` says, if it is valid for a client `name` now; None if it is not."""
        try:
            return self._verified(name, token)
        except _Invalid:
            return None

    def again(self, name: str, signed: SignedName) -> SignedName | None:
        """Return what a token that was verified before says by these issuers, without computing its signature; None if
        it is not valid any more, as when its key was removed."""
        try:
            issuer, keys = self._issuer(signed.claims)
            if signed.key is None or not keys.has(signed.key):
                raise _Invalid
            return self._said(name, issuer, signed.claims, signed.key)
        except _Invalid:
            return None

    def _verified(self, name: str, token: bytes) -> SignedName:
        if len(token) > CREDENTIAL_BYTES_MAX:
            raise _Invalid
        parts = token.split(b".")
        if len(parts) != 3:
            raise _Invalid
        header, claims, _ = _object(parts[0]), _object(parts[1]), _decoded(parts[2])
        issuer, keys = self._issuer(claims)
        return self._said(name, issuer, claims, _verifying(header, token, keys))

    def _issuer(self, claims: Mapping[str, object]) -> tuple[Issuer, KeyFile]:
        said = claims.get("iss")
        found = self._issuers.get(said) if isinstance(said, str) else None
        if found is None:
            raise _Invalid
        return found

    def _said(self, name: str, issuer: Issuer, claims: Mapping[str, object], key: VerifyingKey) -> SignedName:
        """Return what signed claims say for a client `name`."""
        expires_s = self._expiry(claims)
        audience = claims.get("aud")
        if issuer.audience not in (audience if isinstance(audience, list) else [audience]):
            raise _Invalid
        principal = self._principal(issuer, claims.get("sub"))
        if name != principal and not name.startswith(principal + SUB_NAMES_BEGIN):
            raise _Invalid
        return SignedName(principal, issuer.roles_of(claims, self._roles), expires_s, claims, key)

    def _expiry(self, claims: Mapping[str, object]) -> float:
        """Return the time at which the token expires, which is ahead, and not too far."""
        now, expires_s = self._clock(), _seconds(claims.get("exp"))
        if not now < expires_s <= now + LIFE_S_MAX:
            raise _Invalid
        if any(_seconds(claims[when]) > now + SKEW_S for when in ("nbf", "iat") if when in claims):
            raise _Invalid
        return expires_s

    def _principal(self, issuer: Issuer, subject: object) -> str:
        if not isinstance(subject, str) or not issuer.gives(subject) or self._is_listed(subject):
            raise _Invalid
        try:
            return check_peer_name(subject)
        except Refused:
            raise _Invalid from None


class _Invalid(Exception):
    """Raised for a token that is not valid, whatever the reason."""


def _object(part: bytes) -> dict[str, Any]:
    """Return the JSON object in a part of a token."""
    text = _decoded(part)
    if _depth(text) > DEPTH_MAX:
        raise _Invalid
    try:
        found = json.loads(text.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise _Invalid from None
    if not isinstance(found, dict):
        raise _Invalid
    return found


def _decoded(part: bytes) -> bytes:
    """Return the bytes of a part of a token, which has one form only."""
    try:
        found = base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4))
    except ValueError:
        raise _Invalid from None
    if base64.urlsafe_b64encode(found).rstrip(b"=") != part:
        raise _Invalid
    return found


def _depth(text: bytes) -> int:
    """Return the nesting of the brackets of a JSON text that are not in its strings."""
    depth = deepest = 0
    for each in _STRING.sub(b"", text):
        depth += (each in b"[{") - (each in b"]}")
        deepest = max(deepest, depth)
    return deepest


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Invalid  # two readers could take different ones
    return found


def _no_constant(_: str) -> float:
    raise _Invalid  # NaN and Infinity are no JSON


def _seconds(value: object) -> float:
    """Return a number of seconds that a double holds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**53 or math.isnan(value):
        raise _Invalid
    return float(value)


def _verifying(header: dict[str, Any], token: bytes, keys: KeyFile) -> VerifyingKey:
    """Return the key of the issuer that verifies the signature; raise _Invalid if there is none."""
    from jwt import PyJWS, PyJWTError

    kid, algorithm = header.get("kid"), header.get("alg")
    if "crit" in header or "b64" in header or not isinstance(algorithm, str) or not isinstance(kid, str | None):
        raise _Invalid
    key = keys.fitting(kid, algorithm)
    if key is None:
        raise _Invalid
    try:
        PyJWS().decode_complete(token, key.key, algorithms=[algorithm])
    except (PyJWTError, ValueError, TypeError):
        raise _Invalid from None
    return key
