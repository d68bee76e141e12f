"""Connections that have not greeted yet: how many there may be, and which one gives way to the next.

Law: nobody is kept out by those who wait. Where the room is full, of the address that has most in it the oldest gives
way: one that has said nothing before one that has, and neither before it had its time. Where all of them still have
that, the next one waits where it is, in the listener's backlog. How long that time is, those who wait decide: each one
that gives way shortens it, each one that goes on doubles it. So a crowd of honest ones that come at once is waited for,
and a flood of strangers is not.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

PATIENCE_S: Final = 1.0
"""At first, for those who are silent and for those who have said HELLO: a program that opens a thousand connections may
take so long to speak on the first of them."""
SILENT_S: Final = 0.005
"""At last: a client speaks first, its HELLO comes with the packet that opens the connection, or right behind it."""
SPOKEN_S: Final = 0.02
"""The same from the HELLO to the AUTH: a short round trip, and the client's own turn."""
SHRINKS: Final = 0.8
"""By each that gives way: two dozen of them, and patience is over."""
LOOKED_AT: Final = 64
"""So many that have spoken since are found among the silent before somebody else is accepted."""


class Guest(Protocol):
    """One that waits."""

    def is_heard(self) -> bool:
        """Have bytes come that nobody has read?"""

    def give_way(self) -> None:
        """Close it. It has left the room."""


class _Place(NamedTuple):
    address: str
    since_s: float
    has_spoken: bool


class WaitingRoom:
    """`places`: how many there may be; where patience is half gone, one address has a quarter of them for silent ones.
    `clock` gives seconds."""

    def __init__(self, places: int, clock: Callable[[], float]) -> None:
        self.places = places
        self._silent_per_address = max(1, places // 4)
        self._clock = clock
        self._silent, self._spoken = _ByAddress(), _ByAddress()
        self._silent_patience, self._spoken_patience = _Patience(SILENT_S), _Patience(SPOKEN_S)
        self._place_of: dict[Guest, _Place] = {}

    def __len__(self) -> int:
        return len(self._place_of)

    def has_place(self) -> bool:
        """Is there a place for one more? If need be, somebody gives way."""
        return len(self) < self.places or self._give_way() or self._end_slow()

    def enter(self, guest: Guest, address: str) -> None:
        """It has connected from there. Whoever was not asked whether there is a place has one beyond them."""
        is_suspicious = self._silent_patience.s < PATIENCE_S / 2
        if is_suspicious and self._silent.count(address) >= self._silent_per_address:
            self._give_way(address)
        place = _Place(address, self._clock(), False)
        self._place_of[guest] = place
        self._silent.add(guest, address)

    def spoke(self, guest: Guest) -> None:
        """It has said something."""
        place = self._place_of.get(guest)
        if place is not None and not place.has_spoken:
            self._silent.remove(guest, place.address)
            self._silent_patience.grow()
            self._place_of[guest] = _Place(place.address, self._clock(), True)
            self._spoken.add(guest, place.address)

    def greeted(self, guest: Guest) -> None:
        """It leaves as it should."""
        if guest in self._place_of:
            self._spoken_patience.grow()
            self.leave(guest)

    def leave(self, guest: Guest) -> None:
        """It has ended. One that is not here may leave, too."""
        place = self._place_of.pop(guest, None)
        if place is not None:
            (self._spoken if place.has_spoken else self._silent).remove(guest, place.address)

    def _give_way(self, address: str | None = None) -> bool:
        """The oldest silent one of an address, or of the one that has most, if it has had its time."""
        for _ in range(LOOKED_AT):
            guest = self._silent.oldest(address or self._silent.most())
            if guest is None or self._age_s(guest) < self._silent_patience.s:
                return False
            if not guest.is_heard():
                self._silent_patience.shrink()
                self._end(guest)
                return True
            self.spoke(guest)
        return False

    def _end_slow(self) -> bool:
        """The same for one that has spoken."""
        guest = self._spoken.oldest(self._spoken.most())
        if guest is None or self._age_s(guest) < self._spoken_patience.s:
            return False
        self._spoken_patience.shrink()
        self._end(guest)
        return True

    def _age_s(self, guest: Guest) -> float:
        return self._clock() - self._place_of[guest].since_s

    def _end(self, guest: Guest) -> None:
        self.leave(guest)
        guest.give_way()


class _Patience:
    """How long somebody is waited for, down to `least_s`."""

    def __init__(self, least_s: float) -> None:
        self.s = PATIENCE_S
        self._least_s = least_s

    def shrink(self) -> None:
        self.s = max(self._least_s, SHRINKS * self.s)

    def grow(self) -> None:
        self.s = min(PATIENCE_S, 2 * self.s)


class _ByAddress:
    """Guests of each address in the order in which they came, and addresses by how many they have."""

    def __init__(self) -> None:
        self._guests: dict[str, OrderedDict[Guest, None]] = {}
        self._of_size: list[OrderedDict[str, None]] = [OrderedDict()]

    def count(self, address: str) -> int:
        return len(self._guests.get(address, ()))

    def most(self) -> str | None:
        """The address that has most; of several the one that has had so many for longest."""
        return next(iter(self._of_size[-1]), None)

    def oldest(self, address: str | None) -> Guest | None:
        return next(iter(self._guests.get(address or "", ())), None)

    def add(self, guest: Guest, address: str) -> None:
        guests = self._guests.setdefault(address, OrderedDict())
        guests[guest] = None
        self._resized(address, len(guests) - 1, len(guests))

    def remove(self, guest: Guest, address: str) -> None:
        guests = self._guests[address]
        del guests[guest]
        self._resized(address, len(guests) + 1, len(guests))
        if not guests:
            del self._guests[address]

    def _resized(self, address: str, before: int, now: int) -> None:
        self._of_size[before].pop(address, None)
        if now == len(self._of_size):
            self._of_size.append(OrderedDict())
        if now > 0:
            self._of_size[now][address] = None
        while len(self._of_size) > 1 and not self._of_size[-1]:
            self._of_size.pop()
