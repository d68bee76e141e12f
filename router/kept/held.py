"""One durable subscription of this router, in little memory: there may be ten thousand.

Law: equal policies are stored once, without their filters: few programs use a policy of their own.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace

from tamis.protocol.wire.keep_bodies import KeepTerms
from tamis.router.kept.book import KeepMade
from tamis.router.kept.life import KeepLife, KeepState


class HeldKeep(KeepLife):
    """`n`: number of its catalog record; `rest`: its policy without the filters, from a SharedTerms; `made_ms`: when it
    was made (monotonic), 0 if in an earlier run of the router. It inherits KeepLife because a second object would take
    40 bytes more."""

    __slots__ = ("filters", "made_ms", "n", "name", "number", "owner", "rest")

    def __init__(self, number: int, n: int, made: KeepMade, rest: KeepTerms, state: KeepState, since_ms: int) -> None:
        super().__init__(state, since_ms)
        self.number, self.n, self.rest = number, n, rest
        self.made_ms = since_ms if state is KeepState.MAKING else 0
        self.name, self.owner, self.filters = made.name, sys.intern(made.owner), made.terms.filters

    @property
    def terms(self) -> KeepTerms:
        """The whole policy with its filters; a new object each time."""
        return replace(self.rest, filters=self.filters)

    @property
    def made(self) -> KeepMade:
        """The content of its catalog record; a new object each time."""
        return KeepMade(self.name, self.owner, self.terms)


class SharedTerms:
    """Policies without filters, each distinct one stored once while a subscription uses it."""

    def __init__(self) -> None:
        self._known: dict[KeepTerms, KeepTerms] = {}
        self._keeps: Counter[KeepTerms] = Counter()

    def share(self, terms: KeepTerms) -> KeepTerms:
        """Return the shared object for `terms` without its filters, and count one more user of it."""
        rest = replace(terms, filters=())
        rest = self._known.setdefault(rest, rest)
        self._keeps[rest] += 1
        return rest

    def release(self, rest: KeepTerms) -> None:
        """Count one user of `rest` less, and drop it after the last one."""
        self._keeps[rest] -= 1
        if self._keeps[rest] == 0:
            del self._keeps[rest], self._known[rest]
