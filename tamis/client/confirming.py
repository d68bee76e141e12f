"""What a publisher waits for: the levels of `publish(confirm=...)`.

Law: a level says where the message is when the call returns; there is no level between "in the memory of the entry
router" and "on its disk".
"""

from __future__ import annotations

from typing import Final, Literal

from tamis.protocol.errors import Refused

Confirm = bool | Literal["accepted", "kept", "held"] | None
"""None or False: nothing. True or "accepted": the router has taken the message. "kept": it is on the router's disk, or
no keep there wants it, which the receipt says. "held": it is on the disks of all who keep it; with keeps at one router
the same as "kept"."""

_LEVELS: Final[dict[object, tuple[bool, bool]]] = {
    None: (False, False),
    False: (False, False),
    True: (True, False),
    "accepted": (True, False),
    "kept": (True, True),
    "held": (True, True),
}


def level_of(confirm: Confirm) -> tuple[bool, bool]:
    """Return whether an answer is asked for, and whether it is to come from the disk."""
    if isinstance(confirm, bool | str | None) and confirm in _LEVELS:
        return _LEVELS[confirm]
    raise Refused(f"confirm is None, True, 'accepted', 'kept' or 'held', not {confirm!r}")
