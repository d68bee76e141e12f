"""What a router needs before it starts: credentials that can be read, an engine that routes, addresses that may be
listened on.

Law: `tamis check`, `tamis up` and the router itself ask here, so that what is sound for one is sound for all. No
address is taken, and no table is made.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from tamis.configs import RouterSettings
from tamis.router.clients.tokens import TokenFile
from tamis.router.connections.tls import server_context
from tamis.router.daemon.exposure import check_exposure, exposure_problems
from tamis.router.daemon.settings import CannotStart, check_engine


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the files of a router hold; None for each that the topology does not name."""

    tls: ssl.SSLContext | None
    tokens: TokenFile | None
    admin_token: bytes | None


def credentials(settings: RouterSettings, is_insecure: bool) -> Credentials:
    """Return the credentials of a router that may start; CannotStart says what is wrong first."""
    check_exposure(settings, is_insecure)
    for check in _checks(settings):
        check()
    return Credentials(
        server_context(settings.tls) if settings.tls else None,
        TokenFile(settings.tokens) if settings.tokens else None,
        _admin_token(settings),
    )


def start_problems(settings: RouterSettings, is_insecure: bool) -> list[str]:
    """Return a sentence for each reason why this router would not start on this machine."""
    checks: list[Callable[[], object]] = [
        *_checks(settings),
        lambda: settings.tls and server_context(settings.tls),
        lambda: settings.tokens and TokenFile(settings.tokens),
        lambda: _admin_token(settings),
    ]
    found = [] if is_insecure else exposure_problems(settings)
    for check in checks:
        try:
            check()
        except CannotStart as error:
            found += str(error).splitlines()
    return found


def _checks(settings: RouterSettings) -> Iterator[Callable[[], object]]:
    """Functions that raise CannotStart."""
    yield lambda: check_engine(settings)
    if settings.links:
        from tamis.router.links.secret import read_secret
        from tamis.router.links.tls import accepting_context

        for secret in dict.fromkeys(link.secret for link in settings.links if link.secret):
            yield partial(read_secret, secret)
        if (tls := settings.neighbour_tls) is not None:
            yield lambda: accepting_context(tls)


def _admin_token(settings: RouterSettings) -> bytes | None:
    if settings.admin_token is None:
        return None
    from tamis.router.admin.guard import read_admin_token

    return read_admin_token(settings.admin_token)
