"""Refusals of requests about durable subscriptions.

Law: a refusal has a code of the wire and a sentence; a request that raises one has changed nothing.
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.errors import TamisError
from tamis.protocol.wire.codes import RefusalCode

LOG_HAS_FAILED: Final = "the log cannot be written: its disk has failed"


class RequestRefused(TamisError):
    """Raised when a request is refused: `code` of the wire and a sentence."""

    def __init__(self, code: RefusalCode, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


def no_such_durable(name: str) -> RequestRefused:
    """Return the refusal of a request about a name that no durable subscription has."""
    return RequestRefused(RefusalCode.NO_SUCH_DURABLE, f"there is no durable subscription {name!r}")
