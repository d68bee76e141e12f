"""Routers as processes on loopback, and the links between them, by a plan.

    async with running(folder, ring("a", "b", "c")) as network:
        await network.until_linked()
        await network["b"].kill()

Law: each router has a topology file of its own, in which its neighbours are reached through the proxy of their link, if
the plan has a proxy. A router keeps its ports when it is restarted.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tamis.protocol.wire.numbers import stable_number
from tamis.testing.errors import NotLinked
from tamis.testing.links import Links, ProxyState, Seen
from tamis.testing.ports import lasting_port
from tamis.testing.router import RouterProcess

QUIET_POLL_S: Final = 0.05
LINKED_S: Final = 30.0
_SETTLED_S: Final = 0.3
"""Seconds without any change after which routers have nothing left to send each other."""


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """The routers of a network, and their links.

    `links` are (one end, other end, cost). `keys` are copied into the topology file, `keys_of` into that of one router,
    by its name, and `keepalive` into each link. `environments` has, by name of a router, variables in addition to those
    of this process; `prefix` precedes the command of every router. With `is_proxied`, links run through a process that
    can cut them or make them dark; those in `missing` (names from `link_name`) are cut from the beginning.
    """

    routers: tuple[str, ...]
    links: tuple[tuple[str, str, int], ...] = ()
    missing: frozenset[str] = frozenset()
    keys: dict[str, object] = field(default_factory=dict)
    keys_of: dict[str, dict[str, object]] = field(default_factory=dict)
    keepalive: dict[str, int] = field(default_factory=dict)
    environments: dict[str, dict[str, str]] = field(default_factory=dict)
    prefix: Sequence[str] = ()
    is_proxied: bool = False


def line(*names: str, is_proxied: bool = False, **keys: object) -> NetworkPlan:
    """Return a plan of routers, each linked to the one before; one name is a single router. `keys`: of the topology
    file."""
    links = tuple((one, other, 1) for one, other in itertools.pairwise(names))
    return NetworkPlan(names, links, keys=keys, is_proxied=is_proxied)


def ring(*names: str, is_proxied: bool = False, **keys: object) -> NetworkPlan:
    """Return a plan of at least three routers in a circle. `keys`: of the topology file."""
    if len(names) < 3:
        raise ValueError(f"a ring has three routers or more, not {len(names)}")
    links = tuple((one, other, 1) for one, other in itertools.pairwise([*names, names[0]]))
    return NetworkPlan(names, links, keys=keys, is_proxied=is_proxied)


def link_name(a: str, b: str) -> str:
    """Return the name of the link between two routers, given in any order."""
    return f"{min(a, b)}-{max(a, b)}"


@dataclass(frozen=True, slots=True)
class Listening:
    """The addresses on which a router listens, in all of its lives, for its topology file."""

    clients_port: int
    neighbours_port: int
    admin: Path

    @classmethod
    def reserved(cls, admin: Path) -> Listening:
        """Reserve two ports that no other router of this process has; `admin` is the path of the socket."""
        return cls(lasting_port(), lasting_port(), admin)

    def keys(self) -> dict[str, str]:
        """Return the keys of the router in a topology file."""
        ports = {"clients": self.clients_port, "neighbours": self.neighbours_port}
        return {key: f"127.0.0.1:{port}" for key, port in ports.items()} | {"admin": f"unix:{self.admin}"}


class RouterNetwork:
    """The routers of a plan. `network["a"]` is one of them, `ends` has the two routers of a link by its name."""

    def __init__(self, folder: Path, plan: NetworkPlan, seen: Seen) -> None:
        self.plan = plan
        self.routers = {
            name: RouterProcess(
                name, folder / f"{name}.yaml", environment=plan.environments.get(name), prefix=plan.prefix
            )
            for name in plan.routers
        }
        self.ends = {link_name(a, b): (a, b) for a, b, _ in plan.links}
        self.links = Links(seen)
        self._listening = {name: Listening.reserved(folder / f"{name}.sock") for name in plan.routers}

    def __getitem__(self, name: str) -> RouterProcess:
        return self.routers[name]

    # --- life --------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start all routers; return when all are ready, linked or not. NotReady if one is not."""
        if self.plan.is_proxied:
            targets = {name: self._listening[_accepting(*ends)].neighbours_port for name, ends in self.ends.items()}
            states: dict[str, ProxyState] = {name: "cut" if name in self.plan.missing else "open" for name in targets}
            await self.links.start(targets, states)
        for router in self.routers.values():
            router.file.write_text(yaml.safe_dump(self._topology(router)))
        started = await asyncio.gather(*(router.start() for router in self.routers.values()), return_exceptions=True)
        for trouble in started:
            if trouble is not None:
                raise trouble

    async def close(self) -> None:
        """Kill every router that runs, and end the proxy."""
        await asyncio.gather(*(router.kill() for router in self.routers.values()))
        await self.links.close()

    def _topology(self, router: RouterProcess) -> dict[str, object]:
        """Return the topology as this router reads it."""
        routers: dict[str, dict[str, str]] = {}
        for name, listening in self._listening.items():
            routers[name] = listening.keys() | {"data": str(self.routers[name].file.with_suffix(""))}
            if port := self.links.ports.get(link_name(router.name, name)):
                routers[name]["reached_at"] = f"127.0.0.1:{port}"
        links = [{"ends": [a, b], "cost": cost} for a, b, cost in self.plan.links]
        if self.plan.keepalive:
            links = [link | {"keepalive": {**self.plan.keepalive}} for link in links]  # a file may hold no alias
        return {"routers": routers, "links": links} | self.plan.keys | self.plan.keys_of.get(router.name, {})

    # --- links -------------------------------------------------------------------------------------------------------

    async def set_link(self, a: str, b: str, state: ProxyState) -> float:
        """Let bytes pass between two routers ("open"), reset their connections ("cut"), or let bytes vanish ("dark").

        Return the time of the change, by the monotonic clock. ValueError if the plan has no such link or no proxy.
        """
        name = link_name(a, b)
        if not self.plan.is_proxied:
            raise ValueError("links can be cut only in a plan with is_proxied=True")
        if name not in self.ends:
            raise ValueError(f"no link {name}; one of {', '.join(self.ends)}")
        return await self.links.set(name, state)

    # --- reports of the routers --------------------------------------------------------------------------------------

    async def status(self) -> dict[str, dict[str, Any]]:
        """Return the page /status of each router that runs, by name; a router that does not answer is left out."""
        asked = [router for router in self.routers.values() if router.is_running and not router.is_paused]
        answers = await asyncio.gather(*(router.ask("/status") for router in asked), return_exceptions=True)
        return {
            router.name: answer
            for router, answer in zip(asked, answers, strict=True)
            if not isinstance(answer, BaseException)
        }

    async def until_quiet(self, quiet_s: float, patience_s: float) -> float | None:
        """Wait until no link or table has changed for `quiet_s`.

        Return since when, by the monotonic clock; None if that takes longer than `patience_s`.
        """
        end_s = time.monotonic() + patience_s
        while True:
            asked_s = time.monotonic()
            quiet: list[float] = [_network_of(each)["quiet_s"] for each in (await self.status()).values()]
            if quiet and min(quiet) >= quiet_s:
                return asked_s - min(quiet)
            if time.monotonic() > end_s:
                return None
            await asyncio.sleep(QUIET_POLL_S)

    async def until_at_rest(self, quiet_s: float, patience_s: float) -> None:
        """Wait until messages go only to routers with matching filters: routers are quiet for `quiet_s`, no statement
        is in flight, and all messages use the current trees only (R5b). NotLinked if that takes longer than
        `patience_s`."""
        end_s = time.monotonic() + patience_s
        while unrest := await self._unrest(quiet_s):
            if time.monotonic() > end_s:
                raise NotLinked(f"not at rest after {patience_s:g} s: {', '.join(unrest)}")
            await asyncio.sleep(QUIET_POLL_S)

    async def until_linked(self, patience_s: float = LINKED_S) -> None:
        """Wait until every running router knows all other running routers, and all are quiet for a moment.

        NotLinked if that takes longer than `patience_s`.
        """
        end_s = time.monotonic() + patience_s
        while known := await self._known_of_too_few():
            if time.monotonic() > end_s:
                told = ", ".join(f"{name} knows of {count}" for name, count in known.items())
                raise NotLinked(f"not linked after {patience_s:g} s: {self._count()} routers run; {told}")
            await asyncio.sleep(QUIET_POLL_S)
        await self.until_quiet(_SETTLED_S, end_s - time.monotonic())

    async def _unrest(self, quiet_s: float) -> list[str]:
        """Return why the network is not at rest; a running router that does not answer is such a reason."""
        told = await self.status()
        asked = [name for name, router in self.routers.items() if router.is_running and not router.is_paused]
        silent = [f"{name} does not answer" for name in asked if name not in told]
        return silent + [text for name, each in told.items() for text in _unrest(name, each, quiet_s)]

    def _count(self) -> int:
        return sum(router.is_running for router in self.routers.values())

    async def _known_of_too_few(self) -> dict[str, int]:
        """Return, by name, how many routers each one knows, if that is not the number of running ones; 0 if it does not
        answer."""
        told = await self.status()
        asked = [name for name, router in self.routers.items() if router.is_running and not router.is_paused]
        known = {name: _network_of(told[name])["routers"] if name in told else 0 for name in asked}
        return {name: count for name, count in known.items() if count != self._count()}


