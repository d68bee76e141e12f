"""What the owner of durable subscriptions hears of other routers: which store what it states, and in what logs."""

from __future__ import annotations

from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.home_bodies import DurablesHolder
from tamis.protocol.wire.numbers import stable_number
from tamis.router.core.commands import DurablesKnown, DurablesStoredAt
from tamis.router.core.events import AwaitDurables, Event
from tamis.router.core.statements.known_durables import KnownDurables
from tamis.router.links.homes import NetworkHomes
from tamis.router.links.relay import CustodyRelay
from tests.router.core.statements.test_durables import stated

B, C = stable_number("b"), stable_number("c")


class Owner:
    """The owner of durable subscriptions of router a, which knows what b states."""

    def __init__(self) -> None:
        known = KnownDurables(stable_number("a"))
        known.replace(stated("b", 1, {}, log=9))
        self.events: list[Event] = []
        relay = CustodyRelay(stable_number("a"), {}.get, lambda _hop, _body: None)
        self.homes = NetworkHomes(known, self.events.append, {B: "b", C: "c"}.__getitem__, relay)
        self.told: list[tuple[int, LogLife]] = []

    def listen(self) -> None:
        self.homes.when_stored(lambda router, written: self.told.append((router, written)))


def test_each_life_of_a_log_is_told_and_what_was_known_before_at_once():
    owner = Owner()
    owner.homes.stored_at(DurablesStoredAt((DurablesHolder(B, 9, 3, 2),)))
    owner.listen()
    assert owner.told == [(B, LogLife(9, 3, 2))]
    owner.homes.stored_at(DurablesStoredAt((DurablesHolder(B, 9, 4, 3),)))
    assert owner.told[1:] == [(B, LogLife(9, 4, 3))]


def test_a_router_that_states_no_log_is_not_told():
    owner = Owner()
    owner.listen()
    owner.homes.stored_at(DurablesStoredAt((DurablesHolder(C, 9, 3, 2),)))
    assert (owner.told, owner.homes.log_of(B), owner.homes.log_of(C)) == ([], 9, 0)


def test_the_answer_to_a_wait_names_routers_in_order():
    owner, answers = Owner(), []
    owner.homes.when_known(2.0, lambda *names: answers.append(names))
    assert owner.events == [AwaitDurables(1, 2_000_000)]
    owner.homes.known(DurablesKnown(1, (DurablesHolder(C, 0), DurablesHolder(B, 9, 3, 2)), ()))
    assert answers == [(["b", "c"], [])]
