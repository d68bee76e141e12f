"""An issuer of signed tokens for tests, which shares no code with what verifies them: JSON, base64 and signatures of
`cryptography`."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

from tamis.protocol.access.issuers import Issuer
from tamis.protocol.access.patterns import read_pattern

NOW_S = 1_800_000_000
ISSUER, AUDIENCE = "https://id.example", "tamis:plant"


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int, size: int) -> str:
    return b64(value.to_bytes(size, "big"))


class Key:
    """A private key, its public JWK, and its signature over bytes."""

    def __init__(self, algorithm: str, kid: str | None = "k1") -> None:
        self.algorithm, self.kid = algorithm, kid
        self.private: Any
        if algorithm == "EdDSA":
            self.private = ed25519.Ed25519PrivateKey.generate()
            raw = self.private.public_key().public_bytes_raw()
            self.jwk: dict[str, Any] = {"kty": "OKP", "crv": "Ed25519", "x": b64(raw)}
        elif algorithm.startswith("ES"):
            curve, self.size = (ec.SECP256R1(), 32) if algorithm == "ES256" else (ec.SECP384R1(), 48)
            self.private = ec.generate_private_key(curve)
            point = self.private.public_key().public_numbers()
            name = "P-256" if self.size == 32 else "P-384"
            self.jwk = {"kty": "EC", "crv": name, "x": number(point.x, self.size), "y": number(point.y, self.size)}
        else:
            self.private = rsa.generate_private_key(65_537, 2_048)
            public = self.private.public_key().public_numbers()
            self.jwk = {"kty": "RSA", "n": number(public.n, 256), "e": number(public.e, 3)}
        if kid is not None:
            self.jwk["kid"] = kid

    @property
    def pem(self) -> bytes:
        forms = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        return self.private.public_key().public_bytes(*forms)

    def sign(self, data: bytes) -> bytes:
        if self.algorithm == "EdDSA":
            return self.private.sign(data)
        if self.algorithm.startswith("ES"):
            digest = hashes.SHA256() if self.size == 32 else hashes.SHA384()
            r, s = utils.decode_dss_signature(self.private.sign(data, ec.ECDSA(digest)))
            return r.to_bytes(self.size, "big") + s.to_bytes(self.size, "big")
        if self.algorithm == "RS256":
            return self.private.sign(data, padding.PKCS1v15(), hashes.SHA256())
        return self.private.sign(data, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256())

    def token(self, claims: dict[str, Any] | bytes, **header: Any) -> bytes:
        """Return a token with these claims (or these bytes in their place); members of the header that are None are
        left out."""
        whole = {"alg": self.algorithm, "typ": "JWT", "kid": self.kid} | header
        shown = {name: value for name, value in whole.items() if value is not None}
        body = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
        signed = f"{b64(json.dumps(shown).encode())}.{b64(body)}".encode()
        return signed + b"." + b64(self.sign(signed)).encode()


def claims(**changed: Any) -> dict[str, Any]:
    """Return claims that are valid at NOW_S; those that are None are left out."""
    said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "iat": NOW_S - 5, "nbf": NOW_S - 5, "exp": NOW_S + 600}
    return {name: value for name, value in (said | changed).items() if value is not None}


def keys_file(path: Path, *keys: dict[str, Any]) -> str:
    path.write_text(json.dumps({"keys": keys}))
    path.chmod(0o644)
    return str(path)


def issuer(keys: str, *algorithms: str, names: str = "*", **more: Any) -> Issuer:
    return Issuer("corp", ISSUER, AUDIENCE, keys, algorithms, (read_pattern(names),), **more)


def by_public_key(key: Key, said: dict[str, Any], secret: bytes) -> bytes:
    """Return a token that is signed by HS256, with public bytes as the secret."""
    header = {"alg": "HS256", "typ": "JWT", "kid": key.kid}
    signed = f"{b64(json.dumps(header).encode())}.{b64(json.dumps(said).encode())}".encode()
    return signed + b"." + b64(hmac.new(secret, signed, hashlib.sha256).digest()).encode()
