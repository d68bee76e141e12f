"""Check the names of clients, routers and durable subscriptions.

Law: such a name is readable text without effect on its display, and of spellings that look alike only one is valid: no
control characters, no marks that are invisible or change the direction of text, no line or paragraph separators, no
halves of surrogate pairs, no private characters, no space at either end, and Unicode's composed form (NFC). A letter of
a later Unicode version than that of this Python is valid, and is escaped when it is printed.
"""

from __future__ import annotations

import re
import secrets
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
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""The ignorable characters of Unicode, and the blank Braille pattern, that are in none of the categories above."""
_GENERATED: Final = re.compile("client-[0-9a-f]{16}")


def check_peer_name(name: str, what: str = "a name") -> str:
    """Return `name` itself if a client, a router or a durable subscription may have it; otherwise Refused with the
    reason. `what` names the owner in the error."""
    if not name:
        raise Refused(f"{what} has 1 to {limits.NAME_BYTES_MAX} bytes, this one is empty")
    for char in name:
        unfit = REFUSED_CATEGORIES.get(unicodedata.category(char))
        if unfit is None and _UNSEEN.match(char):
            unfit = "a mark that cannot be seen"
        if unfit is not None:
            raise Refused(f"{what} is printable text, and this one has {unfit}, {escaped(char)}")
    if len(name.encode()) > limits.NAME_BYTES_MAX:
        raise Refused(f"{what} has at most {limits.NAME_BYTES_MAX} bytes, not {len(name.encode())}")
    if name.strip() != name:
        raise Refused(f"{what} has no space at its ends, and {name!r} has one")
    if not unicodedata.is_normalized("NFC", name):
        composed = unicodedata.normalize("NFC", name)
        raise Refused(f"{what} is in Unicode's composed form (NFC): {composed!r} is, {name!a} is not")
    return name


def generated_name() -> str:
    """Return a unique name for a client without a name."""
    return f"client-{secrets.token_hex(8)}"


def is_generated(name: str) -> bool:
    """Return whether the name has the form of those that `generated_name` makes."""
    return _GENERATED.fullmatch(name) is not None
