"""Names as 64-bit numbers, and digests of the statements of routers.

Law: these are part of the wire: every implementation computes equal numbers from equal bytes. A digest of a set is the
sum modulo 2**128 of the digests of its elements, so a change costs work for the changed elements only, and order does
not matter. It detects accidents, not forgeries: an issuer may lie about itself only.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from tamis.protocol.limits import DIGEST_BYTES
from tamis.protocol.values import check_name

NO_DIGEST: Final = bytes(DIGEST_BYTES)
"""The digest of nothing."""

_MODULUS: Final = 1 << 8 * DIGEST_BYTES
_U64_MAX: Final = (1 << 64) - 1
_ID: Final = struct.Struct("<Q")
_VERSION: Final = struct.Struct("<QQQ")
_PAIR: Final = struct.Struct("<QQ")


@lru_cache(65_536)
def stable_number(name: str) -> int:
    """Return the number of a router or publisher: 8 bytes of BLAKE2b of its name, little-endian; 0 is reserved."""
    digest = hashlib.blake2b(check_name(name).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def filter_key(issuer: int, id_: int) -> int:
    """Return the key by which messages name the filter `id_` of a router (ROUTE, mode KEYS): 32 bits of both."""
    mixed = _mix(_mix(_mix(issuer) ^ id_))
    return (mixed ^ mixed >> 32) & 0xFFFF_FFFF


def _mix(word: int) -> int:
    return (word ^ word >> 32) * 0xD6E8FEB86659FD93 & _U64_MAX


def group_number(name: str) -> int:
    """Return the number by which messages name a worker group: the low 32 bits of `stable_number`; 0 is reserved. Names
    with one number are one group between routers."""
    return stable_number(name) & 0xFFFF_FFFF or 1


def filter_digest(filter_id: int, packed: bytes) -> bytes:
    """Return the contribution of one advertised filter to the digest of its issuer's predicate."""
    return _digest(b"filter" + _ID.pack(filter_id) + packed)


def entry_digest(issuer: int, epoch: int, seq: int, digest: bytes) -> bytes:
    """Return the contribution of one issuer's entry to the digest over all entries of a router."""
    return _digest(b"issuer" + _VERSION.pack(issuer, epoch, seq) + digest)


def links_digest(links: Iterable[tuple[int, int, int]]) -> bytes:
    """Return the digest of a link state, given as (neighbour, link epoch, cost) in any order."""
    return _digest(b"links" + b"".join(_VERSION.pack(*link) for link in sorted(links)))


def routers_digest(routers: Iterable[int]) -> bytes:
    """Return the digest of a set of routers, given in any order."""
    return _digest(b"behind" + b"".join(_ID.pack(router) for router in sorted(routers)))


def of_classes_digest(behind: bytes, classes: int) -> bytes:
    """Return the digest of an edge in a tree that only some classes of messages use: of the digest `behind` of its
    routers, and the classes, as bits, at most 128."""
    return _digest(b"classes" + behind + classes.to_bytes(16, "little"))


def edge_number(root: int, neighbour: int, behind: bytes) -> int:
    """Return the number of an edge in tables: of the digest `behind` of the routers behind it, in the tree of
    `root`."""
    data = b"edge" + _PAIR.pack(root, neighbour) + behind
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little") or 1


def state_digest(issuer: int, epoch: int, seq: int, digest: bytes) -> bytes:
    """Return the contribution of one link state to the digest over all link states of a router."""
    return _digest(b"states" + _VERSION.pack(issuer, epoch, seq) + digest)


def space_digest(name: str, version: int, digest: bytes) -> bytes:
    """Return the contribution of one space to the digest over all spaces of a router."""
    return _digest(b"spaces" + _PAIR.pack(stable_number(name), version) + digest)


def add(digest: bytes, *others: bytes) -> bytes:
    return _sum(digest, sum(map(_number, others)))


def subtract(digest: bytes, *others: bytes) -> bytes:
    return _sum(digest, -sum(map(_number, others)))


def exchange(digest: bytes, old: bytes, new: bytes) -> bytes:
    """Return `digest` with the element `new` in place of `old`."""
    return _sum(digest, _number(new) - _number(old))


def weight_of(filters: Iterable[tuple[int, bytes]]) -> int:
    """Return the contribution of `filters` together to the digest of their issuer's predicate."""
    blake2b, number, id_of = hashlib.blake2b, int.from_bytes, _ID.pack
    return sum(
        [
            number(blake2b(b"filter" + id_of(id_) + packed, digest_size=DIGEST_BYTES).digest(), "little")
            for id_, packed in filters
        ]
    )


def moved(digest: bytes, by: int) -> bytes:
    """Return the digest of a predicate after it gained filters of weight `by`, or lost them if `by` is below 0."""
    return _sum(digest, by)


def predicate_digest(filters: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the digest of a whole predicate, given as (filter id, packed filter) in any order."""
    return moved(NO_DIGEST, weight_of(filters))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


def _number(digest: bytes) -> int:
    return int.from_bytes(digest, "little")


def _sum(digest: bytes, change: int) -> bytes:
    return ((_number(digest) + change) % _MODULUS).to_bytes(DIGEST_BYTES, "little")
