"""No number that a neighbour states stops a router, or silences another for good."""

from __future__ import annotations

import itertools

import pytest

from tamis.protocol.wire.numbers import predicate_digest, stable_number
from tamis.protocol.wire.routing_bodies import (
    Adjacency,
    Entry,
    EpochRefused,
    Held,
    Known,
    LinkState,
    ReceiverAdvertisement,
    Scope,
    SenderRequest,
    UpdateReply,
)
from tamis.router.core.commands import Alarm, Install, RaiseEpoch
from tamis.router.core.core import Core
from tamis.router.core.epochs import DAY_MS, EPOCH_MAX, EpochValidator
from tamis.router.core.rate_limiter import REMEMBERED_MAX, RateLimiter
from tamis.router.core.times import MS, S
from tests.router.core.bodies import entry, less, state, whole
from tests.router.core.single import Single
from tests.router.core.world import World

NOW = 1_700_000_000_000
YEARS = 3_650 * DAY_MS
TOP = 2**64 - 1
EXTREMES = (0, 1, 2**63 - 1, 2**63, TOP)


class Clocked(World):
    """Its routers have wall clocks, each as far off as `ahead_ms` says, and start by them."""

    def __init__(self, **ahead_ms: int) -> None:
        super().__init__()
        self.ahead_ms = ahead_ms
        for name in ahead_ms:
            self.begin(name)

    def unix_ms(self, name: str) -> int:
        return NOW + self.ahead_ms[name] + self.now_us // MS

    def begin(self, name: str, epoch: int | None = None) -> None:
        def core(*args: object) -> Core:
            return Core(*args, unix_ms=lambda: self.unix_ms(name))  # type: ignore[arg-type]

        self.start(name, self.unix_ms(name) if epoch is None else epoch, core=core)  # type: ignore[arg-type]

    def says(self, name: str, to: str, *bodies: object) -> None:
        """A router says what its core would not."""
        for body in bodies:
            self._send(name, self.cores[to].core_state.links.by_neighbour[self.cores[name].me].session, body)  # type: ignore[arg-type]

    def settle(self, for_us: int = 5 * S) -> None:
        self.run(for_us)
        self.check()


def forged(issuer: str, epoch: int, seq: int) -> tuple[LinkState, ReceiverAdvertisement]:
    """What a router states of another."""
    return state(issuer, seq, epoch=epoch), whole(issuer, seq, {}, epoch=epoch)


def triangle(**ahead_ms: int) -> Clocked:
    world = Clocked(**{"a": 0, "b": 0, "c": 0} | ahead_ms)
    for one, other in ("ab", "bc", "ca"):
        world.connect(one, other)
    world.settle()
    return world


# --- what is stated of others -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("epoch", [NOW + 3 * DAY_MS, EPOCH_MAX, 2**63 - 1, 2**63, TOP])
def test_an_absurd_epoch_of_another_is_refused_told_and_an_alarm(epoch):
    world = triangle()
    before = world.cores["c"].epoch
    for body in forged("c", epoch, TOP):
        world.says("b", "a", body)
    world.run(1 * S)
    told = [body for _, _, body in world.sent if isinstance(body, EpochRefused) and body.epoch]
    assert {(body.issuer, body.epoch) for body in told} == {(world.cores["c"].me, epoch)}
    assert all(NOW < body.acceptable <= NOW + 2 * DAY_MS + 10_000 for body in told)
    assert any(f"b states epoch {epoch} of c" in text for text in world.alarms)
    assert world.cores["a"].core_state.refused == 2
    assert world.cores["c"].epoch == before
    world.want("c", less(3))
    world.settle()
    assert world.asked_of("a")["c"] == {less(3)}


