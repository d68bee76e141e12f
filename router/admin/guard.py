"""Which requests administration accepts: by host name, origin and credential.

Law: a web page in a browser must not reach a router without its user's knowledge, not even by DNS rebinding. Therefore
the host of a request must be this router's, and a request made by a foreign page is refused. Only health checks need no
token.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from tamis.protocol.shown import shown
from tamis.router.admin.answers import BadRequest
from tamis.router.daemon.cannot_start import CannotStart

OPEN: Final = frozenset({"/healthz", "/readyz"})
"""Pages that need no token: health checks."""
TOKEN_BYTES_MIN: Final = 16
TOKEN_BYTES_MAX: Final = 1_024
_SHOWN: Final = 80

Headers = Mapping[str, str]
"""Headers by their names in lower case."""
Local = tuple[str, int] | None
"""The local address and port of a connection; None for a Unix socket."""


def check_addressed(headers: Headers, local: Local, names: Collection[str]) -> None:
    """Raise BadRequest unless the host of the request is this router's address or one of `names`."""
    host = headers.get("host")
    if local is None or host is None:  # no page of the Web reaches a Unix socket, and every browser names a host
        return
    if host.lower() not in _own_names(*local) and not _is_one_of(host.lower(), names):
        raise BadRequest(
            421,
            f"the host {shown(host[:_SHOWN])} is not this router's: use {_address(*local)}, or add it to "
            "`admin_names` in the topology file",
        )


def check_origin(headers: Headers) -> None:
    """Raise BadRequest if a foreign page in a browser has made the request."""
    origin = headers.get("origin")
    if origin is not None and origin.lower() != f"http://{headers.get('host', '').lower()}":
        raise BadRequest(403, f"requests from pages of {shown(origin[:_SHOWN])} are refused")
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise BadRequest(403, "requests from pages of other sites are refused")


def has_token(headers: Headers, token: bytes) -> bool:
    """Return whether the request has `token`."""
    return hmac.compare_digest(bearer_of(headers).encode(), token)


def bearer_of(headers: Headers) -> str:
    """Return the token of a request; "" if it has none."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


def read_admin_token(path: str) -> bytes:
    """Return the token in the file `path`. Raise CannotStart if the file is missing, not private or has no token."""
    try:
        with Path(path).open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise CannotStart(f"admin token file {path}: other users may read it; run chmod 600 {path}")
            token = file.read(TOKEN_BYTES_MAX + 1).strip()
    except OSError as error:
        raise CannotStart(f"admin token file {path}: {error.strerror}") from error
    if not TOKEN_BYTES_MIN <= len(token) <= TOKEN_BYTES_MAX or not token.isascii() or token.split() != [token]:
        raise CannotStart(
            f"admin token file {path}: write one word of {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX:,} ASCII characters"
        )
    return token


def _own_names(host: str, port: int) -> set[str]:
    """Return the spellings of an address as a host; the port may be left out if it is 80."""
    hosts = {_bracketed(host)}
    if ipaddress.ip_address(host.partition("%")[0]).is_loopback:
        hosts |= {"localhost", "127.0.0.1", "[::1]"}
    return {f"{each}:{port}" for each in hosts} | (hosts if port == 80 else set())


def _is_one_of(host: str, names: Collection[str]) -> bool:
    """Return whether `host` is one of `names`; a name without a port matches any port."""
    bare = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    return any(name.lower() in (host, bare) for name in names)


def _bracketed(host: str) -> str:
    return f"[{host.partition('%')[0]}]" if ":" in host else host


def _address(host: str, port: int) -> str:
    return f"{_bracketed(host)}:{port}"
