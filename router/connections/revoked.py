"""Lists of revoked certificates (CRL, RFC 5280) of the authorities in a file of roots.

Law: lists are used only if each is in force and signed by an authority of the file, and each of these has one.
OpenSSL refuses revoked certificates in handshakes, and those without a list in force; `refusal` decides again about
certificates that were accepted before.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Final

from tamis.configs.sections.connections import NeighbourTls, Tls
from tamis.router.connections.certificate import Validity
from tamis.serving.cannot_start import CannotStart

if TYPE_CHECKING:  # a router without lists starts without it
    import ssl

    from cryptography.x509 import Certificate, CertificateRevocationList, Name

FILE_BYTES_MAX: Final = 4_194_304
"""The most bytes of a file of lists, which is room for 100,000 certificates."""
_PEM: Final = re.compile(rb"-----BEGIN X509 CRL-----.+?-----END X509 CRL-----", re.DOTALL)
_ROOTS_BYTES_MAX: Final = 1_048_576


class RevokedCertificates:
    """The lists in the file `revoked` of the section `key`, of the authorities in its `ca`. Raise CannotStart if they
    cannot be used."""

    def __init__(self, key: str, file: str, ca: str, now: datetime) -> None:
        self._key, self.file = key, file
        try:
            authorities, lists = self._authorities(ca), self._lists()
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "cryptography":
                raise
            raise self._wrong("it needs cryptography: pip install 'tamis[jwt]'") from error
        for each in lists:
            self._check(each, authorities, ca)
        self._by_name: dict[Name, list[tuple[Certificate, frozenset[int]]]] = {}
        for authority in authorities:
            found = [each for each in lists if _is_of(each, authority)]
            if len(found) != 1:
                of = f"{_shown(authority.subject)}, an authority in {ca}"
                raise self._wrong(f"it has {len(found)} lists of {of}; it must have one")
            serials = frozenset(each.serial_number for each in found[0])
            self._by_name.setdefault(authority.subject, []).append((authority, serials))
        self.valid = Validity(
            max(each.last_update_utc for each in lists),
            min(each.next_update_utc or datetime.max.replace(tzinfo=UTC) for each in lists),
        )
        if fault := self.valid.fault(now):
            raise self._wrong(f"it {fault}")
        self._pem = b"".join(_pem(each) for each in lists)

    def check_by(self, context: ssl.SSLContext) -> None:
        """Have handshakes refuse what the lists name, and each chain in which an authority has none. Raise CannotStart
        if that fails."""
        import ssl

        try:
            with NamedTemporaryFile(suffix=".pem") as file:  # `ssl` loads lists from a file only
                file.write(self._pem)
                file.flush()
                context.load_verify_locations(file.name)
        except OSError as error:  # also of ssl
            raise self._wrong(f"OpenSSL does not take it: {error}") from error
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_CHAIN

    def refusal(self, certificate: bytes) -> str:
        """Return why a certificate, in DER, that has been accepted may not be used any more; "" if it may."""
        from cryptography.x509 import load_der_x509_certificate

        link = load_der_x509_certificate(certificate)
        for _ in range(len(self._by_name) + 1):
            issuers = self._by_name.get(link.issuer)
            if issuers is None:
                return f"no list of revoked certificates is of {_shown(link.issuer)}"
            if any(link.serial_number in serials for _, serials in issuers):
                return f"the certificate {_shown(link.subject)} is revoked"
            if any(authority.subject == authority.issuer for authority, _ in issuers):
                return ""
            link = issuers[0][0]
        return "the certificate leads to no root"

    def _authorities(self, ca: str) -> list[Certificate]:
        from cryptography.x509 import load_pem_x509_certificates

        try:
            with Path(ca).open("rb") as file:
                return load_pem_x509_certificates(file.read(_ROOTS_BYTES_MAX))
        except (OSError, ValueError) as error:
            raise CannotStart(f"{self._key}: {ca} has no certificates: {error}") from error

    def _lists(self) -> list[CertificateRevocationList]:
        from cryptography.x509 import load_der_x509_crl, load_pem_x509_crl

        try:
            with Path(self.file).open("rb") as file:
                data = file.read(FILE_BYTES_MAX + 1)
        except OSError as error:
            raise self._wrong(str(error.strerror)) from error
        if len(data) > FILE_BYTES_MAX:
            raise self._wrong(f"it has more than {FILE_BYTES_MAX:,} bytes")
        written = _PEM.findall(data)
        try:
            return [load_pem_x509_crl(each) for each in written] or [load_der_x509_crl(data)]
        except ValueError:
            raise self._wrong("it is no list of revoked certificates (CRL) in PEM or DER") from None

    def _check(self, each: CertificateRevocationList, authorities: list[Certificate], ca: str) -> None:
        """Raise CannotStart if a list is of none of the authorities, or is a part of a list."""
        if not any(_is_of(each, authority) for authority in authorities):
            raise self._wrong(
                f"its list of {_shown(each.issuer)} is not signed by an authority in {ca} that may sign it"
            )
        if any(extension.critical for extension in each.extensions):
            raise self._wrong(f"its list of {_shown(each.issuer)} is a part of one, and a whole list is needed")

    def _wrong(self, what: str) -> CannotStart:
        return CannotStart(f"{self._key}: revoked: {self.file}: {what}")


def lists_of(key: str, tls: Tls | NeighbourTls | None) -> RevokedCertificates | None:
    """Return the lists that a section `key` names; None if it names none."""
    if tls is None or tls.revoked is None or tls.ca is None:
        return None
    return RevokedCertificates(key, tls.revoked, tls.ca, datetime.now(UTC))


def _is_of(each: CertificateRevocationList, authority: Certificate) -> bool:
    """Return whether a list is signed by an authority, which may sign lists."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.x509 import ExtensionNotFound, KeyUsage

    try:
        may_sign = authority.extensions.get_extension_for_class(KeyUsage).value.crl_sign
    except ExtensionNotFound:
        may_sign = True
    try:
        is_signed = each.is_signature_valid(authority.public_key())  # type: ignore[arg-type]
        return may_sign and is_signed and each.issuer == authority.subject
    except (TypeError, ValueError, UnsupportedAlgorithm):  # another kind of key
        return False


def _shown(name: Name) -> str:
    return name.rfc4514_string() or "an authority without a name"


def _pem(each: CertificateRevocationList) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return each.public_bytes(Encoding.PEM)
