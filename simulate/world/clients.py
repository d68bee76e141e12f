"""The clients of a world: the connection and the subscriptions of each.

Law: a client's wishes outlive its connections. The truth records a change before the router receives it; an attempt to
connect that a later one has replaced does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Protocol

from tamis.protocol.wire.numbers import group_number
from tamis.protocol.wire.routing_bodies import of_group
from tamis.simulate.faults.faults import CLIENTS_PER_ROUTER
from tamis.simulate.faults.workload import Wish
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.node import Node
from tamis.simulate.nodes.rules import EnforcedRules
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.oracle.access import AccessJudge
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


_Stated = tuple[dict[int, tuple[bytes, ...]], dict[tuple[int, int], tuple[bytes, ...]]]


class ClientsWorld(Protocol):
    """The part of the world that clients use."""

    clock: Clock
    recorder: RunRecorder
    nodes: list[Node]
    wishes: tuple[Wish, ...]
    contents: list[int]
    """The contents that the filter of each wish matches."""
    decided: list[int]
    """Those that are wanted, by the judge."""
    kit: RunParts
    rules: EnforcedRules
    access: AccessJudge


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

    # Rules of access.

    def reload(self, router: int, change: Callable[[], object]) -> None:
        """Let `change` put other rules in force at a router, which states what they leave of the filters of its clients
        before it withdraws what those of before left."""
        connected = [client for client in self.of(router) if client.is_connected]
        before = [self._stated(client) for client in connected]
        change()
        for client, stated in zip(connected, before, strict=True):
            self._changed(client, stated)

    def _stated(self, client: SimulatedClient) -> _Stated:
        """Return the filters that the router of a client states for it, by wish and by membership."""
        return (
            {wish: self.filters_of(client.number, wish) for wish in sorted(client.wishes)},
            {each: self._of_group(client, *each) for each in sorted(client.memberships)},
        )

    def _changed(self, client: SimulatedClient, stated: _Stated) -> None:
        """State the filters of a client by the rules of now; `stated`: those of before."""
        node, truth, groups = self._world.nodes[client.home], self._world.recorder.truth, self._world.recorder.groups
        by_wish, by_membership = stated
        for wish in by_wish:
            truth.unwanted(client.number, wish)
        self._want(client, [*by_wish])
        if by_wish:
            packed = tuple(each for filters in by_wish.values() for each in filters)
            node.unwant(client.number, packed, self._handed(client, client.wishes))
        for group, wish in by_membership:
            groups.left(client.number, number_of(group), wish)
        self._join(client, [*by_membership])
        for (group, _), packed in by_membership.items():
            node.quit(client.number, number_of(group), packed, self._handed_of(client, group, client.memberships))

    def filters_of(self, client: int, wish: int) -> tuple[bytes, ...]:
        """Return the filters that the router of a client states for a wish."""
        return self._world.rules.stated(self._all[client].home, client, self._world.wishes[wish].packed)

    def _of_group(self, client: SimulatedClient, group: int, wish: int) -> tuple[bytes, ...]:
        return tuple(of_group(each, name_of(group)) for each in self.filters_of(client.number, wish))

    def _handed(self, client: SimulatedClient, wishes: Iterable[int]) -> int:
        """Return the contents that its router hands to a client which has these wishes."""
        contents = reduce(or_, (self._passed(client, wish) for wish in wishes), 0)
        return self._world.rules.delivered(client.home, client.number, contents)

    def _passed(self, client: SimulatedClient, wish: int) -> int:
        """Return the contents of a wish that the router of a client delivers."""
        world = self._world
        number = world.nodes[client.home].number
        return world.kit.programs.at_router(number, world.wishes[wish].program, world.contents[wish])

    def takes(self, number: int, content: int) -> bool:
        """Return whether a client takes what its router sends to it."""
        world, client = self._world, self._all[number]
        router, taken = world.nodes[client.home].number, world.kit.programs.at_client
        return not any(world.wishes[wish].program for wish in client.wishes) or any(
            taken(router, world.wishes[wish].program, world.contents[wish]) >> content & 1 for wish in client.wishes
        )

    def _handed_of(self, client: SimulatedClient, group: int, memberships: Iterable[tuple[int, int]]) -> int:
        """Return the contents that its router hands to a client with these memberships as a member of a group."""
        return self._handed(client, [wish for each, wish in memberships if each == group])

    def _allowed(self, client: SimulatedClient, wish: int) -> int:
        """Return the contents that the filter of a wish matches and a client may get, by the judge."""
        file = self._world.rules.by_router[client.home]
        return self._world.contents[wish] & self._world.access.may_get(file, client.number)

    # Messages to their routers.

    def _want(self, client: SimulatedClient, wishes: list[int]) -> None:
        world, node = self._world, self._world.nodes[client.home]
        for wish in wishes:
            allowed = self._allowed(client, wish)
            if allowed or self.filters_of(client.number, wish):  # otherwise the rules leave nothing to want
                world.recorder.wanted(client.number, node.number, wish, allowed & world.decided[wish], allowed)
        if wishes:
            packed = tuple(each for wish in wishes for each in self.filters_of(client.number, wish))
            node.want(client.number, packed, self._handed(client, client.wishes))

    def _unwant(self, client: SimulatedClient, wishes: list[int], is_gone: bool) -> None:
        world, node = self._world, self._world.nodes[client.home]
        for wish in wishes:
            world.recorder.unwanted(client.number, node.number, wish, is_gone)
        if wishes:
            packed = tuple(each for wish in wishes for each in self.filters_of(client.number, wish))
            node.unwant(client.number, packed, self._handed(client, client.wishes - {*wishes}))

    def _join(self, client: SimulatedClient, memberships: list[tuple[int, int]]) -> None:
        world, node = self._world, self._world.nodes[client.home]
        for group, wish in memberships:
            allowed = self._allowed(client, wish)
            packed = self._of_group(client, group, wish)
            if allowed or packed:
                world.recorder.groups.joined(client.number, node.number, number_of(group), wish, allowed)
            node.join(client.number, number_of(group), packed, self._handed_of(client, group, client.memberships))

    def _quit(self, client: SimulatedClient, memberships: list[tuple[int, int]]) -> None:
        world, node = self._world, self._world.nodes[client.home]
        for at, (group, wish) in enumerate(memberships, 1):
            world.recorder.groups.left(client.number, number_of(group), wish)
            packed = self._of_group(client, group, wish)
            left = client.memberships - {*memberships[:at]}
            node.quit(client.number, number_of(group), packed, self._handed_of(client, group, left))


def name_of(group: int) -> str:
    return f"workers-{group}"


def number_of(group: int) -> int:
    return group_number(name_of(group))
