"""One run: a random network, its clients, and operations one by one until all are done or time is up.

Law: the same seed makes the same network and draws the same operations; what happens when is the machine's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from tamis.bench.networks.chaos.faults import Faults, Outcome, Site
from tamis.bench.networks.chaos.fleet import Fleet, Sent
from tamis.bench.networks.chaos.judge import Judge
from tamis.simulate.faults.topologies import any_shape
from tamis.simulate.oracle.paths import Edge
from tamis.testing import NetworkPlan, link_name, running

COSTS: Final = (1, 1, 2, 3)
START_S: Final = 120


@dataclass(frozen=True, slots=True)
class Plan:
    """`operations`: how many of each kind."""

    routers: int
    clients: int
    rate: float
    operations: dict[str, int]
    seed: int
    seconds: float


@dataclass(slots=True)
class Found:
    """What a run has seen. `violations` by invariant, the first of them in words."""

    outcomes: list[Outcome] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    violations: dict[int, int] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    left: int = 0
    """Operations that time did not allow."""

    @property
    def is_clean(self) -> bool:
        return not self.violations and not any(each.problem or each.unmoved_missing for each in self.outcomes)


Progress = Callable[[str], None]


async def run(plan: Plan, folder: Path, progress: Progress) -> Found:
    random = Random(f"chaos/{plan.seed}")
    wanted, edges, added = _network(plan, random)
    sights = _Sights()
    async with running(folder, wanted, sights.seen) as network, AsyncExitStack() as stack:
        async with asyncio.timeout(START_S):
            await network.until_linked()
            judge = Judge()
            addresses = [router.address for router in network.routers.values()]
            fleet = Fleet(addresses, plan.clients, plan.rate, Random(plan.seed), _Notes(judge, plan))
            sights.site = site = Site(network, fleet, judge)
            for number in range(plan.routers):
                judge.truth.began(number)
            await stack.enter_async_context(fleet.running())
            await site.back(time.monotonic())
            await site.whole()
            await site.calm()
        progress(f"{plan.routers} routers, {len(edges)} links and {len(added)} to add, {plan.clients} clients")
        return await _operations(plan, site, Faults(site, random, added), random, progress)


async def _operations(plan: Plan, site: Site, faults: Faults, random: Random, progress: Progress) -> Found:
    kinds = [kind for kind, count in plan.operations.items() for _ in range(count)]
    random.shuffle(kinds)
    found, begun_s = Found(), time.monotonic()
    for number, kind in enumerate(kinds):
        if time.monotonic() > begun_s + plan.seconds:
            found.left = len(kinds) - number
            break
        outcome = await faults.do(kind)
        found.outcomes.append(outcome)
        progress(f"{number + 1}/{len(kinds)}, {time.monotonic() - begun_s:.0f} s: {_line(outcome)}")
    await asyncio.sleep(1)
    judge = site.judge
    found.violations, found.shown = judge.violations, judge.shown
    found.counts = judge.counts | dict(site.fleet.counts) | {"flaps": site.flaps}
    return found


def _network(plan: Plan, random: Random) -> tuple[NetworkPlan, list[Edge], list[Edge]]:
    """Return the existing edges, and as many later ones as there are routers."""
    names = [f"r{number}" for number in range(plan.routers)]
    edges = sorted(any_shape(plan.routers, random))
    others = [(a, b) for b in range(plan.routers) for a in range(b) if (a, b) not in edges]
    added = random.sample(others, min(plan.routers, len(others)))
    links = tuple((names[a], names[b], random.choice(COSTS)) for a, b in edges + added)
    missing = frozenset(link_name(names[a], names[b]) for a, b in added)
    return NetworkPlan(tuple(names), links, missing, is_proxied=True), edges, added


class _Notes:
    """What clients see, for the judge."""

    def __init__(self, judge: Judge, plan: Plan) -> None:
        self._judge, self._routers = judge, plan.routers

    def connected(self, client: int, session: int, contents: int) -> None:
        truth = self._judge.truth
        truth.unwanted(client, 0)
        truth.wanted(client, session, client % self._routers, 0, contents)

    def delivered(self, client: int, session: int, message: Sent) -> None:
        self._judge.deliveries.delivered(client, session, message)


class _Sights:
    """What the proxy sees, for the site, once there is one."""

    site: Site | None = None

    def seen(self, link: str, what: str, _at_s: float) -> None:
        if self.site is not None:
            self.site.seen(link, what)


def _line(outcome: Outcome) -> str:
    """Print progress for a person who watches."""
    words = [f"{outcome.kind} {outcome.target}:"]
    for name, each in (("others back", outcome.first), ("all back", outcome.second)):
        if each is not None:
            words.append(f"{name} {each.back_s:.2f} s, {each.missing} missing;")
    for word, seconds in (("clients", outcome.clients_s), ("linked", outcome.linked_s), ("quiet", outcome.quiet_s)):
        if seconds is not None:
            words.append(f"{word} {seconds:.2f} s")
    words += [f"flaps {outcome.flaps}"] * bool(outcome.flaps) + [outcome.problem] * bool(outcome.problem)
    return " ".join(words)
