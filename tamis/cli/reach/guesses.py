"""Hints for a client that reaches no router or is not admitted.

Law: a hint is based on the error of the failed attempt and on one harmless request to that address; no other address is
contacted. A hint is printed beside the error, never instead of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tamis.cli.reach.other_address import SCHEMES

_PLAIN, _TLS, _ = SCHEMES
_HERE: Final = ("tamis://127.0.0.1:", "tamis://localhost:", "tamis://[::1]:", "tamis+unix:")
_NOBODY: Final = ("Connection refused", "No such file or directory")
_WANTS_ONE: Final = "requires a token"
_NOT_WITH_IT: Final = "this token is not valid for this name"
_OF_ANOTHER_KIND: Final = ("closed by the router", "no sign of life", "protocol violation by the router")


def guesses(error: str) -> Iterator[str]:
    """Return hints for an error that lists addresses, each with a reason."""
    for line in error.splitlines():
        address, _, problem = line.strip().partition(": ")
        if address.startswith(_TLS) and "WRONG_VERSION_NUMBER" in problem:
            yield f"{address} does not speak TLS; without it the address is {address.replace(_TLS, _PLAIN)}"
        elif address.startswith(_PLAIN) and problem.startswith(_OF_ANOTHER_KIND):
            yield from _looked_at(address)
        elif address.startswith(_HERE) and problem.endswith(_NOBODY):
            yield f"nothing listens at {address}: `tamis up` starts a router on this machine"
    if error.endswith(_WANTS_ONE):
        yield "give the token by --token-file or TAMIS_TOKEN_FILE, and its name by --name or TAMIS_NAME"
    if _NOT_WITH_IT in error:
        yield "a token belongs to a name: give it by --name or TAMIS_NAME"


def _looked_at(address: str) -> Iterator[str]:
    place = address.removeprefix(_PLAIN).rstrip("/")
    if _is_administration(place):
        yield f"{address} is the address of a router's administration: give it as http://{place}"
    elif _speaks_tls(place):
        yield f"{address} speaks TLS: the address is {_TLS}{place}, perhaps with --ca"


def _is_administration(place: str) -> bool:
    from tamis.cli.reach.admin_http import asked

    try:
        status, body = asked(place, "GET", "/healthz", None)
    except (OSError, ValueError):
        return False
    return status == 200 and b'"healthy"' in body


def _speaks_tls(place: str) -> bool:
    import socket
    import ssl

    from tamis.cli.reach.admin_http import TIMEOUT_S

    host, _, port = place.rpartition(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = (
        False,
        ssl.CERT_NONE,
    )  # any answer will do
    try:
        with (
            socket.create_connection((host.strip("[]"), int(port)), TIMEOUT_S) as sock,
            context.wrap_socket(sock),
        ):
            return True
    except (OSError, ValueError):
        return False
