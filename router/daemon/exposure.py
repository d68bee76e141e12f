"""The addresses that may be listened on, and the neighbours that may be dialled.

Law: where no credential is required, only this machine may be at the other end: loopback and Unix sockets. `--insecure`
allows others, and the log reports it.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterator

from tamis.configs.address import Address
from tamis.configs.settings import LinkSettings, RouterSettings
from tamis.router.daemon.cannot_start import Keys, StartProblem
from tamis.router.daemon.logs import fields
from tamis.serving.cannot_start import CannotStart

_log = logging.getLogger(__name__)


def check_exposure(settings: RouterSettings, is_insecure: bool) -> None:
    """Raise CannotStart with a sentence for each address that may not be listened on."""
    problems = exposure_problems(settings)
    if problems and not is_insecure:
        raise CannotStart("\n".join(problem.what for problem in problems))
    for problem in problems:
        _log.warning("insecure", extra=fields(because=problem.what))
    if (settings.tokens or settings.has_access) and not settings.tls:
        for address in filter(_is_exposed, settings.clients):
            _log.warning("tokens cross the network unencrypted: set `tls`", extra=fields(address=str(address)))
    if settings.admin and (settings.admin_token or settings.has_access) and _is_exposed(settings.admin):
        where = fields(address=str(settings.admin))
        _log.warning("the administration token crosses the network unencrypted", extra=where)
    if not settings.neighbour_tls:
        for link in settings.links:
            if link.secret and (way := _exposed_at(settings, link)):
                where = fields(neighbour=link.neighbour, address=str(way))
                _log.warning("a link crosses the network unencrypted: set `neighbour_tls`", extra=where)


def exposure_problems(settings: RouterSettings) -> list[StartProblem]:
    """Return a problem for each address that may not be listened on or dialled without --insecure."""
    return [StartProblem(what, keys) for keys, what in _problems(settings)]


def _problems(settings: RouterSettings) -> Iterator[tuple[Keys, str]]:
    if not settings.tokens and not settings.has_access:
        for address in filter(_is_exposed, settings.clients):
            what = (
                f"clients: {address} is open to other machines, and clients need no credential: set `tokens` or "
                "`access` (and `tls`), listen on loopback or a Unix socket, or start with --insecure"
            )
            yield ("clients",), what
    yield from _bare_links(settings)
    if settings.admin and not (settings.admin_token or settings.has_access) and _is_exposed(settings.admin):
        what = (
            f"admin: {settings.admin} is open to other machines, and administration needs no credential: set "
            "`admin_token`, listen on loopback or a Unix socket, or start with --insecure"
        )
        yield ("admin",), what


def _bare_links(settings: RouterSettings) -> Iterator[tuple[Keys, str]]:
    for link in settings.links:
        if not link.secret and not settings.neighbour_tls and (address := _exposed_at(settings, link)):
            what = (
                f"links: the link between {settings.id} and {link.neighbour}, {address}, is open to other machines and "
                "neither end proves its name: set the link's `secret` or both routers' `neighbour_tls`, use loopback "
                "or a Unix socket, or start with --insecure"
            )
            yield ("links", link.neighbour), what


def _exposed_at(settings: RouterSettings, link: LinkSettings) -> Address | None:
    """Return the first address of this link at which another machine could pose as the neighbour; None: there is
    none."""
    ways = settings.neighbours if link.dial is None else (link.dial,)
    return next(filter(_is_exposed, ways), None)


def _is_exposed(address: Address) -> bool:
    if address.kind == "unix" or address.host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(address.host).is_loopback
    except ValueError:
        return True  # a name: its addresses may change while the router listens
