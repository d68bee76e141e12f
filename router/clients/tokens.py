"""The token file: one line for each client, its name and its token; `*` has a token that any name may use.

    # sensors in hall 3
    press-1   k3J9...
    *         9fQ2...

Law: a file that users other than its owner may read is refused. A name with a line needs the token of that line; other
names are admitted by the token of `*`, and `press-1/left` by that of `press-1`, too. Tokens are stored as digests and
compared in constant time, and an unknown name takes as long as a wrong token. A changed file takes effect at the next
greeting, whether that succeeds or not, also for connected clients; an invalid file is not used, and an error is logged.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import stat
from pathlib import Path
from typing import Final

from tamis.protocol.errors import Refused
from tamis.protocol.limits import CREDENTIAL_BYTES_MAX
from tamis.protocol.peer_names import check_peer_name
from tamis.router.access.admitted import Admitted, Denial
from tamis.router.clients.principals import SUB_NAMES_BEGIN, principal_of
from tamis.router.daemon.logs import fields
from tamis.serving.cannot_start import CannotStart

ANYBODY: Final = "*"
FILE_BYTES_MAX: Final = 1024 * 1024
"""Most bytes of the file, enough for 20,000 clients: the loop waits while it is read."""

_log = logging.getLogger(__name__)
_Stamp = tuple[int, int, int]


class TokenFile:
    """The tokens of one file. Raise CannotStart if the file is missing, not private or malformed. `digests`: name to
    digest of its token; a new mapping whenever the file has changed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._stamp, self.digests = _read(path)

    def admits(self, name: str, token: bytes) -> Admitted | Denial:
        """Return what a client `name` with `token` is admitted as, or the denial; reload the file first if it has
        changed."""
        self._refresh()
        digest = digest_of(token)
        if token and self.still_admits(name, digest):
            return Admitted(digest, principal_of(name, lambda line: self._is_of(line, digest)))
        return Denial("this token is not valid for this name")

    def still_admits(self, name: str, digest: bytes) -> bool:
        """Return whether `name` is still admitted with the token of this digest."""
        nobody = digest_of(b"")
        own, anybody = self.digests.get(name), self.digests.get(ANYBODY, nobody)
        if own is not None and name != ANYBODY:
            return hmac.compare_digest(own, digest)
        is_part_of_line = self._is_of(name.partition(SUB_NAMES_BEGIN)[0], digest)
        return (hmac.compare_digest(anybody, digest) or is_part_of_line) and digest != nobody

    @property
    def has_token_of_anybody(self) -> bool:
        return ANYBODY in self.digests

    def _is_of(self, line: str, digest: bytes) -> bool:
        """Return whether the line of the name `line` has the token with this digest."""
        own = self.digests.get(line)
        return hmac.compare_digest(own or digest_of(b""), digest) and own is not None and line != ANYBODY

    def _refresh(self) -> None:
        try:
            if _stamp(os.stat(self.path)) != self._stamp:  # noqa: PTH116 - called in each greeting; a Path costs more
                self._stamp, self.digests = _read(self.path)
                _log.info("token file reloaded", extra=fields(file=self.path, tokens=len(self.digests)))
        except (CannotStart, OSError) as error:
            _log.error("the changed token file is not used", extra=fields(reason=str(error)))


def _read(path: str) -> tuple[_Stamp, dict[str, bytes]]:
    try:
        with Path(path).open("rb") as file:
            status = os.fstat(file.fileno())
            _check_private(path, status)
            if status.st_size > FILE_BYTES_MAX:
                raise CannotStart(f"token file {path}: it has more than {FILE_BYTES_MAX:,} bytes")
            return _stamp(status), _parsed(path, file.read(FILE_BYTES_MAX))
    except OSError as error:
        raise CannotStart(f"token file {path}: {error.strerror}") from error


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_mtime_ns, status.st_size, status.st_ino


def _check_private(path: str, status: os.stat_result) -> None:
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise CannotStart(f"token file {path}: other users may read it; run chmod 600 {path}")


def _parsed(path: str, data: bytes) -> dict[str, bytes]:
    digests: dict[str, bytes] = {}
    for number, line in enumerate(data.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith(b"#"):
            continue
        if len(words) != 2 or len(words[1]) > CREDENTIAL_BYTES_MAX:
            raise CannotStart(f"token file {path}, line {number}: a line has a name and a token of at most 4,096 bytes")
        name = _name(path, number, words[0])
        if name in digests:
            raise CannotStart(f"token file {path}, line {number}: {name} has a token already")
        digests[name] = digest_of(words[1])
    return digests


def _name(path: str, number: int, word: bytes) -> str:
    try:
        return check_peer_name(word.decode())
    except UnicodeDecodeError:
        raise CannotStart(f"token file {path}, line {number}: the name is not UTF-8") from None
    except Refused as error:
        raise CannotStart(f"token file {path}, line {number}: {error}") from None


def digest_of(token: bytes) -> bytes:
    """Return the SHA-256 digest of a token, 32 bytes."""
    return hashlib.sha256(token).digest()
