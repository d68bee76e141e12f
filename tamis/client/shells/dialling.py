"""The parts of dialling that both shells share.

Law: a `tamis+tls` address requires TLS 1.3 and a certificate that matches its host, unless the caller's own context is
less strict.
"""

from __future__ import annotations

import os
import socket
import ssl
from typing import Final

from tamis.client.connection.address import Endpoint
from tamis.client.connection.core import ClientCore
from tamis.client.connection.settings import Settings
from tamis.client.errors import ConnectFailed

DIAL_S: Final = 5.0
"""Seconds to connect to one address, TLS included, before the next address is tried."""
CLOSE_S: Final = 1.0
"""Seconds for the output to be sent before a connection that this client ends is cut."""
READ_BYTES: Final = 262_144
FLUSH_BYTES: Final = 65_536
"""The size of the output at which it is handed to the socket at once; less is sent when the application lets the client
run."""

DRAIN_S: Final = 5.0
"""Seconds that closing a client waits for calls in progress."""
WINDOW: Final = 1_024
"""The most messages of `publish_many` that wait for confirmation at a time."""


def tls_of(settings: Settings, address: Endpoint) -> ssl.SSLContext | None:
    if not address.is_encrypted:
        return None
    if settings.tls is not None:
        return settings.tls
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context


def nobody_answered(core: ClientCore) -> ConnectFailed:
    lines = [f"{address}: {reason}" for address, reason in core.redial.failures.items()]
    return ConnectFailed("no router could be reached\n" + "\n".join(lines))


def reason_of(error: BaseException | None) -> str:
    """Return why a connection could not be made, or has ended."""
    if error is None:
        return "closed by the router"
    if isinstance(error, socket.gaierror):
        return error.strerror or str(error)
    if isinstance(error, OSError) and error.errno and not isinstance(error, ssl.SSLError):
        return os.strerror(error.errno)
    return str(error) or ("no answer in time" if isinstance(error, TimeoutError) else type(error).__name__)
