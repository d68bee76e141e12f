"""Where the dead letters of keeps go.

Law: a keep names its dead letter place, which may be made before it or after it, and gets letters while it is there.
No keep is made whose letters would come back to it: they would go round for ever. A log of an earlier version may have
such a ring, which is served as it is, and told.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from tamis.native.keeps import SwitchKeeps
from tamis.router.daemon.logs import fields
from tamis.router.kept.held import HeldKeep

_SHOWN: Final = 8
"""Rings that are listed, and names of each."""

_log = logging.getLogger(__name__)


class DeadLetters:
    """The dead letter places of the keeps in `by_name`."""

    def __init__(self, keeps: SwitchKeeps, by_name: Mapping[str, HeldKeep]) -> None:
        self._keeps, self._by_name = keeps, by_name
        self._letters_from: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, held: HeldKeep) -> None:
        if held.rest.dead_letter:
            self._letters_from[held.rest.dead_letter].add(held.number)

    def remove(self, held: HeldKeep) -> None:
        """Let go of a keep that is no more."""
        for number in self._letters_from.get(held.name, ()):
            self._keeps.dead_letter(number, 0)
        letters = self._letters_from.get(held.rest.dead_letter)
        if letters is not None:
            letters.discard(held.number)
            if not letters:
                del self._letters_from[held.rest.dead_letter]

    def join(self, name: str) -> None:
        """Join the keep `name`, if there is one, with those whose dead letters it gets."""
        to = self._by_name.get(name)
        if to is not None:
            for number in self._letters_from.get(name, ()):
                self._keeps.dead_letter(number, to.number)

    def found(self) -> None:
        """Join the keeps that a start has found, and tell of rings among them."""
        for name in self._letters_from:
            self.join(name)
        rings = [self.ring(name, self._next(name)) for name in self._ends_of_rings()]
        if rings:
            _log.warning(
                "dead letters of these durable subscriptions go round for ever: make one of each ring again, without "
                "`dead_letter`",
                extra=fields(rings=rings[:_SHOWN], count=len(rings)),
            )

    def ring(self, name: str, dead_letter: str) -> str:
        """Return the way by which dead letters of a keep `name` would go round; empty: they come to an end."""
        way = {name: None}
        while dead_letter and dead_letter not in way:
            way[dead_letter] = None
            dead_letter = self._next(dead_letter)
        names = list(way)
        shown = names if len(names) <= _SHOWN else [*names[:_SHOWN], "..."]
        return " -> ".join([*shown, dead_letter]) if dead_letter else ""

    def _next(self, name: str) -> str:
        """Return where the dead letters of the keep `name` go; empty: there is no such keep, or they go nowhere."""
        held = self._by_name.get(name)
        return held.rest.dead_letter if held is not None else ""

    def _ends_of_rings(self) -> Iterator[str]:
        """Give one keep of each ring."""
        seen: set[str] = set()
        for name in self._by_name:
            way: set[str] = set()
            while name and name not in seen:
                seen.add(name)
                way.add(name)
                name = self._next(name)  # noqa: PLW2901 - it goes along the way
            if name in way:
                yield name
