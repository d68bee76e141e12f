"""Figures 10 and 11 of paper 000: to how many interfaces messages go, and how many go nowhere.

Law: nothing is timed. Two engines find the filters that match each message, and must agree; the interfaces follow from
the filters, for any number of interfaces.
"""

from __future__ import annotations

import statistics
from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Final

from tamis.bench.matching import workloads
from tamis.native import Table
from tamis.papers.reproduce.figure import (
    Criterion,
    Disagreement,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    Reading,
    ResultRow,
    ResultRows,
    Scale,
)
from tamis.papers.reproduce.judging import chosen, is_falling, is_rising, listed, number, read, ruled

_CLASSES: Final = ("none", "1", "2 to I/4", "I/4 to I/2", "I/2 to all but one", "all")
_NAMES: Final = (50, 100, 1000)
_WIDTHS: Final = (2, 10, 50, 100, 200, 500)
"""Numbers of interfaces: the text does not say which one figure 10 has."""
_INTERFACES: Final = 100


def _class_of(matched: int, interfaces: int) -> str:
    if matched <= 1:
        return _CLASSES[matched]
    if matched == interfaces:
        return _CLASSES[5]
    return _CLASSES[2 if matched <= interfaces / 4 else 3 if matched <= interfaces / 2 else 4]


def _matched(run: FigureRun, names: int, filters: int) -> dict[int, list[int]]:
    """By the number of interfaces, to how many of them each message goes."""

    def count() -> list[list[int]]:
        made = workloads.make("cu922", filters, run.whole("messages"), names, run.seed)
        found = []
        for engine in ("counting", "tamis"):
            with Table(engine, hash_seed=run.seed) as table:
                table.add_many(made.filters, array("I", range(filters)))
                found.append([sorted(each) for each in table.match_batch(made.messages)])
        if found[0] != found[1]:
            raise Disagreement(f"cu922, A = {names}, F = {filters}: counting and tamis find other filters")
        dealt = (workloads.deal("cu922", filters, width, run.seed) for width in _WIDTHS)
        return [[len({interfaces[each] for each in own}) for own in found[0]] for interfaces in dealt]

    return dict(zip(_WIDTHS, run.cell(f"matches A={names} F={filters}", count), strict=True))


def _measure_10(run: FigureRun) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for filters in run.numbers("filters"):
        for names in _NAMES:
            matched = _matched(run, names, filters)
            counts = matched[_INTERFACES]
            classes = Counter(_class_of(each, _INTERFACES) for each in counts)
            to_all = {f"all of {width}": _share_to_all(own, width) for width, own in matched.items()}
            told: ResultRow = {"A": names, "F": filters, "setting": f"F={filters:,} A={names}"}
            median = statistics.median(counts) / _INTERFACES
            rows += [
                {**told, "matched": each, "share": 100 * classes[each] / len(counts), "median": median, **to_all}
                for each in _CLASSES
            ]
    return rows


def _share_to_all(counts: Sequence[int], width: int) -> float:
    return 100 * sum(each == width for each in counts) / len(counts)


def _falls_with_names(rows: ResultRows) -> Judgement:
    sizes = list(dict.fromkeys(row["F"] for row in rows))
    medians = {size: [_median(rows, size, names) for names in _NAMES] for size in sizes}
    told = "; ".join(f"F = {size:,}: {listed(line)}" for size, line in medians.items())
    return ruled(
        all(is_falling(line) for line in medians.values()),
        f"median share of the interfaces at A = 50, 100, 1000: {told}",
        "with fewer names messages do not go to more interfaces",
    )


def _median(rows: ResultRows, filters: object, names: int) -> float:
    own = [row for row in rows if row["F"] == filters and row["A"] == names]
    return number(own[0], "median")


def _many_go_to_all(rows: ResultRows) -> Judgement:
    return read(*(Reading(f"I = {width}", _goes_to_all(rows, width)) for width in _WIDTHS))


def _goes_to_all(rows: ResultRows, width: int) -> Judgement:
    size = max(int(number(row, "F")) for row in rows)
    to_all = [number(chosen(rows, F=size, A=names, matched="all")[0], f"all of {width}") for names in _NAMES]
    return ruled(
        to_all[0] >= 50,
        f"at F = {size:,} {listed(to_all, 0)} % of the messages go to all {width} interfaces at A = 50, 100, 1000",
        f"a message that satisfies few filters misses at least one of {width} interfaces",
    )


