"""The extension area of a data frame: fields of some messages only.

    | type u16 | length u16 | bytes | type u16 | ...        little-endian, as are the integers inside

Law: a type occurs once. A router forwards unknown types unread; a type with its top bit set must be understood, so a
receiver that does not know it refuses the frame (and that frame alone). Known types are checked. Reserved numbers are
in `register.py`.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final, NamedTuple, Protocol, cast

from tamis.protocol import limits
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.values import check_name
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.schema import APPENDED

MUST_UNDERSTAND: Final = 0x8000
_HEADER: Final = struct.Struct("<HH")
_U64: Final = struct.Struct("<Q")
_CHOICE: Final = struct.Struct("<IQ")
_DELIVERIES: Final = struct.Struct("<IB")
_TREE: Final = struct.Struct("<HHBQ")
_CUSTODY: Final = struct.Struct("<QQQIIQQ")
_SET_BYTES_MAX: Final = limits.ROUTE_SET_ROUTERS_MAX // 8


class ExtensionType(enum.IntEnum):
    REUSE_KEYS = 0x0001
    TRACE = 0x0002
    EXPIRY = 0x0003
    GROUP = 0x0004
    SATISFIED = 0x0005
    LOG_POSITION = 0x0006
    CUSTODY = 0x0008
    GROUP_CHOICE = 0x000A
    DELIVERIES = 0x000B
    MEMBERS_ONLY = 0x000C
    TELL_UNWANTED = 0x000D
    ROUTE = 0x8007


class ReuseKeys(NamedTuple):
    """Unused, as mode KEYS of ROUTE replaces it: keys of subscriptions, and whether they are all there are."""

    complete: bool
    keys: tuple[int, ...]


class GroupChoice(NamedTuple):
    """The router whose member of a worker group receives the message; the group by its number
    (`numbers.group_number`)."""

    group: int
    router: int


class DeliveryCount(NamedTuple):
    """How many times a stored message was delivered, including this delivery (0: it is replayed, and not acknowledged),
    whether it may have been delivered before without being counted, and whether it is a dead letter of another durable
    subscription."""

    times: int
    replayed: bool
    maybe_duplicate: bool
    dead_letter: Annotated[bool, APPENDED] = False


class Custody(NamedTuple):
    """The place of a message in the chain from its entry router to a home, whose log has the id `home_log`: its number,
    which a record of the log of `written` has, and the number before it."""

    home: int
    home_log: int
    written: LogLife
    n: int
    previous: int


class RouteMode(enum.IntEnum):
    """How the routers on a message's route forward it, instead of matching it."""

    ALL = 1
    LIST = 2
    TREE = 3
    SET = 4
    KEYS = 5


class Route(NamedTuple):
    """The destinations chosen by the entry router: all routers, those listed, ascending, or along the tree of the one
    router named, the root, to the routers with matching filters."""

    mode: RouteMode
    routers: tuple[int, ...] = ()


class RouterSet(NamedTuple):
    """The routers with matching filters, as the entry router matched them. `digest` is that of its tables; `members`
    has a bit for each router that the tables include, by ascending number, the lowest bit of a byte first."""

    digest: bytes
    members: bytes


class LinkKeys(NamedTuple):
    """Keys of filters behind one link that match, as the router before it found them (`numbers.filter_key`); `complete`
    if no other filter there matches. `digest` is that of its tables."""

    complete: bool
    digest: bytes
    keys: tuple[int, ...]


_ROUTERS_NAMED: Final = {RouteMode.ALL: (0, 0), RouteMode.LIST: (1, limits.ROUTE_ROUTERS_MAX), RouteMode.TREE: (1, 1)}
"""Fewest and most routers, by mode."""

ExtensionValue = (
    int
    | str
    | bytes
    | tuple[int, ...]
    | tuple[GroupChoice, ...]
    | ReuseKeys
    | DeliveryCount
    | Route
    | RouterSet
    | LinkKeys
    | Custody
)
Extensions = Mapping[int, ExtensionValue]
NO_EXTENSIONS: Final[Extensions] = MappingProxyType({})

_TREE_HEAD: Final = _TREE.pack(ExtensionType.ROUTE, _TREE.size - _HEADER.size, RouteMode.TREE, 0)[:-8]

DELIVER_ONLY: Final = frozenset({ExtensionType.SATISFIED, ExtensionType.LOG_POSITION, ExtensionType.DELIVERIES})
"""Types that the last router adds to a DELIVER; in any other frame they would be unverified."""


class _Codec(Protocol):
    def pack(self, value: ExtensionValue) -> bytes: ...

    def read(self, data: bytes) -> ExtensionValue: ...


