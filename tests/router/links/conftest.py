"""Networks of routers inside the test's own loop, linked over Unix sockets or TCP.

Law: routers that a test starts together all listen before one of them dials, so that none waits for a second attempt.
"""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from tamis.configs import Address, parse_topology
from tamis.configs.access.load import parse_access
from tamis.router.access.in_force import AccessInForce
from tamis.router.admin.routes import network_form
from tamis.router.clients.clients import Clients
from tamis.router.connections.admissions import Side
from tamis.router.connections.connections import Connections
from tamis.router.connections.peer import FULL
from tamis.router.connections.tls import tls_acceptor
from tamis.router.daemon.epoch import Epoch
from tamis.router.links.joined import JoinedNetwork
from tamis.router.links.tls import link_tls
from tamis.serving.listeners import Acceptor, Listener, bind
from tests.router.wire_client import POLL_S, WireClient, close_all

PATIENCE_S = 20


class Node:
    """One router of a topology. `listen` binds its addresses, `start` serves them and dials, `kill` cuts everything as
    a crash would."""

    def __init__(self, folder, topology, name: str) -> None:
        self.settings = topology.router(name)
        self._epoch = Epoch(self.settings.data)
        self._folder, self._closers = folder, []
        self._listeners: list[Listener] = []
        self.name = name
        self.rules = ""
        """Text of the rules of access; "" for none."""

    def listen(self) -> None:
        """Neighbours that connect from here on wait in the kernel's queue until `start`."""
        self._listeners = [listener for address in self.settings.neighbours for listener in bind(address)]

    async def start(self) -> Node:
        loop = asyncio.get_running_loop()
        self.connections = Connections(self.settings, self._epoch.next(), loop)
        rules = AccessInForce(self.connections.switch, parse_access(self.rules).rules) if self.rules else None
        self.clients = Clients(self.connections, None, rules)
        tls = self.settings.neighbour_tls
        links = link_tls(tls) if tls is not None else None
        self.network = JoinedNetwork(self.connections, self.clients, self.settings, self._epoch, links)
        self.clients.join(self.network)
        if not self._listeners:
            self.listen()
        while self._listeners:
            self._accept(self._listeners.pop())
        [listener] = bind(Address("unix", path=str(self._folder / f"{self.name}.clients")))
        self._closers.append(Acceptor(listener, self.clients, loop, FULL).close)
        self.where = str(listener.address)
        self.connections.start()
        self.network.start()
        return self

    def _accept(self, listener) -> None:
        connections, neighbours = self.connections, self.network.neighbours
        tls = neighbours.tls
        if tls is None or listener.address.kind == "unix":
            self._closers.append(Acceptor(listener, neighbours, connections.loop, FULL).close)
        else:
            door = tls_acceptor(connections, Side.NEIGHBOUR, neighbours, tls.accepting, neighbours.open_tls)
            self._closers.append(Acceptor(listener, door, connections.loop, b"").close)

    def neighbour(self, name: str):
        return self.network.neighbours.named[name]

    def is_up(self, *names: str) -> bool:
        return all(self.neighbour(name).link is not None for name in names)

    def status(self) -> dict:
        return network_form(self.network)

    async def client(self, name: str, token: bytes = b"") -> WireClient:
        return await WireClient.greeted(self.where, name, token)

    async def until(self, is_so) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not is_so():
                await asyncio.sleep(POLL_S)

    async def knows(self, *names: str) -> None:
        """Until it reaches so many others."""
        await self.until(lambda: len(self.network.core.core_state.trees.routers) == len(names) + 1)

    def kill(self) -> None:
        while self._closers:
            self._closers.pop()()
        while self._listeners:
            self._listeners.pop().close()
        self.network.close()
        self.connections.switch.validate()
        self.connections.close()


@pytest.fixture
async def nodes(tmp_path):
    """nodes(text of a topology file) -> a dict of its routers, none started. {} in it stands for the test's folder."""
    made = []

    def make(text: str) -> dict[str, Node]:
        topology = parse_topology(text.replace("{}", str(tmp_path)))
        made.extend(Node(tmp_path, topology, name) for name in topology.routers)
        return {node.name: node for node in made}

    yield make
    await close_all()
    for node in made:
        with contextlib.suppress(AttributeError, ValueError):
            node.kill()


async def start_together(made: dict[str, Node]) -> dict[str, Node]:
    """All of these, each dialling its neighbours when all listen."""
    for node in made.values():
        node.listen()
    for node in made.values():
        await node.start()
    return made


async def in_touch(made: dict[str, Node]) -> dict[str, Node]:
    """All of these started, and each knows of all the others."""
    await start_together(made)
    for node in made.values():
        await node.knows(*(made.keys() - {node.name}))
    return made


async def network(nodes, *links: str, more: str = "", head: str = "") -> dict[str, Node]:
    """Routers with these links, in touch; `head` goes before the rest of the topology file."""
    return await in_touch(nodes(head + linked(*links, more=more)))


def linked(*links: str, more: str = "") -> str:
    """A topology of routers with one-letter names: linked("ab", "bc")."""
    names = sorted(set("".join(links)))
    routers = ", ".join(f"{name}: {{neighbours: 'unix:{{}}/{name}.sock', data: '{{}}/{name}'}}" for name in names)
    pairs = ", ".join(f"{{ends: [{a}, {b}]{more}}}" for a, b in links)
    return f"routers: {{{routers}}}\nlinks: [{pairs}]"
