"""The public keys of an issuer: a file of JSON Web Keys (JWKS).

Law: a key says by its own kind which algorithm it verifies; a token never does. Symmetric keys, private keys and keys
for encryption are refused. The file is read again when it has changed; a changed file that is wrong is not used, and an
error is logged, so that a failed rotation does not end sessions.
"""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tamis.router.daemon.logs import fields
from tamis.serving.cannot_start import CannotStart

FILE_BYTES_MAX: Final = 65_536
KEYS_MAX: Final = 16
_RSA_BITS_MIN: Final = 2_048
_WRITABLE: Final = stat.S_IWGRP | stat.S_IWOTH
_PRIVATE: Final = ("d", "k")
"""Members of private and of symmetric keys."""
_BY_CURVE: Final = {"Ed25519": "EdDSA", "P-256": "ES256", "P-384": "ES384"}
_BY_RSA: Final = ("RS256", "PS256")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public key, and the algorithms that it verifies. `kid` is None if it has no id."""

    kid: str | None
    algorithms: tuple[str, ...]
    key: Any
    """An object of `cryptography`."""
    written: object = None
    """The key as it stands in the file."""


class KeyFile:
    """The keys of one file, for these algorithms. Raise CannotStart if it cannot be used."""

    def __init__(self, path: str, algorithms: tuple[str, ...]) -> None:
        self._path, self._algorithms = path, algorithms
        self._stamp, self._keys = self._read()

    def fitting(self, kid: str | None, algorithm: str) -> VerifyingKey | None:
        """Return the key for a token with this key id and algorithm; None if there is none. A token without an id is
        verified by the only key of its algorithm."""
        self._refresh()
        found = [each for each in self._keys if algorithm in each.algorithms and kid in (None, each.kid)]
        return found[0] if len(found) == 1 else None

    def has(self, key: VerifyingKey) -> bool:
        """Return whether this key is one of the file, as it was read last."""
        return any(key.written == each.written and each.algorithms for each in self._keys)

    def _refresh(self) -> None:
        try:
            if _stamp(os.stat(self._path)) != self._stamp:  # noqa: PTH116 - as for the token file
                self._stamp, self._keys = self._read()
                _log.info("keys reloaded", extra=fields(file=self._path, keys=len(self._keys)))
        except (CannotStart, OSError) as error:
            _log.error("the changed keys are not used", extra=fields(reason=str(error)))

    def _read(self) -> tuple[tuple[int, int, int], tuple[VerifyingKey, ...]]:
        try:
            with Path(self._path).open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_mode & _WRITABLE:
                    raise self._wrong(f"others may change it; run chmod 644 {self._path}")
                data = file.read(FILE_BYTES_MAX + 1)
        except OSError as error:
            raise self._wrong(str(error.strerror)) from error
        if len(data) > FILE_BYTES_MAX:
            raise self._wrong(f"it has more than {FILE_BYTES_MAX:,} bytes")
        return _stamp(status), tuple(self._parsed(data))

    def _parsed(self, data: bytes) -> list[VerifyingKey]:
        try:
            listed = json.loads(data)["keys"]
        except (ValueError, KeyError, TypeError, RecursionError):
            listed = None
        if not isinstance(listed, list) or not 1 <= len(listed) <= KEYS_MAX:
            raise self._wrong(f'it must be a JSON object with "keys", a list of 1 to {KEYS_MAX} keys')
        found = [self._key(number, each) for number, each in enumerate(listed, 1)]
        used = [each for each in found if each.algorithms]
        if not used:
            raise self._wrong(f"it has no key for {', '.join(self._algorithms)}")
        known = [(each.kid, algorithm) for each in used for algorithm in each.algorithms]
        if len(set(known)) < len(known):
            raise self._wrong("two of its keys have one `kid`, or none; keys of one algorithm need ids")
        return used

    def _key(self, number: int, written: object) -> VerifyingKey:
        from jwt import PyJWTError
        from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

        if not isinstance(written, dict):
            raise self._wrong(f"key {number} is no JSON object")
        if any(member in written for member in _PRIVATE):
            raise self._wrong(f"key {number} is private or symmetric; a router needs public keys only")
        kid = written.get("kid")
        if kid is not None and not isinstance(kid, str):
            raise self._wrong(f"key {number}: `kid` must be text")
        kinds: dict[object, Callable[[dict[str, Any]], Any]] = {
            "OKP": OKPAlgorithm.from_jwk,
            "EC": ECAlgorithm.from_jwk,
            "RSA": RSAAlgorithm.from_jwk,
        }
        verifies = self._verifies(number, written)
        read = kinds.get(written.get("kty"))
        if read is None or not verifies:
            return VerifyingKey(kid, (), None)
        try:
            key = read(written)
        except (PyJWTError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            raise self._wrong(f"key {number} cannot be read: {error}") from None
        if getattr(key, "key_size", _RSA_BITS_MIN) < _RSA_BITS_MIN and written["kty"] == "RSA":
            raise self._wrong(f"key {number} has fewer than {_RSA_BITS_MIN:,} bits")
        return VerifyingKey(kid, verifies, key, written)

    def _verifies(self, number: int, written: dict[str, object]) -> tuple[str, ...]:
        """Return the algorithms of the issuer that a key verifies; none for a key with another use."""
        if written.get("use", "sig") != "sig":
            return ()
        if written.get("kty") == "RSA":
            possible: tuple[str, ...] = _BY_RSA
        else:
            curve = written.get("crv")
            possible = (_BY_CURVE[curve],) if isinstance(curve, str) and curve in _BY_CURVE else ()
        stated = written.get("alg")
        if stated is not None and not isinstance(stated, str):
            raise self._wrong(f"key {number}: `alg` must be text")
        return tuple(each for each in possible if each in self._algorithms and stated in (None, each))

    def _wrong(self, what: str) -> CannotStart:
        return CannotStart(f"key file {self._path}: {what}")


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_mtime_ns, status.st_size, status.st_ino
