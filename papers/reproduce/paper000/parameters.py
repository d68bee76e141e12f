"""Table 1 of paper 000, the parameters of its generator: what ours draws, beside what the paper states."""

from __future__ import annotations

from typing import Final

from tamis.bench.matching import workloads
from tamis.papers.reproduce.figure import FigureRun, PaperFigure, ResultRow, Scale
from tamis.papers.reproduce.shares import as_stated, drawn_shares, share_rows
from tamis.protocol.filters import Op

_TYPES: Final = {"string": 0.4, "integer": 0.4, "boolean": 0.2}
_OPS: Final = {Op.EQ: 0.6, Op.LT: 0.2, Op.GT: 0.2}


def _measure(run: FigureRun) -> list[ResultRow]:
    filters, messages, names = (run.whole(name) for name in ("filters", "messages", "names"))
    run.say("drawing filters and messages")
    shares = drawn_shares(workloads.make("cu922", filters, messages, names, run.seed))
    return [
        *share_rows("DT, filters", shares.filter_types, _TYPES),
        *share_rows("DT, messages", shares.message_types, _TYPES),
        *share_rows("DO, strings", shares.ops["string"], _OPS),
        *share_rows("DO, integers", shares.ops["integer"], _OPS),
        *share_rows("CN", shares.constraints, dict.fromkeys(range(1, 6), 0.2)),
        *share_rows("AN", shares.attributes, dict.fromkeys(range(3, 11), 0.125)),
    ]


_SETTINGS: Final = {"filters": 20_000, "messages": 10_000, "names": 100}
TABLE_1: Final = PaperFigure(
    paper="000",
    id="table-1",
    title="Table 1: parameters of the generator",
    shows="distributions of types (40 % strings, 40 % integers, 20 % booleans) and operators (60 % =, 20 % <, 20 % >), "
    "1 to 5 constraints a filter, 3 to 10 attributes a message, both uniform.",
    chosen="SV = 100 words and IV = 100 integers, which the paper does not say; a linear distribution gives the "
    "k-th of n "
    "values the weight n - k; booleans take = alone, as ours have no order.",
    settings={Scale.SMALL: _SETTINGS, Scale.PAPER: _SETTINGS},
    measure=_measure,
    criteria=(
        as_stated(
            "000-table-1",
            "The generator draws types, operators and sizes as table 1 and the text under it state",
            "40/40/20, 60/20/20, U[1,5], U[3,10]",
        ),
    ),
    seconds={Scale.SMALL: 3, Scale.PAPER: 3},
    is_exact=True,
)
