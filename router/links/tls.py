"""Links behind TLS 1.3: each end shows a certificate, which must contain its router's id.

Law: a certificate that does not lead to the configured roots ends the connection before a byte of the wire is read; the
greeting compares the names in the certificate with the stated name.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import Any

from tamis.configs.sections.connections import NeighbourTls
from tamis.router.connections.revoked import RevokedCertificates, lists_of
from tamis.serving.cannot_start import CannotStart
from tamis.serving.tls_contexts import load_certificate


@dataclass(frozen=True, slots=True)
class LinkTls:
    """What links of a router use from their next handshake on. `revoked`: the lists that both contexts check by."""

    accepting: ssl.SSLContext
    dialling: ssl.SSLContext
    revoked: RevokedCertificates | None


def link_tls(tls: NeighbourTls) -> LinkTls:
    """Return what the files of `tls` say; CannotStart if one is unusable."""
    revoked = lists_of("neighbour_tls", tls)
    accepting, dialling = (_context(each, tls) for each in (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT))
    if revoked is not None:
        revoked.check_by(accepting)
        revoked.check_by(dialling)
    return LinkTls(accepting, dialling, revoked)


def names_in(transport: asyncio.BaseTransport) -> frozenset[str]:
    """Return the names in the certificate of the other end: its alternative names, and its common name."""
    certificate: dict[str, Any] = transport.get_extra_info("peercert") or {}
    alternative = {value for kind, value in certificate.get("subjectAltName", ()) if kind == "DNS"}
    common = {value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"}
    return frozenset(alternative | common)


def _context(protocol: int, tls: NeighbourTls) -> ssl.SSLContext:
    """Return a context with the files of `tls`; CannotStart if one is unusable."""
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # routers are identified by their ids, at any address
    context.verify_mode = ssl.CERT_REQUIRED
    load_certificate(context, tls)
    try:
        context.load_verify_locations(tls.ca)
    except (OSError, ssl.SSLError) as error:
        raise CannotStart(f"neighbour_tls: {tls.ca} has no certificates: {error}") from error
    return context