@dataclass(frozen=True, slots=True)
class _Number:
    least: int

    def pack(self, value: ExtensionValue) -> bytes:
        if type(value) is not int or not self.least <= value < 1 << 64:
            raise Refused(f"expected u64 from {self.least}, not {value!r}")
        return _U64.pack(value)

    def read(self, data: bytes) -> int:
        if len(data) != _U64.size:
            raise Refused(f"expected {_U64.size} bytes, not {len(data)}")
        value = int.from_bytes(data, "little")
        self.pack(value)
        return value


class _Name:
    def pack(self, value: ExtensionValue) -> bytes:
        return check_name(value).encode()

    def read(self, data: bytes) -> str:
        try:
            return check_name(data.decode())
        except UnicodeDecodeError:
            raise Refused("expected UTF-8") from None


class _Ids:
    def pack(self, value: ExtensionValue) -> bytes:
        ids = cast("tuple[int, ...]", value)
        if not ids or not all(type(number) is int and 0 <= number < 1 << 32 for number in ids):
            raise Refused("expected at least one u32")
        return struct.pack(f"<{len(ids)}I", *ids)

    def read(self, data: bytes) -> tuple[int, ...]:
        if not data or len(data) % 4:
            raise Refused(f"expected at least one u32, not {len(data)} bytes")
        return struct.unpack(f"<{len(data) // 4}I", data)


class _Reuse:
    def pack(self, value: ExtensionValue) -> bytes:
        complete, keys = cast("ReuseKeys", value)
        if type(complete) is not bool:
            raise Refused(f"expected a boolean, not {complete!r}")
        return bytes([complete]) + (_Ids().pack(keys) if keys else b"")

    def read(self, data: bytes) -> ReuseKeys:
        if not data or data[0] > 1:
            raise Refused("expected 0 or 1, then keys")
        return ReuseKeys(bool(data[0]), _Ids().read(data[1:]) if data[1:] else ())


class _Choices:
    def pack(self, value: ExtensionValue) -> bytes:
        choices = cast("tuple[GroupChoice, ...]", value)
        if not 1 <= len(choices) <= limits.GROUP_CHOICES_MAX:
            raise Refused(f"expected 1 to {limits.GROUP_CHOICES_MAX} choices, not {len(choices)}")
        below = 0
        for group, router in choices:
            if not below < group < 1 << 32:
                raise Refused(f"groups are u32 from 1 and ascend; {group} comes after {below}")
            if not 0 < router < 1 << 64:
                raise Refused(f"expected the number of a router, not {router!r}")
            below = group
        return b"".join([_CHOICE.pack(*choice) for choice in choices])

    def read(self, data: bytes) -> tuple[GroupChoice, ...]:
        if not data or len(data) % _CHOICE.size:
            raise Refused(f"expected choices of {_CHOICE.size} bytes, not {len(data)} bytes")
        choices = tuple([GroupChoice(*choice) for choice in _CHOICE.iter_unpack(data)])
        self.pack(choices)
        return choices


class _Deliveries:
    """u32 times, then a byte: 1 replayed, 2 maybe a duplicate, 4 a dead letter."""

    def pack(self, value: ExtensionValue) -> bytes:
        times, *bits = cast("DeliveryCount", value)
        if type(times) is not int or not 0 <= times < 1 << 32 or {type(bit) for bit in bits} != {bool}:
            raise Refused(f"expected u32 and three booleans, not {value!r}")
        replayed, maybe, dead = bits
        if replayed is not (times == 0):
            raise Refused(f"times is 0 if and only if the message is replayed; this has {times}")
        return _DELIVERIES.pack(times, replayed | maybe << 1 | dead << 2)

    def read(self, data: bytes) -> DeliveryCount:
        if len(data) != _DELIVERIES.size or data[-1] > 7:
            raise Refused(f"expected {_DELIVERIES.size} bytes, the last of 0 to 7, not {data.hex() or 'none'}")
        times, bits = _DELIVERIES.unpack(data)
        found = DeliveryCount(times, bool(bits & 1), bool(bits & 2), bool(bits & 4))
        self.pack(found)
        return found


