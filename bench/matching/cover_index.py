"""How long a new filter takes against a table: which cover it, which does it cover, and adding it.

How long does each of `--filters` take that come one after the other, with all of them kept, and with only those that no
other one covers? Tables:

    attributes   1 to 9 constraints over 1,000 names of Zipf popularity, 60% of them `=`, the rest order and patterns;
                 every other attribute is a number from 0 to 99, the others hold one of 1,000 words
    orders       symbol = "S<k>" and side = "buy" and price < N, over 500 symbols, sides and prices drawn alike
    map          rectangles 0.1 to 3 degrees wide, anywhere
    alerts       class = "alert" and device = "web-<k>"
    topics       topic prefix "site-<k>/line-<l>/machine-<m>/"

Run: python -m tamis.bench.matching.cover_index [--filters N] [--engine NAME] [--json]. Figures are CPU time of a
filter, and the longest of all. The general index is asked, or a table of an engine that compares (`interval`), which
leaves the filters out that its structure does not have: `compared` are those that it has.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from collections.abc import Callable

from tamis.bench.tables import tell
from tamis.native import ENGINES, Table
from tamis.native.covering import LOOKED_AT_MAX, FilterCovers
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.normal import normalize
from tamis.protocol.values import Value
from tamis.protocol.wire.packed_filters import encode_filter

SEED = 20_031
NAMES = [f"attribute-{rank}" for rank in range(1_000)]
POPULARITY = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(NAMES))))
LETTERS = "abcdefghijklmnopqrst"
WORDS = ["".join(random.Random(SEED + at).choices(LETTERS, k=6)) for at in range(1_000)]
NUMBER_OPS = (Op.LT, Op.GT, Op.LE, Op.GE, Op.NE)
STRING_OPS = (Op.PREFIX, Op.SUFFIX, Op.CONTAINS, Op.NE, Op.LT, Op.GT)


def attributes_filter(rng: random.Random) -> Filter:
    names = set(rng.choices(NAMES, cum_weights=POPULARITY, k=rng.randint(1, 9)))
    return Filter(tuple(_constraint(rng, name) for name in sorted(names)))


def _constraint(rng: random.Random, name: str) -> Constraint:
    numeric = name[-1] in "02468"
    op = Op.EQ if rng.random() < 0.6 else rng.choice(NUMBER_OPS if numeric else STRING_OPS)
    operand: Value = rng.randrange(100) if numeric else rng.choice(WORDS)
    if op in (Op.PREFIX, Op.SUFFIX, Op.CONTAINS):
        operand = str(operand)[: rng.randint(1, 3)]
    return Constraint(name, op, (operand,))


def orders_filter(rng: random.Random) -> Filter:
    symbol = Constraint("symbol", Op.EQ, (f"S{rng.randrange(500)}",))
    side = Constraint("side", Op.EQ, (rng.choice(("buy", "sell")),))
    return Filter((symbol, side, Constraint("price", Op.LT, (rng.randrange(1, 1_000),))))


def map_filter(rng: random.Random) -> Filter:
    width = rng.uniform(0.1, 3)
    south, west = rng.uniform(-80, 80), rng.uniform(-170, 170)
    return Filter((_span("lat", south, width), _span("lon", west, width)))


def _span(name: str, low: float, width: float) -> Constraint:
    return Constraint(name, Op.BETWEEN, (round(low, 4), round(low + width, 4)))


def alerts_filter(rng: random.Random) -> Filter:
    device = Constraint("device", Op.EQ, (f"web-{rng.randrange(2_000_000)}",))
    return Filter((Constraint("class", Op.EQ, ("alert",)), device))


def topics_filter(rng: random.Random) -> Filter:
    topic = f"site-{rng.randrange(300)}/line-{rng.randrange(100)}/machine-{rng.randrange(50)}/"
    return Filter((Constraint("topic", Op.PREFIX, (topic,)),))


TABLES: dict[str, Callable[[random.Random], Filter]] = {
    "attributes": attributes_filter,
    "orders": orders_filter,
    "map": map_filter,
    "alerts": alerts_filter,
    "topics": topics_filter,
}


class EngineCovers:
    """The questions of `FilterCovers` to a table of an engine that compares."""

    def __init__(self, engine: str) -> None:
        self._table = Table(engine)
        self.covering, self.covered = self._table.covering, self._table.covered

    def add(self, packed: bytes) -> int:
        return self._table.add(packed, 0)

    def remove(self, handle: int) -> None:
        self._table.remove(handle)

    def compares(self, handle: int) -> bool:
        return self._table.compares(handle)

    def stats(self) -> tuple[int, int]:
        stats = self._table.stats()
        return stats.filters, stats.memory_bytes


def measure(
    draw: Callable[[random.Random], Filter], filters: int, keeps_all: bool, engine: str | None = None
) -> dict[str, float | int]:
    """Microseconds a filter of each question and of adding, and the longest of all three together, as they come."""
    rng = random.Random(SEED)
    packed = [encode_filter(normalize(draw(rng))) for _ in range(filters)]
    covers = FilterCovers() if engine is None else EngineCovers(engine)
    spent, worst_s, compared = [0.0, 0.0, 0.0], 0.0, 0
    for each in packed:
        marks = [time.process_time()]
        is_covered = bool(covers.covering(each, 1))
        marks.append(time.process_time())
        if keeps_all or not is_covered:
            under = covers.covered(each, LOOKED_AT_MAX)
            marks.append(time.process_time())
            id_ = covers.add(each)
            marks.append(time.process_time())
            compared += id_ is not None and (isinstance(covers, FilterCovers) or covers.compares(id_))
            for other in () if keeps_all else under:
                covers.remove(other)
        taken = [after - before for before, after in itertools.pairwise(marks)]
        spent = [s + t for s, t in itertools.zip_longest(spent, taken, fillvalue=0.0)]
        worst_s = max(worst_s, sum(taken))
    kept, memory = covers.stats()
    names = ("covering_us", "covered_us", "add_us")
    figures = {name: total / filters * 1e6 for name, total in zip(names, spent, strict=True)}
    counts = {"filters": filters, "kept": kept, "compared": compared}
    return {**counts, **figures, "worst_ms": worst_s * 1e3, "memory_mb": memory / 1e6}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="cover_index", description="Time the covering index.")
    parser.add_argument("--filters", type=int, default=50_000, metavar="N", help="number of filters to add (50,000)")
    compared = [name for name, engine in ENGINES.items() if engine.compares]
    parser.add_argument("--engine", choices=compared, help="ask a table of this engine (default: the general index)")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    args = parser.parse_args(argv)
    for name, draw in TABLES.items():
        for keeps_all in (False, True):
            kept = "all" if keeps_all else "uncovered ones"
            tell({"table": name, "keeps": kept, **measure(draw, args.filters, keeps_all, args.engine)}, args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
