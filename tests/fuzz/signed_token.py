"""Fuzz target: any bytes as a signed token (JWT), and as its header and its claims under a right signature. None is
fine, and so is a result for the right name; an exception is a bug, and a result for a token that no key signed."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from pathlib import Path

from tamis.router.access.signed_tokens import SignedTokens
from tests.router.access.issuing import NOW_S, Key, b64, claims, issuer, keys_file

_FOLDER = Path(tempfile.mkdtemp(prefix="tamis-fuzz-"))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
_KEY = Key("EdDSA")
_TOKENS = SignedTokens(
    [issuer(keys_file(_FOLDER / "k", _KEY.jwk), "EdDSA", "ES256", roles_from="groups")],
    ("sensor",),
    lambda name: name == "listed",
    lambda: NOW_S,
)
_CLAIMS = json.dumps(claims(groups=["sensor"])).encode()

SEEDS: list[bytes] = [
    b"",
    b"..",
    b"e30.e30.",
    _KEY.token(claims()),
    _KEY.token(claims(), alg="none"),
    _CLAIMS,
    json.dumps(claims(exp=2**63)).encode(),
    json.dumps(claims(exp=1e308, nbf=-1, aud=[], sub=["ann"])).encode(),
    b'{"alg": "EdDSA", "kid": "k1", "typ": "JWT"}',
    b'{"alg": "EdDSA", "kid": "k1", "crit": ["exp"], "b64": false}',
    b'{"alg": "ES256", "kid": null}',
    b"[" * 1_000,
    b'{"a": ' * 300,
]


def target(data: bytes) -> None:
    assert _TOKENS.verified("ann", data) is None or data in SEEDS, "a token that no key signed"
    found = _TOKENS.verified("ann", _KEY.token(data))
    assert found is None or found.principal == "ann", found
    signed = f"{b64(data)}.{b64(_CLAIMS)}".encode()
    found = _TOKENS.verified("ann/1", signed + b"." + b64(_KEY.sign(signed)).encode())
    assert found is None or found.roles == ("sensor",), found
