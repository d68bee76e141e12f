"""What one change may cost: at rest, one thing is done and the control frames that follow are counted (invariant 9).

Law: a drill leaves the network at rest, and as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from tamis.router.core.events import Audit
from tamis.simulate.faults import MS, WISHES
from tamis.simulate.oracle import costs
from tamis.simulate.settle import Rest
from tamis.simulate.world import Client, World

SOON_US: Final = 1_000 * MS
"""A change is everywhere long before, and longer than a storm is damped."""
NARROWED_US: Final = 9_000 * MS
"""Holds and the slowest damping are over."""
STORM_US: Final = 2_000 * MS
STORM_CHANGES: Final = 40


def drill(world: World, rest: Rest, round_: int, seed: int) -> None:
    """One of them, by the round."""
    random = Random(f"{seed}/drill/{round_}")
    chosen = [client for client in world.clients if client.is_connected and _alone(world, client)]
    if not chosen:
        return
    client = random.choice(chosen)
    DRILLS[round_ % len(DRILLS)](world, client, random)
    world.recorder.counts["drills"] += 1
    rest.forget()


def _alone(world: World, client: Client) -> bool:
    """No other client of its router wants anything that might cover, or be covered."""
    return not any(other.wishes and other.home == client.home and other is not client for other in world.clients)


def _one_filter(world: World, client: Client, random: Random) -> None:
    """A filter that is new to its router comes, and goes again; where none covers another, which is a second change."""
    held = [world.contents[wish] for wish in client.wishes]
    apart = [wish for wish in range(WISHES) if not any(_overlap(world.contents[wish], other) for other in held)]
    if not apart:
        return
    wish = random.choice(apart)
    for what, act, wait_us in (
        ("a new filter", world.subscribe, SOON_US),
        ("a filter that went", world.unsubscribe, NARROWED_US),
    ):
        before = _frames(world)
        act(client, wish)
        _run(world, wait_us)
        _compare(world, what, before, costs.FRAMES_PER_LINK)


def _back_in_time(world: World, client: Client, _: Random) -> None:
    """R7: a client that is away for less than the hold costs nothing, if its filters do not cover each other."""
    if len(client.wishes) > 1:
        return
    before = _frames(world)
    world.reconnect(client, SOON_US)
    _run(world, 2 * SOON_US)
    _compare(world, "a client that came back in time", before, 0)


def _twice(world: World, client: Client, _: Random) -> None:
    """R1: what is asked for already costs nothing."""
    others = [other for other in world.clients if other.home == client.home and other is not client and other.is_connected]
    if not others or not client.wishes:
        return
    wish, before = min(client.wishes), _frames(world)
    world.subscribe(others[0], wish)
    _run(world, SOON_US)
    _compare(world, "a filter that another client had", before, 0)
    world.unsubscribe(others[0], wish)
    _run(world, NARROWED_US)
    _compare(world, "a filter that another client kept", before, 0)


def _storm(world: World, client: Client, random: Random) -> None:
    """R1: many changes, few advertisements."""
    before = _frames(world)
    wishes = [wish for wish in range(WISHES) if wish not in client.wishes]
    for wish in random.sample(wishes, STORM_CHANGES):
        world.subscribe(client, wish)
        _run(world, STORM_US // STORM_CHANGES // 2)
        world.unsubscribe(client, wish)
        _run(world, STORM_US // STORM_CHANGES // 2)
    _compare(world, "a storm", before, costs.FRAMES_PER_LINK * costs.STORM_ISSUES)
    _run(world, NARROWED_US + SOON_US)


def _saturated(world: World, client: Client, random: Random) -> None:
    """R12: control on links that are full of data."""
    directions = [way for link in world.links for way in link.ways]
    for way in directions:
        way.control_wait_us = 0
    for link in world.links:
        world.fill(link)
    wish = random.choice([wish for wish in range(WISHES) if wish not in client.wishes])
    world.subscribe(client, wish)
    _run(world, SOON_US)
    costs.control_wait(max((way.control_wait_us for way in directions), default=0), world.recorder.report)
    world.unsubscribe(client, wish)
    _run(world, NARROWED_US)


def _audited(world: World, client: Client, _: Random) -> None:
    """R10: everybody answers, and holds the same."""
    node = world.nodes[client.home]
    node.ask(Audit(1))
    _run(world, SOON_US)
    audits, world.recorder.audits = world.recorder.audits, []
    others = len(world.reachable(node)) - 1
    if [(answer.answered, answer.differing) for _, answer in audits] != [(others, ())]:
        world.recorder.report(4, f"an audit of {others} other routers gave {[answer for _, answer in audits]}")


DRILLS: Final[tuple[Callable[[World, Client, Random], None], ...]] = (
    _one_filter,
    _back_in_time,
    _storm,
    _saturated,
    _audited,
    _twice,
)


def _overlap(one: int, other: int) -> bool:
    return one & other in (one, other)


def _frames(world: World) -> int:
    said = world.recorder.said
    return said["advertisements"] + said["confirmations"] + said["requests"]


def _run(world: World, for_us: int) -> None:
    world.clock.run_until(world.clock.now_us + for_us)


def _compare(world: World, what: str, before: int, allowed_per_link: int) -> None:
    links = sum(link.open for link in world.links)
    costs.one_change(what, _frames(world) - before, links, allowed_per_link, world.recorder.report)