@pytest.mark.parametrize("epoch", [0, 1, DAY_MS, DAY_MS * 3 // 2])
@pytest.mark.parametrize("seq", [1, 2**63, TOP])
def test_of_whom_a_plausible_epoch_is_forged_speaks_again(epoch, seq):
    world = triangle()
    for body in forged("c", NOW + epoch, seq):
        world.says("b", "a", body)
    world.want("c", less(3))
    world.settle()
    assert world.asked_of("a")["c"] == world.asked_of("b")["c"] == {less(3)}


def test_of_whom_the_highest_epoch_is_forged_again_and_again_speaks_when_that_ends():
    world = triangle()
    for _ in range(100):
        world.says("b", "a", *forged("c", world.unix_ms("a") + DAY_MS, TOP))
        world.says("b", "a", *forged("c", world.cores["c"].epoch, TOP))
        world.run(500 * MS)
    assert any("keeps announcing itself" in text for text in world.alarms)
    assert world.cores["c"].epoch < world.unix_ms("a") + 2 * DAY_MS
    world.want("c", less(3))
    world.settle()
    assert world.asked_of("a")["c"] == world.asked_of("b")["c"] == {less(3)}


def test_what_is_pushed_ahead_step_by_step_ends_two_days_ahead():
    world = triangle()
    for step in range(1, 20):
        world.says("b", "a", *forged("c", NOW + step * DAY_MS // 2, 5))
        world.run(100 * MS)
    assert world.cores["a"].core_state.held_epoch(world.cores["c"].me) <= world.unix_ms("a") + 2 * DAY_MS
    world.settle()


def test_every_number_of_every_body_at_its_extremes_stops_nobody():
    """About others, about whom it is told, about whoever says it, and about nobody."""
    world = triangle()
    world.want("c", less(3))
    world.settle()
    subjects = [world.cores[name].me for name in "abc"] + [0, 1, TOP]
    names = ("a", "b", "c", "nobody")
    for extreme, epoch in itertools.product(EXTREMES, (*EXTREMES, NOW)):
        link = (Adjacency(extreme, extreme, 1),)
        bodies = [LinkState(name, epoch, extreme, link) for name in names]
        for issuer in subjects:
            digest = predicate_digest([])
            rows = ((extreme, less(1)),)
            full = predicate_digest(rows)
            bodies += [
                ReceiverAdvertisement(issuer, epoch, extreme, True, 0, (), (), digest, 0, True),
                ReceiverAdvertisement(issuer, epoch, extreme, True, 0, rows, (), full, 1, False),
                SenderRequest(issuer, epoch, extreme, Scope.NEIGHBOUR, b"", (Known(issuer, epoch, extreme, digest),)),
                SenderRequest(issuer, epoch, extreme, Scope.TREE, b"", (), (Known(issuer, epoch, extreme, digest),)),
                UpdateReply(
                    issuer, epoch, extreme, (Entry(issuer, epoch, extreme, full, rows),), False, 2**32 - 1, (extreme,)
                ),
                Held(issuer, epoch, extreme, (issuer, extreme)),
                EpochRefused(issuer, epoch, extreme),
            ]
            if extreme:
                bodies.append(
                    ReceiverAdvertisement(issuer, epoch, extreme, False, extreme - 1, rows, (extreme,), full, TOP, True)
                )
        world.says("b", "a", *bodies)
        world.run(50 * MS)
    world.run(60 * S)
    assert {core.epoch < world.unix_ms("a") + 2 * DAY_MS for core in world.cores.values()} == {True}
    assert all(command != 0 for command in world.installed["a"])
    world.want("c", less(7))
    world.run(5 * S)
    world.cut("a", "b")
    world.begin("b")
    world.connect("a", "b")
    world.run(5 * S)
    assert less(7) in world.asked_of("a")["c"]


def test_an_issuer_whose_number_is_nobodys_is_refused():
    single = Single()
    single.joins("a")
    single.took(object)
    single.hears("a", ReceiverAdvertisement(0, 1, 1, True, 0, (), (), predicate_digest([]), 0, False))
    assert 0 not in single.core.core_state.rib.entries
    assert single.took(Install) == []


# --- what is stated of this router ------------------------------------------------------------------------------------


def by_clock(epoch: int = NOW) -> Single:
    def core(*args: object) -> Core:
        return Core(*args, unix_ms=lambda: NOW)  # type: ignore[arg-type]

    return Single(epoch, core)  # type: ignore[arg-type]


@pytest.mark.parametrize("epoch", [EPOCH_MAX, 2**63, TOP])
def test_an_absurd_epoch_of_oneself_is_no_reason_to_jump(epoch):
    single = by_clock()
    single.joins("a", "b")
    single.took(object)
    single.hears("b", *forged("me", epoch, TOP))
    single.hears("b", UpdateReply(1, 1, 1, (entry("me", TOP, {}, epoch=epoch),)))
    single.waits(30 * S)
    assert single.core.epoch == NOW
    done = single.done
    assert [command for command in done if isinstance(command, RaiseEpoch)] == []
    assert len([command for command in done if isinstance(command, Alarm)]) == 1
    assert single.core.core_state.refused == 3


def test_a_jump_stays_below_what_is_believed():
    single = by_clock()
    single.joins("a", "b")
    for _ in range(1_000):
        single.hears("b", *forged("me", single.core.epoch, TOP))
        single.waits(1 * S)
    assert NOW + DAY_MS < single.core.epoch <= NOW + 2 * DAY_MS


# --- clocks that are off ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", [-YEARS, -30 * DAY_MS, -DAY_MS, DAY_MS, 2 * DAY_MS, YEARS])
def test_a_router_whose_clock_is_off_takes_part(off):
    world = triangle(c=off)
    world.want("c", less(3))
    world.want("a", less(5))
    world.settle()
    assert world.asked_of("b") == {"c": {less(3)}, "a": {less(5)}}
    assert world.asked_of("c") == world.asked_of("b")


@pytest.mark.parametrize("off", [-YEARS, YEARS])
def test_one_behind_it_is_reached(off):
    world = Clocked(a=0, b=off, c=0, d=0)
    for one, other in ("ab", "bc", "cd"):
        world.connect(one, other)
    world.settle()
    world.want("d", less(3))
    world.settle()
    assert world.asked_of("a")["d"] == {less(3)}


@pytest.mark.parametrize("off", [-YEARS, YEARS])
def test_so_do_two_in_a_line_with_one_that_is_right(off):
    world = Clocked(a=0, b=off)
    world.connect("a", "b")
    world.settle()


@pytest.mark.parametrize("off", [-YEARS, YEARS])
def test_all_routers_may_be_off_by_as_much(off):
    triangle(a=off, b=off, c=off)


def test_two_neighbours_that_are_years_ahead_come_back_where_most_links_say_so():
    world = Clocked(a=0, b=0, c=YEARS, d=YEARS, e=0)
    for one, other in ("ab", "ac", "bc", "cd", "de", "ea"):
        world.connect(one, other)
    world.settle(20 * S)
    world.want("d", less(3))
    world.settle()
    assert all(world.asked_of(name)["d"] == {less(3)} for name in "abce")


def test_one_neighbour_of_several_makes_nobody_go_back():
    world = triangle()
    before = world.cores["a"].epoch
    for acceptable in (0, 1, NOW - YEARS, before - 1):
        world.says("b", "a", EpochRefused(world.cores["a"].me, before, acceptable))
        world.run(3 * S)
    assert world.cores["a"].epoch == before
    assert world.cores["a"].core_state.epoch_validator.clock_ms(world.now_us) == world.unix_ms("a")


def test_what_one_neighbour_refuses_and_others_hear_of_it_makes_nobody_go_back():
    """One is two days behind, linked with two of three that are right: each tells on its own clock, not the other's."""
    world = triangle(d=-2 * DAY_MS)
    before = {name: world.cores[name].epoch for name in "abc"}
    world.connect("a", "d")
    world.connect("c", "d")
    for name in "abc":
        world.says("d", "a", EpochRefused(world.cores[name].me, before[name], world.unix_ms("d") + DAY_MS))
        world.says("d", "c", EpochRefused(world.cores[name].me, before[name], world.unix_ms("d") + DAY_MS))
    world.settle(20 * S)
    assert {name: world.cores[name].epoch for name in "abc"} == before
    for name in "abc":
        assert world.cores[name].core_state.epoch_validator.clock_ms(world.now_us) == world.unix_ms(name)


def test_nobody_goes_back_below_what_a_neighbour_holds():
    single = by_clock(NOW + YEARS)
    single.up("a")
    single.hears("a", state("me", 3, epoch=NOW + 5_000))
    single.waits(3 * S)
    assert single.core.epoch == NOW + YEARS
    single.hears("a", EpochRefused(stable_number("me"), single.core.epoch, NOW - YEARS))
    single.waits(3 * S)
    assert single.core.epoch == NOW + YEARS, "what it would have to be above is no more taken than this"
    single.hears("a", EpochRefused(stable_number("me"), single.core.epoch, NOW + DAY_MS))
    single.waits(3 * S)
    assert single.core.epoch == NOW + 5_001


@pytest.mark.slow
def test_what_only_a_hostile_neighbour_vouched_for_gives_way():
    """It was the only link, and another one is up now."""
    world = Clocked(a=0, b=0, c=0)
    world.connect("a", "b")
    world.settle()
    world.says("b", "a", *forged("c", EPOCH_MAX, TOP), *forged("x", EPOCH_MAX, 1))
    world.run(1 * S)
    assert world.cores["a"].core_state.held_epoch(world.cores["c"].me) == EPOCH_MAX
    world.connect("a", "c")
    world.want("c", less(3))
    world.run(60 * S)
    assert world.asked_of("a")["c"] == {less(3)}
    assert world.cores["c"].epoch < NOW + 2 * DAY_MS


def test_the_clock_is_the_own_unless_more_than_half_of_the_neighbours_have_another():
    epoch_validator = EpochValidator(lambda: NOW)
    epoch_validator.takes(1, NOW + YEARS, 0)
    assert epoch_validator.clock_ms(0) == NOW, "one alone moves no clock ahead"
    epoch_validator.takes(1, NOW - YEARS, 0)
    assert epoch_validator.clock_ms(7 * S) == NOW - YEARS - DAY_MS + 7_000, "one of one"
    epoch_validator.takes(1, NOW + YEARS, 0)
    epoch_validator.stated(2, 9, NOW)
    assert epoch_validator.clock_ms(0) == NOW
    epoch_validator.takes(2, NOW - YEARS, 0)
    assert epoch_validator.clock_ms(0) == NOW, "they do not agree"
    epoch_validator.takes(3, NOW - 2 * YEARS, 0)
    assert epoch_validator.clock_ms(0) == NOW - YEARS - DAY_MS, "two of three are at most there"
    epoch_validator.gone(1)
    epoch_validator.takes(2, NOW + DAY_MS // 2, 0)
    epoch_validator.takes(3, NOW + DAY_MS * 3 // 2, 0)
    assert epoch_validator.clock_ms(0) == NOW, "less than a day apart"
    epoch_validator.takes(2, NOW + 9 * DAY_MS, 0)
    epoch_validator.takes(3, NOW + 5 * DAY_MS, 0)
    assert epoch_validator.clock_ms(0) == NOW + 4 * DAY_MS, "both are at least there"


def test_what_more_than_half_of_the_links_state_is_believed():
    epoch_validator = EpochValidator(lambda: NOW)
    for neighbour, epoch, is_believed in ((1, EPOCH_MAX, True), (2, NOW, False), (3, NOW + YEARS, False)):
        epoch_validator.stated(neighbour, 9, epoch)
        assert epoch_validator.is_so(EPOCH_MAX, 0, 0) is is_believed
    assert epoch_validator.is_so(NOW + YEARS, 0, 0)
    assert not epoch_validator.is_so(NOW + YEARS + 1, 0, 0)
    epoch_validator.gone(1)
    assert not epoch_validator.is_so(NOW + YEARS, 0, 0)


def test_a_router_that_is_behind_and_stands_between_others_lets_new_starts_pass():
    """Nobody on the other side can vouch for them; the clocks of both sides say that they are right."""
    world = Clocked(a=0, b=-YEARS, c=0)
    world.connect("a", "b")
    world.connect("b", "c")
    world.settle()
    world.now_us += 3 * DAY_MS * MS
    world.stop("a")
    world.begin("a")
    world.connect("a", "b")
    world.want("a", less(3))
    world.settle(20 * S)
    assert world.asked_of("c")["a"] == {less(3)}


def test_what_is_done_seldom_is_done_once_in_its_time_and_bounded():
    rate_limiter = RateLimiter(100)
    assert [rate_limiter.may(what, 0) for what in "aba"] == [True, True, False]
    assert [rate_limiter.may("a", now) for now in (99, 100, 101)] == [False, True, False]
    assert sum(rate_limiter.may(number, 101) for number in range(2 * REMEMBERED_MAX)) <= REMEMBERED_MAX
