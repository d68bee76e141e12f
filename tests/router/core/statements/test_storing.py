"""R19d: a router with durable subscriptions knows which routers in reach store them, and in which life of which log."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.wire.custody_bodies import NO_LOG, LogLife
from tamis.protocol.wire.home_bodies import DurablesHeld, DurablesHolder, DurablesStatement
from tamis.protocol.wire.numbers import stable_number
from tamis.router.core.events import DurablesRecalled, DurablesStated
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.known_durables import KnownDurables
from tamis.router.core.statements.storing import StoringRouters
from tamis.router.core.times import MS, S
from tests.router.core.graphs import checks
from tests.router.core.statements.test_durables import LINE, durable, known, stated
from tests.router.core.world import World

NAMES = "abcd"


def begin(world: World, *names: str, log: int = 9) -> None:
    """Open logs without durable subscriptions."""
    for name in names:
        world.handle(name, DurablesStated(log, {}))


def run(world: World, for_us: int) -> None:
    """Let time pass while disks write at once."""
    for _ in range(for_us // (100 * MS)):
        world.run(100 * MS)
        world.write()


def storing(world: World, at: str) -> dict[str, LogLife]:
    """Return which routers are known at a router to store what it states."""
    names = {stable_number(name): name for name in NAMES}
    found = world.cores[at]._durables.storing
    return {names[holder.router]: LogLife(*holder[1:]) for holder in found.holders(names)}


def asked(world: World) -> int:
    """Return how many statements have requested confirmation, and forget what was sent."""
    sent, world.sent[:] = [body for _, _, body in world.sent], []
    return len({(body.issuer, body.seq) for body in sent if isinstance(body, DurablesStatement) and body.confirm})


# --- empty statements -------------------------------------------------------------------------------------------------


def test_a_log_is_stated_once_another_router_has_a_durable_subscription():
    world = World("abc", LINE)
    begin(world, "a", "b", "c")
    world.run(60 * S)
    assert not world.frames(DurablesStatement)
    world.handle("a", DurablesStated(9, {1: durable()}))
    world.run(2 * S)
    for name in "abc":
        durables = world.cores[name].core_state.durables
        assert [durables.log_of(stable_number(router)) for router in "abc"] == [9, 9, 9]
    assert known(world, "a") == []


def test_a_router_without_a_log_states_nothing():
    world = World("ab", LINE[:1])
    world.handle("a", DurablesStated(9, {1: durable()}))
    world.run(60 * S)
    assert world.cores["a"].core_state.durables.log_of(stable_number("b")) == 0
    assert all(one == "a" for one, _, body in world.sent if isinstance(body, DurablesStatement))


def test_the_log_of_a_router_is_known_after_its_last_durable_subscription_and_a_restart():
    world = World("ab", LINE[:1])
    begin(world, "b")
    world.handle("a", DurablesStated(9, {1: durable()}))
    run(world, 2 * S)
    world.handle("a", DurablesStated(9, {}, (1,)))
    run(world, 2 * S)
    assert world.cores["b"].core_state.durables.log_of(stable_number("a")) == 9
    world.stop("a")
    world.start("a", epoch=2)
    begin(world, "a", log=10)
    world.connect("a", "b")
    run(world, 4 * S)
    assert world.cores["b"].core_state.durables.log_of(stable_number("a")) == 10


# --- who stores -------------------------------------------------------------------------------------------------------


def test_confirmation_is_requested_less_and_less_often_until_each_router_with_a_log_has_confirmed():
    world = World("abc", LINE)
    begin(world, "b", "c")
    world.run(2 * S)
    world.handle("a", DurablesStated(9, {1: durable()}))
    world.run(2 * S)
    world.write("b")
    asked(world)
    world.run(60 * S)
    assert 3 <= asked(world) <= 6
    world.run(600 * S)
    assert 9 <= asked(world) <= 11
    assert set(storing(world, "a")) <= {"b"}
    run(world, 70 * S)
    assert set(storing(world, "a")) == {"b", "c"}
    asked(world)
    run(world, 300 * S)
    assert asked(world) == 0


def test_a_confirmation_that_was_lost_comes_again():
    world = World("ab", LINE[:1])
    begin(world, "b")
    world.handle("a", DurablesStated(9, {1: durable()}))
    world.run(1 * S)
    world.lose.append(DurablesHeld)
    run(world, 5 * S)
    assert not world.lose
    assert set(storing(world, "a")) == {"b"}


def test_what_is_added_is_to_be_confirmed_too():
    world = World("ab", LINE[:1])
    begin(world, "b")
    world.handle("a", DurablesStated(9, {1: durable()}))
    run(world, 4 * S)
    world.lose.append(DurablesHeld)
    world.handle("a", DurablesStated(9, {2: durable("other")}))
    run(world, 1 * S)
    assert not world.lose
    assert world.cores["a"]._durables.storing.owing({stable_number("b")})
    run(world, 4 * S)
    assert not world.cores["a"]._durables.storing.owing({stable_number("b")})


def test_a_router_that_comes_into_reach_is_asked_soon_however_long_another_owes():
    world = World("abc", LINE[:1])
    begin(world, "b", "c")
    world.handle("a", DurablesStated(9, {1: durable()}))
    world.run(200 * S)
    world.connect("b", "c")
    for _ in range(30):
        world.run(100 * MS)
        world.write("c")
    assert set(storing(world, "a")) == {"c"}


def test_a_router_that_comes_back_says_its_new_life_and_each_is_told_once():
    world = World("abc", LINE)
    begin(world, "b", "c")
    world.handle("a", DurablesStated(9, {1: durable()}))
    run(world, 4 * S)
    assert storing(world, "a") == {"b": LogLife(9, 3, 2), "c": LogLife(9, 3, 2)}
    version = world.cores["c"].core_state.durables.rib.version(stable_number("a"))
    world.stop("c")
    world.run(60 * S)
    assert set(storing(world, "a")) == {"b"}
    world.lives["c"] = LogLife(9, 4, 3)
    world.start("c", epoch=2)
    world.handle("c", DurablesRecalled(world.lives["c"], (stated("a", version.seq, {1: durable()}, log=9),)))
    begin(world, "c")
    world.stored_at.clear()
    world.connect("b", "c")
    run(world, 10 * S)
    assert storing(world, "a")["c"] == LogLife(9, 4, 3)
    assert world.stored_at == [("a", DurablesHolder(stable_number("c"), 9, 4, 3))]
    asked(world)
    run(world, 300 * S)
    assert asked(world) == 0


def test_a_restart_that_nobody_noticed_by_its_links_is_found_by_its_epoch():
    world = World("ab", LINE[:1])
    begin(world, "b")
    world.handle("a", DurablesStated(9, {1: durable()}))
    run(world, 4 * S)
    owing = world.cores["a"]._durables.storing.owing
    assert not owing({stable_number("b")})
    held = world.cores["a"].core_state.durables
    held.replace(stated("b", 1, {}, epoch=2, log=9))
    assert owing({stable_number("b")}) == {stable_number("b")}


def test_a_router_that_loses_its_log_owes_a_confirmation_by_the_next():
    world = World("ab", LINE[:1])
    begin(world, "b")
    world.handle("a", DurablesStated(9, {1: durable()}))
    run(world, 4 * S)
    world.lives["b"] = LogLife(12, 1, 0)
    begin(world, "b", log=12)
    run(world, 4 * S)
    assert storing(world, "a") == {"b": LogLife(12, 1, 0)}


def test_a_confirmation_of_an_unknown_router_is_not_held():
    world = World("ab", LINE[:1])
    world.handle("a", DurablesStated(9, {1: durable()}))
    run(world, 4 * S)
    version = world.cores["a"].core_state.durables.rib.version(stable_number("a"))
    holders = tuple(DurablesHolder(number, 9) for number in (5, stable_number("a"), stable_number("b")))
    world.cores["a"]._durables.held(DurablesHeld(stable_number("a"), *version, holders))
    assert storing(world, "a") == {"b": LogLife(9, 0, 0)}


def test_a_confirmation_that_came_before_the_log_was_stated_is_told_again():
    b = stable_number("b")
    known, holder = KnownDurables(stable_number("a")), DurablesHolder(b, 9, 3, 2)
    found = StoringRouters(known)
    assert found.heard(Version(1, 1), (holder,), {b}) == (holder,)
    assert found.heard(Version(1, 2), (holder,), {b}) == ()
    known.replace(stated("b", 1, {}, log=9))
    assert found.heard(Version(1, 3), (holder,), {b}) == (holder,)


# --- any history ------------------------------------------------------------------------------------------------------

WHO = st.sampled_from(NAMES)
STEPS = st.lists(
    st.tuples(st.just("toggle"), st.sampled_from(list(combinations(NAMES, 2))))
    | st.tuples(st.sampled_from(["create", "remove", "restart", "replace_disk", "write"]), WHO.map(lambda who: (who,)))
    | st.tuples(st.just("run"), st.sampled_from([3 * MS, 150 * MS, 3 * S]).map(lambda us: (us,)))
    | st.tuples(st.just("lose"), st.sampled_from([DurablesStatement, DurablesHeld]).map(lambda body: (body,))),
    max_size=30,
)


class History:
    """Routers with disks: what is written to one outlives its router."""

    def __init__(self) -> None:
        self.world = World()
        self.epoch = self.logs = 1
        self.own: dict[str, dict[int, bytes]] = {name: {} for name in NAMES}
        self.links: set[tuple[str, str]] = set()
        for name in NAMES:
            self.world.lives[name] = LogLife(1, 0, 0)
            self.start(name)

    def start(self, name: str) -> None:
        log, life, _ = self.world.lives[name]
        self.world.lives[name] = LogLife(log, life + 1, life)
        self.world.start(name, self.epoch)
        self.world.handle(name, DurablesStated(log, self.own[name]))

    def toggle(self, one: str, other: str) -> None:
        if (one, other) in self.links:
            self.world.cut(one, other)
        else:
            self.world.connect(one, other)
        self.links ^= {(one, other)}

    def create(self, who: str) -> None:
        self.epoch += 1
        self.own[who][self.epoch] = durable(f"d{self.epoch}")
        self.world.handle(who, DurablesStated(self.world.lives[who].log, {self.epoch: self.own[who][self.epoch]}))

    def remove(self, who: str) -> None:
        if self.own[who]:
            number, _ = self.own[who].popitem()
            self.world.handle(who, DurablesStated(self.world.lives[who].log, {}, (number,)))

    def restart(self, who: str) -> None:
        self.epoch += 1
        self.world.stores = [each for each in self.world.stores if each[0] != who]
        links = [link for link in self.links if who in link]
        self.world.stop(who)
        self.start(who)
        for link in links:
            self.world.connect(*link)

    def replace_disk(self, who: str) -> None:
        self.logs += 1
        self.own[who] = {}
        self.world.lives[who] = LogLife(self.logs, 0, 0)
        self.restart(who)

    def write(self, who: str) -> None:
        self.world.write(who)

    def run(self, for_us: int) -> None:
        self.world.run(for_us)

    def lose(self, body: type) -> None:
        self.world.lose.append(body)

    def settle(self) -> None:
        self.world.lose.clear()
        run(self.world, 180 * S)


@checks
@given(STEPS)
def test_after_any_history_each_home_knows_the_lives_of_all_in_reach_and_all_is_quiet(steps):
    history = History()
    for name, arguments in steps:
        getattr(history, name)(*arguments)
    history.settle()
    world = history.world
    for name in NAMES:
        if history.own[name]:
            found = storing(world, name)
            assert found == {other: world.lives[other] for other in world.reach(name) - {name}}
            assert NO_LOG not in found.values()
    asked(world)
    run(world, 100 * S)
    assert asked(world) == 0
