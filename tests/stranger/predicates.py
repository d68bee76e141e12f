"""Numbers, digests, parts and packed filters, by the page's sections Numbers and digests, Parts and Packed filters."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgpack

from tests.stranger.frames import frame

PART_FRAME_BYTES_MAX, CHUNK_BYTES_MAX = 65_536, 65_472
NOTHING = bytes(16)

Link = Sequence[int]
"""neighbour, link epoch, cost."""


def number(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") or 1


def packed(filter_: Iterable[Sequence[Any]]) -> bytes:
    return msgpack.packb([list(constraint) for constraint in filter_])


def predicate_digest(filters: Mapping[int, bytes]) -> bytes:
    return _total(b"filter" + struct.pack("<Q", id_) + data for id_, data in filters.items())


def links_digest(links: Iterable[Link]) -> bytes:
    return _b16(b"links" + b"".join(struct.pack("<QQQ", *link) for link in sorted(links)))


def digest_over_all(
    predicates: Mapping[int, tuple[int, int, bytes]], states: Mapping[int, tuple[int, int, bytes]]
) -> bytes:
    """Both by issuer: epoch, seq and digest of each."""
    return _total(
        word + struct.pack("<QQQ", issuer, epoch, seq) + digest
        for word, all_ in ((b"issuer", predicates), (b"states", states))
        for issuer, (epoch, seq, digest) in all_.items()
    )


def parts(kind: int, origin: int, epoch: int, seq: int, body: object) -> Iterator[bytes]:
    data = msgpack.packb(body)
    chunks = [data[at : at + CHUNK_BYTES_MAX] for at in range(0, len(data), CHUNK_BYTES_MAX)]
    for k, chunk in enumerate(chunks, 1):
        yield frame(kind, [origin, epoch, seq, k, len(chunks), chunk])


def _total(items: Iterable[bytes]) -> bytes:
    return (sum(int.from_bytes(_b16(item), "little") for item in items) % 2**128).to_bytes(16, "little")


def _b16(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
