"""Contexts of TLS 1.3, and sentences for files that cannot be used."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final, Protocol

from tamis.serving.cannot_start import CannotStart

PEM_BYTES_MAX: Final = 1_048_576
"""Most bytes read of a certificate or key file that cannot be used."""
_REASONS: Final = {"KEY_VALUES_MISMATCH": "the key belongs to another certificate"}
_ASKED: Final = {"none": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


class Certified(Protocol):
    """Settings that name the PEM files of a certificate and its key."""

    @property
    def certificate(self) -> str: ...
    @property
    def key(self) -> str: ...


class Server(Certified, Protocol):
    """Settings of a listener. `clients`: whether certificates of clients are asked for; `ca`: file of their roots."""

    @property
    def clients(self) -> str: ...
    @property
    def ca(self) -> str | None: ...


class Revoked(Protocol):
    """Lists of revoked certificates."""

    def check_by(self, context: ssl.SSLContext) -> None:
        """Let connections of `context` refuse them."""


def server_context(tls: Server, revoked: Revoked | None = None) -> ssl.SSLContext:
    """Return a context of client listeners; CannotStart if a file of `tls` cannot be used. `revoked`: its lists."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    load_certificate(context, tls)
    context.verify_mode = _ASKED[tls.clients]
    if tls.ca is not None:
        try:
            context.load_verify_locations(tls.ca)
        except (OSError, ssl.SSLError) as error:
            raise CannotStart(f"tls: {tls.ca} has no certificates: {error}") from error
    if revoked is not None:
        revoked.check_by(context)
    return context


def load_certificate(context: ssl.SSLContext, tls: Certified) -> None:
    """Use this certificate for later connections. Raise CannotStart, with nothing changed, if it cannot be used."""
    try:
        for target in (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), context):  # a trial first
            target.load_cert_chain(tls.certificate, tls.key, password=_no_passphrase)
    except (OSError, ssl.SSLError, ValueError) as error:
        raise CannotStart(f"tls: {_unfit(tls, error)}") from error


def _unfit(tls: Certified, error: Exception) -> str:
    """Return a sentence on which of the two files cannot be used, and why."""
    for file, content in ((tls.certificate, "CERTIFICATE"), (tls.key, "PRIVATE KEY")):
        try:
            with Path(file).open("rb") as stream:
                is_there = f"{content}-----".encode() in stream.read(PEM_BYTES_MAX)
        except OSError as unreadable:
            return f"{file}: {unreadable.strerror}"
        if not is_there:
            return f"{file} has no PEM text that begins with -----BEGIN {content}-----"
    reason = "the key must have no passphrase" if isinstance(error, ValueError) else _REASONS.get(_reason(error), "")
    return f"{tls.certificate} and {tls.key} are not a certificate and its key{f': {reason}' if reason else ''}"


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None))


def _no_passphrase() -> str:
    raise ValueError("the key must have no passphrase")
