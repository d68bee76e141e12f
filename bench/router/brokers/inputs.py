"""The messages that are published and the filters that are subscribed to, as files for the load generator.

    file    u32 length, little-endian | bytes | u32 length | bytes | ...      packed attributes, or packed filters

Law: seeded, so two runs send the same bytes. Every message has ten attributes, among them `side = "buy"`, and differs
from its neighbours, so that nobody who remembers the last answer gains by it. A message of the market is a frame of
exactly 150 bytes.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import msgpack

from tamis.bench.matching import workloads
from tamis.native import InterfaceKind, Table
from tamis.protocol.filters import Op
from tamis.protocol.limits import MATCH_STEPS_MAX
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.packed_filters import OPCODES

MESSAGES = 1_024
MESSAGE_BYTES = 150
OTHER_CONNECTIONS = 20
SUBSCRIBER_FILTERS_MAX = 50_000
"""Of a million filters, what the subscriber itself holds: as many as each of the other connections."""

_SEED = 2003
_SYMBOLS = range(1_000, 10_000)  # what is published: names of one length, all among the first ten thousand
_NAMES = 1_000
_CONSTRAINTS_MIN = 3
_DRAWN_ATTRIBUTES = 9  # the tenth is the one that the subscriber asks for
_SPARE = 1.8  # filters drawn for each one wanted: two sizes of nine are left out, and those that match

_Constraint = tuple[str, Op, Value]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Packed attributes and filters. `others` are dealt to OTHER_CONNECTIONS further connections."""

    messages: list[bytes]
    filters: list[bytes]
    others: list[bytes]

    def write(self, folder: Path) -> dict[str, str]:
        """Write them; the load generator's options that name the files."""
        files = {"messages": self.messages, "filters": self.filters, "other-filters": self.others}
        for name, items in files.items():
            (folder / name).write_bytes(_records(items))
        return {name: str(folder / name) for name in files}


def one_filter() -> Inputs:
    """A market's messages, all of which satisfy the one filter."""
    return Inputs(_market(), [_filter(("side", Op.EQ, "buy"), ("price", Op.LT, 2_000_000))], [])


def symbols(count: int) -> Inputs:
    """A market's messages, each of which satisfies exactly one of `count` filters."""
    filters = [
        _filter(("symbol", Op.EQ, f"S{k}"), ("side", Op.EQ, "buy"), ("price", Op.LT, 2_000_000)) for k in range(count)
    ]
    return Inputs(_market(), filters[:SUBSCRIBER_FILTERS_MAX], filters[SUBSCRIBER_FILTERS_MAX:])


def pairs(count: int) -> Inputs:
    """Subscriptions of two constraints, all of one subscriber."""
    filters = [_filter(("symbol", Op.EQ, f"S{k}"), ("price", Op.LT, 2_000_000)) for k in range(count)]
    return Inputs(_market(), filters, [])


def paper(count: int) -> Inputs:
    """Paper 004's workload: the subscriber has one filter, which all messages satisfy; the others have `count`, of
    three constraints or more, which none does."""
    drawn = workloads.make("sigcomm03", int(count * _SPARE) + 100, 3 * MESSAGES, _NAMES, _SEED)
    messages = list(islice(_bought(drawn.messages[i] for i in range(len(drawn.messages))), MESSAGES))
    sized = (drawn.filters[i] for i in range(len(drawn.filters)))
    chosen = [packed for packed in sized if packed[0] & 15 >= _CONSTRAINTS_MIN]
    others = list(islice(_unsatisfied(chosen, messages), count))
    if len(others) < count or len(messages) < MESSAGES:
        raise ValueError(f"{count} filters were requested, but {len(others)} drawn")
    return Inputs(messages, [_filter(("side", Op.EQ, "buy"))], others)


def _market() -> list[bytes]:
    rng = random.Random(_SEED)
    return [_pack(_order(rng.choice(_SYMBOLS), number, rng)) for number in range(MESSAGES)]


def _order(symbol: int, number: int, rng: random.Random) -> dict[str, Value]:
    return {
        "symbol": f"S{symbol}",
        "side": "buy",
        "price": rng.randint(1_000, 9_999),
        "qty": rng.randint(256, 999),
        "venue": rng.choice("XYZ"),
        "type": "limit",
        "tif": "day",
        "id": 2**30 + number,
        "live": True,
        "fees": rng.randint(1, 99),
    }


def _bought(messages: Iterable[bytes]) -> Iterator[bytes]:
    """The long ones among `messages`, cut to nine attributes, with `side` as the tenth."""
    for packed in messages:
        attributes = decode_attributes(packed)
        if len(attributes) >= _DRAWN_ATTRIBUTES and "side" not in attributes:
            kept = islice(attributes.items(), _DRAWN_ATTRIBUTES)
            yield _pack(dict(chain(kept, [("side", "buy")])))


def _unsatisfied(filters: list[bytes], messages: list[bytes]) -> Iterator[bytes]:
    """Those of `filters` that none of `messages` satisfies."""
    with Table(match_steps=MATCH_STEPS_MAX) as table:
        table.set_interface(0, InterfaceKind.CLIENT)
        handles = [table.add(packed, 0) for packed in filters]
        matched = {handle for message in messages for _, handle in table.match_all(message)}
    return (packed for packed, handle in zip(filters, handles, strict=True) if handle not in matched)


def _filter(*constraints: _Constraint) -> bytes:
    return _pack([[name, OPCODES[op], operand] for name, op, operand in constraints])


def _pack(value: object) -> bytes:
    packed: bytes = msgpack.packb(value)
    return packed


def _records(items: list[bytes]) -> bytes:
    return b"".join(part for item in items for part in (len(item).to_bytes(4, "little"), item))
