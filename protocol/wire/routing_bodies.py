"""Bodies between routers: topology, advertisements, requests and replies, spaces (LSA, RA, SR, UR, SPACE).

Law: every statement has an issuer and a freshness (epoch, seq). Routers are named by their 64-bit numbers
(`numbers.stable_number`); the LSA alone carries the name behind a number. RA, SR, UR and SPACE may be large and travel
in parts (`parts.py`); its `ticket` identifies its parts. A received body is forwarded in its original bytes (`raw`),
fields of later versions included. Records that are packed again preserve those fields: advertised filters, entries and
HELD. The further fields of an advertised filter, such as a worker group, are attributes of its packed bytes
(`Extended`), so that every holder of packed filters has them, too.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple, Self

from tamis.protocol.errors import Refused
from tamis.protocol.limits import (
    ACCESS_DIGEST_BYTES,
    DIGEST_BYTES,
    ENTRIES_MAX,
    LAYOUT_BYTES_MAX,
    LINKS_MAX,
    SPACE_BYTES_MAX,
    SPACE_NAME_BYTES_MAX,
)
from tamis.protocol.spaces.mapping import packed_digest
from tamis.protocol.wire.client_bodies import GroupName
from tamis.protocol.wire.edge_bodies import EdgeHeld, EdgeRequest, EdgeSaid, EdgeStatement
from tamis.protocol.wire.home_bodies import DurablesHeld, DurablesStatement
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.schema import (
    APPENDED,
    REST,
    U32,
    U64,
    Between,
    Binary,
    Digest,
    Name,
    PackedFilter,
    PositiveU32,
    Rest,
    Text,
    Unsigned,
)
from tamis.protocol.wire.whole import Kept, Ticket


class Adjacency(NamedTuple):
    """The statement of one end about one link. The edge is used if the other end states it, too."""

    neighbour: U64
    link_epoch: U64
    cost: PositiveU32


@dataclass(frozen=True, slots=True)
class LinkState(Kept):
    """LSA: all links of one router."""

    issuer: Name
    epoch: U64
    seq: U64
    links: Annotated[tuple[Adjacency, ...], Between(0, LINKS_MAX)]
    layout: Annotated[str, Text(0, LAYOUT_BYTES_MAX), APPENDED] = ""
    leaving: Annotated[bool, APPENDED] = False
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if len({link.neighbour for link in self.links}) != len(self.links):
            raise Refused("a neighbour is listed twice")


class Extended(bytes):
    """A packed filter whose AdvertisedFilter has more fields: a worker group, or fields of a later version.

    Two are equal if filter, group and members are equal. Without a group it equals the bytes of the filter.
    """

    group: str = ""
    members: int = 0
    rest: Rest = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Extended):
            return bytes.__eq__(self, other) and (self.group, self.members) == (other.group, other.members)
        return not self.group and bytes.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((bytes(self), self.group)) if self.group else bytes.__hash__(self)


def of_group(packed: bytes, group: str, members: int = 1) -> Extended:
    """Return the filter `packed` with the worker group `group` of `members` subscriptions."""
    extended = Extended(packed)
    extended.group, extended.members = group, members
    return extended


def group_of(packed: bytes) -> str:
    """Return the worker group of a packed filter; empty if it has none."""
    return packed.group if isinstance(packed, Extended) else ""


class _FilterById(NamedTuple):
    id: U64
    filter: PackedFilter


class AdvertisedFilter(_FilterById):
    """A filter with its id, a counter of its issuer; it behaves as this pair, whatever other fields it has.

    `group`: the worker group of the filter's subscriptions, which share their messages; empty if there is none.
    `members`: the number of these subscriptions, rounded up to a power of two.
    """

    __slots__ = ()

    def __new__(
        cls,
        id: U64,  # noqa: A002 - the name of the field
        filter: PackedFilter,  # noqa: A002 - the name of the field
        group: Annotated[GroupName, APPENDED] = "",
        members: Annotated[U32, APPENDED] = 0,
    ) -> Self:
        if bool(group) != bool(members):
            raise Refused("a filter has members if and only if it has a group")
        return super().__new__(cls, id, of_group(filter, group, members) if group else filter)

    @property
    def group(self) -> str:
        return group_of(self.filter)

    @property
    def members(self) -> int:
        return self.filter.members if isinstance(self.filter, Extended) else 0

    @property
    def rest(self) -> Rest:
        return self.filter.rest if isinstance(self.filter, Extended) else ()

    def keeping(self, rest: Rest) -> AdvertisedFilter:
        """Return this filter with `rest`, the packed fields of later versions, which are stored with
        it."""
        extended = of_group(self.filter, self.group, self.members)
        extended.rest = rest
        return tuple.__new__(AdvertisedFilter, (self.id, extended))


@dataclass(frozen=True, slots=True)
class ReceiverAdvertisement(Kept):
    """RA: an issuer's predicate, whole or as a change of the one at `base_seq`.

    `digest` and `count` are those of the whole predicate after the change. `confirm` requests a Held
    from each router that applies it.
    """

    issuer: U64
    epoch: U64
    seq: U64
    full: bool
    base_seq: U64
    added: Annotated[tuple[AdvertisedFilter, ...], Between(0, ENTRIES_MAX)]
    removed: Annotated[tuple[U64, ...], Between(0, ENTRIES_MAX)]
    digest: Digest
    count: U64
    confirm: bool
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.full and (self.base_seq or self.removed or self.count != len(self.added)):
            raise Refused("a full advertisement has base 0, removes nothing, and counts what it adds")
        if not self.full and self.base_seq >= self.seq:
            raise Refused(f"a change of {self.base_seq} must have a later number, not {self.seq}")

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.issuer, self.epoch, self.seq)


class Scope(enum.IntEnum):
    """The routers that a request reaches: the neighbour, or the whole tree below it."""

    NEIGHBOUR = 0
    TREE = 1


class Known(NamedTuple):
    """The version that the requester holds of one issuer: of its advertisement, or of its link state."""

    issuer: U64
    epoch: U64
    seq: U64
    digest: Digest


@dataclass(frozen=True, slots=True)
class SenderRequest(Kept):
    """SR: requests the state that the requester lacks, by a digest over its state, or by the versions of its parts.

    `known` has the versions of advertisements, `topology` those of link states. Without digest and versions, the
    requester has no state. `spaces` is the digest of all spaces of the requester; empty if it is not stated. `edges`
    are its latest statements about edges (EA) to the receiver. `durables` is the digest over all DURABLES that the
    requester holds, empty if it holds none; `durables_known` has their versions, where it requests newer ones. `access`
    is the beginning of the digest of its rules of access; empty if it has none, or does not state it.
    """

    requester: U64
    epoch: U64
    request: U64
    scope: Scope
    digest: Annotated[bytes, Binary(0, DIGEST_BYTES)]
    known: Annotated[tuple[Known, ...], Between(0, ENTRIES_MAX)]
    topology: Annotated[tuple[Known, ...], Between(0, ENTRIES_MAX)] = ()
    spaces: Annotated[bytes, Binary(0, DIGEST_BYTES), APPENDED] = b""
    edges: Annotated[tuple[EdgeSaid, ...], Between(0, LINKS_MAX), APPENDED] = ()
    durables: Annotated[bytes, Binary(0, DIGEST_BYTES), APPENDED] = b""
    durables_known: Annotated[tuple[Known, ...], Between(0, ENTRIES_MAX), APPENDED] = ()
    access: Annotated[bytes, Binary(0, ACCESS_DIGEST_BYTES), APPENDED] = b""
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.digest) not in (0, DIGEST_BYTES) or (self.digest and (self.known or self.topology)):
            raise Refused(f"a request has a digest of {DIGEST_BYTES} bytes or the versions that are known")
        if len(self.spaces) not in (0, DIGEST_BYTES):
            raise Refused(f"the digest of spaces has {DIGEST_BYTES} bytes")
        if len(self.access) not in (0, ACCESS_DIGEST_BYTES):
            raise Refused(f"the digest of rules has {ACCESS_DIGEST_BYTES} bytes")
        if len(self.durables) not in (0, DIGEST_BYTES):
            raise Refused(f"the digest of durable subscriptions has {DIGEST_BYTES} bytes")

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.requester, self.epoch, self.request)


class Entry(NamedTuple):
    """One issuer's whole predicate, or, if `total` is not 0, a part of it: those of its `total` filters from number
    `first` on, counted from 0. `digest` is that of the whole predicate."""

    issuer: U64
    epoch: U64
    seq: U64
    digest: Digest
    filters: Annotated[tuple[AdvertisedFilter, ...], Between(0, ENTRIES_MAX)]
    first: Annotated[U64, APPENDED] = 0
    total: Annotated[U64, APPENDED] = 0
    rest: Annotated[Rest, REST] = ()

    def keeping(self, rest: Rest) -> Entry:
        return self._replace(rest=rest)


@dataclass(frozen=True, slots=True)
class UpdateReply(Kept):
    """UR: the answer to an SR. The absence of an issuer does not mean that it is gone.

    `more`: another reply to this request follows. For a request of scope TREE: the number of routers that `answered`,
    and those whose state was `differing` from that of the requester.
    """

    requester: U64
    epoch: U64
    request: U64
    entries: Annotated[tuple[Entry, ...], Between(0, ENTRIES_MAX)]
    more: bool = False
    answered: U32 = 1
    differing: Annotated[tuple[U64, ...], Between(0, ENTRIES_MAX)] = ()
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.requester, self.epoch, self.request)


@dataclass(frozen=True, slots=True)
class EpochRefused:
    """The issuer's statement was too far ahead of the sender's clock, and was dropped; the epoch `acceptable` would
    be accepted."""

    issuer: U64
    epoch: U64
    acceptable: U64


@dataclass(frozen=True, slots=True)
class Held:
    """The routers that have applied the issuer's advertisement; sent towards the issuer, merged along the route."""

    issuer: U64
    epoch: U64
    seq: U64
    holders: Annotated[tuple[U64, ...], Between(1, LINKS_MAX)]
    rest: Annotated[Rest, REST] = field(default=(), compare=False, repr=False)

    def keeping(self, rest: Rest) -> Held:
        return replace(self, rest=rest)


@dataclass(frozen=True, slots=True)
class SpaceStatement(Kept):
    """SPACE: the definition of the space `name` in its version `version`. Empty `packed`: the space is withdrawn. A
    space has no issuer: the higher of two versions is in force; of two definitions with equal versions, the one with
    the larger digest."""

    name: Annotated[str, Text(1, SPACE_NAME_BYTES_MAX)]
    version: Annotated[int, Unsigned(63, least=1)]
    packed: Annotated[bytes, Binary(0, SPACE_BYTES_MAX)]
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def digest(self) -> bytes:
        return packed_digest(self.packed)

    @property
    def ticket(self) -> Ticket:
        """Return the ticket of its parts; of two statements the one in force has the higher ticket, unless their
        digests begin with equal eight bytes."""
        return Ticket(stable_number(self.name), self.version, int.from_bytes(self.digest[:8], "big"))


Body = (
    LinkState
    | ReceiverAdvertisement
    | SenderRequest
    | UpdateReply
    | Held
    | EpochRefused
    | SpaceStatement
    | DurablesStatement
    | DurablesHeld
    | EdgeStatement
    | EdgeHeld
    | EdgeRequest
)
