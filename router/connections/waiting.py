"""Connections that have not greeted yet: how many there may be, and which one gives way to the next.

Law: connections that wait keep no other peer out. When the room is full, the oldest connection of the address that has
most in it gives way: one that has said nothing before one that has, and neither before it had its time. If all of them
still have time left, the next connection waits in the listener's backlog. Only the time in which the router waits for
the peer counts, not that in which the peer's bytes lie unread. Each connection that gives way makes that time shorter
for all: a flood of strangers is not waited for. An address from which a peer has just greeted gives no place up: a
crowd of honest clients is waited for as long as it gets on.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

PATIENCE_S: Final = 1.5
"""How long a connection may take for its HELLO, and again for its AUTH, while places are free: a program that opens a
thousand connections may take so long to speak on the first of them."""
SILENT_S: Final = 0.005
"""How long a connection may stay silent when places are scarce: a client speaks first, and its HELLO comes with the
packet that opens the connection, or right behind it."""
SPOKEN_S: Final = 0.02
"""How long a connection may take from HELLO to AUTH when places are scarce: a short round trip, and the client's own
turn."""
FLOOD: Final = 0.25
"""The share of the places that has to be given up for patience to be over."""
CALM_S: Final = 10.0
"""How long no connection may have given way for patience to be back."""
GETS_ON_S: Final = 0.5
"""How long after a greeting the address that it came from gives no place up."""
LOOKED_AT: Final = 64
"""How many connections whose bytes lie unread are passed over before another connection is accepted."""
TURNS: Final = 2
"""The turns of a client in its greeting, HELLO and AUTH: each begins its time again."""


class PendingConnection(Protocol):
    """A connection that waits."""

    def is_heard(self) -> bool:
        """Have bytes come that were not read?"""

    def give_way(self) -> None:
        """Close the connection, which has left the room."""


class _Place(NamedTuple):
    """The place of a waiting connection: `since_s` is when the router began to wait for it, `turns` how many it has
    had."""

    address: str
    since_s: float
    turns: int


class WaitingRoom:
    """The connections that have not greeted: at most `places`. `clock` gives seconds; while the router `is_behind`,
    having read what it has not handled, none gives way."""

    def __init__(self, places: int, clock: Callable[[], float], is_behind: Callable[[], bool] = lambda: False) -> None:
        self.places = places
        self._clock, self._is_behind = clock, is_behind
        self._silent, self._spoken = _ByAddress(), _ByAddress()
        self._place_of: dict[PendingConnection, _Place] = {}
        self._given_up, self._given_up_s = 0, 0.0  # places since the last calm, and when the last of them was
        self._greeted_s: OrderedDict[str, float] = OrderedDict()  # by address; none older than the last by GETS_ON_S

    def __len__(self) -> int:
        return len(self._place_of)

    def has_place(self) -> bool:
        """Return whether there is a place for one more; if need be, another connection gives way."""
        if len(self) < self.places:
            return True
        if self._is_behind():
            return False
        patience_s = self._patience_s()
        return self._give_way(self._silent, max(SILENT_S, patience_s)) or self._give_way(
            self._spoken, max(SPOKEN_S, patience_s)
        )

    def enter(self, guest: PendingConnection, address: str) -> None:
        """Let `guest` in, which has connected from `address`. One that never asked for a place gets one beyond those
        that are counted."""
        self._wait_for(guest, address, 0)

    def spoke(self, guest: PendingConnection) -> None:
        """Note that `guest` has sent a frame of its greeting."""
        place = self._place_of.get(guest)
        if place is not None and place.turns == 0:
            self._next_turn(guest)

    def greeted(self, guest: PendingConnection) -> None:
        """Let `guest` leave, which has greeted; its address gives no place up for a while."""
        place = self._place_of.get(guest)
        if place is not None:
            now_s, of = self._clock(), self._greeted_s
            of[place.address] = now_s
            of.move_to_end(place.address)
            while now_s - next(iter(of.values())) > GETS_ON_S:
                of.popitem(last=False)
            self.leave(guest)

    def leave(self, guest: PendingConnection) -> None:
        """Forget `guest`, whose connection has ended; one that is not here may leave, too."""
        place = self._place_of.pop(guest, None)
        if place is not None:
            self._among(place.turns).remove(guest, place.address)

    def _give_way(self, guests: _ByAddress, patience_s: float) -> bool:
        """Have the oldest connection of the address that has most among `guests` give way, if it has had its time;
        return whether one did."""
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
        """Has a peer from `address` just greeted?"""
        greeted_s = self._greeted_s.get(address)
        return greeted_s is not None and self._clock() - greeted_s <= GETS_ON_S

    def _next_turn(self, guest: PendingConnection) -> None:
        """End the turn of `guest`; its time begins again."""
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
    """Guests of each address in the order in which they came, and addresses by how many guests they have."""

    def __init__(self) -> None:
        self._guests: dict[str, OrderedDict[PendingConnection, None]] = {}
        self._of_size: list[OrderedDict[str, None]] = [OrderedDict()]

    def most(self) -> str | None:
        """Return the address that has most guests; of several the one that has had so many for longest. None: there is
        no guest."""
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
