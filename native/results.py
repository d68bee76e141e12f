"""Converts result codes of C into exceptions."""

from __future__ import annotations

from tamis.native._tm import lib
from tamis.protocol.errors import Refused, TamisError


class OutOfMemory(TamisError, MemoryError):
    """Raised when an allocation in C failed or exceeded its bound; nothing has changed."""


class TooCostly(TamisError):
    """Raised when the match of a message exceeds its limit of steps; there is no answer."""


class Gone(TamisError):
    """Raised when the connection has ended and its event CLOSED follows."""


def check(result: int) -> None:
    """Raise the exception for `result`; return for TM_OK."""
    if result == lib.TM_OK:
        return
    if result == lib.TM_NO_MEMORY:
        raise OutOfMemory("out of memory in the native table")
    raise {
        lib.TM_MALFORMED: Refused("malformed message or filter"),
        lib.TM_TOO_MANY: Refused("beyond a limit of the language"),
        lib.TM_ABSENT: KeyError("not in the table"),
        lib.TM_TOO_COSTLY: TooCostly("matching the message exceeds its step limit"),
    }.get(result, RuntimeError(f"native call misused (result {result})"))


def check_alive(result: int) -> None:
    """Raise the exception for `result`, and Gone for TM_MISUSED: for calls whose only possible misuse is a connection
    that has ended in C and not yet in Python."""
    if result == lib.TM_MISUSED:
        raise Gone("the connection has ended")
    check(result)
