"""The address at which a router accepts clients, as text.

    tamis://HOST:PORT         TCP                     tamis+unix:/PATH         a Unix socket
    tamis+tls://HOST:PORT     TLS over TCP            an IPv6 address stands in brackets

Law: an Address that exists can be given to a socket call as it is, and `str(address)` parses back to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from tamis.protocol.errors import Refused

ADDRESSES_MAX = 16
"""The most addresses of one client. A network has a few entry routers; trying more would take longer than a caller
waits."""

_NEEDED = "a host and a port from 1 to 65535 are needed, and nothing after them"
_FORMS = "tamis://host:port, tamis+tls://host:port or tamis+unix:/path"
_UNIX_PATH_BYTES_MAX = 107  # Linux keeps a socket's path in 108 bytes, the last of them zero


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a router: host and port, or a path; exactly one of the two."""

    host: str = ""
    port: int = 0
    path: str = ""
    is_encrypted: bool = False

    def __str__(self) -> str:
        if self.path:
            return f"tamis+unix:{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"tamis{'+tls' if self.is_encrypted else ''}://{host}:{self.port}"


def parse_address(text: str) -> Endpoint:
    """Return the address that `text` denotes; Refused if it denotes none."""
    if not isinstance(text, str):
        hint = "; several addresses are given as several arguments" if isinstance(text, list | tuple) else ""
        raise Refused(f"an address is text such as tamis://127.0.0.1:7400, not {type(text).__name__}{hint}")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _bad(text, _NEEDED) from None
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise _bad(text, "it has only a host and a port; give a name and a token as arguments")
    if parts.scheme == "tamis+unix":
        return _unix(text, parts.netloc, parts.path)
    if parts.scheme not in ("tamis", "tamis+tls"):
        raise _bad(text, f"an address is {_FORMS}")
    if not parts.hostname or not port or parts.path not in ("", "/") or len(text.split()) != 1:
        raise _bad(text, _NEEDED)
    return Endpoint(parts.hostname, port, is_encrypted=parts.scheme == "tamis+tls")


def parse_addresses(texts: tuple[str, ...]) -> tuple[Endpoint, ...]:
    if not 1 <= len(texts) <= ADDRESSES_MAX:
        raise Refused(f"a client connects to 1 to {ADDRESSES_MAX} addresses, not {len(texts)}")
    return tuple(parse_address(text) for text in texts)


def _unix(text: str, netloc: str, path: str) -> Endpoint:
    if netloc or not path.startswith("/"):
        raise _bad(text, "the path of a Unix socket is absolute: tamis+unix:/run/tamis/clients")
    if len(path.encode()) > _UNIX_PATH_BYTES_MAX:
        raise _bad(text, f"the path of a Unix socket has at most {_UNIX_PATH_BYTES_MAX} bytes")
    return Endpoint(path=path)


def _bad(text: str, problem: str) -> Refused:
    return Refused(f"address {text!r}: {problem}")
