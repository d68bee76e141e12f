"""A table of filters that answers, without a scan, which of them cover a filter and which of them it covers.

Law: the answers are exactly those of `covers` against every filter of the table; postings only choose whom to ask.

A filter is posted under each attribute that it constrains, in the order of the least value that it lets the attribute
have. What x covers has its least value inside x, so `covered_by` walks one range of one attribute: the shortest. For
`covering` a filter waits under one attribute alone, its anchor, where the fewest are likely to ask for it; what covers
x is anchored at an attribute of x, in one of four places:

    values     a set of values                  asked by the least value of x
    prefixes   all strings of a prefix          asked by each start of what the values of x have in common
    ranges     any other range                  asked by whichever of its two ends rules out more
    loose      several kinds, or may be absent  asked always

Answers are read lazily, in an order that depends on the history of the index alone. A reader may pause between two
answers and go on; if the index has changed meanwhile, its place is gone and it gets a RuntimeError.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from tamis.protocol._regions import Finite, Region
from tamis.protocol.covering._postings import Postings
from tamis.protocol.covering.covers import Regions, regions_cover
from tamis.protocol.filters import EVERYTHING, Filter
from tamis.protocol.normal import regions_of

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Id]):
    number: int
    id: Id
    regions: Regions
    anchor: str | None  # None for the filter of everything, which constrains no attribute


class CoverIndex(Generic[Id]):
    """Filters by id. One that never matches is refused with NeverMatches, in the table and as a question."""

    def __init__(self) -> None:
        self._by_id: dict[Id, _Entry[Id]] = {}
        self._by_number: dict[int, _Entry[Id]] = {}
        self._postings: dict[str, Postings] = {}
        self._everything: dict[int, None] = {}
        self._next_number = 0
        self._version = 0
        self._asked: tuple[Filter, Regions] = (EVERYTHING, {})

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._by_id

    def add(self, id_: Id, filter_: Filter) -> None:
        """ValueError if the id is taken: remove it first."""
        if id_ in self._by_id:
            raise ValueError(f"the index already has a filter {id_!r}")
        regions = self._regions_of(filter_)
        entry = _Entry(self._next_number, id_, regions, self._best_anchor(regions))
        for name, region in regions.items():
            self._postings.setdefault(name, Postings()).post(entry.number, region)
        if entry.anchor is None:
            self._everything[entry.number] = None
        else:
            self._postings[entry.anchor].anchor(entry.number, regions[entry.anchor])
        self._by_id[id_] = self._by_number[entry.number] = entry
        self._next_number += 1
        self._version += 1

    def remove(self, id_: Id) -> None:
        """KeyError if there is none."""
        entry = self._by_id.pop(id_)
        del self._by_number[entry.number]
        if entry.anchor is None:
            del self._everything[entry.number]
        else:
            self._postings[entry.anchor].unanchor(entry.number, entry.regions[entry.anchor])
        for name, region in entry.regions.items():
            self._postings[name].unpost(entry.number, region)
            if not self._postings[name]:
                del self._postings[name]
        self._version += 1

    def covering(self, filter_: Filter) -> Iterator[Id]:
        """The ids of all filters that cover this one, those with the same meaning included."""
        regions = self._regions_of(filter_)
        maybe = map(self._by_number.__getitem__, self._maybe_covering(regions))
        return self._guarded((entry.id for entry in maybe if regions_cover(entry.regions, regions)), self._version)

    def covered_by(self, filter_: Filter) -> Iterator[Id]:
        """The ids of all filters that this one covers, those with the same meaning included."""
        regions = self._regions_of(filter_)
        maybe = map(self._by_number.__getitem__, self._maybe_covered(regions))
        return self._guarded((entry.id for entry in maybe if regions_cover(regions, entry.regions)), self._version)

    def _regions_of(self, filter_: Filter) -> Regions:
        # Who adds a filter has usually just asked about it, twice.
        if self._asked[0] is not filter_:
            self._asked = (filter_, regions_of(filter_))
        return self._asked[1]

    def _maybe_covering(self, regions: Regions) -> Iterator[int]:
        yield from self._everything
        for name, region in regions.items():
            if name in self._postings:
                yield from self._postings[name].wider(region)

    def _maybe_covered(self, regions: Regions) -> Iterable[int]:
        if not regions:
            return iter(self._by_number)
        if not regions.keys() <= self._postings.keys():
            return ()
        name = min(regions, key=lambda name: self._postings[name].narrower_count(regions[name]))
        return self._postings[name].narrower(regions[name])

    def _guarded(self, answers: Iterator[Id], version: int) -> Iterator[Id]:
        self._check_unchanged(version)
        for id_ in answers:
            yield id_
            self._check_unchanged(version)

    def _check_unchanged(self, version: int) -> None:
        if self._version != version:
            raise RuntimeError("the index changed while an answer was being read; ask again")

    def _best_anchor(self, regions: Regions) -> str | None:
        """The attribute where the fewest filters so far would ask for this one; a set of values, if all are equal."""
        return min(regions, key=lambda name: self._askers(name, regions[name]), default=None)

    def _askers(self, name: str, region: Region) -> tuple[int, bool]:
        postings = self._postings.get(name)
        return (0 if postings is None else postings.narrower_count(region), not isinstance(region, Finite))
