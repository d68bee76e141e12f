"""Flows of a network: filters of ranges over several sets of names, which share a few equal values."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tamis.bench.matching.workloads.kind import Kind, Size
from tamis.bench.matching.workloads.pieces import condition, condition_head, conjunction, message, pack
from tamis.protocol.filters import Op

_ADDRESSES = 2**32
_PREFIXES = range(8, 25)
"""Bits of an address that a block fixes."""
_PORTS = (22, 53, 80, 443, 8080)
_PROTOCOLS = ("tcp", "udp")
_SHAPES = (("source",), ("target",), ("source", "target"))
_WITH_PORT, _WITH_PROTOCOL = 0.5, 0.3


def _block(rng: random.Random) -> bytes:
    size = 2 ** (32 - rng.choice(_PREFIXES))
    low = rng.randrange(_ADDRESSES // size) * size
    return pack(low) + pack(low + size - 1)


def _filters(size: Size, rng: random.Random) -> Iterator[bytes]:
    heads = {name: condition_head(name, Op.BETWEEN, 2) for name in ("source", "target")}
    for _ in range(size.filters):
        parts = [heads[name] + _block(rng) for name in rng.choice(_SHAPES)]
        if rng.random() < _WITH_PORT:
            parts.append(condition("port", Op.EQ, rng.choice(_PORTS)))
        if rng.random() < _WITH_PROTOCOL:
            parts.append(condition("protocol", Op.EQ, rng.choice(_PROTOCOLS)))
        yield conjunction(*parts)


def _messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    source, target, port, protocol = map(pack, ("source", "target", "port", "protocol"))
    for _ in range(size.messages):
        ends = (name + pack(rng.randrange(_ADDRESSES)) for name in (source, target))
        what = (port + pack(rng.choice(_PORTS)), protocol + pack(rng.choice(_PROTOCOLS)))
        yield message(rng, *ends, *what, pack("bytes") + pack(rng.randrange(1_500)))


FLOWS = Kind(
    about="A monitor of a network: blocks of addresses at one end or both, half with one of five ports.",
    hits="about F / 7,000",
    filters=_filters,
    messages=_messages,
)
