"""Listening addresses: `host:port`, `[ipv6]:port` or `unix:path`.

Law: an Address is valid for a socket call, and `str(address)` parses to an equal one. Hosts have one spelling (lower
case, IPv6 compressed), so that two addresses clash exactly if `claims` and `conflicts` intersect.
"""

from __future__ import annotations

import ipaddress
import os.path
import re
from dataclasses import dataclass, replace
from typing import Literal

FORMS = "host:port, [ipv6]:port or unix:path"
PORT_MAX = 65_535
HOST_CHARACTERS_MAX = 253
"""Characters of the longest name in the domain name system."""
ADDRESSES_MAX = 16
"""Most addresses of one kind that a router listens on."""
UNIX_PATH_BYTES_MAX = 107
"""Linux stores the path of a socket in 108 bytes, the last of them zero."""

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?")
_WILDCARDS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, never bound
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Address:
    """A TCP address has a host and a port, a Unix socket a path."""

    kind: Literal["tcp", "unix"]
    host: str = ""
    port: int = 0
    path: str = ""

    def __str__(self) -> str:
        if self.kind == "unix":
            return f"unix:{self.path}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def wildcard(self) -> bool:
        """Whether the address stands for every interface of its machine."""
        return self.host in _WILDCARDS

    @property
    def dialable(self) -> bool:
        """Whether this address alone is enough to connect to the listener."""
        return self.kind == "unix" or (self.port != 0 and not self.wildcard)

    def bound_to(self, host: str, port: int) -> Address:
        """Return the address with what the system has resolved and chosen."""
        return replace(self, host=host, port=port)

    def claims(self) -> set[object]:
        """Return what a listener at this address occupies: nothing for port 0, as the system picks a free port."""
        if self.kind == "unix":
            return {("unix", self.path)}
        if self.port == 0:
            return set()
        some = {("some", family, self.port) for family in self._families()}
        if self.wildcard:
            return {("every", family, self.port) for family in self._families()} | some
        return {("host", host, self.port) for host in self._hosts()} | some

    def conflicts(self) -> set[object]:
        """Return the claims of other listeners that clash with a listener at this address."""
        if self.kind == "unix" or self.port == 0:
            return self.claims()
        if self.wildcard:
            return {("some", family, self.port) for family in self._families()}
        every = {("every", family, self.port) for family in self._families()}
        return {("host", host, self.port) for host in self._hosts()} | every

    def _hosts(self) -> tuple[str, ...]:
        return _LOOPBACK if self.host == "localhost" else (self.host,)

    def _families(self) -> tuple[int, ...]:
        try:
            return (ipaddress.ip_address(self.host).version,)
        except ValueError:
            return (4, 6)  # a name may resolve to either


def parse_address(text: str, folder: str = "") -> Address:
    """Return the address written as `text`. Raise ValueError if it is malformed. A relative Unix path starts from
    `folder`."""
    scheme, slashes, _ = text.partition("://")
    if slashes:
        raise ValueError(f'must be {FORMS}, without "{scheme[:20]}://"')
    if text.startswith("unix:"):
        return Address("unix", path=_unix_path(text.removeprefix("unix:"), folder))
    host, colon, port = text.rpartition(":")
    if not colon:
        raise ValueError(f"must be {FORMS}")
    return Address("tcp", host=_host(host), port=_port(port))


def joined(folder: str, path: str) -> str:
    """Return `path`, relative to `folder` unless it is absolute, in its normal form."""
    return os.path.normpath(os.path.join(folder, path))  # noqa: PTH118 - pathlib would keep `a/..`


def check_path(text: str) -> None:
    """Raise ValueError if `text` is empty or not printable, and therefore no path."""
    if not text:
        raise ValueError("must be a path, not empty")
    if not text.isprintable():
        raise ValueError("must be a path of printable characters")


def _unix_path(text: str, folder: str) -> str:
    check_path(text)
    path = joined(folder, text)
    size = len(path.encode())
    if size > UNIX_PATH_BYTES_MAX:
        raise ValueError(f"must be a socket path of at most {UNIX_PATH_BYTES_MAX} bytes; it has {size}")
    return path


def _port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > PORT_MAX:
        raise ValueError(f"must be {FORMS}, with a port from 0 to {PORT_MAX}")
    return int(text)


def _host(text: str) -> str:
    if text.startswith("[") and text.endswith("]"):
        return _ipv6(text[1:-1])
    if ":" in text:
        raise ValueError("must be [ipv6]:port, with brackets, where the host is an IPv6 address")
    if re.fullmatch(r"[0-9.]+", text):
        return _ipv4(text)
    if text == "*":
        raise ValueError("must name a host; every interface is 0.0.0.0 or [::]")
    if len(text) > HOST_CHARACTERS_MAX or not _HOST_NAME.fullmatch(text):
        raise ValueError(f"must be {FORMS}, with letters, digits, `-`, `_` and `.` in the host")
    return text.lower()


def _ipv4(text: str) -> str:
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise ValueError("must have four numbers from 0 to 255 in an IPv4 address") from None


def _ipv6(text: str) -> str:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise ValueError("must have a valid IPv6 address between the brackets") from None
