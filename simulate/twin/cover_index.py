"""A table of filters that finds, without a scan, the filters that cover a filter and those that it covers.

Law: results equal those of `covers` against every filter of the table; postings only select the candidates.

A filter is posted under each attribute that it constrains. For a query x, regions of the filters that x covers lie
inside the region of x, so `covered_by` examines one stretch of one attribute: the shortest. For `covering`, a filter is
stored under one attribute only, its anchor: the one with the fewest expected queries. A filter that covers x is
anchored at an attribute of x, in one of four places:

values     a set of values                  found by the least value of x
prefixes   all strings of a prefix          found by each prefix of the common start of the values of x
ranges     any other range                  found by the end that excludes more entries
loose      several kinds, or may be absent  always candidates

Results are read lazily, in an order that depends only on the history of the index. A reader may pause between two
results. A reader that needs a time limit, however many candidates are no results, reads slices, each of which costs a
bounded time. After a change of the index a reader cannot continue, and gets a RuntimeError.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from tamis.protocol._regions import Finite, Region
from tamis.protocol.covering.covers import Regions, regions_cover
from tamis.protocol.filters import EVERYTHING, Filter
from tamis.protocol.normal import regions_of
from tamis.simulate.twin.postings import Postings

Id = TypeVar("Id", bound=Hashable)
Test = Callable[[Regions], bool]


@dataclass(frozen=True, slots=True, eq=False)
class _Entry(Generic[Id]):
    id: Id
    regions: Regions
    anchor: str | None  # None for the filter that matches everything: it constrains no attribute


class CoverIndex(Generic[Id]):
    """Filters by id. A filter that never matches is refused with NeverMatches, both in the table and as a query."""

    def __init__(self) -> None:
        self._entries: dict[Id, _Entry[Id]] = {}
        self._postings: dict[str, Postings[_Entry[Id]]] = {}
        self._everything: dict[_Entry[Id], None] = {}
        self._version = 0
        self._asked: tuple[Filter, Regions] = (EVERYTHING, {})

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._entries

    def add(self, id_: Id, filter_: Filter) -> None:
        """Add a filter under `id_`. ValueError if the id is taken: remove it first."""
        if id_ in self._entries:
            raise ValueError(f"the index already has a filter {id_!r}")
        regions = self._regions_of(filter_)
        entry = _Entry(id_, regions, self._best_anchor(regions))
        for name, region in regions.items():
            if name not in self._postings:
                self._postings[name] = Postings()
            self._postings[name].post(entry, region)
        if entry.anchor is None:
            self._everything[entry] = None
        else:
            self._postings[entry.anchor].anchor(entry, regions[entry.anchor])
        self._entries[id_] = entry
        self._version += 1

    def remove(self, id_: Id) -> None:
        """Remove the filter under `id_`; KeyError if there is none."""
        entry = self._entries.pop(id_)
        if entry.anchor is None:
            del self._everything[entry]
        else:
            self._postings[entry.anchor].unanchor(entry, entry.regions[entry.anchor])
        for name, region in entry.regions.items():
            self._postings[name].unpost(entry, region)
            if not self._postings[name]:
                del self._postings[name]
        self._version += 1

    def covering(self, filter_: Filter) -> Iterator[Id]:
        """Yield the ids of all filters that cover `filter_`, including those with an equal meaning."""
        return self._one_by_one(*self._covering(filter_), self._version)

    def covered_by(self, filter_: Filter) -> Iterator[Id]:
        """Yield the ids of all filters that `filter_` covers, including those with an equal meaning."""
        return self._one_by_one(*self._covered_by(filter_), self._version)

    def covering_slices(self, filter_: Filter, candidates: int) -> Iterator[list[Id]]:
        """Yield the results of `covering` in lists: those, often none, among each `candidates` filters that are
        examined."""
        return self._sliced(*self._covering(filter_), self._version, candidates)

    def covered_by_slices(self, filter_: Filter, candidates: int) -> Iterator[list[Id]]:
        """Yield the results of `covered_by` in lists: those among each `candidates` filters that are examined."""
        return self._sliced(*self._covered_by(filter_), self._version, candidates)

    # --- candidates, and the test of each

    def _covering(self, filter_: Filter) -> tuple[Iterator[_Entry[Id]], Test]:
        regions = self._regions_of(filter_)
        return self._maybe_covering(regions), lambda other: regions_cover(other, regions)

    def _covered_by(self, filter_: Filter) -> tuple[Iterator[_Entry[Id]], Test]:
        regions = self._regions_of(filter_)
        return self._maybe_covered(regions), lambda other: regions_cover(regions, other)

    def _regions_of(self, filter_: Filter) -> Regions:
        # A caller that adds a filter has usually just queried it, twice.
        if self._asked[0] is not filter_:
            self._asked = (filter_, regions_of(filter_))
        return self._asked[1]

    def _maybe_covering(self, regions: Regions) -> Iterator[_Entry[Id]]:
        yield from self._everything
        for name, region in regions.items():
            if name in self._postings:
                yield from self._postings[name].wider(region)

    def _maybe_covered(self, regions: Regions) -> Iterator[_Entry[Id]]:
        if not regions:
            return iter(self._entries.values())
        if not regions.keys() <= self._postings.keys():
            return iter(())
        name = min(regions, key=lambda name: self._postings[name].narrower_count(regions[name]))
        return self._postings[name].narrower(regions[name])

    def _best_anchor(self, regions: Regions) -> str | None:
        """Return the attribute at which the fewest filters of the table would find this one as a candidate; at a tie
        one with a set of values."""
        return min(regions, key=lambda name: self._askers(name, regions[name]), default=None)

    def _askers(self, name: str, region: Region) -> tuple[float, bool]:
        postings = self._postings.get(name)
        return (0 if postings is None else postings.narrower_count(region), not isinstance(region, Finite))

    # --- reading

    def _one_by_one(self, maybe: Iterator[_Entry[Id]], is_answer: Test, version: int) -> Iterator[Id]:
        self._check_unchanged(version)
        for entry in maybe:
            if is_answer(entry.regions):
                yield entry.id
                self._check_unchanged(version)

    def _sliced(self, maybe: Iterator[_Entry[Id]], is_answer: Test, version: int, size: int) -> Iterator[list[Id]]:
        if size < 1:
            raise ValueError(f"a slice has at least 1 candidate, not {size}")
        self._check_unchanged(version)
        while candidates := list(itertools.islice(maybe, size)):
            yield [entry.id for entry in candidates if is_answer(entry.regions)]
            self._check_unchanged(version)

    def _check_unchanged(self, version: int) -> None:
        if self._version != version:
            raise RuntimeError("the index changed while a result was being read; repeat the query")
