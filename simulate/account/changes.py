"""Lives of routers, links between them, the topologies that routers computed, and the errors of their clocks.

Law: events and their detection are separate: `whole` has when a link was whole or broken, `noticed` when each of its
ends detected it, which is later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tamis.simulate.account.wall import SECOND_US, Wall


@dataclass(slots=True)
class LifeSpan:
    router: str
    epoch: int
    began_us: int
    wrote_us: int
    """When the router wrote its last record."""
    ended_us: int | None = None


@dataclass(slots=True)
class SeenTopology:
    """The topology that a router used from then on."""

    at_us: int
    router: str
    epoch: int
    reach: list[str]
    edges: list[tuple[str, str, int]]


class Changes:
    """Records lives, links and topologies at true times, not at those of any router's clock."""

    def __init__(self, wall: Wall) -> None:
        self._wall = wall
        self._living: dict[int, LifeSpan] = {}
        self._summed_up: Counter[int] = Counter()
        """Maps a router to the last second in which it counted something; it writes the sum when that second is
        over."""
        self.ahead_us: dict[str, int] = {}
        """Maps a router to the time by which its clock is ahead of the true time; negative if it is behind."""
        self.delays_us: dict[str, int] = {}
        """Maps each link that was ever whole to the delay of its line."""
        self.lives: list[LifeSpan] = []
        self.whole: list[tuple[int, str, int | None]] = []
        """The time, link and cost of each change of a link; cost None: the link was removed."""
        self.noticed: list[tuple[int, str, str, str | None]] = []
        """The time, router, event and neighbour of each detection: about a link, or, if neighbour is None, about the
        router's own life."""
        self.topologies: list[SeenTopology] = []

    def epoch(self, router: int) -> int:
        return self._living[router].epoch

    def started(self, router: int, epoch: int) -> None:
        name, now_us = self._wall.name_of(router), self._wall.true_us
        life = self._living[router] = LifeSpan(name, epoch, now_us, now_us)
        self.ahead_us[name] = self._wall.ahead_us(router)
        self.lives.append(life)
        self.notices(router, "router started")

    def died(self, router: int) -> None:
        life, over_us = self._living[router], self._over_us(router)
        life.ended_us = self._wall.true_us
        if over_us < life.ended_us:
            life.wrote_us = max(life.wrote_us, over_us)
        del self._living[router], self._summed_up[router]

    def wrote(self, router: int) -> None:
        self._living[router].wrote_us = self._wall.true_us

    def counted(self, router: int) -> None:
        """Record that `router` counted something now, which it writes when the second is over."""
        self._summed_up[router] = self._wall.second(router)
        self.wrote(router)

    def joined(self, ends: tuple[int, int], cost: int, delay_us: int) -> None:
        self.delays_us[self._link(ends)] = delay_us
        self.whole.append((self._wall.true_us, self._link(ends), cost))

    def broken(self, ends: tuple[int, int]) -> None:
        self.whole.append((self._wall.true_us, self._link(ends), None))

    def rerouted(self, router: int, routers: Iterable[int], edges: Iterable[tuple[int, int, int]]) -> None:
        name_of = self._wall.name_of
        seen = [(name_of(one), name_of(other), cost) for one, other, cost in edges]
        reach = sorted(map(name_of, routers))
        self.topologies.append(SeenTopology(self._wall.true_us, name_of(router), self.epoch(router), reach, seen))
        self.wrote(router)

    def end(self) -> None:
        """Make each living router write its counts, as at the end of a run."""
        for router, life in self._living.items():
            life.wrote_us = max(life.wrote_us, min(self._over_us(router), self._wall.true_us))

    def _over_us(self, router: int) -> int:
        """Return the true time at which the last second that `router` sums up ends."""
        return (self._summed_up[router] + 1) * SECOND_US - 1 - self._wall.ahead_us(router)

    def notices(self, router: int, what: str, neighbour: int | None = None) -> None:
        other = None if neighbour is None else self._wall.name_of(neighbour)
        self.noticed.append((self._wall.true_us, self._wall.name_of(router), what, other))
        self.wrote(router)

    def _link(self, ends: tuple[int, int]) -> str:
        return " ".join(map(self._wall.name_of, ends))
