"""All parts of an account as one object, which passes each event to the parts that use it.

Law: a part receives only the events that it accounts for; `changes` is called whenever a router writes anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from tamis.protocol.wire.routing_bodies import Body
from tamis.simulate.account.changes import Changes
from tamis.simulate.account.control import Control
from tamis.simulate.account.interfaces import InterfaceCounts
from tamis.simulate.account.messages import InForce, Messages
from tamis.simulate.account.wall import Wall
from tamis.simulate.account.wants import Wants
from tamis.simulate.nodes.message import Packet, SimulatedMessage
from tamis.simulate.nodes.observer import Passing


class Account:
    def __init__(self, wall: Wall) -> None:
        self.messages = Messages(wall)
        self.interfaces = InterfaceCounts(wall)
        self.control = Control(wall)
        self.changes = Changes(wall)
        self.wants = Wants(wall)

    # Routers and links.

    def started(self, router: int, epoch: int) -> None:
        self.changes.started(router, epoch)

    def died(self, router: int) -> None:
        self.changes.died(router)
        self.interfaces.died(router)
        self.wants.died(router)

    def joined(self, ends: tuple[int, int], cost: int, delay_us: int) -> None:
        self.changes.joined(ends, cost, delay_us)

    def broken(self, ends: tuple[int, int]) -> None:
        self.changes.broken(ends)

    def linked(self, router: int, neighbour: int) -> None:
        self.changes.notices(router, "link up", neighbour)

    def unlinked(self, router: int, neighbour: int) -> None:
        self.changes.notices(router, "link down", neighbour)

    def rerouted(self, router: int, routers: Iterable[int], edges: Iterable[tuple[int, int, int]]) -> None:
        self.changes.rerouted(router, routers, edges)

    def sent(self, router: int, neighbours: Iterable[int], body: Body, size: int) -> None:
        for neighbour in neighbours:
            self.control.framed(router, "out", router, body, size)
            self.interfaces.count(router, self.interfaces.neighbour(neighbour), "bytes_out", size)
            self.changes.counted(router)

    def heard(self, router: int, neighbour: int, body: Body, size: int) -> None:
        self.control.framed(router, "in", neighbour, body, size)
        self.interfaces.count(router, self.interfaces.neighbour(neighbour), "bytes_in", size)
        self.changes.counted(router)

    # Clients and messages.

    def wanted(self, client: int, session: int, router: int, wish: int) -> None:
        self.wants.wanted(client, session, router, self.changes.epoch(router), wish)
        self.changes.counted(router)

    def unwanted(self, client: int, router: int, wish: int) -> None:
        self.wants.unwanted(client, wish)
        self.changes.counted(router)

    def delivered(self, client: int, session: int, message: SimulatedMessage) -> None:
        self.messages.delivered_to(client, session, message)

    def passed(self, router: int, packet: Packet, came_from: int | None, passing: Passing, in_force: InForce) -> None:
        self.messages.passed(router, packet, came_from, passing, in_force)
        self.interfaces.passed(router, packet, came_from, passing)
        self.changes.counted(router)

    def refused(self, router: int, came_from: int, reason: str) -> None:
        self.messages.refused[reason] += 1
        self.interfaces.refused(router, came_from, reason)
        self.changes.counted(router)

    def write(self, path: Path, counts: dict[str, int]) -> None:
        self.changes.end()
        told = {part: _told(account) for part, account in vars(self).items()}
        path.write_text(json.dumps({"counts": counts, **told}, default=asdict) + "\n")


def _told(part: object) -> dict[str, object]:
    return {name: value for name, value in vars(part).items() if not name.startswith("_")}
