"""One keep of this router, in little memory: there may be ten thousand.

Law: what many keeps have alike is there once. That is all of their terms but for the filters, as few programs ask for
terms of their own.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace

from tamis.protocol.wire.keep_bodies import KeepTerms
from tamis.router.kept.book import KeepMade
from tamis.router.kept.life import KeepLife, KeepState


class HeldKeep(KeepLife):
    """`n`: of its record in the book; `rest`: its terms without the filters, by a SharedTerms; `made_ms`: when it was
    made, by the steady clock, 0: in an earlier life of the router. Its life is in the same object, as two would take 40
    bytes more."""

    __slots__ = ("filters", "made_ms", "n", "name", "number", "owner", "rest")

    def __init__(self, number: int, n: int, made: KeepMade, rest: KeepTerms, state: KeepState, since_ms: int) -> None:
        super().__init__(state, since_ms)
        self.number, self.n, self.rest = number, n, rest
        self.made_ms = since_ms if state is KeepState.MAKING else 0
        self.name, self.owner, self.filters = made.name, sys.intern(made.owner), made.terms.filters

    @property
    def terms(self) -> KeepTerms:
        """All of its terms, made when they are asked for."""
        return replace(self.rest, filters=self.filters)

    @property
    def made(self) -> KeepMade:
        """What its record says, made when it is asked for."""
        return KeepMade(self.name, self.owner, self.terms)


class SharedTerms:
    """Terms without filters, each value once for as long as a keep has it."""

    def __init__(self) -> None:
        self._known: dict[KeepTerms, KeepTerms] = {}
        self._keeps: Counter[KeepTerms] = Counter()

    def share(self, terms: KeepTerms) -> KeepTerms:
        """Return `terms` without its filters, for one keep more."""
        rest = replace(terms, filters=())
        rest = self._known.setdefault(rest, rest)
        self._keeps[rest] += 1
        return rest

    def release(self, rest: KeepTerms) -> None:
        """Take in that one of the keeps that have `rest` has gone."""
        self._keeps[rest] -= 1
        if self._keeps[rest] == 0:
            del self._keeps[rest], self._known[rest]
