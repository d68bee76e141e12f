"""Which requests a server takes, by the host that they name and the page that makes them.

Law: a web page in a browser must not reach a server without its user's knowledge, not even by DNS rebinding. Therefore
the host of a request must be the server's, and a request made by a foreign page is refused, unless that page's origin
is listed. Both are checked before a body is read.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping
from typing import Final

from tamis.protocol.shown import shown
from tamis.serving.answers import Answer
from tamis.serving.problem import Headers, refused

PREFLIGHT_S: Final = 600
"""Seconds for which a browser remembers a preflight."""
_SHOWN: Final = 80

Local = tuple[str, int] | None
"""The local address and port of a connection; None for a Unix socket."""


def check_host(headers: Mapping[str, str], local: Local, names: Collection[str], key: str) -> None:
    """Raise RequestRefused unless the host of the request is the server's address or one of `names`, which `key` of the
    topology file lists."""
    host = headers.get("host")
    if local is None or host is None:  # no page of the Web reaches a Unix socket, and every browser names a host
        return
    if host.lower() not in _own_names(*local) and not _is_one_of(host.lower(), names):
        where = f"use {_address(*local)}, or add it to `{key}` in the topology file"
        raise refused("host", 421, f"the host {shown(host[:_SHOWN])} is not this server's: {where}")


def check_origin(
    headers: Mapping[str, str], listed: Collection[str] = (), schemes: Collection[str] = ("http",)
) -> str | None:
    """Return the listed origin of the foreign page that has made the request, None if no foreign page has. Raise
    RequestRefused if its origin is not listed. `schemes`: those by which the server's own pages are reached."""
    origin, host = headers.get("origin"), headers.get("host", "").lower()
    if origin is not None and origin.lower() not in {f"{scheme}://{host}" for scheme in schemes}:
        if origin.lower() in listed:
            return origin
        raise refused("origin", 403, f"requests from pages of {shown(origin[:_SHOWN])} are refused")
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise refused("origin", 403, "requests from pages of other sites are refused")
    return None


def preflight(method: str, headers: Mapping[str, str], origin: str | None, methods: str, allowed: str) -> Answer | None:
    """Return the answer to a browser that asks whether a page of `origin`, which `check_origin` has returned, may make
    a request; None if this is no such question. `methods` and `allowed`: what it may use, as headers have it."""
    if method != "OPTIONS" or origin is None or "access-control-request-method" not in headers:
        return None
    said = (
        ("Access-Control-Allow-Methods", methods),
        ("Access-Control-Allow-Headers", allowed),
        ("Access-Control-Max-Age", str(PREFLIGHT_S)),
    )
    return Answer(b"", 204, headers=(*cors_headers(origin), *said))


def cors_headers(origin: str | None) -> Headers:
    """Return the headers by which a page of a listed origin may read an answer; no headers for None."""
    return () if origin is None else (("Access-Control-Allow-Origin", origin), ("Vary", "Origin"))


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