class _Route:
    """A `Route` of mode ALL, LIST or TREE, a `RouterSet`, whose mode is SET, or `LinkKeys`, whose mode is KEYS."""

    def pack(self, value: ExtensionValue) -> bytes:
        if isinstance(value, RouterSet):
            if len(value.digest) != limits.DIGEST_BYTES or not 1 <= len(value.members) <= _SET_BYTES_MAX:
                raise Refused(f"a set has a digest of {limits.DIGEST_BYTES} bytes and 1 to {_SET_BYTES_MAX} of members")
            return bytes([RouteMode.SET]) + value.digest + value.members
        if isinstance(value, LinkKeys):
            if len(value.digest) != limits.DIGEST_BYTES or not 1 <= len(value.keys) <= limits.ROUTE_KEYS_MAX:
                raise Refused(
                    f"keys have a digest of {limits.DIGEST_BYTES} bytes, and are 1 to {limits.ROUTE_KEYS_MAX}"
                )
            return bytes([RouteMode.KEYS, value.complete]) + value.digest + _Ids().pack(value.keys)
        mode, routers = cast("Route", value)
        if mode not in _ROUTERS_NAMED:
            raise Refused(f"expected mode 1 (ALL), 2 (LIST) or 3 (TREE), not {mode!r}")
        least, most = _ROUTERS_NAMED[mode]
        if not least <= len(routers) <= most:
            raise Refused(f"mode {mode.name} names {least} to {most} routers, not {len(routers)}")
        if any(not 0 < router < 1 << 64 for router in routers) or list(routers) != sorted(set(routers)):
            raise Refused("numbers of routers are u64 from 1 and ascend")
        return struct.pack(f"<B{len(routers)}Q", mode, *routers)

    def read(self, data: bytes) -> Route | RouterSet | LinkKeys:
        if data[:1] == bytes([RouteMode.SET]):
            found = RouterSet(data[1 : 1 + limits.DIGEST_BYTES], data[1 + limits.DIGEST_BYTES :])
            self.pack(found)
            return found
        if data[:1] == bytes([RouteMode.KEYS]):
            return self._keys(data[1:])
        if len(data) % _U64.size != 1 or data[0] not in list(RouteMode):
            raise Refused(
                "expected mode 1 (ALL), 2 (LIST) or 3 (TREE) and numbers of routers, mode 4 (SET) and a set, or mode 5 "
                "(KEYS) and keys"
            )
        route = Route(RouteMode(data[0]), struct.unpack_from(f"<{len(data) // _U64.size}Q", data, 1))
        self.pack(route)
        return route

    def _keys(self, data: bytes) -> LinkKeys:
        if not data or data[0] > 1:
            raise Refused("expected 0 or 1, a digest and keys")
        end = 1 + limits.DIGEST_BYTES
        found = LinkKeys(bool(data[0]), data[1:end], _Ids().read(data[end:]))
        self.pack(found)
        return found


class _Custody:
    def pack(self, value: ExtensionValue) -> bytes:
        home, home_log, written, n, previous = cast("Custody", value)
        if not home or n <= previous:
            raise Refused(f"a message goes to a router, and its number {n} is after {previous}")
        try:
            return _CUSTODY.pack(home, home_log, *written, n, previous)
        except struct.error:
            raise Refused("numbers and ids of logs are u64, lives u32") from None

    def read(self, data: bytes) -> Custody:
        if len(data) != _CUSTODY.size:
            raise Refused(f"expected {_CUSTODY.size} bytes, not {len(data)}")
        home, home_log, log, life, before, n, previous = _CUSTODY.unpack(data)
        found = Custody(home, home_log, LogLife(log, life, before), n, previous)
        self.pack(found)
        return found


class _Nothing:
    def pack(self, value: ExtensionValue) -> bytes:
        return self.read(cast("bytes", value))

    def read(self, data: bytes) -> bytes:
        if data:
            raise Refused(f"expected no bytes, not {len(data)}")
        return data


_CODECS: Final[Mapping[int, _Codec]] = {
    ExtensionType.REUSE_KEYS: _Reuse(),
    ExtensionType.TRACE: _Number(least=1),
    ExtensionType.EXPIRY: _Number(least=0),
    ExtensionType.GROUP: _Name(),
    ExtensionType.SATISFIED: _Ids(),
    ExtensionType.LOG_POSITION: _Number(least=0),
    ExtensionType.GROUP_CHOICE: _Choices(),
    ExtensionType.DELIVERIES: _Deliveries(),
    ExtensionType.MEMBERS_ONLY: _Nothing(),
    ExtensionType.TELL_UNWANTED: _Nothing(),
    ExtensionType.ROUTE: _Route(),
}
_DIRECTED_ONLY: Final[Mapping[int, _Codec]] = {ExtensionType.CUSTODY: _Custody()}
"""Types that any other frame carries unread."""
_CUSTODY_FIRST: Final = "CUSTODY must be the first extension of a DIRECTED"


