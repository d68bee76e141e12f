"""Pending connections, which have not greeted yet: most of them at a time, and which one gives way to the next.

Law: pending connections keep no other peer out. When the room is full, the oldest connection of the address with the
most of them gives way: a silent one before one that has sent a frame, and neither before its time is over. While all of
them have time left, the next connection waits in the listener's backlog. Time counts only while the router waits for
the peer, not while the peer's bytes are unread. Each connection that gives way shortens the time of all, so that a
flood of strangers does not block the room. An address from which a peer has just greeted gives up no place, so that a
crowd of honest clients is served while it makes progress.
"""

from __future__ import annotations

import fcntl
import sys
import termios
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

PATIENCE_S: Final = 1.5
"""Seconds for the HELLO of a connection, and again for its AUTH, while few connections give way: a program that opens a
thousand connections may need this time before it writes to the first of them."""
SILENT_S: Final = 0.005
"""Least seconds for the HELLO when places are scarce: a client sends its HELLO right after it has connected."""
SPOKEN_S: Final = 0.02
"""Least seconds from HELLO to AUTH when places are scarce: a short round trip, and a turn of the client."""
FLOOD: Final = 0.25
"""Fraction of the places that must give way until the time falls to its least value."""
CALM_S: Final = 10.0
"""Seconds without a connection that gives way after which the full time is back."""
GETS_ON_S: Final = 0.5
"""Seconds after a greeting in which its address gives up no place."""
LOOKED_AT: Final = 64
"""Most connections with unread bytes that are skipped in one search for a connection that gives way."""
TURNS: Final = 2
"""Turns of a client in its greeting, HELLO and AUTH: its time starts again with each."""


class PendingConnection(Protocol):
    """A connection that has not greeted yet."""

    def is_heard(self) -> bool:
        """Return whether received bytes are unread."""

    def give_way(self) -> None:
        """Close the connection, which has been removed from the room."""


class _Place(NamedTuple):
    """The place of a pending connection. `since_s`: when the router began to wait for it; `turns`: number of turns that
    it has had."""

    address: str
    since_s: float
    turns: int


class WaitingRoom:
    """The pending connections, at most `places`. `clock`: returns seconds. While `is_behind` returns True, because read
    events are not handled yet, no connection gives way."""

    def __init__(self, places: int, clock: Callable[[], float], is_behind: Callable[[], bool] = lambda: False) -> None:
        self.places = places
        self._clock, self._is_behind = clock, is_behind
        self._silent, self._spoken = _ByAddress(), _ByAddress()
        self._place_of: dict[PendingConnection, _Place] = {}
        self._given_up, self._given_up_s = 0, 0.0  # number since the last calm, and time of the last one
        self._greeted_s: OrderedDict[str, float] = OrderedDict()  # by address; none older than the last by GETS_ON_S

    def __len__(self) -> int:
        return len(self._place_of)

    def has_place(self) -> bool:
        """Return whether there is a place for one more connection; make another one give way if necessary."""
        if len(self) < self.places:
            return True
        if self._is_behind():
            return False
        patience_s = self._patience_s()
        return self._give_way(self._silent, max(SILENT_S, patience_s)) or self._give_way(
            self._spoken, max(SPOKEN_S, patience_s)
        )

    def enter(self, guest: PendingConnection, address: str) -> None:
        """Add `guest`, which has connected from `address`, also if the room is full."""
        self._wait_for(guest, address, 0)

    def spoke(self, guest: PendingConnection) -> None:
        """Record that `guest` has sent a frame of its greeting."""
        place = self._place_of.get(guest)
        if place is not None and place.turns == 0:
            self._next_turn(guest)

    def greeted(self, guest: PendingConnection) -> None:
        """Remove `guest`, which has greeted; its address gives up no place for GETS_ON_S."""
        place = self._place_of.get(guest)
        if place is not None:
            now_s, of = self._clock(), self._greeted_s
            of[place.address] = now_s
            of.move_to_end(place.address)
            while now_s - next(iter(of.values())) > GETS_ON_S:
                of.popitem(last=False)
            self.leave(guest)

    def leave(self, guest: PendingConnection) -> None:
        """Remove `guest`; do nothing if it is not here."""
        place = self._place_of.pop(guest, None)
        if place is not None:
            self._among(place.turns).remove(guest, place.address)

    def _give_way(self, guests: _ByAddress, patience_s: float) -> bool:
        """Make the oldest connection of the address with most `guests` give way if its time is over; return whether one
        gave way."""
        for _ in range(LOOKED_AT):
            address = guests.most()
            guest = guests.oldest(address)
            if address is None or guest is None or self._gets_on(address):
                return False
            if self._clock() - self._place_of[guest].since_s < patience_s:
                return False
            if self._place_of[guest].turns == TURNS or not guest.is_heard():
                self._end(guest)
                return True
            self._next_turn(guest)
        return False

    def _patience_s(self) -> float:
        if self._clock() - self._given_up_s > CALM_S:
            self._given_up = 0
        return PATIENCE_S * (1 - self._given_up / (FLOOD * self.places))

    def _gets_on(self, address: str) -> bool:
        """Return whether a peer from `address` has greeted within GETS_ON_S."""
        greeted_s = self._greeted_s.get(address)
        return greeted_s is not None and self._clock() - greeted_s <= GETS_ON_S

    def _next_turn(self, guest: PendingConnection) -> None:
        """End the turn of `guest`; its time starts again."""
        place = self._place_of[guest]
        self._among(place.turns).remove(guest, place.address)
        self._wait_for(guest, place.address, place.turns + 1)

    def _wait_for(self, guest: PendingConnection, address: str, turns: int) -> None:
        self._place_of[guest] = _Place(address, self._clock(), turns)
        self._among(turns).add(guest, address)

    def _among(self, turns: int) -> _ByAddress:
        return self._spoken if turns else self._silent

    def _end(self, guest: PendingConnection) -> None:
        self._given_up, self._given_up_s = self._given_up + 1, self._clock()
        self.leave(guest)
        guest.give_way()


class _ByAddress:
    """Connections of each address in order of arrival, and addresses by the number of their connections."""

    def __init__(self) -> None:
        self._guests: dict[str, OrderedDict[PendingConnection, None]] = {}
        self._of_size: list[OrderedDict[str, None]] = [OrderedDict()]

    def most(self) -> str | None:
        """Return the address with most connections, of several the one that has had this number longest; None if there
        is no connection."""
        return next(iter(self._of_size[-1]), None)

    def oldest(self, address: str | None) -> PendingConnection | None:
        return next(iter(self._guests.get(address or "", ())), None)

    def add(self, guest: PendingConnection, address: str) -> None:
        guests = self._guests.setdefault(address, OrderedDict())
        guests[guest] = None
        self._resized(address, len(guests) - 1, len(guests))

    def remove(self, guest: PendingConnection, address: str) -> None:
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


def unread_bytes(descriptor: int) -> int:
    """Return the number of received bytes of a socket that are unread."""
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)
