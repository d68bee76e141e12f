"""Certificates for tests: a root, and what it signs."""

from __future__ import annotations

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)
DAY = dt.timedelta(days=1)


class Root:
    """A root; its certificate is in the file `ca`, and what it issues in `folder`."""

    def __init__(self, folder: Path, name: str = "root", *, crl_sign: bool = True) -> None:
        """`crl_sign`: whether the root may sign lists of revoked certificates."""
        self.folder, self._key, self._name = folder, ec.generate_private_key(ec.SECP256R1()), _named(name)
        basic = x509.BasicConstraints(ca=True, path_length=None)
        builder = self._about(self._name, self._key).add_extension(basic, critical=True)
        if not crl_sign:
            usage = dict.fromkeys(USAGES, False) | {"key_cert_sign": True}
            builder = builder.add_extension(x509.KeyUsage(**usage), critical=True)
        made = builder.sign(self._key, hashes.SHA256())
        self.ca = str(folder / f"{name}.pem")
        Path(self.ca).write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def issue(self, file: str, *names: str, common: str = "", days: int = 1) -> tuple[str, str]:
        """Return the files of a certificate with these names (DNS; URI if it has ://; an address), and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._about(_named(common or "x"), key, days)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([_alternative(name) for name in names]), False)
        made = builder.sign(self._key, hashes.SHA256())
        certificate, private = self.folder / f"{file}.pem", self.folder / f"{file}.key"
        certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        forms = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        private.write_bytes(key.private_bytes(*forms))
        return str(certificate), str(private)

    def revoke(self, file: str, *certificates: str, days: int = 1, form: str = "PEM", part: bool = False) -> str:
        """Write the list of this root that names these certificates, by their files; return its file. It ends in `days`
        days. `part`: it says that it is a part of a list."""
        now = dt.datetime.now(dt.UTC)
        builder = x509.CertificateRevocationListBuilder().issuer_name(self._name)
        builder = builder.last_update(now - 2 * DAY).next_update(now + days * DAY)
        for each in certificates:
            serial = x509.load_pem_x509_certificate(Path(each).read_bytes()).serial_number
            named = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now - DAY)
            builder = builder.add_revoked_certificate(named.build())
        if part:
            builder = builder.add_extension(x509.DeltaCRLIndicator(1), critical=True)
        made = builder.sign(self._key, hashes.SHA256())
        path = self.folder / file
        path.write_bytes(made.public_bytes(getattr(serialization.Encoding, form)))
        return str(path)

    def authority(self, name: str) -> Root:
        """Return an authority below this root; its certificate is in its file `ca`."""
        below = Root(self.folder, name)
        basic = x509.BasicConstraints(ca=True, path_length=None)
        builder = self._about(below._name, below._key).add_extension(basic, critical=True)
        Path(below.ca).write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        return below

    def _about(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, days: int = 1) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        since, until = (now - DAY, now + days * DAY) if days > 0 else (now + days * DAY - DAY, now + days * DAY)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(since)
            .not_valid_after(until)
        )


def _named(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _alternative(name: str) -> x509.GeneralName:
    if "://" in name:
        return x509.UniformResourceIdentifier(name)
    if name.replace(".", "").isdecimal():
        return x509.IPAddress(ipaddress.ip_address(name))
    return x509.DNSName(name)
