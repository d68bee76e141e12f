"""Check the names by which clients, routers and durable subscriptions are known.

Law: such a name is text that a person can read and that does nothing where it is shown, and of two spellings that look
alike one alone is let in: no control characters, no marks that are invisible or turn the direction of what follows, no
line or paragraph separators, no halves of surrogate pairs, no private characters, no space at either end, and Unicode's
composed form (NFC). A letter of a later Unicode version than this Python knows is let through, and escaped where it is
shown.
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
"""What Unicode calls ignorable, and the blank pattern of Braille, as far as no category above has it."""
_GENERATED: Final = re.compile("client-[0-9a-f]{16}")


def check_peer_name(name: str, what: str = "a name") -> str:
    """Return `name` itself if a client, a router or a durable subscription may have it; otherwise Refused says what is
    wrong. `what`: whose name it is."""
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
    """Return a name for a client that gives none, which no other client has."""
    return f"client-{secrets.token_hex(8)}"


def is_generated(name: str) -> bool:
    """Is it a name as `generated_name` makes them?"""
    return _GENERATED.fullmatch(name) is not None
