"""The certificates that a router uses: until when each is valid, looked at each second.

Law: the dates are those of the certificate that was loaded, whatever its file holds by now. A certificate that the
other end would refuse is a problem of the router's. With that of `tls` the router is not ready, as new clients cannot
come in; with that of `neighbour_tls` it is, as it serves clients.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from tamis.router.connections.certificate import Validity, shown_date, validity_of
from tamis.router.daemon.health import Health
from tamis.router.daemon.logs import fields

OF_CLIENTS: Final = "tls"
SOON: Final = timedelta(days=14)
"""So long before its end a certificate is said to expire soon; configs/prometheus/alerts.yml has the same."""

_log = logging.getLogger(__name__)


class CertificateInUse(NamedTuple):
    """The certificate that was loaded for `key`, `tls` or `neighbour_tls`, from `file`."""

    key: str
    file: str
    valid: Validity

    def expires_soon(self, now: datetime) -> bool:
        return now < self.valid.until <= now + SOON


class CertificateWatch:
    """Watch certificates, and tell `health` and the log of those that have expired or soon will."""

    def __init__(self, health: Health, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._health, self.now = health, now
        self._in_use: dict[str, CertificateInUse] = {}
        self._warned: dict[str, str] = {}

    @property
    def in_use(self) -> list[CertificateInUse]:
        """The certificates whose dates could be read."""
        return list(self._in_use.values())

    def use(self, key: str, file: str) -> None:
        """Watch the certificate in `file`, which has just been loaded, in place of the one before."""
        self._in_use.pop(key, None)
        valid = validity_of(file)
        if valid is None:
            self._warn(key, "")
            self._health.mended(_problem(key))
        else:
            self._in_use[key] = CertificateInUse(key, file, valid)
        self.look()

    def look(self) -> None:
        """Tell what has changed since the last look."""
        now = self.now()
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
        """Log what is wrong with a certificate, once for as long as it is."""
        if what and self._warned.get(key) != what:
            _log.warning("a certificate %s", what, extra=fields(key=key, file=self._in_use[key].file))
        self._warned[key] = what


def _problem(key: str) -> str:
    return f"certificate {key}"
