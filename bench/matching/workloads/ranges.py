"""Filters that bound numbers: a price, a temperature, half of everything, what hundreds of neighbours want."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tamis.bench.matching import words
from tamis.bench.matching.workloads.kind import Kind, Size
from tamis.bench.matching.workloads.pieces import (
    Choice,
    condition,
    condition_head,
    conjunction,
    distinct,
    map_header,
    message,
    named,
    pack,
    zipf,
)
from tamis.protocol.filters import Op
from tamis.protocol.wire.packed_filters import OPCODES

# --- market: symbol = "S<k>" and side = "buy" and price < N, symbols by Zipf ----------------------------------------


def _symbols(size: Size) -> Choice:
    return Choice.of((pack(f"S{rank}"), zipf(rank)) for rank in range(size.names))


def _market_filters(size: Size, rng: random.Random) -> Iterator[bytes]:
    symbol, price = condition_head("symbol", Op.EQ), condition_head("price", Op.LT)
    side, wanted = condition("side", Op.EQ, "buy"), _symbols(size).draw(rng)
    for _ in range(size.filters):
        yield conjunction(symbol + next(wanted), side, price + pack(rng.randint(1, 1000)))


def _market_messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    symbol, side, price = pack("symbol"), pack("side"), pack("price")
    offered = _symbols(size).draw(rng)
    for _ in range(size.messages):
        sides = pack(rng.choice(["buy", "sell"]))
        yield message(rng, symbol + next(offered), side + sides, price + pack(rng.randint(1, 1000)))


MARKET = Kind(
    about="A trader who buys a share below a price; few shares are popular (Zipf over 1,000).",
    hits="about F / 150",
    filters=_market_filters,
    messages=_market_messages,
)


# --- prices and links: one attribute in hundredths -------------------------------------------------------------------

_HUNDREDTHS = 100_000
_MESSAGE_NAMES = 5


def _range_filters(ops: list[Op], names: Choice, size: Size, rng: random.Random) -> Iterator[bytes]:
    """`between` bounds are up to 5.00 apart."""
    chosen = names.draw(rng)
    for _ in range(size.filters):
        low = rng.randrange(_HUNDREDTHS)
        op = rng.choice(ops)
        bounds = [low, low + rng.randint(1, 500)] if op is Op.BETWEEN else [low]
        operands = b"".join(pack(bound / 100) for bound in bounds)
        yield conjunction(bytes([0x92 + len(bounds)]) + next(chosen) + bytes([OPCODES[op]]) + operands)


def _range_messages(names: Choice, size: Size, rng: random.Random) -> Iterator[bytes]:
    count, offered = min(_MESSAGE_NAMES, len(names.pieces)), names.draw(rng)
    for _ in range(size.messages):
        chosen = distinct(offered, count)
        yield map_header(count) + b"".join(name + pack(rng.randrange(_HUNDREDTHS) / 100) for name in chosen)


def _evenly_named(count: int) -> Choice:
    return named(words.names(count), lambda _rank: 1.0)


PRICES = Kind(
    about="Alarms on one reading each, of 1,000: half are a band up to 5.00 wide, the others a limit above or below.",
    hits="about F / 800",
    filters=lambda size, rng: _range_filters(
        [Op.BETWEEN, Op.BETWEEN, Op.LT, Op.GT], _evenly_named(size.names), size, rng
    ),
    messages=lambda size, rng: _range_messages(_evenly_named(size.names), size, rng),
)

_LINK_NAMES = 20
_LINK_OPS = [*[Op.BETWEEN] * 38, Op.LT, Op.GT]

LINKS = Kind(
    about="1,000 neighbours of a router with the ranges of their clients: 1 of 20 is a limit, the others are bands.",
    hits="about F / 150; at 100,000 filters, 100 an interface, half of the interfaces",
    filters=lambda size, rng: _range_filters(_LINK_OPS, _evenly_named(_LINK_NAMES), size, rng),
    messages=lambda size, rng: _range_messages(_evenly_named(_LINK_NAMES), size, rng),
    interfaces=(1_000,),
)


# --- bands: ranges on one name ---------------------------------------------------------------------------------------

_BAND_HITS = 10


def _band_filters(size: Size, rng: random.Random) -> Iterator[bytes]:
    head, width = condition_head("temperature", Op.BETWEEN, 2), min(_BAND_HITS / size.filters, 1)
    for _ in range(size.filters):
        wide = width * rng.uniform(0.5, 1.5)
        low = rng.random() * (1 - width)
        yield conjunction(head + pack(round(1_000 * low, 6)) + pack(round(1_000 * (low + wide), 6)))


def _band_messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    temperature, unit, probe = pack("temperature"), pack("unit") + pack("K"), pack("probe")
    for _ in range(size.messages):
        yield message(
            rng, temperature + pack(round(1_000 * rng.random(), 6)), unit, probe + pack(f"p{rng.randrange(10**6)}")
        )


BANDS = Kind(
    about="A control room that sorts one reading into bands: all filters are ranges of fractions on one name.",
    hits=f"about {_BAND_HITS}",
    filters=_band_filters,
    messages=_band_messages,
)


# --- events: half of the filters match -------------------------------------------------------------------------------


def _event_filters(size: Size, rng: random.Random) -> Iterator[bytes]:
    price, qty = condition_head("price", Op.LT), condition("qty", Op.GE, 0)
    for _ in range(size.filters):
        yield conjunction(price + pack(rng.randint(1, 10_000)), qty)


def _event_messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    price, qty, kind = pack("price"), pack("qty"), pack("event") + pack("order")
    for _ in range(size.messages):
        yield message(rng, price + pack(rng.randint(1, 10_000)), qty + pack(rng.randint(0, 100)), kind)


EVENTS = Kind(
    about="Programs that receive nearly all of a feed, with loose limits on price and qty.",
    hits="about F / 2",
    filters=_event_filters,
    messages=_event_messages,
    messages_measured=(300, 30),
)


# --- thresholds and fractions: limits of one reading -----------------------------------------------------------------


def _threshold_filters(size: Size, rng: random.Random) -> Iterator[bytes]:
    heads = [condition_head("load", op) for op in (Op.LT, Op.GT)]
    for _ in range(size.filters):
        yield conjunction(rng.choice(heads) + pack(rng.randrange(1_000)))


def _threshold_messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    for _ in range(size.messages):
        yield message(rng, pack("load") + pack(rng.randrange(1_000)), pack("host") + pack(f"web-{rng.randrange(100)}"))


def _fraction_filters(size: Size, rng: random.Random) -> Iterator[bytes]:
    heads = [condition_head("load", op) for op in (Op.LT, Op.GT)]
    for _ in range(size.filters):
        yield conjunction(rng.choice(heads) + pack((2 * rng.randrange(50_000) + 1) / 100))


def _fraction_messages(size: Size, rng: random.Random) -> Iterator[bytes]:
    for _ in range(size.messages):
        load = (2 * rng.randrange(50_000) + 1) / 100
        yield message(rng, pack("load") + pack(load), pack("host") + pack(f"web-{rng.randrange(100)}"))


THRESHOLDS = Kind(
    about="Alarms of many people on one load, a whole number: each wants it above a limit, or below.",
    hits="about F / 2",
    filters=_threshold_filters,
    messages=_threshold_messages,
    messages_measured=(300, 30),
)
FRACTIONS = Kind(
    about="As thresholds, with limits in hundredths.",
    hits="about F / 2",
    filters=_fraction_filters,
    messages=_fraction_messages,
    messages_measured=(300, 30),
)

RANGES = {"market": MARKET, "prices": PRICES, "bands": BANDS, "events": EVENTS, "links": LINKS}
RANGES |= {"thresholds": THRESHOLDS, "fractions": FRACTIONS}
