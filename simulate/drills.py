"""The cost of one change: at rest, one change is made and the control frames that follow are counted (invariant 9).

Law: a drill leaves the network at rest, and in its state before.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from tamis.router.core.events import Audit
from tamis.simulate.faults.faults import MS, WISHES
from tamis.simulate.oracle import costs
from tamis.simulate.settle import Rest
from tamis.simulate.world.clients import SimulatedClient
from tamis.simulate.world.world import World

SOON_US: Final = 1_000 * MS
"""The wait after a change: within it every router learns of the change, and the damping of a storm ends."""
NARROWED_US: Final = 9_000 * MS
"""The wait after a removal: within it the hold (R7) and the slowest damping (R1) end, so it is advertised."""
STORM_US: Final = 2_000 * MS
STORM_CHANGES: Final = 40
COUNTED: Final = (
    "advertisements",
    "confirmations",
    "requests",
    "edge statements",
    "edge confirmations",
    "edge requests",
)
"""Kinds of control frames that a change may cost."""


def drill(world: World, rest: Rest, round_: int, seed: int) -> None:
    """Run one of the drills, chosen by the round's number."""
    random = Random(f"{seed}/drill/{round_}")
    chosen = [client for client in world.clients if client.is_connected]
    if chosen:
        DRILLS[round_ % len(DRILLS)](world, random.sample(chosen, len(chosen)), random)
        world.recorder.counts["drills"] += 1
        rest.forget()


def _one_filter(world: World, clients: list[SimulatedClient], random: Random) -> None:
    """Add a filter that is new to its router and remove it again. The filter neither covers others nor is covered,
    since covering would be a second change."""
    client = clients[0]
    held = _wishes_at(world, client.home)
    apart = [wish for wish in range(WISHES) if not any(_comparable(world, wish, other) for other in held)]
    if not apart:
        return
    wish = random.choice(apart)
    for what, act, wait_us in (
        ("a new filter", world.clients.subscribe, SOON_US),
        ("a removed filter", world.clients.unsubscribe, NARROWED_US),
    ):
        before = _frames(world)
        act(client, wish)
        _run(world, wait_us)
        issues = 1 if world.kit.settings.merge is None else costs.MERGED_ISSUES
        _compare(world, what, before, issues * costs.FRAMES_PER_LINK)


def _back_in_time(world: World, clients: list[SimulatedClient], _: Random) -> None:
    """R7: check that a client which is disconnected for less than the hold costs no frame, if no filter of its router
    covers one of the client's."""
    client = next((client for client in clients if _has_only_its_own(world, client)), None)
    if client is not None:
        before = _frames(world)
        world.clients.reconnect(client, SOON_US)
        _run(world, 2 * SOON_US)
        _compare(world, "a client that returned in time", before, 0)


def _twice(world: World, clients: list[SimulatedClient], _: Random) -> None:
    """R1: check that a subscription to a filter that is advertised already costs no frame."""
    pairs = ((one, two) for one in clients for two in clients if one.home == two.home and one.wishes - two.wishes)
    one, two = next(pairs, (None, None))
    if one is None or two is None:
        return
    wish = min(one.wishes - two.wishes)
    for act, wait_us in ((world.clients.subscribe, SOON_US), (world.clients.unsubscribe, NARROWED_US)):
        before = _frames(world)
        act(two, wish)
        _run(world, wait_us)
        _compare(world, "an equal filter of another client", before, 0)


def _storm(world: World, clients: list[SimulatedClient], random: Random) -> None:
    """R1: check that many changes cause few advertisements."""
    client, before = clients[0], _frames(world)
    wishes = [wish for wish in range(WISHES) if wish not in client.wishes]
    for wish in random.sample(wishes, STORM_CHANGES):
        world.clients.subscribe(client, wish)
        _run(world, STORM_US // STORM_CHANGES // 2)
        world.clients.unsubscribe(client, wish)
        _run(world, STORM_US // STORM_CHANGES // 2)
    _compare(world, "a storm", before, costs.FRAMES_PER_LINK * costs.STORM_ISSUES)
    _run(world, NARROWED_US + SOON_US)


def _saturated(world: World, clients: list[SimulatedClient], random: Random) -> None:
    """R12: check the time that control waits on links with full queues of data."""
    client = clients[0]
    directions = [way for link in world.links for way in link.ways]
    for way in directions:
        way.control_wait_us = 0
    for link in world.links:
        world.fill(link)
    wish = random.choice([wish for wish in range(WISHES) if wish not in client.wishes])
    world.clients.subscribe(client, wish)
    _run(world, SOON_US)
    costs.control_wait(max((way.control_wait_us for way in directions), default=0), world.recorder.report)
    world.clients.unsubscribe(client, wish)
    _run(world, NARROWED_US)


def _audited(world: World, clients: list[SimulatedClient], _: Random) -> None:
    """R10: check that every router answers an audit and has equal state."""
    node = world.nodes[clients[0].home]
    node.ask(Audit(1))
    _run(world, SOON_US)
    audits, world.recorder.audits = world.recorder.audits, []
    others = len(world.reachable(node)) - 1
    if [(answer.answered, answer.differing) for _, answer in audits] != [(others, ())]:
        world.recorder.report(4, f"an audit of {others} other routers gave {[answer for _, answer in audits]}")


DRILLS: Final[tuple[Callable[[World, list[SimulatedClient], Random], None], ...]] = (
    _one_filter,
    _back_in_time,
    _storm,
    _saturated,
    _audited,
    _twice,
)


def _wishes_at(world: World, home: int) -> list[int]:
    """Return the wishes of all clients at router `home`, each once for each of its subscriptions."""
    return [wish for client in world.clients if client.home == home for wish in client.wishes]


def _comparable(world: World, one: int, other: int) -> bool:
    """Return whether one of two wishes matches every content that the other matches, so that it may cover it."""
    contents = world.contents[one] & world.contents[other]
    return contents in (world.contents[one], world.contents[other])


def _has_only_its_own(world: World, client: SimulatedClient) -> bool:
    held = _wishes_at(world, client.home)
    return bool(client.wishes) and all(
        sum(_comparable(world, wish, other) for other in held) == 1 for wish in client.wishes
    )


def _frames(world: World) -> int:
    said = world.recorder.said
    return sum(said[kind] for kind in COUNTED)


def _run(world: World, for_us: int) -> None:
    world.clock.run_until(world.clock.now_us + for_us)


def _compare(world: World, what: str, before: int, allowed_per_link: int) -> None:
    links = sum(link.open for link in world.links)
    costs.one_change(what, _frames(world) - before, links, allowed_per_link, world.recorder.report)
