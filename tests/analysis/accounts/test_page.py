"""The page: each cell is a figure of a table, and sentences and plots say what the simulator's account says."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.job import REPORT
from tamis.analysis.page.chart import WIDTH
from tamis.analysis.page.remarks import BEHIND_US
from tamis.analysis.page.table_view import MOMENTS, ROWS_MAX
from tamis.protocol.json_form import decode_filter
from tamis.protocol.language import parse
from tamis.protocol.message_text import parse_message_text
from tamis.protocol.normal import normalize
from tests.analysis.accounts.told import (
    bucket_s,
    counted,
    got,
    matches,
    percentiles,
    reference_ahead_us,
    unrest,
    wanted,
)
from tests.analysis.conftest import Simulated, Tables
from tests.analysis.page_outline import PageElement, outline

pytestmark = pytest.mark.long
PREDICATES = ("form", "covered_by_form")
NOTHING_WRONG = "0 missing, 0 duplicate, 0 stray"
STRAYED = "reached a router without a matching subscription."
NEVER_BACK = "the router did not restart, or its log is incomplete"
Points = list[tuple[float, float]]


@pytest.fixture(scope="module")
def page(answered: Path) -> str:
    return (answered / REPORT).read_text()


def test_each_cell_is_that_of_the_table(page: str, tables: Tables) -> None:
    found = dict(shown_tables(page))
    assert found.keys() == {name for name, rows in tables.items() if rows}
    for name, lines in found.items():
        rows = tables[name]
        assert len(lines) == min(len(rows), ROWS_MAX)
        assert set(lines[0]) == {column for column in rows[0] if any(row[column] is not None for row in rows)}
        for line, row in zip(lines, rows, strict=False):
            for column, cell in line.items():
                assert says(cell, column, row[column]), (name, column, row)


def shown_tables(page: str) -> Iterator[tuple[str, list[dict[str, PageElement]]]]:
    for table in outline(page).every("table"):
        head, *rows = table.every("tr")
        columns = [each["data-column"] for each in head.children]
        yield table["data-table"], [dict(zip(columns, row.children, strict=True)) for row in rows]


def says(cell: PageElement, column: str, value: Any) -> bool:
    """Return whether the cell is the value: exactly in its title, where it has one, and nearly in its text."""
    if value is None:
        return cell.text == ""
    if column in PREDICATES:
        return parse(cell.text).filters == (normalize(decode_filter(json.loads(value))),)
    if column == "attributes":
        return parse_message_text(cell.text) == json.loads(value)
    if column == "whats":
        groups = (group.partition(": ") for group in cell.text.split("; "))
        return sorted(value) == sorted(f"{router} {what}" for what, _, all_ in groups for router in all_.split(", "))
    if isinstance(value, list):
        return cell.text == ", ".join(map(str, value))
    if isinstance(value, str):
        return cell.text == value
    if column in MOMENTS:
        return abs(datetime.fromisoformat(f"{cell.text}+00:00").timestamp() * 1e6 - value) <= 1_000
    exact = figure(cell.get("title"), column) if cell.get("title") else value
    return exact == pytest.approx(value, rel=1e-12) and figure(cell.text, column) == pytest.approx(value, rel=5e-3)


def figure(text: str, column: str) -> float:
    """Return the number that `text` says, in the unit of the column."""
    number, _, unit = text.replace(",", "").partition(" ")
    if number.endswith("%"):
        return float(number[:-1]) / 100
    return float(number) * UNITS[unit] / (1e-6 if column.endswith("_us") else 1e-9 if "_ns" in column else 1)


UNITS: Final = {
    "": 1,
    "d": 86_400,
    "h": 3_600,
    "min": 60,
    "s": 1,
    "ms": 1e-3,
    "µs": 1e-6,
    "ns": 1e-9,
    "B": 1,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
}


def test_sentences(page: str, tables: Tables, simulated: Simulated) -> None:
    right, messages = got(simulated), simulated.truth["messages"]
    total, wrong = len(wanted(tables, simulated).keys() | right), wanted(tables, simulated).keys() - right
    vain, frames = sum(messages["vain"].values()), sum(messages["crossed"].values())
    expected = [
        f"Of {total:,} deliveries that the subscriptions require, {len(right):,} are right; {NOTHING_WRONG}.",
        f"{vain:,} of {frames:,} frames between routers ({vain / frames:.1%}) {STRAYED}",
    ]
    spans = unrest(tables, simulated)
    longest_us = max(span.took_us for span in spans)
    expected.append(
        f"The topology changed in {len(spans):,} spans of time; the longest took {longest_us / 1e6:,.1f} s to settle."
    )
    why, told = ([each.text for each in words.children] for words in lists(page))
    assert told == expected + sentences_about_lives(simulated)
    undecided, dropped = (each for each in why if "decided" in each), [each for each in why if "dropped" in each]
    assert len(why) == 1 + len(dropped)
    (sentence,) = undecided
    assert sentence.startswith(f"{len(wrong):,} cannot be decided: ")
    assert sum(int(count.replace(",", "")) for count in re.findall(r"\(([\d,]+)\)", sentence)) == len(wrong)


def lists(page: str) -> list[PageElement]:
    return [each for each in outline(page).every("ul") if each.get("class") == "short"]


def sentences_about_lives(simulated: Simulated) -> list[str]:
    lives, ahead_us = (simulated.truth["changes"][name] for name in ("lives", "ahead_us"))
    epochs = {life["router"]: life["epoch"] for life in lives}
    broke = len(lives) - len(epochs)
    last = [life for life in lives if life["epoch"] == epochs[life["router"]]]
    ends_us = {life["router"]: life["wrote_us"] + ahead_us[life["router"]] for life in last}
    behind_us = {router: max(ends_us.values()) - end_us for router, end_us in ends_us.items()}
    return [f"{broke:,} lives of routers broke off without a last record: a crash or a kill."] + [
        f"The log of {router} ends {us / 1e6:,.0f} s before the last one: {NEVER_BACK}."
        for router, us in behind_us.items()
        if us > BEHIND_US
    ]


def test_plots(page: str, simulated: Simulated) -> None:
    expected = {
        "messages in, per second": over_time(simulated, "messages_in"),
        "bytes written per second, control included": over_time(simulated, "bytes_out"),
        "time from source to router, by number of links": lengths(simulated),
        "time a statement took to reach all routers": spread(simulated),
        "messages that satisfy each filter, the widest first": selectivity(simulated),
    }
    drawings = [each for each in outline(page).every("svg") if each.get("role") == "img"][1:]
    drawn = dict(map(read_back, drawings))
    assert drawn.keys() == expected.keys()
    for title, lines in expected.items():
        assert drawn[title].keys() == lines.keys(), title
        for label, points in lines.items():
            assert drawn[title][label] == near(points, lines), (title, label)


def test_marks(page: str, simulated: Simulated) -> None:
    """Each fault stands in some mark of each chart over time, within a pixel or so of its time."""
    ahead_us = reference_ahead_us(simulated)
    downs = [
        ((at_us + ahead_us) / 1e6, f"link {' - '.join(sorted((router, other)))} down")
        for at_us, router, what, other in simulated.truth["changes"]["noticed"]
        if what == "link down"
    ]
    drawing = next(
        each for each in outline(page).every("svg") if each.get("role") and "rates" in each["aria-labelledby"]
    )
    x = axis_of(drawing, "x")
    marks = [(x[0] + x[1] * at(each), each.children[0].text) for each in drawing.every("g")]
    length_s = x[1] * WIDTH
    assert downs
    for at_s, words in downs:
        assert any(abs(mark_s - at_s) < 0.02 * length_s and words in told for mark_s, told in marks), (at_s, words)


def at(mark: PageElement) -> float:
    (found,) = re.findall(r"^M([\d.]+) ", next(mark.every("path"))["d"])
    return float(found)


def near(points: Points, lines: dict[str, Points]) -> list[Any]:
    """As near as a tenth of a pixel shows."""
    each = [point for points in lines.values() for point in points]
    across, up = ([point[axis] for point in each] for axis in (0, 1))
    slack = ((max(across) - min(across)) / 2_000, max(up) / 2_000)
    return [tuple(pytest.approx(value, abs=slack[axis]) for axis, value in enumerate(point)) for point in points]


def over_time(simulated: Simulated, what: str) -> dict[str, Points]:
    bucket, busy = bucket_s(simulated), Counter[str]()
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for one in counted(simulated):
        counts[one.router][one.second // bucket * bucket] += one.count if one.what == what else 0
        busy[one.router] += one.count if one.what == "messages_in" else 0
    seconds = [second for each in counts.values() for second in each]
    moments = range(min(seconds), max(seconds) + 1, bucket)
    busiest = sorted(busy, key=lambda router: (-busy[router], router))
    return {router: [(float(second), counts[router][second] / bucket) for second in moments] for router in busiest}


def lengths(simulated: Simulated) -> dict[str, Points]:
    ways = {int(hop): percentiles(took) for hop, took in simulated.truth["messages"]["way_us"].items()}
    return {
        label: [(hop, ways[hop][place]) for hop in sorted(ways)] for place, label in enumerate(("p50", "p90", "p99"), 1)
    }


def spread(simulated: Simulated) -> dict[str, Points]:
    told = {key: each for key, each in simulated.truth["control"]["statements"].items() if each["heard_us"]}
    ahead_us = reference_ahead_us(simulated)
    lines: dict[str, Points] = {"link states": [], "advertisements": []}
    for key, each in sorted(
        told.items(), key=lambda one: (one[1]["from_us"], one[0].split()[1], int(one[0].split()[3]))
    ):
        label = "link states" if key.startswith("LSA") else "advertisements"
        lines[label].append(((each["from_us"] + ahead_us) / 1e6, each["heard_us"] - each["from_us"]))
    return lines


def selectivity(simulated: Simulated) -> dict[str, Points]:
    found = sorted(matches(simulated).values(), reverse=True)
    return {"matches": [(rank, messages) for rank, messages in enumerate(found, 1)]}


def read_back(svg: PageElement) -> tuple[str, dict[str, Points]]:
    """The title, and the points of each line, as the ticks of the axes say."""
    x, y = axis_of(svg, "x"), axis_of(svg, "y")
    curves = {
        next(line.every("title")).text: [tuple(map(float, point.split(","))) for point in line["points"].split()]
        for line in svg.every("polyline")
    }
    title = svg.children[0].text
    return title, {label: [(x[0] + x[1] * a, y[0] + y[1] * b) for a, b in curve] for label, curve in curves.items()}


def axis_of(svg: PageElement, name: str) -> tuple[float, float]:
    """Value where nothing is, and what each pixel adds."""
    ticks = [
        (float(re.split("[MVH ]", line["d"])[1 if name == "x" else 2]), float(line[f"data-{name}"]))
        for line in svg.every("path")
        if line.get(f"data-{name}")
    ]
    (low, least), (high, most) = min(ticks), max(ticks)
    each = (most - least) / (high - low)
    return least - each * low, each
