"""The catalog: records in the log of a router that list its durable subscriptions.

    DURABLE_CREATED   number of the subscription, its owner (and roles, each behind a zero, of one that the rules do not
                      list), and the CREATE_DURABLE frame that requested it
    NUMBERS_TAKEN     numbers of subscriptions up to this one are reserved
    DURABLE_BEGUN     fields of DURABLE_CREATED; the subscription still copies messages from the log and may lack some
    HOME_STATED, HOME_DURABLE: what other routers have stated (`home_records.py`)
    MISSED_SINCE      Unix milliseconds; messages that entered at other routers since then may be missing

Law: every later version of this program reads these records; records of unknown kinds are left alone. The number of a
durable subscription is never used again, so records in the log always belong to one subscription.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from tamis.native.durables import KIND_MIN
from tamis.native.log import LogRecord
from tamis.protocol.wire.body_frames import decode_body, encode_body
from tamis.protocol.wire.durable_bodies import CreateDurable, DurablePolicy
from tamis.protocol.wire.kinds import FrameKind

DURABLE_CREATED: Final = KIND_MIN
NUMBERS_TAKEN: Final = KIND_MIN + 1
DURABLE_BEGUN: Final = KIND_MIN + 2
MISSED_SINCE: Final = KIND_MIN + 3
HOME_STATED: Final = KIND_MIN + 4
HOME_DURABLE: Final = KIND_MIN + 5
NUMBERS_A_BLOCK: Final = 1_024
"""Numbers that one record reserves; most subscriptions need no record for their number."""

_BETWEEN: Final = "\0"
"""Between an owner and its roles; no name has it."""
_MADE: Final = struct.Struct("<QIH")
_TAKEN: Final = struct.Struct("<I")
_MISSED: Final = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class DurableCreated:
    """Name, owner and policy of a durable subscription, as its record has them. `roles`: those that an owner had whom
    the rules did not list, as it made the subscription. `homes`: its routers if there are several."""

    name: str
    owner: str
    policy: DurablePolicy
    roles: frozenset[str] = frozenset()
    homes: tuple[str, ...] = ()

    @property
    def copies(self) -> int:
        """A number that all copies of it share; 0: it has one home."""
        shared = repr((self.name, self.owner, self.policy.filters, self.homes, self.policy.copies_min)).encode()
        return int.from_bytes(blake2b(shared, digest_size=8).digest(), "little") or 1 if self.homes else 0


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A durable subscription in the catalog. `n`: number of its record, used to retire it; `since`: only records past
    this number can belong to the subscription; `made_ms`: time of the record, Unix milliseconds."""

    n: int
    since: int
    number: int
    made: DurableCreated
    made_ms: int


@dataclass(frozen=True, slots=True)
class WrittenMissed:
    """A time (Unix milliseconds) since which messages may be missing. `n`: number of its record."""

    n: int
    since_ms: int


@dataclass(slots=True)
class CatalogFound:
    """The catalog at the start of a router. `taken`: subscription numbers up to this one are reserved; `taken_in`:
    numbers of the records that reserve them."""

    durables: list[CatalogEntry] = field(default_factory=list)
    taken: int = 0
    taken_in: list[int] = field(default_factory=list)
    begun: list[CatalogEntry] = field(default_factory=list)
    """Subscriptions whose copy from the log did not complete."""
    overtaken: list[int] = field(default_factory=list)
    """Numbers of records of subscriptions that have a later DURABLE_CREATED record."""
    missed: list[WrittenMissed] = field(default_factory=list)


def catalog_entry(number: int, owner: str, durable: CreateDurable, since: int = 0, roles: Iterable[str] = ()) -> bytes:
    """Return the record of a durable subscription. `since`: number of its first record; 0 if this is the first.
    `roles`: as in DurableCreated."""
    name = _BETWEEN.join((owner, *sorted(roles))).encode()
    return _MADE.pack(since, number, len(name)) + name + encode_body(FrameKind.CREATE_DURABLE, durable)


def written_numbers(taken: int) -> bytes:
    """Return the record that reserves the numbers up to `taken`."""
    return _TAKEN.pack(taken)


def written_missed(since_ms: int) -> bytes:
    """Return the record of a time since which messages may be missing."""
    return _MISSED.pack(max(0, since_ms))


def read_catalog(records: Iterable[LogRecord]) -> CatalogFound:
    """Return the catalog in `records`; of several subscriptions with one name the first counts, of several records of
    one subscription the last, by which it was given to another owner."""
    found = CatalogFound()
    names: set[str] = set()
    created: dict[int, CatalogEntry] = {}
    begun: list[CatalogEntry] = []
    for record in records:
        if record.kind == NUMBERS_TAKEN:
            found.taken = max(found.taken, _TAKEN.unpack_from(record.body)[0])
            found.taken_in.append(record.n)
        elif record.kind == DURABLE_CREATED:
            durable = _read_durable(record)
            found.taken = max(found.taken, durable.number)
            if durable.number in created:
                found.overtaken.append(created[durable.number].n)
                created[durable.number] = durable
            elif durable.made.name not in names:
                names.add(durable.made.name)
                created[durable.number] = durable
        elif record.kind == DURABLE_BEGUN:
            begun.append(_read_durable(record))
            found.taken = max(found.taken, begun[-1].number)
        elif record.kind == MISSED_SINCE:
            found.missed.append(WrittenMissed(record.n, _MISSED.unpack_from(record.body)[0]))
    found.durables = list(created.values())
    found.begun = [durable for durable in begun if durable.number not in created]
    found.overtaken += [durable.n for durable in begun if durable.number in created]
    return found


def _read_durable(record: LogRecord) -> CatalogEntry:
    since, number, size = _MADE.unpack_from(record.body)
    owner, *roles = record.body[_MADE.size : _MADE.size + size].decode().split(_BETWEEN)
    asked = decode_body(FrameKind.CREATE_DURABLE, CreateDurable, record.body[_MADE.size + size :])
    made = DurableCreated(asked.name, owner, asked.policy, frozenset(roles), asked.homes)
    return CatalogEntry(record.n, since or record.n, number, made, record.t_us // 1_000)
