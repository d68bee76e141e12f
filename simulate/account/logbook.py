"""The records of simulated routers (`protocol/records.py`), in virtual time from a fixed date on.

Law: a router's records are in the order of its own clock, which is wrong by a constant (`wall.py`); a `clock` record at
each new session has the error, as a real router would have measured it. Counters of a second are written at its end, or
with the last records. Measurements that need a real router (times of matching, memory) are left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tamis.protocol.errors import Refused
from tamis.protocol.json_form import encode_filter
from tamis.protocol.keys import filter_key
from tamis.protocol.records import KINDS, VERSION
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.protocol.wire.routing_bodies import Body
from tamis.router.records.control import said_of
from tamis.simulate.account.log_files import LogLines
from tamis.simulate.account.wall import SECOND_US, START_US, Wall
from tamis.simulate.faults.workload import CONTENTS, Wish
from tamis.simulate.nodes import control
from tamis.simulate.nodes.message import Packet
from tamis.simulate.nodes.node import DATA_BYTES, Node
from tamis.simulate.nodes.observer import Passing

CLIENTS_FROM: Final = 1_000
"""Interfaces with lower numbers are links, the others are connections."""
PUBLISHERS_FROM: Final = 1_000_000
"""The first number of connections of publishers, which have no subscriptions and never leave."""


@dataclass(slots=True)
class LoggedLife:
    """The state that the logbook holds of one router from its start to its end."""

    name: str
    epoch: int
    numbers: Counter[str] = field(default_factory=Counter)
    connections: dict[tuple[int, int], int] = field(default_factory=dict)
    """Maps a client and its session to the number of the connection."""
    wants: dict[int, dict[int, int]] = field(default_factory=dict)
    """Maps a client to the contents of its wishes."""
    counters: dict[int, Counter[str]] = field(default_factory=dict)
    """Maps an interface to its counts of the current second. Drops and refusals are named "FIELD:REASON"."""
    second: int = 0
    generation: int = 0
    table_changed: bool = False


class Logbook:
    def __init__(self, wall: Wall, lines: LogLines, strategy: str, broadcast: str) -> None:
        self._wall = wall
        self._program = {"version": "simulated", "sampling": "all", "engine": "pure"}
        self._program |= {"strategy": strategy, "broadcast": broadcast}
        self._lines = lines
        self._lives: dict[int, LoggedLife] = {}
        self._nodes: dict[int, Node] = {}
        self._wishes: tuple[tuple[str, str], ...] = ()

    def begin(self, nodes: Iterable[Node], wishes: Iterable[Wish]) -> None:
        self._nodes = {node.number: node for node in nodes}
        self._wishes = tuple(_written(wish) for wish in wishes)

    def close(self) -> None:
        for router, life in list(self._lives.items()):
            self._until_now(router)
            self._settle(router, life, self._wall.now_us(router))
            self.died(router)
        self._lines.close()

    # Lives and links.

    def started(self, router: int, epoch: int) -> None:
        self._lives[router] = LoggedLife(self._nodes[router].name, epoch)
        self._write(router, "life", what="started", **self._program)

    def died(self, router: int) -> None:
        """End a router's life by a crash: the counts of its last, unfinished second are not written."""
        self._until_now(router)
        del self._lives[router]

    def linked(self, router: int, neighbour: int, session: int, cost: int) -> None:
        name = self._nodes[neighbour].name
        interface = self._interface(router, neighbour)
        self._write(router, "link", neighbour=name, what="up", session=session, interface=interface, cost=cost)
        link, _ = self._nodes[router].links[neighbour]
        offset, error = self._wall.ahead_us(neighbour) - self._wall.ahead_us(router), link.line.delay_us
        self._write(router, "clock", neighbour=name, offset_us=offset, error_us=error, round_trip_us=2 * error)

    def unlinked(self, router: int, neighbour: int, session: int) -> None:
        interface = self._interface(router, neighbour)
        name = self._nodes[neighbour].name
        self._write(router, "link", neighbour=name, what="down", session=session, interface=interface)

    def rerouted(self, router: int, routers: Iterable[int], edges: Iterable[tuple[int, int, int]]) -> None:
        life = self._lives[router]
        life.generation += 1
        lines = sorted(f"{self._nodes[a].name} {self._nodes[b].name} {cost}" for a, b, cost in edges)
        names = sorted(self._nodes[each].name for each in routers)
        self._write(router, "topology", generation=life.generation, routers=names, edges=lines)

    # Control.

    def sent(self, router: int, neighbours: Iterable[int], body: Body, size: int) -> None:
        for neighbour in neighbours:
            self._control(router, neighbour, "out", body, size)

    def heard(self, router: int, neighbour: int, body: Body) -> None:
        self._control(router, neighbour, "in", body, control.size(body))

    def _control(self, router: int, neighbour: int, way: str, body: Body, size: int) -> None:
        self._count(router, self._interface(router, neighbour), f"bytes_{way}", size)
        said = said_of(body, router if way == "out" else neighbour, self._name)
        self._write(router, "control", neighbour=self._nodes[neighbour].name, way=way, bytes=size, **said)
        self._lives[router].table_changed = True

    def _name(self, router: int) -> str:
        return self._nodes[router].name if router in self._nodes else f"{router:016x}"

    # Clients.

    def wanted(self, client: int, session: int, router: int, wish: int, contents: int) -> None:
        life = self._lives[router]
        life.wants.setdefault(client, {})[wish] = contents
        self._subscription(router, client, session, wish, "added", "asked")

    def unwanted(self, client: int, session: int, router: int, wish: int, is_gone: bool) -> None:
        """Write that a subscription ended; write nothing if the router is down, whose records end with it."""
        life = self._lives.get(router)
        if life is not None and life.wants.get(client, {}).pop(wish, None) is not None:
            self._subscription(router, client, session, wish, "removed", "gone" if is_gone else "asked")

    def _subscription(self, router: int, client: int, session: int, wish: int, what: str, cause: str) -> None:
        form, key = self._wishes[wish]
        connection = self._connection(router, client, session)
        fields = {"filters": [form], "keys": [key], "own": True, "cause": cause}
        self._write(
            router,
            "subscription",
            client=f"c{client}",
            connection=connection,
            subscription=wish,
            what=what,
            **fields,
        )
        self._lives[router].table_changed = True

    # Messages.

    def passed(
        self, router: int, packet: Packet, came_from: int | None, passing: Passing, sessions: Mapping[int, int]
    ) -> None:
        message = packet.message
        connections = [self._connection(router, client, sessions[client]) for client in passing.clients]
        for neighbour in passing.neighbours:
            self._count(router, self._interface(router, neighbour), "messages_out", 1)
            self._count(router, self._interface(router, neighbour), "bytes_out", DATA_BYTES)
        for neighbour in passing.dropped:
            self._count(router, self._interface(router, neighbour), "dropped:no session, or no room", 1)
        for connection in connections:
            self._count(router, CLIENTS_FROM + connection, "messages_out", 1)
            self._count(router, CLIENTS_FROM + connection, "bytes_out", DATA_BYTES)
        fields: dict[str, Any] = {
            "matched": self._matched(router, message.content),
            "to_neighbours": sorted(self._nodes[neighbour].name for neighbour in passing.neighbours),
            "to_connections": sorted(connections),
        }
        if passing.dropped:
            fields["dropped"] = sorted(self._interface(router, neighbour) for neighbour in passing.dropped)
        if came_from is None:
            fields["attributes"] = _ATTRIBUTES[message.content]
        self._message(router, packet, came_from, fields)

    def refused(self, router: int, packet: Packet, came_from: int, reason: str) -> None:
        self._count(router, self._interface(router, came_from), f"refused:{reason}", 1)
        self._message(router, packet, came_from, {"refused": reason})

    def _message(self, router: int, packet: Packet, came_from: int | None, fields: Mapping[str, Any]) -> None:
        message, transit = packet.message, packet.transit
        source: dict[str, Any] = {"from_connection": PUBLISHERS_FROM + message.publisher}
        interface = CLIENTS_FROM + PUBLISHERS_FROM + message.publisher
        if came_from is not None:
            source = {"from_neighbour": self._nodes[came_from].name}
            interface = self._interface(router, came_from)
        self._count(router, interface, "messages_in", 1)
        self._count(router, interface, "bytes_in", DATA_BYTES)
        self._write(
            router,
            "message",
            origin=f"{message.publisher:016x}",
            number=message.counter,
            source=self._nodes[transit.source].name,
            source_epoch=transit.epoch,
            transit=transit.counter,
            hop=packet.hop,
            published_us=START_US + message.tries[0].at_us,
            bytes=DATA_BYTES,
            **source,
            **fields,
        )

    def _matched(self, router: int, content: int) -> int:
        wants = self._lives[router].wants.values()
        return sum(contents >> content & 1 for wishes in wants for contents in wishes.values())

    # Counters.

    def _count(self, router: int, interface: int, what: str, count: int) -> None:
        self._until_now(router)
        self._lives[router].counters.setdefault(interface, Counter())[what] += count

    def _until_now(self, router: int) -> None:
        """Write the counts of each second that is over, with the time of its end."""
        life, second = self._lives[router], self._wall.second(router)
        if second != life.second:
            over, life.second = life.second, second
            self._settle(router, life, (over + 1) * SECOND_US - 1)

    def _settle(self, router: int, life: LoggedLife, at_us: int) -> None:
        counters, life.counters = life.counters, {}
        for interface, counts in sorted(counters.items()):
            behind = self._behind(router, interface)
            self._write_at(at_us, router, "interface", interface=interface, **behind, **_nested(counts))
        if life.table_changed:
            life.table_changed = False
            self._table(router, at_us)

    def _table(self, router: int, at_us: int) -> None:
        life, node = self._lives[router], self._nodes[router]
        local = len({wish for wishes in life.wants.values() for wish in wishes})
        remote = sum(map(len, node.table.filters.values()))
        self._write_at(at_us, router, "table", filters=local, remote_filters=remote, clients=len(life.wants))

    def _behind(self, router: int, interface: int) -> dict[str, str]:
        if interface < CLIENTS_FROM:
            return {"neighbour": self._nodes[list(self._nodes[router].links)[interface - 1]].name}
        connection = interface - CLIENTS_FROM
        if connection >= PUBLISHERS_FROM:
            return {"client": f"p{connection - PUBLISHERS_FROM}"}
        known = self._lives[router].connections
        return {"client": f"c{next(client for (client, _), number in known.items() if number == connection)}"}

    def _interface(self, router: int, neighbour: int) -> int:
        return 1 + list(self._nodes[router].links).index(neighbour)

    def _connection(self, router: int, client: int, session: int) -> int:
        known = self._lives[router].connections
        return known.setdefault((client, session), len(known) + 1)

    # Writing.

    def _write(self, router: int, kind: str, **fields: object) -> None:
        self._until_now(router)
        self._write_at(self._wall.now_us(router), router, kind, **fields)

    def _write_at(self, at_us: int, router: int, kind: str, **fields: object) -> None:
        life = self._lives[router]
        family = KINDS[kind].family
        head = {"v": VERSION, "kind": kind, "t_us": at_us, "router": life.name, "epoch": life.epoch}
        record = {**head, "n": life.numbers[family], **fields}
        life.numbers[family] += 1
        self._lines.write(life.name, life.epoch, family, record)


_ATTRIBUTES: Final = tuple(json.dumps(content, separators=(",", ":")) for content in CONTENTS)


def _written(wish: Wish) -> tuple[str, str]:
    """Return a filter's JSON form and its key; the key is empty if the filter can never match."""
    filter_ = decode_filter(wish.packed)
    try:
        key = f"{filter_key(filter_):016x}"
    except Refused:
        key = ""
    return json.dumps(encode_filter(filter_), separators=(",", ":")), key


def _nested(counts: Mapping[str, int]) -> dict[str, object]:
    """Return `counts` with those named "FIELD:REASON" gathered in one object under FIELD."""
    fields: dict[str, Any] = {}
    for name, count in counts.items():
        outer, _, inner = name.partition(":")
        if inner:
            fields.setdefault(outer, {})[inner] = count
        else:
            fields[name] = count
    return fields
