"""The clients of a world: the connection and the subscriptions of each.

Law: a client's wishes outlive its connections. The truth records a change before the router receives it; an attempt to
connect that a later one has replaced does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from tamis.protocol.wire.numbers import group_number
from tamis.protocol.wire.routing_bodies import of_group
from tamis.simulate.faults.faults import CLIENTS_PER_ROUTER
from tamis.simulate.faults.workload import Wish
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.node import Node
from tamis.simulate.world.recorder import RunRecorder


@dataclass(slots=True)
class SimulatedClient:
    number: int
    home: int
    """Index of its router."""
    wishes: set[int] = field(default_factory=set)
    memberships: set[tuple[int, int]] = field(default_factory=set)
    """The subscriptions in groups, as (group, wish)."""
    is_connected: bool = False
    attempts: int = 0
    """The number of its connections that have ended, or of attempts to connect that were replaced."""


class ClientsWorld(Protocol):
    """The part of the world that clients use."""

    clock: Clock
    recorder: RunRecorder
    nodes: list[Node]
    wishes: tuple[Wish, ...]
    contents: list[int]


class SimulatedClients:
    def __init__(self, world: ClientsWorld) -> None:
        self._world = world
        count = len(world.nodes) * CLIENTS_PER_ROUTER
        self._all = [SimulatedClient(number, number // CLIENTS_PER_ROUTER) for number in range(count)]

    def __iter__(self) -> Iterator[SimulatedClient]:
        return iter(self._all)

    def __getitem__(self, number: int) -> SimulatedClient:
        return self._all[number]

    def of(self, router: int) -> list[SimulatedClient]:
        """Return the clients whose router has index `router`, connected or not."""
        return [client for client in self._all if client.home == router]

    # Subscriptions.

    def subscribe(self, client: SimulatedClient, wish: int) -> bool:
        """Add a wish; return whether the client's router received it now. Otherwise it receives it when the client
        connects."""
        if wish in client.wishes:
            return False
        client.wishes.add(wish)
        if client.is_connected:
            self._want(client, [wish])
        return client.is_connected

    def unsubscribe(self, client: SimulatedClient, wish: int) -> None:
        if wish in client.wishes:
            client.wishes.remove(wish)
            if client.is_connected:
                self._unwant(client, [wish], is_gone=False)

    def join(self, client: SimulatedClient, group: int, wish: int) -> None:
        """Make a client a member of a group, with the filter of a wish."""
        if (group, wish) not in client.memberships:
            client.memberships.add((group, wish))
            if client.is_connected:
                self._join(client, [(group, wish)])

    def quit(self, client: SimulatedClient, group: int, wish: int) -> None:
        if (group, wish) in client.memberships:
            client.memberships.remove((group, wish))
            if client.is_connected:
                self._quit(client, [(group, wish)])

    # Connections.

    def reconnect(self, client: SimulatedClient, after_us: int) -> None:
        self.move(client, after_us, client.home)

    def move(self, client: SimulatedClient, after_us: int, home: int) -> None:
        """Let a client disconnect, and after `after_us` connect to the router with index `home`."""
        self.disconnect(client)
        client.home = home
        self.connect_after(client, after_us)

    def connect_after(self, client: SimulatedClient, after_us: int) -> None:
        """Connect `client` after `after_us`, unless its connection changes meanwhile or its router accepts no clients
        then."""
        self._world.clock.after(after_us, self._connect, (client, client.attempts))

    def _connect(self, what: tuple[SimulatedClient, int]) -> None:
        client, attempt = what
        node = self._world.nodes[client.home]
        if client.is_connected or attempt != client.attempts or not node.alive or node.is_leaving:
            return
        client.is_connected = True
        sessions = self._world.recorder.sessions
        sessions[client.number] = sessions.get(client.number, 0) + 1
        self._want(client, sorted(client.wishes))
        self._join(client, sorted(client.memberships))

    def disconnect(self, client: SimulatedClient) -> None:
        if client.is_connected:
            self._unwant(client, sorted(client.wishes), is_gone=True)
            self._quit(client, sorted(client.memberships))
        self.lose_connection(client)

    def lose_connection(self, client: SimulatedClient) -> None:
        """Lose the connection of `client`; its router, if it still lives, is not notified."""
        client.is_connected = False
        client.attempts += 1
        for wish in client.wishes:
            self._world.recorder.truth.unwanted(client.number, wish)
        for group, wish in client.memberships:
            self._world.recorder.groups.left(client.number, number_of(group), wish)

    # Messages to their routers.

    def _want(self, client: SimulatedClient, wishes: list[int]) -> None:
        world, node = self._world, self._world.nodes[client.home]
        for wish in wishes:
            world.recorder.wanted(client.number, node.number, wish, world.contents[wish])
        if wishes:
            packed = tuple(world.wishes[wish].packed for wish in wishes)
            node.want(client.number, packed, world.recorder.truth.contents_wanted(client.number))

    def _unwant(self, client: SimulatedClient, wishes: list[int], is_gone: bool) -> None:
        world, node = self._world, self._world.nodes[client.home]
        for wish in wishes:
            world.recorder.unwanted(client.number, node.number, wish, is_gone)
        if wishes:
            packed = tuple(world.wishes[wish].packed for wish in wishes)
            node.unwant(client.number, packed, world.recorder.truth.contents_wanted(client.number))

    def _join(self, client: SimulatedClient, memberships: list[tuple[int, int]]) -> None:
        world, node = self._world, self._world.nodes[client.home]
        for group, wish in memberships:
            groups = world.recorder.groups
            groups.joined(client.number, node.number, number_of(group), wish, world.contents[wish])
            packed = (of_group(world.wishes[wish].packed, name_of(group)),)
            node.join(client.number, number_of(group), packed, groups.contents(client.number, number_of(group)))

    def _quit(self, client: SimulatedClient, memberships: list[tuple[int, int]]) -> None:
        world, node = self._world, self._world.nodes[client.home]
        for group, wish in memberships:
            groups = world.recorder.groups
            groups.left(client.number, number_of(group), wish)
            packed = (of_group(world.wishes[wish].packed, name_of(group)),)
            node.quit(client.number, number_of(group), packed, groups.contents(client.number, number_of(group)))


def name_of(group: int) -> str:
    return f"workers-{group}"


def number_of(group: int) -> int:
    return group_number(name_of(group))
