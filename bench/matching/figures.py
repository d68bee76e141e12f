"""The plain settings of `make bench`: targets, the growth of matching time, and figures 10 and 11 of paper 004.

Law: a figure is a list of settings and a drawing of their results, nothing more; `runner.py` runs them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tamis.analysis.page.svg import Axis, PlotLine, plot
from tamis.bench.matching.contenders import Contender, Setup, contenders
from tamis.bench.matching.match import Result
from tamis.bench.matching.report import label
from tamis.bench.matching.runner import Measured, Runner, interfaces_label, size_label
from tamis.bench.tables import markdown, percent, short

SEED = 2003
NAMES = 1_000
MESSAGES = 2_000
CONSTRAINTS_PER_FILTER = 5

INTERFACES: tuple[int | None, ...] = (20, 200, None)
TARGETS: tuple[tuple[int, int | None], ...] = (
    *((2_000, 20), (20_000, 20), (20_000, None)),
    *((200_000, 20), (200_000, 200), (200_000, None)),
    *((1_000_000, 20), (1_000_000, 200), (1_000_000, None)),
)
GROWTH = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
BEYOND = (4_000_000,)
FIGURE_10_CONSTRAINTS = 500_000
FIGURE_10_RATIOS = (1, 10, 100, 1_000, 10_000)
FIGURE_11_ROUNDS = (0, 1, 5, 10, 20, 30, 50, 70, 100)
FIGURE_11_CONSTRAINTS = (500_000, 5_000_000)


def setting(
    filter_count: int, interface_count: int | None, chosen: tuple[Contender, ...], workload: str = "sigcomm03"
) -> Setup:
    return Setup(workload, filter_count, interface_count, MESSAGES, NAMES, SEED, chosen)


# --- figures ---------------------------------------------------------------------------------------------------------


def targets(runner: Runner, filters_max: int) -> list[Measured]:
    chosen = contenders(["sff", "tamis"])
    return runner.all(setting(n, i, chosen) for n, i in TARGETS if n <= filters_max)


def even(runner: Runner, filters_max: int) -> list[Measured]:
    """The targets with few interfaces, of which every one has as many filters."""
    chosen = contenders(["sff", "tamis"])
    few = [(n, i) for n, i in TARGETS if n <= filters_max and i is not None]
    return runner.all(setting(n, i, chosen, "sigcomm03-even") for n, i in few)


def growth(runner: Runner, filters_max: int) -> list[Measured]:
    chosen = contenders(["sff", "tamis"])
    return runner.all(setting(n, i, chosen) for n in GROWTH if n <= filters_max for i in INTERFACES)


def beyond(runner: Runner, filters_max: int) -> list[Measured]:
    """Growth past the papers, at the two ends of the interfaces."""
    chosen = contenders(["sff", "tamis"])
    return runner.all(setting(n, i, chosen) for n in BEYOND if n <= filters_max for i in (20, None))


def filters_per_interface(runner: Runner, filters_max: int) -> list[Measured]:
    """Figure 10: constraints fixed, more and more filters on each interface."""
    chosen = contenders(["sff", "tamis"])
    filters = min(FIGURE_10_CONSTRAINTS // CONSTRAINTS_PER_FILTER, filters_max)
    return runner.all(setting(filters, filters // ratio, chosen) for ratio in FIGURE_10_RATIOS if ratio <= filters)


def rounds(runner: Runner, filters_max: int) -> list[Measured]:
    """Figure 11: one filter per interface, more and more pre-processing rounds."""
    chosen = contenders(["sff"], FIGURE_11_ROUNDS)
    sizes = sorted({min(count // CONSTRAINTS_PER_FILTER, filters_max) for count in FIGURE_11_CONSTRAINTS})
    return runner.all(setting(filters, None, chosen) for filters in sizes)


# --- drawings --------------------------------------------------------------------------------------------------------


def draw_growth(measured: Sequence[Measured]) -> str:
    """A colour for each engine, a dash for each number of interfaces."""
    lines = _series(measured, _with_interfaces, lambda setup: setup.filter_count)
    return _drawn("Matching time per message, sigcomm03", "filters", lines)


def draw_filters_per_interface(measured: Sequence[Measured]) -> str:
    lines = _series(measured, lambda _, result: label(result), lambda setup: setup.filter_count / setup.interfaces)
    return _drawn("Filters per interface (paper 004, figure 10)", "filters per interface", lines)


def draw_rounds(measured: Sequence[Measured]) -> str:
    """The advantage over no rounds, in percent, over the number of rounds."""
    lines = []
    for colour, each in enumerate(measured):
        able = [result for result in each.results if math.isfinite(result.mean_us)]
        plain = next((result.mean_us for result in able if result.rounds == 0), None)
        points = [(float(result.rounds or 0), 100 * (1 - result.mean_us / plain)) for result in able] if plain else []
        lines.append(PlotLine(f"{each.setup.filter_count:,} filters", points, colour))
    x = Axis.over("pre-processing rounds", [a for line in lines for a, _ in line.points], log=False)
    y = Axis.over("advantage of the selectivity table (%)", [b for line in lines for _, b in line.points], log=False)
    return plot("Pre-processing rounds of sff (paper 004, figure 11)", x, y, lines)


def table_of(measured: Sequence[Measured]) -> str:
    """One line for each setting and contender: what the targets are stated in."""
    head = ["filters x interfaces", "engine", "us/msg", "±", "p99", "ratio", "B/constraint all", "hot"]
    head += ["add us", "remove us", "build s", "matched"]
    return markdown(head, [_row(each.setup, result) for each in measured for result in each.results])


def _row(setup: Setup, result: Result) -> list[str]:
    return [
        *(size_label(setup), label(result), short(result.mean_us), percent(result.spread), short(result.p99_us)),
        *(short(result.ratio), short(result.bytes_per_constraint), short(result.hot_bytes_per_constraint)),
        *(short(us) for us in _update_means(result)),
        *(short(result.build_s), short(result.matched_mean)),
    ]


def _update_means(result: Result) -> tuple[float | None, float | None]:
    return (result.updates.add_us, result.updates.remove_us) if result.updates else (None, None)


def _with_interfaces(setup: Setup, result: Result) -> str:
    return f"{label(result)}, I={interfaces_label(setup)}"


def _series(
    measured: Sequence[Measured], name: Callable[[Setup, Result], str], across: Callable[[Setup], float]
) -> list[PlotLine]:
    points: dict[str, list[tuple[float, float]]] = {}
    looks: dict[str, tuple[str, str]] = {}
    for each in measured:
        for result in (one for one in each.results if math.isfinite(one.mean_us)):
            key = name(each.setup, result)
            points.setdefault(key, []).append((across(each.setup), result.mean_us))
            looks[key] = (label(result), key.removeprefix(label(result)))
    engines, kinds = (list(dict.fromkeys(look[part] for look in looks.values())) for part in (0, 1))
    return [
        PlotLine(key, sorted(points[key]), engines.index(engine), kinds.index(kind))
        for key, (engine, kind) in looks.items()
    ]


def _drawn(title: str, across: str, lines: list[PlotLine]) -> str:
    """Both axes logarithmic."""
    x = Axis.over(across, [a for line in lines for a, _ in line.points], log=True)
    y = Axis.over("us per message", [b for line in lines for _, b in line.points], log=True)
    return plot(title, x, y, lines)
