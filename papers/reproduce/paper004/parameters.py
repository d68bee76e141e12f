"""Table 1 of paper 004, the parameters of its generator: what ours draws, beside what the paper states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from tamis.bench.matching import words, workloads
from tamis.papers.reproduce.figure import Criterion, FigureRun, Judgement, PaperFigure, ResultRow, ResultRows, Scale
from tamis.papers.reproduce.judging import chosen, number, ruled
from tamis.papers.reproduce.shares import as_stated, drawn_shares, share_rows
from tamis.protocol.filters import Op

_TYPES: Final = {"string": 0.5, "integer": 0.5}
_INTEGERS: Final = {Op.EQ: 0.6, Op.LT: 0.2, Op.GT: 0.2}
_STRINGS: Final = {
    Op.EQ: 0.35,
    Op.PREFIX: 0.15,
    Op.SUFFIX: 0.15,
    Op.CONTAINS: 0.15,
    Op.LT: 0.1,
    Op.GT: 0.1,
}
_SETTINGS: Final = {"filters": 20_000, "messages": 10_000, "names": 1_000, "interfaces": 200}


def _measure(run: FigureRun) -> list[ResultRow]:
    filters, messages, names = (run.whole(name) for name in ("filters", "messages", "names"))
    run.say("drawing filters and messages")
    shares = drawn_shares(workloads.make("sigcomm03", filters, messages, names, run.seed))
    rows = [
        *share_rows("Dt, filters", shares.filter_types, _TYPES),
        *share_rows("Dt, messages", shares.message_types, _TYPES),
        *share_rows("Dos", shares.ops["string"], _STRINGS),
        *share_rows("Doi", shares.ops["integer"], _INTEGERS),
        *share_rows("c", shares.constraints, dict.fromkeys(range(1, 10), 1 / 9)),
        *share_rows("a", shares.attributes, dict.fromkeys(range(1, 20), 1 / 19)),
    ]
    dealt = Counter(workloads.deal("sigcomm03", filters, run.whole("interfaces"), run.seed))
    return [*rows, *_spread(sorted(dealt.values()), filters / run.whole("interfaces")), *_popular(shares.names, names)]


def _spread(counts: list[int], mean: float) -> Iterator[ResultRow]:
    """The quartiles of a number drawn from 1 to twice the mean."""
    for share in (0.25, 0.5, 0.75):
        ours = counts[int(share * len(counts))] / mean
        yield {"parameter": "f", "value": f"quantile {share}", "paper": 2 * share, "ours": ours, "sigma": 0.05}


def _popular(names: Counter[str], count: int) -> Iterator[ResultRow]:
    """Ranks of the Zipf distribution. A filter has a name once, so that the most popular one comes less often."""
    harmonic = sum(1 / rank for rank in range(1, count + 1))
    known = words.names(count)
    for rank in (1, 10, 100):
        ours = names[known[rank - 1]] / names.total()
        yield {"parameter": "Dc", "value": f"rank {rank}", "paper": 1 / rank / harmonic, "ours": ours, "sigma": 0.02}


def _twice_the_mean(rows: ResultRows) -> Judgement:
    own = chosen(rows, parameter="f")
    far = [row for row in own if abs(number(row, "ours") - number(row, "paper")) > 0.25]
    told = ", ".join(f"{row['value']}: {number(row, 'ours'):.2f}" for row in own)
    return ruled(not far, f"{told} times the mean", "the interfaces are dealt otherwise")


TABLE_1: Final = PaperFigure(
    paper="004",
    id="table-1",
    title="Table 1: parameters of the generator",
    shows="1 to 19 attributes a message, 1 to 9 constraints a filter, 1,000 names by Zipf, half strings and half "
    "integers, operators of strings 35/15/15/15/10/10 % and of integers 60/20/20 %, and a number of filters for each "
    "interface that is uniform in [1, fh).",
    chosen="Zipf with exponent 1; a filter has a name once, so that the most popular names come somewhat less often.",
    settings={Scale.SMALL: _SETTINGS, Scale.PAPER: _SETTINGS},
    measure=_measure,
    criteria=(
        as_stated(
            "004-table-1",
            "The generator draws types, operators, sizes and names as section 5.1 states",
            "50/50, 35/15/15/15/10/10, 60/20/20, U[1,9], U[1,19], Zipf",
        ),
        Criterion(
            "004-table-1-f",
            "The filters of an interface are a number between 1 and twice the mean",
            "uniform in [fl, fh)",
            _twice_the_mean,
        ),
    ),
    seconds={Scale.SMALL: 3, Scale.PAPER: 3},
    is_exact=True,
)
