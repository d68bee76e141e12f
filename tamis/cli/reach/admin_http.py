"""One HTTP request to an address of a router, over TCP or a Unix socket."""

from __future__ import annotations

import contextlib
import http.client
import socket
from collections.abc import Mapping
from typing import Final

TIMEOUT_S: Final = 5.0


def asked(
    address: str, method: str, target: str, body: bytes | None, headers: Mapping[str, str] | None = None
) -> tuple[int, bytes]:
    """Return status and body of the answer; OSError if there is none, ValueError for an invalid address."""
    with contextlib.closing(connection_to(address)) as connection:
        try:
            connection.request(method, target, body, {"Connection": "close"} | dict(headers or {}))
            with connection.getresponse() as answer:
                return answer.status, answer.read()
        except http.client.HTTPException:
            raise OSError(
                "no HTTP at this address; is it an address for clients? The address of administration is `admin` in "
                "the topology file"
            ) from None


def connection_to(address: str) -> http.client.HTTPConnection:
    """Return a connection; ValueError for an invalid address."""
    if address.startswith("unix:"):
        return _UnixConnection(address.removeprefix("unix:"))
    host, colon, port = address.rpartition(":")
    if not host or not colon or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise ValueError("expected host:port, [ipv6]:port or unix:path")
    return http.client.HTTPConnection(host.removeprefix("[").removesuffix("]"), int(port), timeout=TIMEOUT_S)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
