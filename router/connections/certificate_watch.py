"""Validity of the certificates that a router uses, checked each second.

Law: the dates are those of the loaded certificate, even if its file has changed since. A certificate that peers would
reject is a problem of the router, and so are lists of revoked certificates that are not in force. If it is the one of
`tls`, the router is not ready, because new clients cannot connect; if it is the one of `neighbour_tls`, the router
stays ready and serves clients.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from tamis.router.connections.certificate import Validity, shown_date, validity_of
from tamis.router.connections.revoked import RevokedCertificates
from tamis.router.daemon.health import Health
from tamis.router.daemon.logs import fields

OF_CLIENTS: Final = "tls"
SOON: Final = timedelta(days=14)
"""Time before its end in which a certificate expires soon; configs/prometheus/alerts.yml has this value, too."""

_log = logging.getLogger(__name__)


class CertificateInUse(NamedTuple):
    """The certificate that was loaded for `key`, `tls` or `neighbour_tls`, from `file`."""

    key: str
    file: str
    valid: Validity

    def expires_soon(self, now: datetime) -> bool:
        return now < self.valid.until <= now + SOON


class CertificateWatch:
    """Watches certificates, and reports to `health` and to the log those that have expired or soon will."""

    def __init__(self, health: Health, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._health, self.now = health, now
        self._in_use: dict[str, CertificateInUse] = {}
        self._lists: dict[str, RevokedCertificates] = {}
        self._warned: dict[str, str] = {}

    @property
    def in_use(self) -> list[CertificateInUse]:
        """The certificates with readable dates."""
        return list(self._in_use.values())

    def use(self, key: str, file: str) -> None:
        """Watch the certificate in `file`, which has just been loaded for `key`, instead of the one before."""
        self._in_use.pop(key, None)
        valid = validity_of(file)
        if valid is None:
            self._warn(key, "")
            self._health.mended(_problem(key))
        else:
            self._in_use[key] = CertificateInUse(key, file, valid)
        self.look()

    def use_lists(self, key: str, revoked: RevokedCertificates | None) -> None:
        """Watch the lists of revoked certificates that have just been loaded for `key`; None: it has none."""
        if revoked is None:
            self._lists.pop(key, None)
            self._health.mended(_problem(f"{key}.revoked"))
        else:
            self._lists[key] = revoked
        self.look()

    def look(self) -> None:
        """Log and report the changes since the last check."""
        now = self.now()
        for key, lists in self._lists.items():
            if fault := lists.valid.fault(now):
                text = f"{key}: revoked: {lists.file} {fault}: all certificates are refused"
                self._health.problem(_problem(f"{key}.revoked"), text, is_ready=key != OF_CLIENTS)
            else:
                self._health.mended(_problem(f"{key}.revoked"))
        for key, each in self._in_use.items():
            fault = each.valid.fault(now)
            if fault:
                text = f"{key}: the certificate {each.file} {fault}"
                self._health.problem(_problem(key), text, is_ready=key != OF_CLIENTS)
            else:
                self._health.mended(_problem(key))
            soon = f"expires on {shown_date(each.valid.until)}" if each.expires_soon(now) else ""
            self._warn(key, fault or soon)

    def _warn(self, key: str, what: str) -> None:
        """Log the state `what` of a certificate, once until it changes; "" is not logged."""
        if what and self._warned.get(key) != what:
            _log.warning("certificate %s", what, extra=fields(key=key, file=self._in_use[key].file))
        self._warned[key] = what


def _problem(key: str) -> str:
    return f"certificate {key}"
