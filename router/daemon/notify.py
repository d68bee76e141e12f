"""Tell systemd the state of the router (`Type=notify`): one datagram to the socket that NOTIFY_SOCKET names, if any."""

from __future__ import annotations

import os
import socket
import time


def ready() -> None:
    _tell("READY=1")


def reloading() -> None:
    _tell(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")


def stopping() -> None:
    _tell("STOPPING=1")


def _tell(state: str) -> None:
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.connect("\0" + address[1:] if address.startswith("@") else address)
            sock.send(state.encode())
