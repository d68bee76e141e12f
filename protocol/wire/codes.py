"""The codes of errors: in an ERROR frame, in a refusal inside an ACK, in a LOST frame.

Law: a number keeps its meaning forever and is never reused. Fields carry these as plain integers, because a newer peer
may know more of them; a number that is not listed here means "failed, see the text". Numbers reserved for later parts
are in `register.py`.
"""

from __future__ import annotations

import enum
from typing import Final


class ErrorCode(enum.IntEnum):
    """Why a frame was refused: `FrameError.code`, and the code of an ERROR frame."""

    TOO_LONG = 1
    TOO_SHORT = 2
    RESERVED = 3
    UNKNOWN_KIND = 4
    UNEXPECTED_KIND = 5
    MALFORMED = 6
    TRAILING_BYTES = 7
    OVER_LIMIT = 8
    BAD_ATTRIBUTES = 9
    BAD_EXTENSION = 10
    UNKNOWN_EXTENSION = 11
    BAD_FILTER = 12
    BAD_PARTS = 13
    UNAUTHENTICATED = 14
    VERSION_REFUSED = 15
    AUTHENTICATION_FAILED = 16
    WRONG_SENDER = 17
    REPLACED = 18
    SILENT = 19
    SLOW = 20
    FULL = 21
    REVOKED = 22


NOT_FATAL: Final = frozenset({ErrorCode.UNKNOWN_EXTENSION, ErrorCode.BAD_FILTER, ErrorCode.BAD_PARTS})
"""Errors that refuse one frame or one entry; after any other the connection is closed."""


def is_fatal(code: int) -> bool:
    """Return whether the connection must be closed after this error. An unknown code counts as fatal."""
    return code not in NOT_FATAL


class RefusalCode(enum.IntEnum):
    """Why one item of a batch, or one message, was refused."""

    BAD_FILTER = 1
    NEVER_MATCHES = 2
    TOO_MANY_FILTERS = 3
    NOT_ALLOWED = 4
    ID_IN_USE = 5
    NO_SUCH_ID = 6
    OVERLOADED = 7
    LOG_FAILED = 8
    EXPIRED = 9
    TOO_LARGE = 10
    DRAINING = 11
    UNKNOWN_EXTENSION = 12
    OUT_OF_MEMORY = 13
    DUPLICATE = 14
    TOO_OLD = 15
    TOO_FAR_AHEAD = 16
    NOT_IN_STEP = 17
    TOO_COSTLY = 18
    OVER_QUOTA = 19
    NOT_IN_SPACE = 20
    NO_SUCH_DURABLE = 21
    DURABLE_DIFFERS = 22
    LOG_FULL = 23
    NO_LOG = 25
    UNWANTED = 26
    DURABLE_ELSEWHERE = 27
    NOT_HELD = 28
    HOME_AWAY = 29


class LossReason(enum.IntEnum):
    """Why messages were dropped on their way to the receiver of a LOST frame."""

    QUEUE_FULL = 1
    EXPIRED = 2
    TOO_LARGE = 3
    LOG_FULL = 4
    LINK_CUT = 5
    ROUTE_CHANGED = 6
    TOO_COSTLY = 7
    UNDELIVERABLE = 8
    LOG_DAMAGED = 9
    CUSTODY_FULL = 10
    ENTRY_LOST = 11
    SKIPPED = 13
