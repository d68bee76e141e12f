"""The subscriptions of clients, and when they were in force."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tamis.simulate.account.wall import Wall


@dataclass(slots=True)
class Asked:
    client: int
    session: int
    router: str
    epoch: int
    wish: int
    since_us: int
    until_us: int | None = None
    """When the subscription ended; None: never while its router lived."""


class Wants:
    def __init__(self, wall: Wall) -> None:
        self._wall = wall
        self._now: dict[tuple[int, int], tuple[int, Asked]] = {}
        """Maps a client and a wish to its router, and to the entry of `asked` that is still open."""
        self.asked: list[Asked] = []
        self.wished = Counter[str]()
        """Counts by wish of the subscriptions of all clients."""

    def wanted(self, client: int, session: int, router: int, epoch: int, wish: int) -> None:
        asked = Asked(client, session, self._wall.name_of(router), epoch, wish, self._wall.true_us)
        self._now[client, wish] = router, asked
        self.asked.append(asked)
        self.wished[str(wish)] += 1

    def unwanted(self, client: int, wish: int) -> None:
        _, asked = self._now.pop((client, wish))
        asked.until_us = self._wall.true_us

    def died(self, router: int) -> None:
        self._now = {each: held for each, held in self._now.items() if held[0] != router}
