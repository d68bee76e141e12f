"""The plots of a report.

Law: a plot with fewer than two points is not drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tamis.analysis.svg import Axis, PlotLine, plot

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]
LINES_MAX: Final = 8
MS: Final = 1e3


def of(question: str, tables: Tables) -> Iterator[str]:
    for draw in _PLOTS.get(question, ()):
        drawn = draw(tables)
        if drawn:
            yield drawn


def _traffic(tables: Tables) -> str:
    rows = tables["traffic/over_time"]
    busiest = [row["router"] for row in tables["traffic/by_router"]][:LINES_MAX]
    return _over_time("messages that came in", "messages", rows, "messages_in", busiest)


def _bytes(tables: Tables) -> str:
    rows = tables["traffic/over_time"]
    busiest = [row["router"] for row in tables["traffic/by_router"]][:LINES_MAX]
    return _over_time("bytes written, control included", "bytes", rows, "bytes_out", busiest)


def _over_time(title: str, unit: str, rows: Sequence[Row], what: str, routers: Sequence[str]) -> str:
    begin = min((row["from_us"] for row in rows), default=0)
    lines = {
        router: [((row["from_us"] - begin) / 1e6, row[what]) for row in rows if row["router"] == router]
        for router in routers
    }
    return _drawn(title, "s since the beginning", unit, lines)


def _lengths(tables: Tables) -> str:
    rows = tables["latency/by_length"]
    lines = {percent: [(row["hop"], row[f"{percent}_us"] / MS) for row in rows] for percent in ("p50", "p90", "p99")}
    return _drawn("from source to router, by the links between them", "links", "ms", lines)


def _matching(tables: Tables) -> str:
    rows = tables["latency/matching"]
    points = [(row["filters_from"], row["match_ns_mean"] / MS) for row in rows]
    return _drawn("match time by the size of the table", "filters", "us", {"mean": points}, log_x=True)


def _spread(tables: Tables) -> str:
    rows = [row for row in tables["control/statements"] if row["spread_us"] is not None]
    begin = min((row["from_us"] for row in rows), default=0)
    lines = {
        words: [((row["from_us"] - begin) / 1e6, row["spread_us"] / MS) for row in rows if row["what"] == what]
        for what, words in (("LSA", "link states"), ("RA", "advertisements"))
    }
    return _drawn("how long a statement took to spread", "s since the beginning", "ms", lines)


def _selectivity(tables: Tables) -> str:
    found = sorted((row["matches"] for row in tables["content/filters"]), reverse=True)
    points = [(float(rank), float(matches)) for rank, matches in enumerate(found, 1)]
    return _drawn("messages that satisfy each filter, the widest first", "filters", "messages", {"matches": points})


def _drawn(title: str, x: str, y: str, lines: Mapping[str, Sequence[tuple[float, float]]], log_x: bool = False) -> str:
    points = [point for each in lines.values() for point in each]
    if len({across for across, _ in points}) < 2:
        return ""
    axes = Axis.over(x, [across for across, _ in points], log_x), Axis.over(y, [up for _, up in points], False)
    drawn = [PlotLine(label, each, colour) for colour, (label, each) in enumerate(lines.items())]
    return plot(title, *axes, drawn)


_PLOTS: Final[dict[str, tuple[Callable[[Tables], str], ...]]] = {
    "traffic": (_traffic, _bytes),
    "latency": (_lengths, _matching),
    "control": (_spread,),
    "content": (_selectivity,),
}
