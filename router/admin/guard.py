"""The token of administration.

Law: only health checks need no token; a token is compared in constant time.
"""

from __future__ import annotations

import hmac
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tamis.serving.bearer import bearer_of
from tamis.serving.cannot_start import CannotStart

OPEN: Final = frozenset({"/healthz", "/readyz"})
"""Pages that need no token: health checks."""
TOKEN_BYTES_MIN: Final = 16
TOKEN_BYTES_MAX: Final = 1_024


def has_token(headers: Mapping[str, str], token: bytes) -> bool:
    """Return whether the request has `token`."""
    return hmac.compare_digest(bearer_of(headers).encode(), token)


def read_admin_token(path: str) -> bytes:
    """Return the token in the file `path`. Raise CannotStart if the file is missing, not private or has no token."""
    try:
        with Path(path).open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise CannotStart(f"admin token file {path}: other users may read it; run chmod 600 {path}")
            token = file.read(TOKEN_BYTES_MAX + 1).strip()
    except OSError as error:
        raise CannotStart(f"admin token file {path}: {error.strerror}") from error
    if not TOKEN_BYTES_MIN <= len(token) <= TOKEN_BYTES_MAX or not token.isascii() or token.split() != [token]:
        raise CannotStart(
            f"admin token file {path}: write one word of {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX:,} ASCII characters"
        )
    return token
