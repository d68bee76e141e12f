"""Why something that a client asks about keeps is not done.

Law: a refusal has a code of the wire and a sentence; nothing has changed where one is raised.
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.errors import TamisError
from tamis.protocol.wire.codes import RefusalCode

LOG_HAS_FAILED: Final = "the log cannot be written: its disk has failed"


class RequestRefused(TamisError):
    """What was asked is refused: `code` and a sentence."""

    def __init__(self, code: RefusalCode, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason
