"""Which addresses may be listened on.

Law: where nothing asks for a credential, only this machine may connect: loopback and Unix sockets. Whoever wants
otherwise says so with `--insecure`, and it is logged.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterator

from tamis.configs import Address, RouterSettings
from tamis.router.logs import fields
from tamis.router.settings import CannotStart

_log = logging.getLogger(__name__)


def check_exposure(settings: RouterSettings, is_insecure: bool) -> None:
    """CannotStart with a sentence for each address that may not be listened on."""
    problems = list(_problems(settings))
    if problems and not is_insecure:
        raise CannotStart("\n".join(problems))
    for problem in problems:
        _log.warning("insecure", extra=fields(because=problem))
    if settings.tokens and not settings.tls:
        for address in filter(_is_exposed, settings.clients):
            _log.warning("tokens cross the network unencrypted: set `tls`", extra=fields(address=str(address)))


def _problems(settings: RouterSettings) -> Iterator[str]:
    if not settings.tokens:
        for address in filter(_is_exposed, settings.clients):
            yield (
                f"clients: {address} is open to other machines and nobody is asked who they are: set `tokens` (and "
                "`tls`), listen on loopback or a Unix socket, or start with --insecure"
            )
    if settings.admin and _is_exposed(settings.admin):
        yield (
            f"admin: {settings.admin} is open to other machines, and administration asks for no credential: listen on "
            "loopback or a Unix socket, or start with --insecure"
        )


def _is_exposed(address: Address) -> bool:
    if address.kind == "unix" or address.host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(address.host).is_loopback
    except ValueError:
        return True  # a name: what it stands for may change while we listen
