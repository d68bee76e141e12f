"""The records by which a router knows which keeps it has, as bytes in its log.

    KEEP_MADE       number of the keep, its owner, and the KEEP frame that asked for it
    NUMBERS_TAKEN   numbers of keeps up to this one are used, or may be
    KEEP_BEGUN      as KEEP_MADE: the keep takes over what is in the log, and may not have all of it
    MISSED_SINCE    a moment (Unix milliseconds): messages that entered elsewhere since then may be missing

Law: a record is read by every later version of this program; one that is not known is left alone. The number of a keep
is never used again, so that what the log says of one keep is never taken for another's.
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
"""Numbers that one record takes, so that most keeps need no record for their number."""

_MADE: Final = struct.Struct("<QIH")
_TAKEN: Final = struct.Struct("<I")
_MISSED: Final = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class KeepMade:
    """What the record of a keep says of it."""

    name: str
    owner: str
    terms: KeepTerms


@dataclass(frozen=True, slots=True)
class WrittenKeep:
    """A keep as the book has it. `n`: the number of its record, by which that is retired; `since`: records past this
    number may be the keep's."""

    n: int
    since: int
    number: int
    made: KeepMade


@dataclass(frozen=True, slots=True)
class WrittenMissed:
    """A moment (Unix milliseconds) from which on messages may be missing. `n`: the number of its record."""

    n: int
    since_ms: int


@dataclass(slots=True)
class BookFound:
    """What the book has at a start. `taken`: numbers of keeps up to this one are used; `taken_in`: the records that say
    so."""

    keeps: list[WrittenKeep] = field(default_factory=list)
    taken: int = 0
    taken_in: list[int] = field(default_factory=list)
    begun: list[WrittenKeep] = field(default_factory=list)
    """Keeps that did not come to have what they were to begin with."""
    overtaken: list[int] = field(default_factory=list)
    """Records of keeps that began so and have it."""
    missed: list[WrittenMissed] = field(default_factory=list)


def written_keep(number: int, owner: str, keep: Keep, since: int = 0) -> bytes:
    """Return the record of a keep. `since`: the record by which it began to take over what is in the log; 0: it did
    not."""
    name = owner.encode()
    return _MADE.pack(since, number, len(name)) + name + encode_body(FrameKind.KEEP, keep)


def written_numbers(taken: int) -> bytes:
    """Return the record that takes the numbers up to `taken`."""
    return _TAKEN.pack(taken)


def written_missed(since_ms: int) -> bytes:
    """Return the record of a moment from which on messages may be missing."""
    return _MISSED.pack(max(0, since_ms))


def read_book(records: Iterable[LogRecord]) -> BookFound:
    """Return what `records` say; of several that name one keep the first holds."""
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
