"""Bodies about edges of trees (EA, EH, ER): the filters of the routers behind one end of an edge, sent to its other
end.

Law: these bodies cross one link and are never passed on. An edge is named by the root of its tree and by `behind`, the
digest of the routers behind the sending end (`numbers.routers_digest`); the ends of the link are not named, since only
they receive it. An EA may be large and is sent in parts (`parts.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from tamis.protocol.errors import Refused
from tamis.protocol.limits import ENTRIES_MAX
from tamis.protocol.wire.schema import U64, Between, Digest, PackedFilter
from tamis.protocol.wire.whole import Kept, Ticket


class EdgeFilter(NamedTuple):
    """A filter under its id, a counter of the sender for this edge. `covered`: another filter of the statement covers
    it, so it may be ignored until that one is removed."""

    id: U64
    filter: PackedFilter
    covered: bool


class EdgeSaid(NamedTuple):
    """The latest statement of the sender for an edge: a neighbour that holds another one has missed a statement."""

    root: U64
    behind: Digest
    seq: U64
    digest: Digest


@dataclass(frozen=True, slots=True)
class EdgeStatement(Kept):
    """EA: the filters of the routers behind the sender's end, whole or as a change of the statement at `base_seq`.

    `digest` and `count` are those of the whole afterwards. `complete`: it has all filters of these routers. `confirm`
    requests an EH from the neighbour when it, and all routers behind it, forward messages by this statement.
    """

    root: U64
    behind: Digest
    epoch: U64
    seq: U64
    full: bool
    base_seq: U64
    added: Annotated[tuple[EdgeFilter, ...], Between(0, ENTRIES_MAX)]
    removed: Annotated[tuple[U64, ...], Between(0, ENTRIES_MAX)]
    digest: Digest
    count: U64
    complete: bool
    confirm: bool
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.full and (self.base_seq or self.removed or self.count != len(self.added)):
            raise Refused("a full statement has base 0, removes nothing, and counts what it adds")
        if not self.full and self.base_seq >= self.seq:
            raise Refused(f"a change of {self.base_seq} must have a later number, not {self.seq}")

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.root, self.epoch, self.seq)


@dataclass(frozen=True, slots=True)
class EdgeHeld:
    """EH: the statement at `seq`, and what it caused at other edges, is in force at the sender and all behind it."""

    root: U64
    behind: Digest
    epoch: U64
    seq: U64


@dataclass(frozen=True, slots=True)
class EdgeRequest:
    """ER: send the whole statement of the edge, now or as soon as `behind` is the digest behind your end."""

    root: U64
    behind: Digest
