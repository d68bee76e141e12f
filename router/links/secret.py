"""The secret of a link, from its file.

Law: only the file's owner may be able to read it. White space around the secret is not part of it, since editors append
a line end.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from tamis.serving.cannot_start import CannotStart

SECRET_BYTES_MIN: Final = 16
"""The shortest secret, in bytes: it cannot be guessed in a day."""
SECRET_BYTES_MAX: Final = 4_096


def read_secret(path: str) -> bytes:
    """Return the secret in the file `path`; CannotStart if the file does not exist, is not private, or holds no
    secret."""
    try:
        with Path(path).open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise CannotStart(f"secret file {path}: others may read it; run chmod 600 {path}")
            secret = file.read(SECRET_BYTES_MAX + 1).strip()
    except OSError as error:
        raise CannotStart(f"secret file {path}: {error.strerror}") from error
    if not SECRET_BYTES_MIN <= len(secret) <= SECRET_BYTES_MAX:
        raise CannotStart(f"secret file {path}: a secret has {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX:,} bytes")
    return secret
