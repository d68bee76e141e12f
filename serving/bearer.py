"""The credential of a request: Basic has a name and a token, Bearer a token alone.

Law: a credential is never compared here, nor shown.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Final, NamedTuple

from tamis.serving.problem import refused

CREDENTIAL_CHARACTERS_MAX: Final = 8_192


class Credential(NamedTuple):
    """`name` is "" for Bearer."""

    name: str
    token: str

    def __repr__(self) -> str:
        return f"Credential({self.name!r}, …)"


def credential_of(headers: Mapping[str, str]) -> Credential | None:
    """Return the credential of a request, None if it has none. Raise RequestRefused if it is malformed."""
    given = headers.get("authorization")
    if given is None:
        return None
    scheme, _, rest = given.partition(" ")
    rest = rest.strip()
    if not rest or len(rest) > CREDENTIAL_CHARACTERS_MAX:
        raise _malformed()
    match scheme.lower():
        case "bearer":
            return Credential("", rest)
        case "basic":
            return _basic(rest)
    raise _malformed()


def bearer_of(headers: Mapping[str, str]) -> str:
    """Return the token of a Bearer request; "" if it has none."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


def _basic(text: str) -> Credential:
    try:
        name, colon, token = b64decode(text, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        raise _malformed() from None
    if not colon:
        raise _malformed()
    return Credential(name, token)


def _malformed() -> Exception:
    return refused("credential", 401, "Authorization is `Basic` with NAME:TOKEN in base64, or `Bearer TOKEN`")