def _network_of(status: dict[str, Any]) -> dict[str, Any]:
    """Return the router's report on its network; a router without neighbours knows itself and is quiet."""
    return status["network"] or {"routers": 1, "quiet_s": math.inf, "earlier_trees_s": 0.0, "unfinished": {}}


def _unrest(name: str, status: dict[str, Any], quiet_s: float) -> Iterator[str]:
    """Yield what keeps one router from being at rest."""
    network = _network_of(status)
    if network["quiet_s"] < quiet_s:
        yield f"{name} is quiet for {network['quiet_s']:g} s"
    if network["earlier_trees_s"]:
        yield f"{name} uses earlier trees for {network['earlier_trees_s']:g} s more"
    if network["unfinished"]:
        yield f"{name} has unfinished work: {network['unfinished']}"


def _accepting(a: str, b: str) -> str:
    """Return the end that is dialled: the one with the larger number."""
    return max(a, b, key=stable_number)


@contextlib.asynccontextmanager
async def running(
    folder: Path, plan: NetworkPlan, seen: Seen = lambda _link, _what, _at: None
) -> AsyncIterator[RouterNetwork]:
    """Start the routers of a plan and yield them when they are ready, possibly not linked yet; all are gone afterwards.

    Their files, logs and data are in `folder`, which must exist. `seen` is called when sessions of proxied links come
    and go. NotReady if a router does not start.
    """
    network = RouterNetwork(folder, plan, seen)
    try:
        await network.start()
        yield network
    finally:
        await network.close()
