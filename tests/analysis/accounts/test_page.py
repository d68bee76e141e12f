"""The page: each cell is a figure of a table, and sentences and plots say what the simulator's account says."""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.job import REPORT
from tamis.analysis.remarks import BEHIND_US
from tamis.analysis.report import ROWS_MAX
from tests.analysis.accounts.told import bucket_s, counted, got, matches, percentiles, unrest, wanted
from tests.analysis.conftest import Simulated, Tables

pytestmark = pytest.mark.long
NOTHING_WRONG = "0 missing, 0 duplicate, 0 stray"
NEVER_BACK = "its router never came back, or its log did not"
Points = list[tuple[float, float]]


@pytest.fixture(scope="module")
def page(answered: Path) -> str:
    return (answered / REPORT).read_text()


def test_it_loads_nothing(page: str) -> None:
    assert "src=" not in page
    assert "http" not in page.replace('xmlns="http://www.w3.org/2000/svg"', "")


def test_each_cell_is_that_of_the_table(page: str, tables: Tables) -> None:
    shown = dict(shown_tables(page))
    assert shown.keys() == tables.keys()
    for name, rows in tables.items():
        columns = [column for column in rows[0] if any(row[column] is not None for row in rows)] if rows else []
        heads, lines = shown[name]
        assert [head.replace(" ", "_") for head in heads] == [as_headed(column, heads) for column in columns]
        assert len(lines) == min(len(rows), ROWS_MAX)
        for line, row in zip(lines, rows, strict=False):
            for head, cell, column in zip(heads, line, columns, strict=True):
                assert says(cell, row[column], is_moment=column.endswith("_us") and not head.endswith("us")), (
                    name,
                    column,
                    row,
                )


def shown_tables(page: str) -> Iterator[tuple[str, tuple[list[str], list[list[str]]]]]:
    for section in page.split('<h2 id="')[1:]:
        question = section.partition('"')[0]
        for part in section.split("<h3>")[1:]:
            heads = re.findall(r"<th>(.*?)</th>", part)
            lines = [re.findall(r"<td.*?>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", part)]
            cells = [[html.unescape(cell) for cell in line] for line in lines[1:]]
            yield f"{question}/{part.partition('<')[0].replace(' ', '_')}", (heads, cells)


def as_headed(column: str, heads: list[str]) -> str:
    """Dates are without a unit."""
    short = column.removesuffix("_us")
    return short if short.replace("_", " ") in heads else column


def says(cell: str, value: Any, is_moment: bool) -> bool:
    if value is None or isinstance(value, str):
        return cell == (value or "")
    if isinstance(value, list):
        return cell == ", ".join(map(str, value))
    if is_moment:
        return abs(datetime.fromisoformat(f"{cell}+00:00").timestamp() * 1e6 - value) <= 1_000
    return float(cell.replace(",", "")) == pytest.approx(value, rel=1e-3)


def test_sentences(page: str, tables: Tables, simulated: Simulated) -> None:
    right, messages = got(simulated), simulated.truth["messages"]
    total, wrong = len(wanted(tables, simulated).keys() | right), wanted(tables, simulated).keys() - right
    vain, frames = sum(messages["vain"].values()), sum(messages["crossed"].values())
    expected = [
        f"Of {total:,} deliveries that the subscriptions speak of, {len(right):,} are right; {NOTHING_WRONG}.",
        f"{len(wrong):,} cannot be decided; the reasons are below.",
        f"{vain:,} of {frames:,} frames between routers ({vain / frames:.1%}) came where nobody wanted them.",
    ]
    spans = unrest(tables, simulated)
    longest_us = max(span.took_us for span in spans)
    expected.append(
        f"The topology changed in {len(spans):,} spans of time; the longest took {longest_us / 1e6:,.1f} s to settle."
    )
    told = [html.unescape(each) for each in re.findall(r"<li>(.*?)</li>", page)]
    assert told == expected + sentences_about_lives(simulated)


def sentences_about_lives(simulated: Simulated) -> list[str]:
    lives, ahead_us = (simulated.truth["changes"][name] for name in ("lives", "ahead_us"))
    epochs = {life["router"]: life["epoch"] for life in lives}
    broke = len(lives) - len(epochs)
    last = [life for life in lives if life["epoch"] == epochs[life["router"]]]
    ends_us = {life["router"]: life["wrote_us"] + ahead_us[life["router"]] for life in last}
    behind_us = {router: max(ends_us.values()) - end_us for router, end_us in ends_us.items()}
    return [f"{broke:,} lives of routers broke off without a last word: a crash, or a kill."] + [
        f"The log of {router} ends {us / 1e6:,.0f} s before the last one: {NEVER_BACK}."
        for router, us in behind_us.items()
        if us > BEHIND_US
    ]


