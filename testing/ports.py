"""Free loopback ports."""

from __future__ import annotations

import os
import socket
from typing import Final

_FIRST: Final = 12_000
_END: Final = 32_000
_taken: set[int] = set()


def free_port() -> int:
    """Return a port to listen on once, immediately. Later the system may give it to any connection."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def lasting_port() -> int:
    """Return a port to listen on repeatedly; each call returns a different port.

    It is below the ports that the system gives to connections, so it stays free while its router is down. OSError if
    all are taken.
    """
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
