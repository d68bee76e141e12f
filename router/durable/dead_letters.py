"""Destinations of dead letters.

Law: a durable subscription names the subscription that receives its dead letters, which may be made before it or after
it and receives them while it exists. A subscription whose dead letters would return to it is refused. A log of an
earlier version may hold such a ring; it is served unchanged, and a warning is logged at the start.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from tamis.native.durables import SwitchDurables
from tamis.router.daemon.logs import fields
from tamis.router.durable.hosted import HostedDurable

_SHOWN: Final = 8
"""Most rings in one warning, and most names of one ring."""

_log = logging.getLogger(__name__)


class DeadLetters:
    """The dead letter destinations of the durable subscriptions in `by_name`."""

    def __init__(self, durables: SwitchDurables, by_name: Mapping[str, HostedDurable]) -> None:
        self._durables, self._by_name = durables, by_name
        self._dead_letters_from: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, held: HostedDurable) -> None:
        if held.rest.dead_letter:
            self._dead_letters_from[held.rest.dead_letter].add(held.number)

    def remove(self, held: HostedDurable) -> None:
        """Remove a durable subscription that has ended, as a source and as a destination."""
        for number in self._dead_letters_from.get(held.name, ()):
            self._durables.dead_letter(number, 0)
        dead_letters = self._dead_letters_from.get(held.rest.dead_letter)
        if dead_letters is not None:
            dead_letters.discard(held.number)
            if not dead_letters:
                del self._dead_letters_from[held.rest.dead_letter]

    def join(self, name: str) -> None:
        """Connect the durable subscription `name`, if it exists, to those whose dead letters it receives."""
        to = self._by_name.get(name)
        if to is not None:
            for number in self._dead_letters_from.get(name, ()):
                self._durables.dead_letter(number, to.number)

    def found(self) -> None:
        """Connect the durable subscriptions found at the start, and log a warning if some form rings."""
        for name in self._dead_letters_from:
            self.join(name)
        rings = [self.ring(name, self._next(name)) for name in self._ends_of_rings()]
        if rings:
            _log.warning(
                "dead letters of these durable subscriptions circulate endlessly: in each cycle create one again "
                "without `dead_letter`",
                extra=fields(rings=rings[:_SHOWN], count=len(rings)),
            )

    def ring(self, name: str, dead_letter: str) -> str:
        """Return the ring that dead letters of `name` would go round, as text; "" if there is none."""
        way = {name: None}
        while dead_letter and dead_letter not in way:
            way[dead_letter] = None
            dead_letter = self._next(dead_letter)
        names = list(way)
        shown = names if len(names) <= _SHOWN else [*names[:_SHOWN], "..."]
        return " -> ".join([*shown, dead_letter]) if dead_letter else ""

    def _next(self, name: str) -> str:
        """Return the dead letter destination of `name`; "" if it does not exist or has none."""
        held = self._by_name.get(name)
        return held.rest.dead_letter if held is not None else ""

    def _ends_of_rings(self) -> Iterator[str]:
        """Yield one name of each ring."""
        seen: set[str] = set()
        for name in self._by_name:
            way: set[str] = set()
            while name and name not in seen:
                seen.add(name)
                way.add(name)
                name = self._next(name)  # noqa: PLW2901 - the loop follows the chain
            if name in way:
                yield name
