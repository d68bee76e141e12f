"""R19, the held state: the durable subscriptions that each router has stated, itself included, and their names.

Law: statements are held whether or not their issuer is in reach (C13). Those of others take at most
DURABLES_KNOWN_BYTES_MAX together; of an issuer whose statement was refused at that bound, the newest version is noted
and the subscriptions of the last accepted one stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from tamis.protocol.errors import FrameError
from tamis.protocol.limits import DURABLES_KNOWN_BYTES_MAX, ROUTERS_MAX
from tamis.protocol.wire.home_bodies import DurablesStatement, NumberedDurable, StatedDurable, name_in, read_durable
from tamis.protocol.wire.numbers import predicate_digest
from tamis.protocol.wire.slices import at_once
from tamis.router.core.statements.compact.names import NameIndex, Place
from tamis.router.core.statements.compact.pages import PackedPages
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.rib import AppliedChange, HeldPredicate, MissingBase, Rib
from tamis.router.core.statements.sizes import listed_size, size_of

REPLACED_PER_SLICE: Final = 4_000
"""Durable subscriptions that are looked at in one slice: a few milliseconds."""
NAMED_PER_SLICE: Final = 250
"""Those of which names are noted or forgotten in one slice: some milliseconds if each is in a block of its own."""
_made_numbered = cast("Callable[[tuple[int, bytes]], NumberedDurable]", partial(tuple.__new__, NumberedDurable))


class DurablesHome(NamedTuple):
    """The router of durable subscriptions, and the id of its log."""

    name: str
    log: int


class NoRoomForDurables(Exception):
    """Raised for a statement beyond DURABLES_KNOWN_BYTES_MAX."""


class KnownDurables:
    def __init__(self, me: int) -> None:
        self.rib = Rib()
        """The packed durable subscriptions of each router, by number."""
        self.homes: dict[int, DurablesHome] = {}
        self.refused: set[int] = set()
        """Issuers of which the noted version is not that of the subscriptions held."""
        self.bytes_of_others = 0
        self.me = me
        self._names = NameIndex()
        """The names of all durable subscriptions. A place is an index of `_holders`, and the number there."""
        self._holders: list[int] = []
        """Issuers; 0: free."""

    # --- questions

    @property
    def issuers(self) -> Collection[int]:
        return self.homes.keys()

    def log_of(self, router: int) -> int:
        """Return the id of the log that a router states; 0: none."""
        home = self.homes.get(router)
        return home.log if home is not None else 0

    def at(self, name: str) -> list[tuple[str, StatedDurable]]:
        """Return the durable subscriptions of this name at other routers, with these, in the order of their names."""
        mine = self.homes[self.me].name if self.me in self.homes else ""
        return [each for each in self.everywhere(name) if each[0] != mine]

    def everywhere(self, name: str) -> list[tuple[str, StatedDurable]]:
        """Return what `at` does, and that of this router."""
        found = []
        for place in self._names.places(name):
            issuer = self._holders[place.holder]
            packed = self.rib.filters(issuer).get(place.number, b"")
            with suppress(FrameError):  # what a later release states is passed on, and not used here
                stated = read_durable(packed)
                if stated.name == name:  # else it is being replaced
                    found.append((self.homes[issuer].name, stated))
        return sorted(found, key=lambda each: each[0])

    def names(self) -> list[str]:
        """Return the names of all durable subscriptions, this router's own included, in order."""
        return [name for _, name in self._names.listed()]

    def listed(self, first: int) -> Iterator[tuple[int, str]]:
        """Yield the names in order with numbers that ascend, from number `first` on."""
        return self._names.listed(first)

    def behind(self, name: str, most: int) -> list[str]:
        """Return the first names behind `name`, at most `most`."""
        return self._names.behind(name, most)

    def statement(self, issuer: int) -> DurablesStatement:
        """Return all that is held of an issuer as one statement; it must not be one that was refused."""
        held, home = self.rib.entries[issuer], self.homes[issuer]
        return DurablesStatement(
            *(issuer, home.name, *held.version, home.log, True, 0),
            *(_numbered(held.filters), (), held.digest, len(held.filters), False, held.rest),
        )

    # --- changes

    def replace(self, body: DurablesStatement) -> AppliedChange | None:
        """Hold a whole statement in place of the one before; return what changes. None: it contradicts its digest.
        NoRoomForDurables: it is noted alone."""
        return at_once(self.replacing(body))

    def replacing(self, body: DurablesStatement) -> Generator[None, None, AppliedChange | None]:
        """Do what `replace` does in slices. Until one of them holds the statement, the one before is in force; the
        caller changes nothing of this issuer before the last of them."""
        issuer, version = body.issuer, Version(body.epoch, body.seq)
        filters, size = PackedPages(), 0
        for some in _slices(body.added):
            filters.update(some)
            size += listed_size(some)
            yield
        if len(filters) < len(body.added) or body.added_digest != body.digest:
            return None
        more, old = size - self._size(issuer), self.rib.filters(issuer)
        self._check_room(body, version, more)
        added, gone, removed = dict[int, bytes](), list[tuple[int, bytes]](), list[int]()
        for some in _slices(body.added):
            added.update([(number, packed) for number, packed in some if old.get(number) != packed])
            yield
        for some in _slices(old.items()):
            gone += (changed := [(number, packed) for number, packed in some if filters.get(number) != packed])
            removed += [number for number, _ in changed if number not in filters]
            yield
        self.rib.put(issuer, HeldPredicate(version, body.digest, filters, size, body.rest))
        self._took(body, more)
        names = body.found.names if body.found is not None else {}
        for some in _slices(added.items(), NAMED_PER_SLICE):
            self.name(issuer, some, names)
            yield
        for some in _slices(gone, NAMED_PER_SLICE):
            self.unname(issuer, some)
            yield
        return AppliedChange(added, tuple(removed))

    def apply(self, body: DurablesStatement) -> AppliedChange:
        """Apply a change to its base. MissingBase: nothing was changed. NoRoomForDurables: it is noted alone."""
        issuer, held = body.issuer, self.rib.entries.get(body.issuer)
        if held is None or issuer in self.refused or held.version != (body.epoch, body.base_seq):
            raise MissingBase
        before = held.size
        gone = [(id_, held.filters[id_]) for id_ in body.removed if id_ in held.filters]
        self._check_room(body, Version(body.epoch, body.seq), listed_size(body.added) - size_of([p for _, p in gone]))
        change = self.rib.apply(body)
        self.name(issuer, change.added.items(), body.found.names if body.found is not None else {})
        self._took(body, held.size - before)
        self.unname(issuer, gone)
        return change

    def recall(self, statement: DurablesStatement) -> None:
        """Hold what a log had of another router at the start, under the digest of what it had."""
        filters, issuer = PackedPages(statement.added), statement.issuer
        version, digest = Version(statement.epoch, statement.seq), predicate_digest(statement.added)
        size = listed_size(statement.added)
        self.rib.put(issuer, HeldPredicate(version, digest, filters, size))
        self.name(issuer, statement.added)
        self._took(statement, size)

    def restate(self, body: DurablesStatement) -> None:
        """Take over the statement `body` of this router, whose entry in `rib` has its content already."""
        self.homes[body.issuer] = DurablesHome(body.name, body.log)

    def name(
        self, issuer: int, added: Iterable[tuple[int, bytes]], names: Mapping[int, str] = MappingProxyType({})
    ) -> None:
        """Note the names of what is added for an issuer, which are in `names` already or are found now."""
        holder = self._holder(issuer)
        named = [(names[number] if number in names else name_in(packed), number) for number, packed in added]
        self._names.add((name, Place(holder, number)) for name, number in named if name)

    def unname(self, issuer: int, gone: Iterable[tuple[int, bytes]]) -> None:
        """Forget the names of what is no longer held of an issuer under these numbers."""
        holder, filters = self._holder(issuer), self.rib.filters(issuer)
        named = [(name_in(packed), number) for number, packed in gone]
        self._names.remove(
            (name, Place(holder, number)) for name, number in named if name_in(filters.get(number, b"")) != name
        )

    def forget(self, issuer: int) -> None:
        """Forget all that is held of a router."""
        held = self.rib.entries.get(issuer)
        if held is not None:
            self.bytes_of_others -= held.size
            self.rib.forget(issuer)
            del self.homes[issuer]
            self.unname(issuer, held.filters.items())
            self._holders[self._holder(issuer)] = 0
            self.refused.discard(issuer)

    # --- steps

    def _size(self, issuer: int) -> int:
        held = self.rib.entries.get(issuer)
        return held.size if held is not None else 0

    def _check_room(self, body: DurablesStatement, version: Version, more: int) -> None:
        """Raise NoRoomForDurables if `more` bytes do not fit; the version of `body` is noted, which keeps neighbours
        from sending it again. An issuer beyond ROUTERS_MAX is not even noted."""
        held = self.rib.entries.get(body.issuer)
        if held is None and len(self.rib.entries) >= ROUTERS_MAX:
            raise NoRoomForDurables
        if more <= 0 or self.bytes_of_others + more <= DURABLES_KNOWN_BYTES_MAX:
            return
        self.refused.add(body.issuer)
        self.homes[body.issuer] = DurablesHome(body.name, body.log)
        if held is None:
            self.rib.put(body.issuer, HeldPredicate(version, body.digest, {}))
        else:
            self.rib.restate(body.issuer, version, body.digest, held.size)
        raise NoRoomForDurables

    def _took(self, body: DurablesStatement, more: int) -> None:
        self.bytes_of_others += more
        self.refused.discard(body.issuer)
        self.homes[body.issuer] = DurablesHome(body.name, body.log)

    def _holder(self, issuer: int) -> int:
        """Return the index of an issuer in `_holders`, which it gets now if it has none."""
        if issuer not in self._holders:
            if 0 not in self._holders:
                self._holders.append(0)
            self._holders[self._holders.index(0)] = issuer
        return self._holders.index(issuer)


def _numbered(filters: Mapping[int, bytes]) -> tuple[NumberedDurable, ...]:
    return tuple(map(_made_numbered, filters.items()))


def _slices(pairs: Iterable[tuple[int, bytes]], each: int = REPLACED_PER_SLICE) -> Iterator[list[tuple[int, bytes]]]:
    found = iter(pairs)
    while some := list(islice(found, each)):
        yield some
