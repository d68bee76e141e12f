"""The conditions for the start of a router: credentials that can be read, an engine that routes, addresses that may be
listened on.

Law: `tamis check`, `tamis up` and the router itself use these checks and therefore agree. No address is occupied, and
no table is made.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from tamis.configs.address import Address
from tamis.configs.sections.connections import NeighbourTls, Tls
from tamis.configs.settings import RouterSettings
from tamis.router.clients.tokens import TokenFile
from tamis.router.connections.certificate import validity_of
from tamis.router.connections.revoked import RevokedCertificates, lists_of
from tamis.router.daemon.cannot_start import Keys, StartProblem
from tamis.router.daemon.exposure import check_exposure, exposure_problems
from tamis.router.daemon.files import check_folder
from tamis.router.daemon.settings import check_engine
from tamis.serving.cannot_start import CannotStart
from tamis.serving.listeners import bind
from tamis.serving.tls_contexts import server_context

if TYPE_CHECKING:  # a router without issuers or links starts without them
    from tamis.router.access.signed_tokens import SignedTokens
    from tamis.router.links.tls import LinkTls

Check = tuple[Keys, Callable[[], object]]
"""A function that raises CannotStart, and the keys that it checks."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The contents of the credential files of a router; None for each that the topology does not name."""

    tls: ssl.SSLContext | None
    revoked: RevokedCertificates | None
    """The lists of `tls`."""
    links: LinkTls | None
    tokens: TokenFile | None
    admin_token: bytes | None
    signed: SignedTokens | None


def credentials(settings: RouterSettings, is_insecure: bool) -> Credentials:
    """Return the credentials of a router; CannotStart with the first problem if it may not start."""
    check_exposure(settings, is_insecure)
    for _, check in _checks(settings):
        check()
    revoked = lists_of("tls", settings.tls)
    return Credentials(
        server_context(settings.tls, revoked) if settings.tls else None,
        revoked,
        _link_tls(settings),
        TokenFile(settings.tokens) if settings.tokens else None,
        _admin_token(settings),
        _signed_tokens(settings),
    )


def start_problems(settings: RouterSettings, is_insecure: bool) -> list[StartProblem]:
    """Return each reason why this router would not start on this machine, regardless of other processes there."""
    checks: list[Check] = [
        *_checks(settings),
        (("tls",), lambda: settings.tls and server_context(settings.tls)),
        (("tls", "revoked"), lambda: lists_of("tls", settings.tls)),
        (("neighbour_tls",), lambda: _link_tls(settings)),
        (("tokens",), lambda: settings.tokens and TokenFile(settings.tokens)),
        (("admin_token",), lambda: _admin_token(settings)),
        (("access",), lambda: _signed_tokens(settings)),
        (("records", "folder"), lambda: _check_records(settings)),
        *(((key, "certificate"), partial(_check_dates, key, each.certificate)) for key, each in certificates(settings)),
    ]
    return [*([] if is_insecure else exposure_problems(settings)), *_failing(checks)]


def taken_addresses(settings: RouterSettings) -> list[StartProblem]:
    """Return a problem for each address of this router that is unavailable now."""
    own = {"clients": settings.clients, "neighbours": settings.neighbours}
    own["admin"] = () if settings.admin is None else (settings.admin,)
    return _failing(((key,), partial(_listen_once, address)) for key, addresses in own.items() for address in addresses)


def certificates(settings: RouterSettings) -> Iterator[tuple[str, Tls | NeighbourTls]]:
    """Yield the certificates of a router by the key that names them."""
    if settings.tls is not None:
        yield "tls", settings.tls
    if settings.neighbour_tls is not None:
        yield "neighbour_tls", settings.neighbour_tls


def _check_records(settings: RouterSettings) -> None:
    """Raise CannotStart if the folder of records is unusable. The router itself starts, and reports it."""
    if settings.records is not None:
        check_folder("records.folder", settings.records.folder)


def _check_dates(key: str, file: str) -> None:
    """Raise CannotStart if the other end would refuse the certificate now. The router itself starts with it."""
    valid = validity_of(file)
    if valid is not None and (fault := valid.fault(datetime.now(UTC))):
        raise CannotStart(f"{key}: the certificate {file} {fault}")


def _listen_once(address: Address) -> None:
    for listener in bind(address):
        listener.close()


def _failing(checks: Iterable[Check]) -> list[StartProblem]:
    found = []
    for keys, check in checks:
        try:
            check()
        except CannotStart as error:
            found += [StartProblem(what, keys) for what in str(error).splitlines()]
    return found


def _checks(settings: RouterSettings) -> Iterator[Check]:
    yield ("engine",), lambda: check_engine(settings)
    if settings.data is not None:
        yield ("data",), partial(check_folder, "data", settings.data)
    if settings.links:
        from tamis.router.links.secret import read_secret

        by_secret = {link.secret: link.neighbour for link in reversed(settings.links) if link.secret}
        for secret, neighbour in by_secret.items():
            yield ("links", neighbour, "secret"), partial(read_secret, secret)


def _link_tls(settings: RouterSettings) -> LinkTls | None:
    if settings.neighbour_tls is None or not settings.links:
        return None
    from tamis.router.links.tls import link_tls

    return link_tls(settings.neighbour_tls)


def _signed_tokens(settings: RouterSettings) -> SignedTokens | None:
    rules = settings.access
    if rules is None or not rules.issuers:
        return None
    from tamis.router.access.signed_tokens import SignedTokens

    return SignedTokens(rules.issuers, rules.roles, lambda name: rules.of(name) is not None, time.time)


def _admin_token(settings: RouterSettings) -> bytes | None:
    if settings.admin_token is None:
        return None
    from tamis.router.admin.guard import read_admin_token

    return read_admin_token(settings.admin_token)