def test_plots(page: str, simulated: Simulated) -> None:
    expected = {
        "messages that came in": over_time(simulated, "messages_in"),
        "bytes written, control included": over_time(simulated, "bytes_out"),
        "from source to router, by the links between them": lengths(simulated),
        "how long a statement took to spread": spread(simulated),
        "messages that satisfy each filter, the widest first": selectivity(simulated),
    }
    drawn = dict(map(read_back, re.findall(r"<svg.*?</svg>", page, re.DOTALL)))
    assert drawn.keys() == expected.keys()
    for title, lines in expected.items():
        assert drawn[title].keys() == lines.keys(), title
        for label, points in lines.items():
            assert drawn[title][label] == near(points, lines), (title, label)


def near(points: Points, lines: dict[str, Points]) -> list[Any]:
    """As near as a tenth of a pixel shows."""
    slack = [max(abs(point[axis]) for each in lines.values() for point in each) / 2_000 for axis in (0, 1)]
    return [tuple(pytest.approx(value, abs=slack[axis]) for axis, value in enumerate(point)) for point in points]


def over_time(simulated: Simulated, what: str) -> dict[str, Points]:
    bucket, busy = bucket_s(simulated), Counter[str]()
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for one in counted(simulated):
        counts[one.router][one.second // bucket * bucket] += one.count if one.what == what else 0
        busy[one.router] += one.count if one.what == "messages_in" else 0
    begin_s = min(second for each in counts.values() for second in each)
    busiest = sorted(busy, key=lambda router: (-busy[router], router))
    return {
        router: [(second - begin_s, count) for second, count in sorted(counts[router].items())] for router in busiest
    }


def lengths(simulated: Simulated) -> dict[str, Points]:
    ways = {int(hop): percentiles(took) for hop, took in simulated.truth["messages"]["way_us"].items()}
    return {
        label: [(hop, ways[hop][place] / 1e3) for hop in sorted(ways)]
        for place, label in enumerate(("p50", "p90", "p99"), 1)
    }


def spread(simulated: Simulated) -> dict[str, Points]:
    told = {key: each for key, each in simulated.truth["control"]["statements"].items() if each["heard_us"]}
    begin_us = min(each["from_us"] for each in told.values())
    lines: dict[str, Points] = {"link states": [], "advertisements": []}
    for key, each in sorted(
        told.items(), key=lambda one: (one[1]["from_us"], one[0].split()[1], int(one[0].split()[3]))
    ):
        label = "link states" if key.startswith("LSA") else "advertisements"
        lines[label].append(((each["from_us"] - begin_us) / 1e6, (each["heard_us"] - each["from_us"]) / 1e3))
    return lines


def selectivity(simulated: Simulated) -> dict[str, Points]:
    found = sorted(matches(simulated).values(), reverse=True)
    return {"matches": [(rank, messages) for rank, messages in enumerate(found, 1)]}


def read_back(svg: str) -> tuple[str, dict[str, Points]]:
    """The title, and the points of each line, as the ticks of the axes say."""
    root = ET.fromstring(svg.replace(' xmlns="http://www.w3.org/2000/svg"', ""))  # noqa: S314 - our own text
    title, *rest = [text.text or "" for text in root.iter("text")]
    grid = re.findall(r'<path d="M([\d.]+) ([\d.]+)([VH]).*?<text.*?>(.*?)</text>', svg, re.DOTALL)
    x = axis([(float(across), number(label)) for across, _, way, label in grid if way == "V"])
    y = axis([(float(down), number(label)) for _, down, way, label in grid if way == "H"])
    curves = [
        [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
        for line in root.iter("polyline")
    ]
    labels = rest[len(rest) - len(curves) :]
    return title, {
        label: [(x[0] + x[1] * a, y[0] + y[1] * b) for a, b in curve]
        for label, curve in zip(labels, curves, strict=True)
    }


def axis(ticks: list[tuple[float, float]]) -> tuple[float, float]:
    """Value where nothing is, and what each pixel adds."""
    (low, least), (high, most) = min(ticks), max(ticks)
    each = (most - least) / (high - low)
    return least - each * low, each


def number(label: str) -> float:
    return float(label.rstrip("kM")) * {"k": 1e3, "M": 1e6}.get(label[-1], 1)