FIGURE_10: Final = PaperFigure(
    paper="000",
    id="10",
    title="to how many interfaces messages go",
    shows="the distribution of matches for A = 50, 100 and 1000 names. With many names a message reaches one or a few "
    "interfaces, with few names and 100,000 filters a high share goes to all of them. The form of the plot and its "
    "numbers cannot be read from the text.",
    chosen="I = 100 interfaces in the plot, I from 2 to 500 in the readings; classes of the number matched.",
    settings={
        Scale.SMALL: {"messages": 300, "filters": (1_000, 10_000, 100_000)},
        Scale.PAPER: {"messages": 1_000, "filters": (1_000, 10_000, 100_000)},
    },
    measure=_measure_10,
    criteria=(
        Criterion(
            "000-10-names",
            "The fewer names there are, the more interfaces a message goes to",
            "A is a determinant factor",
            _falls_with_names,
        ),
        Criterion(
            "000-10-all",
            "With few names and 100,000 filters a high share of the messages goes to all interfaces",
            "a high percentage, no number",
            _many_go_to_all,
        ),
    ),
    plots=(
        PlotSpec(
            *("Messages by the number of interfaces matched, I = 100", "setting", "share", "matched"),
            *("number of filters F and of attribute names A", "share of messages (percent)"),
            by_label="interfaces matched",
            kind="stack",
        ),
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 40},
    is_exact=True,
)


# --- figure 11 -------------------------------------------------------------------------------------------------------


def _measure_11(run: FigureRun) -> list[ResultRow]:
    return [
        {"A": names, "F": filters, "ignored": 100 * counts.count(0) / len(counts)}
        for names in _NAMES
        for filters in run.numbers("filters")
        for counts in [_matched(run, names, filters)[_INTERFACES]]
    ]


def _line(rows: ResultRows, names: int) -> list[tuple[int, float]]:
    return sorted((int(number(row, "F")), number(row, "ignored")) for row in chosen(rows, A=names))


def _regulates(rows: ResultRows) -> Judgement:
    first = [_line(rows, names)[0][1] for names in _NAMES]
    bounds = ((5, 25), (25, 45), (85, 95))
    falling = all(is_falling([each for _, each in _line(rows, names)]) for names in _NAMES)
    within = all(low <= each <= high for each, (low, high) in zip(first, bounds, strict=True))
    return ruled(
        falling and within and is_rising(first),
        f"at F = 1,000: {listed(first, 0)} % ignored at A = 50, 100, 1000; "
        f"{'falling' if falling else 'not always falling'} with F",
        "our guess of SV and IV makes constraints more, or less, likely to match than theirs",
    )


def _stays_at_90(rows: ResultRows) -> Judgement:
    line = _line(rows, 1000)
    told = ", ".join(f"{share:.0f} % at {filters:,}" for filters, share in line)
    first, p = line[0][0], line[0][1] / 100
    by_chance = ", ".join(f"{100 * p ** (filters / first):.0f}" for filters, _ in line)
    why = (
        "Filters are drawn independently. If no filter of 1,000 matches with probability p, none of 100,000 matches "
        "with p to the 100th. The measured shares follow that law, so the share must fall"
    )
    return read(
        Reading("where the curve begins, at 1,000 filters", ruled(85 <= line[0][1] <= 95, told, why)),
        Reading(
            "at every size up to 100,000 filters",
            ruled(min(share for _, share in line) >= 80, f"{told}; by chance {by_chance} %", why),
        ),
    )


def _falls_to_none(rows: ResultRows) -> Judgement:
    ends = {names: _line(rows, names) for names in (50, 100)}
    at_10k = {names: dict(line)[10_000] for names, line in ends.items()}
    first = max(line[0][1] for line in ends.values())
    return ruled(
        at_10k[50] <= 5 and first >= 20,
        f"from {first:.0f} % at F = 1,000 to {at_10k[100]:.0f} % (A = 100) and {at_10k[50]:.0f} % (A = 50) at 10,000",
        "a message that nothing matches is as rare or as frequent as SV and IV make it",
    )


_SIZES: Final[Sequence[int]] = (1_000, 2_000, 5_000, 10_000, 100_000)
FIGURE_11: Final = PaperFigure(
    paper="000",
    id="11",
    title="messages that nothing matches",
    shows="the percentage of messages without a matching filter over F. Left, to 100,000: 90 % for A = 1000. Right, to "
    "10,000: 30 % down to 0 % for A = 100 and 50.",
    chosen="SV = IV = 100.",
    settings={
        Scale.SMALL: {"messages": 300, "filters": _SIZES},
        Scale.PAPER: {"messages": 1_000, "filters": (*_SIZES[:4], 20_000, 50_000, 100_000)},
    },
    measure=_measure_11,
    criteria=(
        Criterion(
            "000-11-names", "A regulates how many messages match", "90 % for A = 1000, 30 % and less", _regulates
        ),
        Criterion(
            "000-11-left", "90 % of the messages are ignored for A = 1000", "90 %, on axes to 100,000", _stays_at_90
        ),
        Criterion("000-11-right", "With 100 and 50 names 30 % down to none are ignored", "30 % to 0 %", _falls_to_none),
    ),
    plots=(
        PlotSpec(
            *("Messages that nothing matches", "F", "ignored", "A"),
            *("number of filters", "share of messages (percent)"),
            by_label="number of attribute names A",
            log_x=True,
        ),
    ),
    seconds={Scale.SMALL: 12, Scale.PAPER: 40},
    is_exact=True,
)
