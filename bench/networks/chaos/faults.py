"""One operation on a network under traffic: a fault and its end, and what came of them.

    kill   SIGKILL; started again, at once or when the others are back
    stop   SIGSTOP, for up to a few seconds; then SIGCONT
    cut    a link is reset, or goes dark; then it works again
    add    a link that has not been there works from now on

Law: each begins at rest. The judge is told of a fault before anybody can feel it, and of its end when all have.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from random import Random
from typing import Final

from tamis.bench.networks.chaos.fleet import TRAVEL_S, Fleet, Pair, Sent
from tamis.bench.networks.chaos.judge import PATIENCE, Judge, S
from tamis.bench.networks.chaos.outage import Outage, outage
from tamis.simulate.oracle.paths import Edge, component, graph_of
from tamis.testing import RouterNetwork, RouterProcess
from tamis.testing.links import ProxyState

PATIENCE_S: Final = 30.0
"""An operation that is not over by then has failed."""
QUIET_S: Final = 1.0
STOPPED_S: Final = (0.2, 3.0)
_LOOK_S: Final = 0.02
_FRESH_S: Final = 1.0
_REST_S: Final = 0.4
_NO_SESSION: Final = -1
_READ_S: Final = 0.1
"""After which clients have read what a router had sent that was killed, and no new one can be there yet."""


@dataclass(frozen=True, slots=True)
class Window:
    """Of time, in which `pairs` could reach each other. `again`: those of them that had to begin again."""

    pairs: list[Pair]
    since_s: float
    until_s: float
    is_mended: bool = False
    anew: AbstractSet[Pair] = frozenset()


@dataclass(slots=True)
class Outcome:
    """`first`: those who were not hit, from the fault on. `second`: all, from its end on. None: there was no such."""

    kind: str
    target: str = ""
    windows: list[Window] = field(default_factory=list)
    first: Outage | None = None
    second: Outage | None = None
    linked_s: float | None = None
    """From its end until all links are up, as far as this was seen."""
    clients_s: float | None = None
    """Until the last client of a router that was killed has found it again: how long clients wait between attempts."""
    quiet_s: float | None = None
    unmoved_missing: int = 0
    """After the end, between clients whom neither fault nor end concerned."""
    flaps: int = 0
    problem: str = ""

    def measure(self, fleet: Fleet) -> None:
        """When all that was published has had its time."""
        for window in self.windows:
            sent = list(fleet.published(window.since_s, window.until_s))
            found = outage(sent, window.pairs, window.since_s, window.anew)
            if window.is_mended:
                unmoved = [pair for pair in window.pairs if pair not in window.anew]
                self.second, self.unmoved_missing = found, outage(sent, unmoved, window.since_s, set()).missing
            else:
                self.first = found


class Site:
    """The network, its clients and the judge, and what the bench has done to them."""

    def __init__(self, network: RouterNetwork, fleet: Fleet, judge: Judge) -> None:
        self.network, self.fleet, self.judge = network, fleet, judge
        self.names = list(network.routers)
        numbers = {name: number for number, name in enumerate(self.names)}
        self.costs = {_edge(numbers[a], numbers[b]): cost for a, b, cost in network.plan.links}
        self.links = {_edge(numbers[a], numbers[b]): name for name, (a, b) in network.ends.items()}
        self.touched: set[Edge] = set()
        self.flaps = 0

    def seen(self, link: str, what: str) -> None:
        """By the proxy. A link that ends though nobody touched it is a flap."""
        edge = next(edge for edge, name in self.links.items() if name == link)
        if what == "down" and edge not in self.touched and self.judge.is_whole(edge):
            self.flaps += 1
            self.judge.break_edges([edge])

    def is_open(self, edge: Edge) -> bool:
        return self.network.links.states[self.links[edge]] == "open"

    def edges_of(self, router: int) -> list[Edge]:
        return [edge for edge in self.links if router in edge]

    def alive(self) -> list[int]:
        routers = self.network.routers.values()
        return [number for number, each in enumerate(routers) if each.is_running and not each.is_paused]

    def components(self) -> list[set[int]]:
        alive = self.alive()
        whole = {e: c for e, c in self.costs.items() if self.is_open(e) and e[0] in alive and e[1] in alive}
        graph, left, found = graph_of(whole, alive), set(alive), []
        while left:
            found.append(component(graph, min(left)))
            left -= found[-1]
        return found

    def gone(self, router: int) -> None:
        """What its clients wanted is forgotten with it, and they ask again. They want it all the while: what they get
        before they hear that it is in force again, as it is not everywhere at once, is theirs."""
        truth = self.judge.truth
        for client in self.fleet.clients_of(router):
            truth.unwanted(client, 0)
            truth.wanted(client, _NO_SESSION, router, 0, self.fleet.contents_wanted(client))

    async def back(self, since_s: float) -> list[Pair]:
        """Until everybody hears everybody who can be reached, of what was published after `since_s`; those pairs."""
        pairs = self.fleet.pairs(self.components())
        async with asyncio.timeout(PATIENCE_S):
            while True:
                fresh_s = max(since_s, time.monotonic() - _FRESH_S)
                if all(self.fleet.heard.get(pair, 0.0) >= fresh_s for pair in pairs):
                    return pairs
                await asyncio.sleep(_LOOK_S)

    async def quiet(self) -> float:
        """Since when."""
        since_s = await self.network.until_quiet(QUIET_S, PATIENCE_S)
        if since_s is None:
            raise TimeoutError
        return since_s

    async def whole(self) -> None:
        """Until both ends of every link that works say that it is up, which the judge is told."""
        async with asyncio.timeout(PATIENCE_S):
            while not await self._are_up():
                await asyncio.sleep(_LOOK_S)

    async def _are_up(self) -> bool:
        status, alive = await self.network.status(), set(self.alive())
        ups = {
            (name, link["neighbour"])
            for name, each in status.items()
            for link in each["network"]["links"]
            if link["state"] == "up"
        }
        works = [edge for edge in self.costs if self.is_open(edge) and set(edge) <= alive]
        up = [edge for edge in works if {(self.names[a], self.names[b]) for a, b in (edge, edge[::-1])} <= ups]
        for edge in up:
            self.judge.join(edge, self.costs[edge])
        return len(up) == len(works)

    async def calm(self) -> None:
        """Until everybody must know of all that has happened."""
        await asyncio.sleep(max(0, PATIENCE.known_us - self.judge.calm_us()) / S)

    async def rest(self) -> list[Sent]:
        """Messages that were published at rest and have had their time."""
        await self.calm()
        since_s = time.monotonic()
        await asyncio.sleep(_REST_S)
        until_s = time.monotonic()
        await asyncio.sleep(TRAVEL_S)
        return list(self.fleet.published(since_s, until_s))


class Faults:
    def __init__(self, site: Site, random: Random, added: list[Edge]) -> None:
        """`added`: links that come and go by `add`."""
        self._site, self._random, self._added = site, random, added
        self._opened: list[Edge] = []
        self._kinds: dict[str, Callable[[Outcome], Awaitable[None]]] = {
            "kill": self._kill,
            "stop": self._stop,
            "cut": self._cut,
            "add": self._add,
        }

    async def do(self, kind: str) -> Outcome:
        """And judge it."""
        site, flaps = self._site, self._site.flaps
        outcome = Outcome(kind)
        try:
            await self._kinds[kind](outcome)
        except TimeoutError:
            outcome.problem = f"the network has not recovered after {PATIENCE_S:.0f} s"
        resting = await site.rest()
        outcome.measure(site.fleet)
        site.judge.at_rest(resting)
        outcome.flaps = site.flaps - flaps
        site.judge.in_motion(site.fleet.forget(time.monotonic() - TRAVEL_S))
        site.judge.forget()
        site.touched.clear()
        return outcome

    async def _kill(self, outcome: Outcome) -> None:
        number, router = self._router(outcome)
        self._break(self._site.edges_of(number))
        self._site.judge.truth.ended(number)
        await router.kill()
        began_s, together = time.monotonic(), self._together()
        if self._random.random() < 0.5:
            await self._others_back(outcome, began_s)
        starting = asyncio.create_task(router.start())
        await asyncio.sleep(_READ_S)
        self._site.gone(number)
        await starting
        self._site.judge.truth.began(number)
        ready_s = time.monotonic()
        await self._all_back(outcome, ready_s, together)
        fleet = self._site.fleet
        outcome.clients_s = max(0.0, *(fleet.connected_s[client] - ready_s for client in fleet.clients_of(number)))

    async def _stop(self, outcome: Outcome) -> None:
        number, router = self._router(outcome)
        length_s = self._random.uniform(*STOPPED_S)
        self._break(self._site.edges_of(number))
        self._site.judge.truth.ended(number)
        router.pause()
        began_s, together = time.monotonic(), self._together()
        try:
            if length_s > sum(STOPPED_S) / 2:
                await self._others_back(outcome, began_s)
            await asyncio.sleep(max(0.0, began_s + length_s - time.monotonic()))
        finally:
            router.resume()
        self._site.judge.truth.began(number)
        await self._all_back(outcome, time.monotonic(), together)

    async def _cut(self, outcome: Outcome) -> None:
        site = self._site
        edge = self._random.choice([edge for edge in site.links if site.is_open(edge)])
        how: ProxyState = self._random.choice(("cut", "dark"))
        outcome.kind, outcome.target = how, site.links[edge]
        self._break([edge])
        began_s = await site.network.links.set(site.links[edge], how)
        together = self._together()
        try:
            await self._others_back(outcome, began_s)
            if self._random.random() < 0.5:
                await site.calm()
        finally:
            ended_s = await site.network.links.set(site.links[edge], "open")
        await self._all_back(outcome, ended_s, together)

    async def _add(self, outcome: Outcome) -> None:
        site = self._site
        if not self._added:
            await self._take_back(self._opened.pop(0))
        edge = self._added.pop(self._random.randrange(len(self._added)))
        self._opened.append(edge)
        outcome.target = site.links[edge]
        site.touched.add(edge)
        site.judge.truth.unsettle()
        together = self._together()
        await self._all_back(outcome, await site.network.links.set(site.links[edge], "open"), together)

    async def _take_back(self, edge: Edge) -> None:
        """So that it can be added again."""
        self._break([edge])
        began_s = await self._site.network.links.set(self._site.links[edge], "cut")
        await self._site.back(began_s)
        await self._site.quiet()
        await self._site.calm()
        self._added.append(edge)

    def _router(self, outcome: Outcome) -> tuple[int, RouterProcess]:
        number = self._random.randrange(len(self._site.names))
        outcome.target = self._site.names[number]
        return number, self._site.network.routers[outcome.target]

    def _break(self, edges: list[Edge]) -> None:
        self._site.touched.update(edges)
        self._site.judge.break_edges(edges)

    async def _others_back(self, outcome: Outcome, began_s: float) -> None:
        pairs = await self._site.back(began_s)
        outcome.windows.append(Window(pairs, began_s, time.monotonic()))

    def _together(self) -> frozenset[Pair]:
        """Who can reach each other now."""
        return frozenset(self._site.fleet.pairs(self._site.components()))

    async def _all_back(self, outcome: Outcome, ended_s: float, together: AbstractSet[Pair]) -> None:
        """Measure the recovery after a fault. `together`: the pairs that could reach each other during it."""
        site = self._site
        pairs, outcome.linked_s = await asyncio.gather(site.back(ended_s), self._linked(ended_s))
        outcome.quiet_s = max(0.0, await site.quiet() - ended_s)
        outcome.windows.append(
            Window(pairs, ended_s, time.monotonic(), is_mended=True, anew=frozenset(pairs) - together)
        )

    async def _linked(self, ended_s: float) -> float:
        await self._site.whole()
        return time.monotonic() - ended_s


def _edge(a: int, b: int) -> Edge:
    return min(a, b), max(a, b)
