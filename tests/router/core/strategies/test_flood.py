"""Strategy flood: one filter that matches everything stands for whatever clients want."""

from __future__ import annotations

import pytest

from tamis.protocol.wire.packed_filters import decode_filter, encode_filter
from tamis.protocol.wire.routing_bodies import ReceiverAdvertisement
from tamis.router.core.core import Core, CoreSettings
from tamis.router.core.events import FiltersAdded, FiltersRemoved
from tamis.router.core.strategies.flood import EVERYTHING
from tamis.router.core.strategies.registry import STRATEGIES
from tamis.router.core.times import S
from tests.router.core.bodies import less
from tests.router.core.single import Single
from tests.router.core.world import World


def flooding(name: str = "flood") -> Single:
    def make(me: str, epoch: int, settings: CoreSettings) -> Core:
        return STRATEGIES[name].core(me, epoch, settings)

    single = Single(core=make)  # type: ignore[arg-type]
    single.joins("a", "b")
    single.waits(5 * S)
    return single


def said(single: Single) -> list[tuple[list[bytes], int]]:
    """What it advertised to a since this was asked last: the filters that came, and how many there are now."""
    return [
        ([filter_.filter for filter_ in body.added], body.count) for body in single.took(ReceiverAdvertisement, "a")
    ]


def test_everything_is_the_filter_without_constraints():
    assert decode_filter(EVERYTHING).constraints == ()
    assert encode_filter(decode_filter(EVERYTHING)) == EVERYTHING == b"\x90"


def test_the_first_filter_of_a_client_asks_for_everything_and_the_last_one_ends_that_after_the_hold():
    single = flooding()
    said(single)
    one, other = less(1), less(2)
    single.handle(FiltersAdded((one,)))
    single.waits(S)
    assert said(single) == [([EVERYTHING], 1)]
    single.handle(FiltersAdded((other, one)))
    single.handle(FiltersRemoved((one, other)))
    single.waits(10 * S)
    assert said(single) == []
    single.handle(FiltersRemoved((one,)))
    single.waits(single.core.core_state.times.narrow_hold_us - 1)
    assert said(single) == []
    single.waits(10 * S)
    assert said(single) == [([], 0)]


def test_a_client_that_comes_back_in_time_costs_nothing():
    single = flooding()
    one = less(1)
    single.handle(FiltersAdded((one,)))
    single.waits(S)
    said(single)
    single.handle(FiltersRemoved((one,)))
    single.waits(S)
    single.handle(FiltersAdded((one,)))
    single.waits(10 * S)
    assert said(single) == []


def test_what_nobody_wants_cannot_be_given_up():
    single = flooding()
    with pytest.raises(KeyError):
        single.handle(FiltersRemoved((less(1),)))


def test_as_the_paper_has_it_a_router_without_clients_asks_for_everything_too():
    single = flooding("flood-everywhere")
    assert list(single.core.core_state.rib.entries[single.core.me].filters.values()) == [EVERYTHING]
    said(single)
    wanted = less(1), less(2)
    single.handle(FiltersAdded(wanted))
    single.handle(FiltersRemoved(wanted))
    single.waits(10 * S)
    assert said(single) == []


def test_flood_and_advertise_mix():
    world = World()
    world.start("a", core=STRATEGIES["flood"].core)  # type: ignore[arg-type]
    world.start("b")
    world.connect("a", "b")
    world.run(5 * S)
    one = less(1)
    for name in "ab":
        world.want(name, one)
    world.run(5 * S)
    a, b = world.cores["a"].me, world.cores["b"].me
    assert list(world.installed["b"][a].values()) == [EVERYTHING]
    assert list(world.installed["a"][b].values()) == [one]
