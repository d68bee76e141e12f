"""Turn result codes of C into exceptions."""

from __future__ import annotations

from tamis.native._tm import lib
from tamis.protocol.errors import Refused, TamisError


class OutOfMemory(TamisError, MemoryError):
    """An allocation in C failed or passed its configured bound; nothing has changed."""


class TooCostly(TamisError):
    """Matching the message took more steps than it may; there is no answer."""


class Gone(TamisError):
    """The connection has ended, and its CLOSED is on the way."""


def check(result: int) -> None:
    """Raise the exception that `result` stands for; return for TM_OK."""
    if result == lib.TM_OK:
        return
    if result == lib.TM_NO_MEMORY:
        raise OutOfMemory("out of memory in the native table")
    raise {
        lib.TM_MALFORMED: Refused("malformed message or filter"),
        lib.TM_TOO_MANY: Refused("past a limit of the language"),
        lib.TM_ABSENT: KeyError("not in the table"),
        lib.TM_TOO_COSTLY: TooCostly("matching the message takes more steps than it may"),
    }.get(result, RuntimeError(f"native call misused (result {result})"))


def check_alive(result: int) -> None:
    """Do what `check` does, for a call whose only misuse can be that its connection has ended in C and not yet in
    Python: then raise Gone."""
    if result == lib.TM_MISUSED:
        raise Gone("the connection has ended")
    check(result)
