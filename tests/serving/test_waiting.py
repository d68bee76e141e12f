"""Who gives way where too many have not greeted."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tamis.serving.addresses import address_of
from tamis.serving.waiting import CALM_S, GETS_ON_S, PATIENCE_S, SILENT_S, WaitingRoom


@dataclass(eq=False)
class PendingConnection:
    name: str
    gone: list[str] = field(repr=False)
    heard: bool = False

    def is_heard(self) -> bool:
        return self.heard

    def give_way(self) -> None:
        self.gone.append(self.name)


class Room:
    """A room whose guests are called by their address and a number, and a clock that is set by hand."""

    def __init__(self, places: int) -> None:
        self.now, self.gone, self.behind = 0.0, [], False
        self.room = WaitingRoom(places, lambda: self.now, lambda: self.behind)

    def enter(self, name: str, heard: bool = False) -> PendingConnection:
        guest = PendingConnection(name, self.gone, heard)
        self.room.enter(guest, name[0])
        return guest


def test_the_oldest_of_the_address_that_has_most_gives_way():
    made = Room(4)
    for name in ("a1", "b1", "b2", "c1"):
        made.enter(name)
    made.now = PATIENCE_S
    assert made.room.has_place()
    assert made.gone == ["b1"]
    assert len(made.room) == 3
    made.enter("d1")
    made.now *= 3
    assert made.room.has_place()
    assert made.gone == ["b1", "a1"], "all addresses have one: the oldest of them"


def test_nobody_gives_way_before_its_time():
    made = Room(2)
    made.enter("a1")
    made.enter("b1")
    made.now = PATIENCE_S * 0.9
    assert not made.room.has_place()
    assert made.gone == []


def test_who_has_spoken_stays_while_others_are_silent():
    made = Room(3)
    spoken = made.enter("a1")
    made.room.spoke(spoken)
    heard = made.enter("b1", heard=True)
    made.enter("c1")
    made.now = PATIENCE_S
    assert made.room.has_place()
    assert made.gone == ["c1"], "b1 has spoken, too: its bytes are there"
    heard.heard = False
    made.enter("d1", heard=True)
    assert made.room.has_place()
    assert made.gone == ["c1", "a1"]


def test_time_in_which_its_bytes_lie_unread_is_not_its_own():
    made = Room(1)
    guest = made.enter("a1")
    made.room.spoke(guest)
    guest.heard = True
    made.now = 1.5 * PATIENCE_S
    assert not made.room.has_place()
    made.now = 2.4 * PATIENCE_S
    assert not made.room.has_place()
    made.now = 2.5 * PATIENCE_S
    assert made.room.has_place(), "a client has two turns: one that goes on bit by bit gives way all the same"


def test_nobody_gives_way_while_the_router_is_behind():
    made = Room(1)
    made.enter("a1")
    made.now, made.behind = PATIENCE_S, True
    assert not made.room.has_place()
    made.behind = False
    assert made.room.has_place()


def flooded(places: int) -> Room:
    """A room into which so many have come and said nothing that patience is over; they have left."""
    made = Room(places)
    guests = []
    for number in range(2 * places):
        while not made.room.has_place():
            made.now += SILENT_S
        guests.append(made.enter(f"{number % 10}"))
    for guest in guests:
        made.room.leave(guest)
    made.gone.clear()
    return made


def wait_of_a_full_room(made: Room) -> float:
    """For how long nobody gives way."""
    while len(made.room) < made.room.places:
        made.enter("y")
    began = made.now
    while not made.room.has_place():
        made.now += SILENT_S / 4
    return made.now - began


def test_patience_ends_with_those_who_never_speak_and_comes_back_when_nobody_has_to_give_way():
    made = flooded(40)
    assert made.now < 2 * PATIENCE_S, "a second for the first, 5 ms for the last"
    assert wait_of_a_full_room(made) <= 1.5 * SILENT_S
    made = flooded(40)
    made.now += CALM_S + SILENT_S
    assert wait_of_a_full_room(made) >= PATIENCE_S


def test_an_address_that_gets_on_gives_no_place_up():
    made = flooded(40)
    guest = made.enter("y")
    made.room.spoke(guest)
    made.room.greeted(guest)
    waited_s = wait_of_a_full_room(made)
    assert GETS_ON_S <= waited_s <= GETS_ON_S + 2 * SILENT_S


def test_whoever_speaks_without_greeting_is_not_waited_for():
    made = flooded(40)
    for _ in range(100):
        guest = made.enter("y")
        made.room.spoke(guest)
        made.room.leave(guest)
    assert wait_of_a_full_room(made) <= 1.5 * SILENT_S


@pytest.mark.parametrize("speaks", [True, False])
def test_who_leaves_is_not_asked_to(speaks):
    made = Room(2)
    guests = [made.enter("a1"), made.enter("b1")]
    if speaks:
        made.room.spoke(guests[0])
    made.room.leave(guests[0])
    made.room.leave(guests[0])
    made.now = 9
    assert made.room.has_place()
    assert (len(made.room), made.gone) == (1, [])


def test_addresses():
    assert address_of("127.0.0.1:80") == "127.0.0.1"
    assert address_of("unix") == "unix"
    assert address_of("2001:db8:1:2:3:4:5:6:80") == address_of("2001:db8:1:2::9:81") == "2001:db8:1:2::/64"
