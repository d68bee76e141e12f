"""The plots of a report.

Law: a plot with fewer than two points is not drawn. Rates are per second, over the length of the spans in which the
routers' counts were summed; a span without a count is one without traffic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tamis.analysis.page import formatting
from tamis.analysis.page.chart import ChartLine, ChartMark, Points, Shown, TimeAxis, chart
from tamis.analysis.page.svg import Axis

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]
LINES_MAX: Final = 8
SECOND_US: Final = 1e6


def of(question: str, tables: Tables) -> Iterator[str]:
    for draw in _PLOTS.get(question, ()):
        drawn = draw(tables)
        if drawn:
            yield drawn


def marks(tables: Tables) -> list[ChartMark]:
    """Return the faults of the network and their times: links that went down, lives of routers that broke off."""
    downs = [
        ChartMark(row["at_us"] / SECOND_US, f"link {' - '.join(sorted((row['router'], row['neighbour'])))} down")
        for row in tables.get("logs/changes", ())
        if row["what"] == "link down"
    ]
    broke = [
        ChartMark(row["last_us"] / SECOND_US, f"{row['router']} broke off")
        for row in tables.get("logs/lives", ())
        if row["end"] == "broke off"
    ]
    return [*downs, *broke]


def _rates(title: str, what: str, shown: Shown, tables: Tables) -> str:
    rows = tables["traffic/over_time"]
    routers = [row["router"] for row in tables["traffic/by_router"]][:LINES_MAX]
    if not rows:
        return ""
    length_us = rows[0]["to_us"] - rows[0]["from_us"]
    begin_us, end_us = min(row["from_us"] for row in rows), max(row["to_us"] for row in rows)
    lines = []
    for router in routers:
        counts = {row["from_us"]: row[what] for row in rows if row["router"] == router}
        moments = range(begin_us, end_us, length_us)
        points = [(at_us / SECOND_US, counts.get(at_us, 0) / (length_us / SECOND_US)) for at_us in moments]
        lines.append(ChartLine(router, points))
    return _drawn(
        f"rates-{what}", title, TimeAxis(begin_us / SECOND_US, end_us / SECOND_US), lines, shown, marks(tables)
    )


def _depths(what: str, title: str, shown: Shown, tables: Tables) -> str:
    rows = tables["durable/over_time"]
    most: dict[tuple[str, str], int] = {}
    for row in rows:
        durable = row["router"], row["name"] or str(row["durable"])
        most[durable] = max(most.get(durable, 0), row[what] or 0)
    deepest = sorted(most, key=lambda durable: (-most[durable], durable))[:LINES_MAX]
    lines = [
        ChartLine(
            f"{name} at {router}",
            [
                (row["from_us"] / SECOND_US, row[what] or 0)
                for row in rows
                if (row["router"], row["name"] or str(row["durable"])) == (router, name)
            ],
        )
        for router, name in deepest
    ]
    moments = [at for line in lines for at, _ in line.points]
    if len(set(moments)) < 2:
        return ""
    return _drawn(f"durable-{what}", title, TimeAxis(min(moments), max(moments)), lines, shown, marks(tables))


def _lengths(tables: Tables) -> str:
    rows = tables["latency/by_length"]
    lines = [ChartLine(name, [(row["hop"], row[f"{name}_us"]) for row in rows]) for name in ("p50", "p90", "p99")]
    return _curves("lengths", "time from source to router, by number of links", "links", lines, formatting.duration)


def _matching(tables: Tables) -> str:
    points = [(row["filters_from"], row["match_ns_mean"] / 1e3) for row in tables["latency/matching"]]
    title = "mean time to match a message, by filters in the table"
    return _curves("matching", title, "filters", [ChartLine("mean", points)], formatting.duration, log_x=True)


def _spread(tables: Tables) -> str:
    rows = [row for row in tables["control/statements"] if row["spread_us"] is not None]
    lines = [
        ChartLine(words, [(row["from_us"] / SECOND_US, row["spread_us"]) for row in rows if row["what"] == what])
        for what, words in (("LSA", "link states"), ("RA", "advertisements"))
    ]
    moments = [at for line in lines for at, _ in line.points]
    if len(set(moments)) < 2:
        return ""
    x = TimeAxis(min(moments), max(moments))
    return _drawn("spread", "time a statement took to reach all routers", x, lines, formatting.duration, marks(tables))


def _selectivity(tables: Tables) -> str:
    found = sorted((row["matches"] for row in tables["content/filters"]), reverse=True)
    points = [(float(rank), float(matches)) for rank, matches in enumerate(found, 1)]
    title = "messages that satisfy each filter, the widest first"
    return _curves("selectivity", title, "filters", [ChartLine("matches", points)], formatting.count)


def _curves(name: str, title: str, x: str, lines: Sequence[ChartLine], shown: Shown, log_x: bool = False) -> str:
    """Draw over `x`, which is counted."""
    across = Axis.over(x, [at for line in lines for at, _ in line.points], log_x)
    return _drawn(name, title, replace(across, whole=True), lines, shown)


def _drawn(
    name: str,
    title: str,
    x: TimeAxis | Axis,
    lines: Sequence[ChartLine],
    shown: Shown,
    faults: Sequence[ChartMark] = (),
) -> str:
    points: Points = [point for line in lines for point in line.points]
    if len({across for across, _ in points}) < 2:
        return ""
    y = Axis.over("", [up for _, up in points], False)
    return chart(name, title, x, replace(y, whole=shown is formatting.count and y.high >= 1), lines, shown, faults)


_PLOTS: Final[dict[str, tuple[Callable[[Tables], str], ...]]] = {
    "traffic": (
        partial(_rates, "messages in, per second", "messages_in", formatting.count),
        partial(_rates, "bytes written per second, control included", "bytes_out", formatting.volume),
    ),
    "latency": (_lengths, _matching),
    "durable": (
        partial(_depths, "depth", "waiting messages, by durable subscription", formatting.count),
        partial(
            _depths, "oldest_us", "age of the oldest waiting message, by durable subscription", formatting.duration
        ),
    ),
    "control": (_spread,),
    "content": (_selectivity,),
}
