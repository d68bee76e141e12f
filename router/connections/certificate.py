"""When a certificate is valid, read from its PEM file.

Law: only the dates are read; what is no certificate is the business of who loads it, and has none here. Of a chain the
first that ends counts. The reader walks nested lengths of DER, each inside the one around it, and never recurses.
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
    """From when and until when all certificates of a file are valid."""

    since: datetime
    until: datetime

    def fault(self, now: datetime) -> str:
        """Return what keeps the other end from believing the certificate at `now`; empty where nothing does."""
        if self.until <= now:
            return f"has expired on {shown_date(self.until)}"
        return f"is valid from {shown_date(self.since)} on, not yet" if self.since > now else ""


def shown_date(date: datetime) -> str:
    return f"{date:%Y-%m-%d %H:%M} UTC"


def validity_of(path: str | Path) -> Validity | None:
    """Return when the certificates of the file at `path` are valid; None if it has none that can be read."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(FILE_BYTES_MAX).decode("ascii", "replace")
        found = [_validity(ssl.PEM_cert_to_DER_cert(each)) for each in _PEM.findall(text)]
    except (OSError, ValueError):
        return None
    return Validity(max(each.since for each in found), min(each.until for each in found)) if found else None


def _validity(der: bytes) -> Validity:
    """Return the two dates of a certificate: those of the fourth field of its first field, or of the fifth where the
    version stands first."""
    certificate = _Reader(der, 0, len(der)).inside(_SEQUENCE)
    signed = certificate.inside(_SEQUENCE)
    if signed.tag == _VERSION:
        signed.skip()
    for _ in ("serial number", "algorithm", "issuer"):
        signed.skip()
    dates = signed.inside(_SEQUENCE)
    return Validity(dates.date(), dates.date())


class _Reader:
    """Reads the elements of DER one after the other; ValueError where they are not as they must be."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data, self._at, self._end = data, at, end

    @property
    def tag(self) -> int:
        if self._at >= self._end:
            raise ValueError("no element")
        return self._data[self._at]

    def inside(self, tag: int) -> _Reader:
        """Return a reader of what is inside the next element, which is passed over."""
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
            raise ValueError(f"tag {tag:#x} is no date")
        return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)

    def _bounds(self) -> tuple[int, int]:
        """Return where the content of the next element begins and ends."""
        at, end = self._at + 2, self._end
        if at > end:
            raise ValueError("no length")
        size = self._data[at - 1]
        if size & 0x80:
            octets = size & 0x7F
            if not 1 <= octets <= 4 or at + octets > end:
                raise ValueError("a length that is none")
            size = int.from_bytes(self._data[at : at + octets], "big")
            at += octets
        if at + size > end:
            raise ValueError("longer than what it lies in")
        return at, at + size
