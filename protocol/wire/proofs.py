"""The mutual proof of both ends of a link that they know one secret, without sending it.

Law: a proof covers the whole of both greeting frames, and so both nonces, both names and the chosen version: it cannot
be replayed, nor survive a change to what was negotiated. Each end's proof has its own label: an echo proves nothing.
"""

from __future__ import annotations

import enum
import hmac


class Prover(enum.Enum):
    """The end that proves; its value is the label in front of the signed bytes."""

    CONNECTOR = b"tamis 1 connector"
    ACCEPTOR = b"tamis 1 acceptor"


def proof(secret: bytes, prover: Prover, hello: bytes, welcome: bytes) -> bytes:
    """Return the HMAC-SHA256 over label, HELLO frame and WELCOME frame, each frame with its prefix as on the wire."""
    return hmac.digest(secret, prover.value + hello + welcome, "sha256")


def proves(candidate: bytes, secret: bytes, prover: Prover, hello: bytes, welcome: bytes) -> bool:
    """Return whether `candidate` equals that proof, in a time that does not depend on which byte differs."""
    return hmac.compare_digest(candidate, proof(secret, prover, hello, welcome))
