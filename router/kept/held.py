"""One keep of this router, in little memory: there may be ten thousand.

Law: what many keeps have alike is there once. That is all of their terms but for the filters, as few programs ask for
terms of their own.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace

from tamis.protocol.wire.keep_bodies import KeepTerms
from tamis.router.keeps.living import KeepLife
from tamis.router.keeps.records import KeepMade
from tamis.router.kept.book_writer import Answer


class HeldKeep:
    """`n`: of its record in the book; `rest`: its terms without the filters, by a SharedTerms."""

    __slots__ = ("filters", "life", "n", "name", "number", "owner", "rest", "waiting")

    def __init__(self, number: int, n: int, made: KeepMade, rest: KeepTerms, life: KeepLife) -> None:
        self.number, self.n, self.rest, self.life = number, n, rest, life
        self.name, self.owner, self.filters = made.name, sys.intern(made.owner), made.terms.filters
        self.waiting: list[Answer] | None = None
        """Who is to be told when the keep has what it is to begin with; None: it has it."""

    @property
    def terms(self) -> KeepTerms:
        """All of its terms, made when they are asked for."""
        return replace(self.rest, filters=self.filters)

    @property
    def made(self) -> KeepMade:
        """What its record says, made when it is asked for."""
        return KeepMade(self.name, self.owner, self.terms, ())


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
