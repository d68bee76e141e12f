"""Whether a file of rules is protected from other users of the machine."""

from __future__ import annotations

import os
import stat
from typing import Final

from tamis.protocol.errors import ConfigError

_REFUSED: Final = 0o027
"""What mode 0640 lacks: writing by the group, and everything by others."""


def check_private(path: str, descriptor: int) -> None:
    """Raise ConfigError if the open file `path` has a mode wider than 0640."""
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    if mode & _REFUSED:
        what = f"mode {mode:04o} lets other users read or change it; run chmod 640 {path}"
        raise ConfigError([f"{path}: {what}"])
