"""The token file: a client's name and its token a line, `*` for a token that any name may use.

    # sensors in hall 3
    press-1   k3J9...
    *         9fQ2...

Law: a file that others than its owner may read is refused. Tokens are kept as digests and compared in constant time,
and an unknown name takes as long as a wrong token. A changed file takes effect at the next greeting; one that has
become wrong does not, and says so.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import stat
from pathlib import Path
from typing import Final

from tamis.protocol.limits import CREDENTIAL_BYTES_MAX
from tamis.router.logs import fields
from tamis.router.settings import CannotStart

ANYBODY: Final = "*"
FILE_BYTES_MAX: Final = 1024 * 1024
"""Some 20,000 clients. The file is read between two messages, and must not take long."""

_log = logging.getLogger(__name__)
_Stamp = tuple[int, int, int]


class TokenFile:
    """CannotStart if the file is not there, not private or not well-formed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._stamp, self._digests = _read(path)

    def admits(self, name: str, token: bytes) -> bool:
        """May a client of this name come in with this token?"""
        self._refresh()
        given, unknown = _digest(token), _digest(b"")
        own = hmac.compare_digest(self._digests.get(name, unknown), given)
        anybody = hmac.compare_digest(self._digests.get(ANYBODY, unknown), given)
        return bool(token) and (own or anybody)

    def _refresh(self) -> None:
        try:
            if _stamp(os.stat(self.path)) != self._stamp:  # noqa: PTH116 - a greeting's worth of Path objects less
                self._stamp, self._digests = _read(self.path)
                _log.info("token file read again", extra=fields(file=self.path, tokens=len(self._digests)))
        except (CannotStart, OSError) as error:
            _log.error("the changed token file is not used", extra=fields(reason=str(error)))


def _read(path: str) -> tuple[_Stamp, dict[str, bytes]]:
    try:
        with Path(path).open("rb") as file:
            status = os.fstat(file.fileno())
            _check_private(path, status)
            if status.st_size > FILE_BYTES_MAX:
                raise CannotStart(f"token file {path}: at most {FILE_BYTES_MAX:,} bytes")
            return _stamp(status), _parsed(path, file.read(FILE_BYTES_MAX))
    except OSError as error:
        raise CannotStart(f"token file {path}: {error.strerror}") from error


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_mtime_ns, status.st_size, status.st_ino


def _check_private(path: str, status: os.stat_result) -> None:
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise CannotStart(f"token file {path}: others may read it; run chmod 600 {path}")


def _parsed(path: str, data: bytes) -> dict[str, bytes]:
    digests: dict[str, bytes] = {}
    for number, line in enumerate(data.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith(b"#"):
            continue
        if len(words) != 2 or len(words[1]) > CREDENTIAL_BYTES_MAX:
            raise CannotStart(f"token file {path}, line {number}: write a name and a token, at most 1,024 bytes")
        name = words[0].decode(errors="replace")
        if name in digests:
            raise CannotStart(f"token file {path}, line {number}: {name} has a token already")
        digests[name] = _digest(words[1])
    return digests


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
