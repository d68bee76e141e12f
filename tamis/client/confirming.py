"""The levels of `publish(confirm=...)`.

Law: a level tells where the message is when the call returns; there is no level between "in the memory of the entry
router" and "on its disk".
"""

from __future__ import annotations

from typing import Final, Literal

from tamis.protocol.errors import Refused
from tamis.protocol.old_names import warn

Confirm = bool | Literal["accepted", "stored", "held", "kept"] | None
"""None or False: no answer. True or "accepted": the router has accepted the message. "stored": the message is on the
router's disk, or no durable subscription there matches it; the receipt tells which. "held": the message is on the disks
of all routers that store it; where one router has all durable subscriptions, this equals "stored". "kept" is the name
that "stored" had in the previous version."""

_LEVELS: Final[dict[object, tuple[bool, bool]]] = {
    None: (False, False),
    False: (False, False),
    True: (True, False),
    "accepted": (True, False),
    "stored": (True, True),
    "held": (True, True),
}


def level_of(confirm: Confirm) -> tuple[bool, bool]:
    """Return whether a message of this level is to be answered, and whether the answer waits for the disk."""
    if confirm == "kept":
        warn('confirm="kept"', 'confirm="stored"')
        return _LEVELS["stored"]
    if isinstance(confirm, bool | str | None) and confirm in _LEVELS:
        return _LEVELS[confirm]
    raise Refused(f"confirm is None, True, 'accepted', 'stored' or 'held', not {confirm!r}")
