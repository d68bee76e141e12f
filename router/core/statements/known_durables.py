"""R19, the held state: the durable subscriptions that each router has stated, itself included, and their names.

Law: statements are held whether or not their issuer is in reach (C13). Those of others take at most
DURABLES_KNOWN_BYTES_MAX together; of an issuer whose statement was refused at that bound, the newest version is noted
and the subscriptions of the last accepted one stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from tamis.protocol.errors import FrameError
from tamis.protocol.limits import DURABLES_KNOWN_BYTES_MAX, ROUTERS_MAX
from tamis.protocol.wire.home_bodies import DurablesStatement, NumberedDurable, StatedDurable, name_in, read_durable
from tamis.protocol.wire.numbers import predicate_digest
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.rib import AppliedChange, HeldPredicate, MissingBase, Rib
from tamis.router.core.statements.sizes import listed_size, size_of


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
        self._by_name: dict[str, tuple[tuple[int, int], ...]] = {}

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
        for issuer, number in self._by_name.get(name, ()):
            with suppress(FrameError):  # what a later release states is passed on, and not used here
                found.append((self.homes[issuer].name, read_durable(self.rib.entries[issuer].filters[number])))
        return sorted(found, key=lambda each: each[0])

    def names(self) -> list[str]:
        """Return the names of all durable subscriptions, this router's own included, in order."""
        return sorted(self._by_name)

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
        issuer, filters = body.issuer, dict(body.added)
        version = Version(body.epoch, body.seq)
        if len(filters) < len(body.added) or body.added_digest != body.digest:
            return None
        size, before = size_of(filters.values()), self._size(issuer)
        self._check_room(body, version, size - before)
        old = self.rib.filters(issuer)
        change = self.rib.replace(issuer, version, body.digest, filters, body.rest)
        self._unname(issuer, ((id_, old[id_]) for id_ in (*change.removed, *(change.added.keys() & old.keys()))))
        self._took(body, change, size - before)
        return change

    def apply(self, body: DurablesStatement) -> AppliedChange:
        """Apply a change to its base. MissingBase: nothing was changed. NoRoomForDurables: it is noted alone."""
        issuer, held = body.issuer, self.rib.entries.get(body.issuer)
        if held is None or issuer in self.refused or held.version != (body.epoch, body.base_seq):
            raise MissingBase
        before = held.size
        gone = [(id_, held.filters[id_]) for id_ in body.removed if id_ in held.filters]
        self._check_room(body, Version(body.epoch, body.seq), listed_size(body.added) - size_of([p for _, p in gone]))
        change = self.rib.apply(body)
        self._unname(issuer, gone)
        self._took(body, change, held.size - before)
        return change

    def recall(self, statement: DurablesStatement) -> None:
        """Hold what a log had of another router at the start, under the digest of what it had."""
        filters = dict(statement.added)
        version, digest = Version(statement.epoch, statement.seq), predicate_digest(filters.items())
        change = self.rib.replace(statement.issuer, version, digest, filters)
        self._took(statement, change, size_of(filters.values()))

    def restate(self, body: DurablesStatement) -> None:
        """Take over the statement `body` of this router, whose entry in `rib` has its content already."""
        self.homes[body.issuer] = DurablesHome(body.name, body.log)

    def name(self, added: Mapping[int, bytes]) -> None:
        """Note the names of durable subscriptions that this router has made."""
        self._name(self.me, added, {})

    def unname(self, gone: Iterable[tuple[int, bytes]]) -> None:
        """Forget the names of durable subscriptions that this router has no longer."""
        self._unname(self.me, gone)

    def forget(self, issuer: int) -> None:
        """Forget all that is held of another router."""
        held = self.rib.entries.get(issuer)
        if held is not None:
            self._unname(issuer, held.filters.items())
            self.bytes_of_others -= held.size
            self.rib.forget(issuer)
            del self.homes[issuer]
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

    def _took(self, body: DurablesStatement, change: AppliedChange, more: int) -> None:
        self.bytes_of_others += more
        self.refused.discard(body.issuer)
        self.homes[body.issuer] = DurablesHome(body.name, body.log)
        self._name(body.issuer, change.added, body.found.names if body.found is not None else {})

    def _name(self, issuer: int, added: Mapping[int, bytes], names: Mapping[int, str]) -> None:
        """Note the names of what is added, which are in `names` already or are found now."""
        by_name = self._by_name
        for number, packed in added.items():
            name = names[number] if number in names else name_in(packed)
            if name:
                before = by_name.get(name)
                by_name[name] = ((issuer, number),) if before is None else (*before, (issuer, number))

    def _unname(self, issuer: int, gone: Iterable[tuple[int, bytes]]) -> None:
        for number, packed in gone:
            name = name_in(packed)
            left = tuple([each for each in self._by_name.pop(name, ()) if each != (issuer, number)])
            if left:
                self._by_name[name] = left


def _numbered(filters: Mapping[int, bytes]) -> tuple[NumberedDurable, ...]:
    return tuple(map(NumberedDurable._make, filters.items()))
