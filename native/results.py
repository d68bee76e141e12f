"""Result codes of C become exceptions here and nowhere else."""

from __future__ import annotations

from tamis.native._tm import lib
from tamis.protocol.errors import Refused, TamisError


class OutOfMemory(TamisError, MemoryError):
    """An allocation in C failed or passed its configured bound; nothing has changed."""


def check(result: int) -> None:
    """Raise what `result` means; return for TM_OK."""
    if result == lib.TM_OK:
        return
    if result == lib.TM_NO_MEMORY:
        raise OutOfMemory("out of memory in the native table")
    raise {
        lib.TM_MALFORMED: Refused("malformed message or filter"),
        lib.TM_TOO_MANY: Refused("past a limit of the language"),
        lib.TM_ABSENT: KeyError("not in the table"),
    }.get(result, RuntimeError(f"native call misused (result {result})"))
