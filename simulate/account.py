"""The simulator's own account of a run, beside the records that its routers wrote: what an analysis must find.

Law: told by the recorder as things happen, in the simulation's time; never read back from a record.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tamis.router.core.forwarder import Transit
from tamis.simulate.message import Message, Packet
from tamis.simulate.node import Passing
from tamis.simulate.oracle.truth import Want

Count = Counter[str]


class Account:
    """Of what has no underscore, all is written. `a b` is a link, from a to b."""

    def __init__(self, name_of: Callable[[int], str]) -> None:
        self._name_of = name_of
        self._at: dict[tuple[Transit, int], int] = {}
        """When a message was at a router."""
        self._said: set[tuple[int, int]] = set()
        self.published: list[tuple[int, int]] = []
        """Publisher and number, once for each entry into the network."""
        self.delivered: list[tuple[int, int, int]] = []
        """Publisher, number, client."""
        self.per_link, self.arrived, self.dropped = Count(), Count(), Count()
        """Link -> messages that set out, that came, that could not set out."""
        self.refused, self.visits, self.entered = Count(), Count(), Count()
        """Reason -> messages; router -> messages that it took, and of them those that entered there."""
        self.vain = Count()
        """Link -> messages that came over it in vain."""
        self.link_us: dict[str, Count] = defaultdict(Count)
        self.way_us: dict[int, Count] = defaultdict(Count)
        """Link, or length of the way -> time that it took -> messages."""
        self.contents = Count()
        """Content -> messages published."""
        self.wished = Count()
        """Wish -> how often it was asked for."""
        self.notified, self.matching, self.looked = 0, 0, 0
        """Summed over messages: subscriptions in force that it satisfies, whether there is any, all in force."""
        self.frames, self.frame_bytes = Count(), Count()
        """`in` or `out` and kind of a control frame -> how many."""
        self.starts, self.link_changes = Count(), 0
        """Router -> its lives."""

    # Messages.

    def passed(
        self, router: int, packet: Packet, came_from: int | None, passing: Passing, at_us: int, is_wanted: bool
    ) -> None:
        """`is_wanted`: by a client of this router."""
        name = self._name_of(router)
        self.visits[name] += 1
        self._at[packet.transit, router] = at_us
        if came_from is None:
            self.published.append((packet.message.publisher, packet.message.counter))
            self.entered[name] += 1
        else:
            self._crossed(f"{self._name_of(came_from)} {name}", came_from, packet, at_us)
            is_vain = not (is_wanted or passing.neighbours or passing.dropped)
            self.vain[f"{self._name_of(came_from)} {name}"] += is_vain
        self.per_link.update(f"{name} {self._name_of(neighbour)}" for neighbour in passing.neighbours)
        self.dropped.update(f"{name} {self._name_of(neighbour)}" for neighbour in passing.dropped)

    def _crossed(self, link: str, came_from: int, packet: Packet, at_us: int) -> None:
        self.arrived[link] += 1
        self.link_us[link][str(at_us - self._at[packet.transit, came_from])] += 1
        self.way_us[packet.hop][str(at_us - self._at[packet.transit, packet.transit.source])] += 1

    def refused_at(self, router: int, came_from: int, reason: str) -> None:
        self.arrived[f"{self._name_of(came_from)} {self._name_of(router)}"] += 1
        self.refused[reason] += 1

    def took(self, client: int, message: Message) -> None:
        self.delivered.append((message.publisher, message.counter, client))

    def said(self, message: Message, in_force: Iterable[Mapping[int, Want]]) -> None:
        """It has entered, perhaps not for the first time."""
        if (message.publisher, message.counter) in self._said:
            return
        self._said.add((message.publisher, message.counter))
        satisfied = [want.contents >> message.content & 1 for wants in in_force for want in wants.values()]
        self.contents[str(message.content)] += 1
        self.notified += sum(satisfied)
        self.matching += any(satisfied)
        self.looked += len(satisfied)

    # The rest.

    def started(self, router: int) -> None:
        self.starts[self._name_of(router)] += 1

    def framed(self, way: str, what: str, size: int, count: int = 1) -> None:
        self.frames[f"{way} {what}"] += count
        self.frame_bytes[f"{way} {what}"] += count * size

    def write(self, path: Path, counts: dict[str, int]) -> None:
        told = {name: getattr(self, name) for name in vars(self) if not name.startswith("_")}
        path.write_text(json.dumps({"counts": counts, **told}) + "\n")
