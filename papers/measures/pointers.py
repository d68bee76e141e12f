"""Pointers or bits? Paper 003 keeps the filters of an interval as either; this finds where the two cross.

    share     sets of a share of all filters are intersected: bytes of both tables, steps and time of a match. The
              paper computes that both take the same memory at 1/32
    figure 4  sets of 1,000, 3,000 and 5,000 out of more and more filters: bits cost what the total is, pointers what
              the sets are, so that pointers win beyond some total

Run: python -m tamis.papers.measures.pointers [--filters 65536] [--json]

Law: both tables have the same filters, and answer alike. Steps are exact on every machine; the time of a message is
the least of several passes, one thread.
"""

from __future__ import annotations

import argparse
import json
import random
from array import array
from dataclasses import asdict, dataclass
from typing import Final

from tamis.bench.matching.contenders import EnginesDisagree
from tamis.bench.matching.workloads.pieces import condition, conjunction, pack, packed
from tamis.native import Batch, Table
from tamis.protocol.filters import Op

SHARES: Final = (256, 128, 64, 48, 33, 32, 31, 24, 16, 8, 4)
"""One in this number of filters."""
SIZES: Final = (1_000, 3_000, 5_000)
TOTALS: Final = (10_000, 20_000, 50_000, 100_000, 200_000)
_MESSAGES, _PASSES, _SEED = 50, 5, 2003
_FORMS: Final = {"pointers": 100_001, "bits": 0}


@dataclass(frozen=True, slots=True)
class Row:
    """What one set of `size` filters out of `filters` and another are intersected for, in one form."""

    filters: int
    size: int
    form: str
    memory_bytes: int
    steps: float
    us: float


def measure(filters: int, size: int) -> list[Row]:
    """Both forms of a table in which all sets of two attributes have the same size: filter i wants one of F / S values
    of each, drawn apart."""
    rng = random.Random(_SEED)
    places = [list(range(filters)) for _ in range(2)]
    for each in places:
        rng.shuffle(each)
    made = packed(
        conjunction(*(condition(name, Op.EQ, at // size) for name, at in zip("xy", places_of, strict=True)))
        for places_of in zip(*places, strict=True)
    )
    most = filters // size
    messages = packed(_message(rng.randrange(most), rng.randrange(most)) for _ in range(_MESSAGES))
    rows = [_measure(filters, size, form, made, messages) for form in _FORMS]
    if len({matched for _, matched in rows}) != 1:
        raise EnginesDisagree("pointers and bits answer otherwise")
    return [row for row, _ in rows]


def _message(x: int, y: int) -> bytes:
    return b"\x82" + b"".join(pack(name) + pack(value) for name, value in (("x", x), ("y", y)))


def _measure(filters: int, size: int, form: str, made: Batch, messages: Batch) -> tuple[Row, int]:
    with Table("interval", hash_seed=_SEED, options={"dense_from": _FORMS[form]}) as table:
        table.add_many(made, array("I", range(filters)))
        before = table.stats().steps
        table.match_batch(messages)
        steps = (table.stats().steps - before) / len(messages)
        passes = [table.measure(messages) for _ in range(_PASSES)]
        least = map(min, zip(*(each.nanoseconds for each in passes), strict=True))
        row = Row(filters, size, form, table.stats().memory_bytes, steps, sum(least) / 1_000 / len(messages))
        return row, passes[0].matched


def _line(rows: list[Row]) -> str:
    pointers, bits = rows
    share = f"1/{pointers.filters // pointers.size}"
    return (
        f"{pointers.filters:9,} {pointers.size:8,} {share:>7} {pointers.memory_bytes:13,} {bits.memory_bytes:13,} "
        f"{pointers.steps:9,.0f} {bits.steps:9,.0f} {pointers.us:9.2f} {bits.us:9.2f}"
    )


_HEAD = (
    f"{'filters':>9} {'set':>8} {'share':>7} {'bytes, ptrs':>13} {'bytes, bits':>13} "
    f"{'steps, p':>9} {'steps, b':>9} {'us, p':>9} {'us, b':>9}"
)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="pointers", description="Sets of filters as pointers or as bits.")
    parser.add_argument("--filters", type=int, default=65_536, help="of the table of shares")
    parser.add_argument("--totals", type=int, nargs="*", default=TOTALS, help="filters of figure 4")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv)
    tables = {
        "share": [measure(args.filters, args.filters // share) for share in SHARES],
        "figure 4": [measure(total, size) for size in SIZES for total in args.totals],
    }
    if args.json:
        print(json.dumps({name: [asdict(row) for rows in made for row in rows] for name, made in tables.items()}))
        return 0
    for name, made in tables.items():
        print(f"{name}\n{_HEAD}")
        for rows in made:
            print(_line(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
