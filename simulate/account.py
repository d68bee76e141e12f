"""The simulator's own account of a run, beside the records that its routers wrote: what an analysis must find.

Law: told by the recorder as things happen; never read back from a record.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tamis.simulate.message import Message, Packet
from tamis.simulate.node import Passing


class Account:
    def __init__(self, name_of: Callable[[int], str]) -> None:
        self._name_of = name_of
        self.published: list[tuple[int, int]] = []
        """Publisher and number, once for each entry into the network."""
        self.delivered: list[tuple[int, int, int]] = []
        """Publisher, number, client."""
        self.per_link: Counter[str] = Counter()
        """`from to` -> messages that set out."""
        self.dropped: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.visits: Counter[str] = Counter()
        """Router -> messages that it took."""

    def passed(self, router: int, packet: Packet, came_from: int | None, passing: Passing) -> None:
        name = self._name_of(router)
        self.visits[name] += 1
        if came_from is None:
            self.published.append((packet.message.publisher, packet.message.counter))
        self.per_link.update(f"{name} {self._name_of(neighbour)}" for neighbour in passing.neighbours)
        self.dropped.update(f"{name} {self._name_of(neighbour)}" for neighbour in passing.dropped)

    def refused_at(self, reason: str) -> None:
        self.refused[reason] += 1

    def took(self, client: int, message: Message) -> None:
        self.delivered.append((message.publisher, message.counter, client))

    def write(self, path: Path, counts: dict[str, int]) -> None:
        told = {name: getattr(self, name) for name in vars(self) if not name.startswith("_")}
        path.write_text(json.dumps({"counts": counts, **told}) + "\n")
