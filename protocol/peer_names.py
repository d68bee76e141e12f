"""Check the names by which clients and routers present themselves.

Law: such a name is text that a person can read and that does nothing where it is shown: no control characters, no marks
that are invisible or turn the direction of what follows, no line or paragraph separators, no halves of surrogate pairs,
no private characters. A letter of a later Unicode version than this Python knows is let through, and escaped where it
is shown.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.shown import escaped

REFUSED_CATEGORIES: Final = {
    "Cc": "a control character",
    "Cf": "an invisible character that formats or turns text",
    "Cs": "half of a surrogate pair",
    "Co": "a private character",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}


def check_peer_name(name: str) -> str:
    """Return `name` itself if a client or router may have it; otherwise Refused says what is wrong."""
    if not name:
        raise Refused(f"a name has 1 to {limits.NAME_BYTES_MAX} bytes, this one is empty")
    for char in name:
        what = REFUSED_CATEGORIES.get(unicodedata.category(char))
        if what is not None:
            raise Refused(f"a name is printable text, and this one has {what}, {escaped(char)}")
    if len(name.encode()) > limits.NAME_BYTES_MAX:
        raise Refused(f"a name has at most {limits.NAME_BYTES_MAX} bytes, not {len(name.encode())}")
    return name
