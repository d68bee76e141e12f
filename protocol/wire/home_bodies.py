"""Bodies about the durable subscriptions of a router (DURABLES, DURABLES_HELD), and a durable subscription in them.

Law: a durable subscription is stated under its number, which its home gives once, as packed bytes: every holder of the
bytes has the fields of later versions, too. A DURABLES may be large and travels in parts (`parts.py`). Both bodies go
only to neighbours with the capability DURABLES_KNOWN.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Annotated, Final, NamedTuple, cast

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import DURABLE_BYTES_MAX, DURABLE_HOMES_MAX, ENTRIES_MAX, LINKS_MAX, REMOTE_ROLES_MAX
from tamis.protocol.wire._msgpack import pack
from tamis.protocol.wire.body_reader import BodyReader
from tamis.protocol.wire.durable_bodies import DurablePolicy, Filters, NameOrNone
from tamis.protocol.wire.numbers import NO_DIGEST, moved, predicate_digest, stable_number, weight_of
from tamis.protocol.wire.schema import APPENDED, REST, U32, U64, Between, Binary, Digest, Name, Rest, record_of
from tamis.protocol.wire.whole import Kept, Ticket

DURABLES_KNOWN: Final = "durables-known"
"""The capability of a neighbour that supports DURABLES and DURABLES_HELD."""
REFUSES: Final = 1
"""A bit of `flags`: beyond its bounds a matching message is refused."""
TAKES_DIRECTED: Final = 2
"""A bit of `flags`: its home takes DIRECTED. Without it other routers store nothing for it."""
TAKES_REMOTE: Final = 4
"""A bit of `flags`: its home takes REMOTE, so that clients of other routers may consume it."""
TAKES_READS: Final = 8
"""A bit of `flags`: its home answers GET in a remote session, too."""


class StatedCopy(NamedTuple):
    """What a home without a copy makes one from. `homes`: the routers that have or should have one, in the order in
    which they serve; `made_ms`: when this one was made, Unix milliseconds; `roles`: those of an owner that the rules do
    not list."""

    homes: Annotated[tuple[Name, ...], Between(2, DURABLE_HOMES_MAX)]
    made_ms: U64
    policy: DurablePolicy
    roles: Annotated[tuple[Name, ...], Between(0, REMOTE_ROLES_MAX)]


@dataclass(frozen=True, slots=True)
class StatedDurable:
    """A durable subscription, as its home states it. `for_ms` and `idle_ms` are those of its policy. `copy`: what
    another home makes a copy from; none if there is one home."""

    name: Name
    owner: NameOrNone
    filters: Filters
    flags: U32
    for_ms: U64
    idle_ms: U64
    copy: Annotated[tuple[StatedCopy, ...], Between(0, 1), APPENDED] = ()


_LOOKED_AT_PER_SLICE: Final = 1_000
"""Durable subscriptions of which digest and name are found in one slice: a millisecond."""
_SHORT_ARRAY: Final = 0x90 + sum(not field.is_appended for field in record_of(StatedDurable).fields)
_SHORT_TEXT: Final = 0xA0
_SHORT_TEXT_BYTES_MAX: Final = 31
"""As msgpack has them: the head of an array with these fields, and of a text, which has its length added."""


def packed_durable(stated: StatedDurable) -> bytes:
    """Return `stated` as DURABLES carries it; Refused beyond DURABLE_BYTES_MAX."""
    packed = pack(record_of(StatedDurable).plain(stated))
    if len(packed) > DURABLE_BYTES_MAX:
        raise Refused(f"a stated durable subscription has at most {DURABLE_BYTES_MAX:,} bytes, not {len(packed):,}")
    return packed


def read_durable(packed: bytes) -> StatedDurable:
    """Return the durable subscription in `packed`; FrameError if it does not decode."""
    reader = BodyReader(packed, "StatedDurable")
    stated = cast("StatedDurable", record_of(StatedDurable).read(reader))
    reader.finish()
    return stated


def name_in(packed: bytes) -> str:
    """Return the name of the durable subscription in `packed`, the rest unread; empty if it does not decode. There may
    be ten thousand: of the usual head, an array and a text in their shortest forms, the name is a slice."""
    if not packed:
        return ""
    end = packed[1] - _SHORT_TEXT + 2 if len(packed) > 1 and packed[0] == _SHORT_ARRAY else 0
    if 2 < end <= min(len(packed), 2 + _SHORT_TEXT_BYTES_MAX):
        try:
            return packed[2:end].decode()
        except UnicodeDecodeError:
            return ""
    record = record_of(StatedDurable)
    reader = BodyReader(packed, "StatedDurable")
    try:
        record.enter(reader)
        return cast("str", record.fields[0].codec.read(reader))
    except FrameError:
        return ""


class NumberedDurable(NamedTuple):
    """A durable subscription under its number."""

    number: U64
    packed: Annotated[bytes, Binary(1, DURABLE_BYTES_MAX)]


class FoundDurables(NamedTuple):
    """What is found in the durable subscriptions that a statement adds: their digest, and their names by number."""

    digest: bytes
    names: dict[int, str]


@dataclass(frozen=True, slots=True)
class DurablesStatement(Kept):
    """DURABLES: the durable subscriptions of the router `name`, whole or as a change of those at `base_seq`.

    `log` is the id of the router's log; 0: it has none. `digest` and `count` are those of the whole after the change.
    `confirm` requests a DurablesHeld from each router that stores it.
    """

    issuer: U64
    name: Name
    epoch: U64
    seq: U64
    log: U64
    full: bool
    base_seq: U64
    added: Annotated[tuple[NumberedDurable, ...], Between(0, ENTRIES_MAX)]
    removed: Annotated[tuple[U64, ...], Between(0, ENTRIES_MAX)]
    digest: Digest
    count: U64
    confirm: bool
    rest: Annotated[Rest, REST] = field(default=(), compare=False, repr=False)
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)
    found: FoundDurables | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.issuer != stable_number(self.name):
            raise Refused(f"{self.issuer} is not the number of router {self.name!r}")
        if self.full and (self.base_seq or self.removed or self.count != len(self.added)):
            raise Refused("a full statement has base 0, removes nothing, and counts what it adds")
        if not self.full and self.base_seq >= self.seq:
            raise Refused(f"a change of {self.base_seq} must have a later number, not {self.seq}")

    def keeping(self, rest: Rest) -> DurablesStatement:
        return replace(self, rest=rest)

    def look(self) -> Generator[None, None, None]:
        weight, names = 0, dict[int, str]()
        for start in range(0, len(self.added), _LOOKED_AT_PER_SLICE):
            rows = self.added[start : start + _LOOKED_AT_PER_SLICE]
            weight += weight_of(rows)
            names.update([(number, name_in(packed)) for number, packed in rows])
            yield
        object.__setattr__(self, "found", FoundDurables(moved(NO_DIGEST, weight), names))

    @property
    def added_digest(self) -> bytes:
        """The digest of what it adds."""
        return self.found.digest if self.found is not None else predicate_digest(self.added)

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.issuer, self.epoch, self.seq)


class DurablesHolder(NamedTuple):
    """A router that has a statement on its disk, in the log of this id; 0: it has no log, and only memory. C10: `life`
    is the present life of the log, which follows `before`; 0: not said, as by routers that know no lives."""

    router: U64
    log: U64
    life: Annotated[U32, APPENDED] = 0
    before: Annotated[U32, APPENDED] = 0


@dataclass(frozen=True, slots=True)
class DurablesHeld:
    """DURABLES_HELD: routers that have stored the issuer's durable subscriptions; sent towards the issuer, merged along
    the route."""

    issuer: U64
    epoch: U64
    seq: U64
    holders: Annotated[tuple[DurablesHolder, ...], Between(1, LINKS_MAX)]
    rest: Annotated[Rest, REST] = field(default=(), compare=False, repr=False)

    def keeping(self, rest: Rest) -> DurablesHeld:
        return replace(self, rest=rest)