def encode_extensions(extensions: Extensions, kind: FrameKind) -> bytes:
    """Return the area's bytes; Refused if it could not be decoded. An unknown type carries bytes."""
    parts: list[bytes] = []
    for type_, value in extensions.items():
        try:
            data = _pack(type_, value, kind)
        except Refused as error:
            raise Refused(f"extension {shown(type_)}: {error}") from None
        parts += (_HEADER.pack(type_, len(data)), data)
    if ExtensionType.ROUTE in list(extensions)[1:]:
        raise Refused("ROUTE must be the first extension")
    if kind is FrameKind.DIRECTED and next(iter(extensions), 0) != ExtensionType.CUSTODY:
        raise Refused(_CUSTODY_FIRST)
    area = b"".join(parts)
    if len(extensions) > limits.EXTENSIONS_MAX:
        raise Refused(f"a frame has at most {limits.EXTENSIONS_MAX} extensions, not {len(extensions)}")
    if len(area) > limits.EXTENSION_BYTES_MAX:
        raise Refused(f"extensions have at most {limits.EXTENSION_BYTES_MAX} bytes, these {len(area)}")
    return area


def decode_extensions(area: bytes, kind: FrameKind) -> dict[int, ExtensionValue]:
    """Return every extension by its type; FrameError for an area that breaks the law above."""
    extensions: dict[int, ExtensionValue] = {}
    at = 0
    while at < len(area):
        start = at + _HEADER.size
        type_, length = _HEADER.unpack_from(area, at) if start <= len(area) else (0, len(area))
        at = start + length
        if at > len(area):
            raise FrameError(ErrorCode.BAD_EXTENSION, "an extension is longer than its area")
        if type_ in extensions:
            raise FrameError(ErrorCode.BAD_EXTENSION, f"extension {shown(type_)} appears twice")
        if len(extensions) == limits.EXTENSIONS_MAX:
            raise FrameError(ErrorCode.BAD_EXTENSION, f"a frame has at most {limits.EXTENSIONS_MAX} extensions")
        if type_ == ExtensionType.ROUTE and extensions:
            raise FrameError(ErrorCode.BAD_EXTENSION, "ROUTE must be the first extension")
        extensions[type_] = _read(type_, area[start:at], kind)
    if kind is FrameKind.DIRECTED and next(iter(extensions), 0) != ExtensionType.CUSTODY:
        raise FrameError(ErrorCode.BAD_EXTENSION, _CUSTODY_FIRST)
    return extensions


def root_of(area: bytes) -> int | None:
    """Return the root that an area names; the area need not be valid: ROUTE with mode TREE comes first. None if it
    names none."""
    found = area[_TREE.size - 8 : _TREE.size]
    return int.from_bytes(found, "little") if area.startswith(_TREE_HEAD) and len(found) == 8 and any(found) else None


def shown(type_: int) -> str:
    return ExtensionType(type_).name if type_ in {*_CODECS, *_DIRECTED_ONLY} else f"0x{type_:04x}"


def _codec(type_: int, kind: FrameKind) -> _Codec | None:
    return _DIRECTED_ONLY.get(type_) if kind is FrameKind.DIRECTED and type_ in _DIRECTED_ONLY else _CODECS.get(type_)


def _pack(type_: int, value: ExtensionValue, kind: FrameKind) -> bytes:
    _check_place(type_, kind)
    codec = _codec(type_, kind)
    if codec is not None:
        data = codec.pack(value)
    elif isinstance(value, bytes) and 0 <= type_ < MUST_UNDERSTAND:
        data = value
    else:
        raise Refused("an unknown type is below 0x8000 and carries bytes")
    if len(data) > limits.EXTENSION_BYTES_MAX:
        raise Refused(f"at most {limits.EXTENSION_BYTES_MAX} bytes, not {len(data)}")
    return data


def _read(type_: int, data: bytes, kind: FrameKind) -> ExtensionValue:
    codec = _codec(type_, kind)
    if codec is None:
        if type_ & MUST_UNDERSTAND:
            raise FrameError(
                ErrorCode.UNKNOWN_EXTENSION, f"extension {shown(type_)} is not supported, and must not be ignored"
            )
        return data
    try:
        _check_place(type_, kind)
        return codec.read(data)
    except Refused as error:
        raise FrameError(ErrorCode.BAD_EXTENSION, f"extension {shown(type_)}: {error}") from None


def _check_place(type_: int, kind: FrameKind) -> None:
    if type_ == ExtensionType.ROUTE and kind is FrameKind.DELIVER:
        raise Refused("it is only allowed between routers, not in a DELIVER")
    if type_ in DELIVER_ONLY and kind is not FrameKind.DELIVER:
        raise Refused(f"it is only allowed in a DELIVER frame, not in {kind.name}")
