"""Ports to listen on again and again.

Law: they lie below those that the system gives to whoever connects, so that nobody takes one while its router is down.
"""

from __future__ import annotations

import os
import socket
from typing import Final

_FIRST: Final = 12_000
_END: Final = 32_000
_taken: set[int] = set()


def lasting_port() -> int:
    """A loopback port that nobody listens on now; another one each time."""
    span = _END - _FIRST
    for step in range(span):
        port = _FIRST + (os.getpid() * 97 + step) % span
        if port not in _taken and _is_free(port):
            _taken.add(port)
            return port
    raise OSError(f"no free port from {_FIRST} to {_END}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
