"""The catalog: records in the log of a router that list its durable subscriptions.

    KEEP_MADE       number of the subscription, its owner, and the KEEP frame that requested it
    NUMBERS_TAKEN   numbers of subscriptions up to this one are reserved
    KEEP_BEGUN      fields of KEEP_MADE; the subscription still copies messages from the log and may lack some
    MISSED_SINCE    a time (Unix milliseconds); messages that entered at other routers since then may be missing

Law: every later version of this program reads these records; records of unknown kinds are left alone. The number of a
durable subscription is never used again, so records in the log always belong to one subscription.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from tamis.native.keeps import KIND_MIN
from tamis.native.log import LogRecord
from tamis.protocol.wire.body_frames import decode_body, encode_body
from tamis.protocol.wire.keep_bodies import Keep, KeepTerms
from tamis.protocol.wire.kinds import FrameKind

KEEP_MADE: Final = KIND_MIN
NUMBERS_TAKEN: Final = KIND_MIN + 1
KEEP_BEGUN: Final = KIND_MIN + 2
MISSED_SINCE: Final = KIND_MIN + 3
NUMBERS_A_BLOCK: Final = 1_024
"""Numbers that one record reserves; most subscriptions need no record for their number."""

_MADE: Final = struct.Struct("<QIH")
_TAKEN: Final = struct.Struct("<I")
_MISSED: Final = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class KeepMade:
    """Name, owner and policy of a durable subscription, as its record has them."""

    name: str
    owner: str
    terms: KeepTerms


@dataclass(frozen=True, slots=True)
class WrittenKeep:
    """A durable subscription in the catalog. `n`: number of its record, used to retire it; `since`: only records past
    this number can belong to the subscription."""

    n: int
    since: int
    number: int
    made: KeepMade


@dataclass(frozen=True, slots=True)
class WrittenMissed:
    """A time (Unix milliseconds) since which messages may be missing. `n`: number of its record."""

    n: int
    since_ms: int


@dataclass(slots=True)
class BookFound:
    """The catalog at the start of a router. `taken`: subscription numbers up to this one are reserved; `taken_in`:
    numbers of the records that reserve them."""

    keeps: list[WrittenKeep] = field(default_factory=list)
    taken: int = 0
    taken_in: list[int] = field(default_factory=list)
    begun: list[WrittenKeep] = field(default_factory=list)
    """Subscriptions whose copy from the log did not complete."""
    overtaken: list[int] = field(default_factory=list)
    """Numbers of KEEP_BEGUN records whose subscription has a KEEP_MADE record."""
    missed: list[WrittenMissed] = field(default_factory=list)


def written_keep(number: int, owner: str, keep: Keep, since: int = 0) -> bytes:
    """Return the record of a durable subscription. `since`: number of its KEEP_BEGUN record; 0 if it has none."""
    name = owner.encode()
    return _MADE.pack(since, number, len(name)) + name + encode_body(FrameKind.KEEP, keep)


def written_numbers(taken: int) -> bytes:
    """Return the record that reserves the numbers up to `taken`."""
    return _TAKEN.pack(taken)


def written_missed(since_ms: int) -> bytes:
    """Return the record of a time since which messages may be missing."""
    return _MISSED.pack(max(0, since_ms))


def read_book(records: Iterable[LogRecord]) -> BookFound:
    """Return the catalog in `records`; of several records with one name the first counts."""
    found = BookFound()
    names: set[str] = set()
    begun: list[WrittenKeep] = []
    for record in records:
        if record.kind == NUMBERS_TAKEN:
            found.taken = max(found.taken, _TAKEN.unpack_from(record.body)[0])
            found.taken_in.append(record.n)
        elif record.kind == KEEP_MADE:
            keep = _read_keep(record)
            found.taken = max(found.taken, keep.number)
            if keep.made.name not in names:
                names.add(keep.made.name)
                found.keeps.append(keep)
        elif record.kind == KEEP_BEGUN:
            begun.append(_read_keep(record))
            found.taken = max(found.taken, begun[-1].number)
        elif record.kind == MISSED_SINCE:
            found.missed.append(WrittenMissed(record.n, _MISSED.unpack_from(record.body)[0]))
    made = {keep.number for keep in found.keeps}
    found.begun = [keep for keep in begun if keep.number not in made]
    found.overtaken = [keep.n for keep in begun if keep.number in made]
    return found


def _read_keep(record: LogRecord) -> WrittenKeep:
    since, number, size = _MADE.unpack_from(record.body)
    owner = record.body[_MADE.size : _MADE.size + size].decode()
    asked = decode_body(FrameKind.KEEP, Keep, record.body[_MADE.size + size :])
    return WrittenKeep(record.n, since or record.n, number, KeepMade(asked.name, owner, asked.terms))
