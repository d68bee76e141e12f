"""Validity of a certificate, read from its PEM file.

Law: only the dates are read; a file without a readable certificate yields None, and the code that loads it reports the
error. A chain is valid while all of its certificates are. The reader checks that each nested length of DER is within
the one around it, and never recurses.
"""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

FILE_BYTES_MAX: Final = 1 << 20
_PEM: Final = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_SEQUENCE: Final = 0x30
_VERSION: Final = 0xA0
_UTC_TIME: Final = 0x17
_GENERALIZED_TIME: Final = 0x18
_HALF_CENTURY: Final = 50


@dataclass(frozen=True, slots=True)
class Validity:
    """The time in which all certificates of a file are valid."""

    since: datetime
    until: datetime

    def fault(self, now: datetime) -> str:
        """Return why a peer would reject the certificate at `now`; "" if it is valid."""
        if self.until <= now:
            return f"expired on {shown_date(self.until)}"
        return f"is not valid before {shown_date(self.since)}" if self.since > now else ""


def shown_date(date: datetime) -> str:
    return f"{date:%Y-%m-%d %H:%M} UTC"


def validity_of(path: str | Path) -> Validity | None:
    """Return the validity of the certificates in the file `path`; None if it has no readable one."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(FILE_BYTES_MAX).decode("ascii", "replace")
        found = [_validity(ssl.PEM_cert_to_DER_cert(each)) for each in _PEM.findall(text)]
    except (OSError, ValueError):
        return None
    return Validity(max(each.since for each in found), min(each.until for each in found)) if found else None


def _validity(der: bytes) -> Validity:
    """Return the two dates of a certificate: they are in the fourth field of its first field, or in the fifth if that
    begins with a version."""
    certificate = _Reader(der, 0, len(der)).inside(_SEQUENCE)
    signed = certificate.inside(_SEQUENCE)
    if signed.tag == _VERSION:
        signed.skip()
    for _ in ("serial number", "algorithm", "issuer"):
        signed.skip()
    dates = signed.inside(_SEQUENCE)
    return Validity(dates.date(), dates.date())


class _Reader:
    """Reads elements of DER in sequence; raises ValueError if they are malformed."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data, self._at, self._end = data, at, end

    @property
    def tag(self) -> int:
        if self._at >= self._end:
            raise ValueError("no element")
        return self._data[self._at]

    def inside(self, tag: int) -> _Reader:
        """Return a reader of the content of the next element, and move past that element."""
        if self.tag != tag:
            raise ValueError(f"tag {self.tag:#x}, not {tag:#x}")
        begin, end = self._bounds()
        self._at = end
        return _Reader(self._data, begin, end)

    def skip(self) -> None:
        self._at = self._bounds()[1]

    def date(self) -> datetime:
        tag = self.tag
        begin, end = self._bounds()
        self._at = end
        text = self._data[begin:end].decode("ascii")
        if tag == _UTC_TIME:
            year = int(text[:2])
            text = f"{2000 + year if year < _HALF_CENTURY else 1900 + year}{text[2:]}"
        elif tag != _GENERALIZED_TIME:
            raise ValueError(f"tag {tag:#x} is not a date")
        return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)

    def _bounds(self) -> tuple[int, int]:
        """Return the begin and end of the content of the next element."""
        at, end = self._at + 2, self._end
        if at > end:
            raise ValueError("no length")
        size = self._data[at - 1]
        if size & 0x80:
            octets = size & 0x7F
            if not 1 <= octets <= 4 or at + octets > end:
                raise ValueError("an invalid length")
            size = int.from_bytes(self._data[at : at + octets], "big")
            at += octets
        if at + size > end:
            raise ValueError("longer than the element around it")
        return at, at + size
