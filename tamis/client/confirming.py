"""The levels of `publish(confirm=...)`.

Law: a level tells where the message is when the call returns; there is no level between "in the memory of the entry
router" and "on its disk", nor between that and "on the disk of each router that stores it".
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from tamis.protocol.errors import Refused
from tamis.protocol.old_names import warn

Confirm = bool | Literal["accepted", "stored", "held", "kept"] | None
"""None or False: no answer. True or "accepted": the router has accepted the message. "stored": the message is on the
router's disk, or no durable subscription that it knows matches; the receipt tells which. "held": the message is also on
the disk of each router with a durable subscription that matches it. "kept" is the name that "stored" had in the
previous version."""


class ConfirmLevel(NamedTuple):
    """Whether a message is to be answered; whether the answer waits for the router's disk, and for those of all routers
    that store the message."""

    is_answered: bool
    is_stored: bool
    is_held: bool


_LEVELS: Final[dict[object, ConfirmLevel]] = {
    None: ConfirmLevel(is_answered=False, is_stored=False, is_held=False),
    False: ConfirmLevel(is_answered=False, is_stored=False, is_held=False),
    True: ConfirmLevel(is_answered=True, is_stored=False, is_held=False),
    "accepted": ConfirmLevel(is_answered=True, is_stored=False, is_held=False),
    "stored": ConfirmLevel(is_answered=True, is_stored=True, is_held=False),
    "held": ConfirmLevel(is_answered=True, is_stored=True, is_held=True),
}


def level_of(confirm: Confirm) -> ConfirmLevel:
    """Return the level that `confirm` names."""
    if confirm == "kept":
        warn('confirm="kept"', 'confirm="stored"')
        return _LEVELS["stored"]
    if isinstance(confirm, bool | str | None) and confirm in _LEVELS:
        return _LEVELS[confirm]
    raise Refused(f"confirm is None, True, 'accepted', 'stored' or 'held', not {confirm!r}")
