"""Limits of credentials from addresses, and for names, that have sent wrong ones.

Law: FREE wrong credentials of an address or of a name cost nothing; after those one is checked, and then none for a
time that doubles with each further failure, from FIRST_S to MOST_S. Within that time right credentials are not checked
either: otherwise a quick answer would tell which is right. Waits up to HELD_S are spent by the router, which holds the
credential; longer ones, and those past HELD_MAX credentials, by the client. A name is limited only where it was not
admitted from lately, so that wrong guesses from elsewhere do not keep it out. An IPv6 address is its /64. A row is
forgotten QUIET_S after its time is over; past ROWS_MAX the one that failed least recently is forgotten.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

FREE: Final = 5
"""Failures without a delay, because people mistype."""
FIRST_S: Final = 1.0
MOST_S: Final = 60.0
HELD_S: Final = 1.0
"""The longest delay that the router waits itself: shorter than a client waits for an answer."""
HELD_MAX: Final = 64
"""Credentials that the router holds at a time."""
HELD_APART_S: Final = 0.002
"""Seconds between credentials that have waited for the same time: all of them in one turn would hold messages up."""
QUIET_S: Final = 60.0
ROWS_MAX: Final = 10_000
"""Addresses and names remembered together, about 2 MiB."""
HOMES_MAX: Final = 10_000
"""Names of which the address is known that they were last admitted from."""


_OF_THIS_MACHINE: Final = ("address", "unix")
"""All Unix sockets together: one program there does not lock out the others for longer than HELD_S."""


class _Failures(NamedTuple):
    times: int
    last_s: float
    free_s: float
    """When the next credential is checked."""


class Slowing:
    """The limits of all addresses and names. `clock`: returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._of: OrderedDict[tuple[str, str], _Failures] = OrderedDict()
        self._homes: OrderedDict[str, str] = OrderedDict()
        self.held = 0
        """The number of credentials that the router holds; their holders count them."""

    def __len__(self) -> int:
        return len(self._of)

    def wait_s(self, address: str, name: str = "") -> float:
        """Return the remaining delay of a credential for `name` from `address`, 0 if there is none."""
        found = (self._of.get(key) for key in self._keys(address, name))
        return max(0.0, max((each.free_s for each in found if each is not None), default=0.0) - self._clock())

    def refusal(self, address: str, name: str = "") -> str:
        """Return why no credential for `name` from `address` is checked or held now, as a sentence; "" if one is."""
        wait_s = self.wait_s(address, name)
        if wait_s > HELD_S or (wait_s > 0 and self.held >= HELD_MAX):
            return f"too many wrong credentials; one is checked in {math.ceil(wait_s)} s"
        return ""

    def hold(self, wait_s: float) -> float:
        """Count a credential that the router holds from now on; return the seconds until it is checked, at least
        `wait_s`."""
        self.held += 1
        return wait_s + (self.held - 1) * HELD_APART_S

    def failed(self, address: str, name: str = "") -> None:
        """Record a wrong credential for `name` from `address`."""
        now = self._clock()
        for key in self._keys(address, name):
            before = self._of.get(key)
            count = 1 if before is None or now > before.free_s + QUIET_S else before.times + 1
            most_s = HELD_S if key == _OF_THIS_MACHINE else MOST_S
            wait_s = 0.0 if count <= FREE else min(most_s, FIRST_S * 2.0 ** min(count - FREE - 1, 10))
            self._of[key] = _Failures(count, now, now + wait_s)
            self._of.move_to_end(key)
        while len(self._of) > ROWS_MAX or self._is_quiet(now):
            self._of.popitem(last=False)

    def admitted(self, address: str, name: str) -> None:
        """Record that a client came in: wrong guesses from elsewhere do not delay its name at this address."""
        self._homes[name] = address
        self._homes.move_to_end(name)
        if len(self._homes) > HOMES_MAX:
            self._homes.popitem(last=False)

    def _keys(self, address: str, name: str) -> list[tuple[str, str]]:
        keys = [("address", address)]
        if name and self._homes.get(name) != address:
            keys.append(("name", name))
        return keys

    def _is_quiet(self, now: float) -> bool:
        """Return whether the row that failed least recently is over for more than QUIET_S."""
        return now > next(iter(self._of.values())).free_s + QUIET_S
