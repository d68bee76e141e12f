"""The counts of each interface of a router, second by second.

Law: counts are written when the second is over; a router that crashes loses the counts of its last, unfinished second.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from tamis.simulate.account.wall import Wall
from tamis.simulate.nodes.message import Packet
from tamis.simulate.nodes.node import DATA_BYTES
from tamis.simulate.nodes.observer import Passing

NO_ROOM = "dropped:no session, or no room"


class InterfaceCounts:
    def __init__(self, wall: Wall) -> None:
        self._wall = wall
        self.counted: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        """Maps a router and a second to counts by "PEER WHAT". PEER is behind the interface; for drops and refusals,
        WHAT ends with a colon and the reason."""

    def count(self, router: int, behind: str, what: str, count: int = 1) -> None:
        self.counted[self._wall.name_of(router)][self._wall.second(router)][f"{behind} {what}"] += count

    def neighbour(self, router: int) -> str:
        return self._wall.name_of(router)

    def passed(self, router: int, packet: Packet, came_from: int | None, passing: Passing) -> None:
        self._came(router, f"p{packet.message.publisher}" if came_from is None else self.neighbour(came_from))
        out = [self.neighbour(each) for each in passing.neighbours] + [f"c{client}" for client in passing.clients]
        for behind in out:
            self.count(router, behind, "messages_out")
            self.count(router, behind, "bytes_out", DATA_BYTES)
        for each in passing.dropped:
            self.count(router, self.neighbour(each), NO_ROOM)

    def refused(self, router: int, came_from: int, reason: str) -> None:
        self._came(router, self.neighbour(came_from))
        self.count(router, self.neighbour(came_from), f"refused:{reason}")

    def _came(self, router: int, behind: str) -> None:
        self.count(router, behind, "messages_in")
        self.count(router, behind, "bytes_in", DATA_BYTES)

    def died(self, router: int) -> None:
        self.counted[self._wall.name_of(router)].pop(self._wall.second(router), None)
