"""The page says what the tables say, and what is wrong with the logs; its plots are whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from tamis.analysis.page.remarks import remarks, undelivered
from tamis.analysis.page.report import page, read
from tamis.analysis.page.svg import Axis
from tamis.analysis.page.table_view import OPEN_ROWS_MAX, heading, shown
from tests.analysis.page_outline import PageElement, outline
from tests.analysis.sample_tables import ALL, DELIVERY, LOGS, ODD, START_US, TRAFFIC, Rows, life, lines

WHOLE = LOGS | {"logs/lives": [life("a", "stopped", 120)]}


@pytest.mark.slow
def test_records_that_lie_beside_the_answers_are_no_table(tmp_path: Path) -> None:
    for folder in ("traffic/by_link", ".records/messages"):
        (tmp_path / folder).mkdir(parents=True)
        pq.write_table(pa.table({"router": ["a"]}), tmp_path / folder / "part-0.parquet")
    assert read(tmp_path) == {"traffic/by_link": [{"router": "a"}]}


def test_nothing_is_said_of_logs_that_are_whole() -> None:
    assert remarks(WHOLE) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"logs/lines": [lines(lines=0)]}, "No records found"),
        ({"logs/lines": [lines(broken=2)]}, "2 of 100 lines of messages are no valid records"),
        ({"logs/lines": [lines(newer=7)]}, "7 lines of messages have a newer version"),
        ({"logs/holes": [{"records": 5}, {"records": 2}]}, "7 records are missing in 2 holes"),
        ({"logs/lives": [life("a", "broke off", 9), life("a", "open", 600)]}, "1 life of a router broke off"),
        ({"logs/lives": [life("a", "open", 600), life("b", "open", 100)]}, "The log of b ends 500 s before"),
        (
            {"logs/clocks": [{"router": each, "reference": each, "error_us": None} for each in "ab"]},
            "The clocks of a, b were not compared",
        ),
    ],
)
def test_what_the_logs_lack_is_said(change: dict[str, list[dict[str, Any]]], words: str) -> None:
    (found,) = remarks(WHOLE | change)
    assert words in found


def test_deliveries_and_vain_frames_are_counted() -> None:
    first, vain = remarks(WHOLE | DELIVERY)
    assert first == "Of 100 deliveries that the subscriptions require, 90 are right; 2 missing, 0 duplicate, 1 stray."
    assert "10 of 40 frames between routers (25.0%)" in vain


def test_what_was_not_delivered_is_said_with_the_reason() -> None:
    assert list(undelivered(WHOLE | DELIVERY | TRAFFIC)) == [
        f"2 are missing: {ODD} at a (2).",
        f"3 were dropped, as the counters of a router show: queue full at a towards {ODD} (3).",
        "1 were delivered without a matching subscription.",
        "4 cannot be decided: the router was unreachable (4).",
    ]
    assert list(undelivered(WHOLE | {"delivery/counts": DELIVERY["delivery/counts"][:1]})) == []


def test_it_comes_first_on_the_page() -> None:
    written = page(ALL)
    places = [
        written.index(words) for words in ("2 are missing", "Faults, equal ones together", "messages in, per second")
    ]
    assert places == sorted(places)
    assert [f"{next(tile.every('strong')).text}{tile.texts[0]}" for tile in tiles(written)] == [
        *("90 delivered", "2 missing", "0 duplicate", "1 stray", "3 dropped", "4 undecided")
    ]


def tiles(written: str) -> list[PageElement]:
    (tiles,) = (each for each in outline(written).every("ul") if each.get("class") == "tiles")
    return tiles.children


def test_the_head_says_which_network_and_when() -> None:
    (facts,) = outline(page(ALL)).every("dl")
    told = dict(zip((each.text for each in facts.every("dt")), (each.text for each in facts.every("dd")), strict=True))
    assert told["network"] == f"2 routers: {ODD}, a"
    assert told["time"] == "2023-11-14 22:13:20 to 22:15:20 UTC (2 min)"
    assert told["published"] == "12.3k messages recorded, 103 a second"


def test_the_network_is_drawn_with_its_traffic() -> None:
    network = next(outline(page(ALL)).every("svg"))
    assert [each.text for each in network.every("circle")] == ["", ""]
    assert network.children[1].text == (
        f"{ODD} to a 60 messages (0.5/s), 99 kB; a to {ODD} 240 messages (2/s), 99 kB; went down once."
    )
    assert [each["class"] for each in network.every("path")] == ["link", "was-down"]
    assert [each["class"] for each in network.every("circle")] == ["router broke", "router"]
    assert "2.5/s" in [each.text for each in network.every("text")]


def test_without_traffic_links_are_those_that_messages_crossed() -> None:
    network = next(outline(page(LOGS | DELIVERY)).every("svg"))
    assert f"{ODD} to a 40 messages" in network.children[1].text
    assert "<svg" not in page(LOGS)


def test_plots_are_svg_and_names_are_escaped() -> None:
    written = page(ALL)
    drawings = re.findall(r"<svg.*?</svg>", written, re.DOTALL)
    for drawing in drawings:
        assert ET.fromstring(drawing).tag.endswith("svg")  # noqa: S314 - our own text
    assert ODD not in written
    assert "<i>" not in written
    titles = [each.children[0].text for each in outline(written).every("svg") if each.get("role")]
    assert titles[1:] == [
        "messages in, per second",
        "bytes written per second, control included",
        "time from source to router, by number of links",
        "mean time to match a message, by filters in the table",
        "time a statement took to reach all routers",
        "messages that satisfy each filter, the widest first",
    ]


def rates() -> PageElement:
    return next(
        each for each in outline(page(ALL)).every("svg") if each.get("aria-labelledby").startswith("rates-mess")
    )


def test_rates_are_per_second_over_absolute_time() -> None:
    drawn = rates()
    words = [each.text for each in drawn.every("text")]
    assert [word for word in words if word.startswith("22:")] == ["22:13:30", "22:14:00", "22:14:30", "22:15:00"]
    assert "2023-11-14, UTC" in words
    assert drawn.children[1].text.startswith(f"a at most 55, {ODD} at most 55.")
    (first, _) = (line["points"].split() for line in drawn.every("polyline"))
    heights = [float(point.partition(",")[2]) for point in first]
    assert len(heights) == 12
    assert heights[4] == heights[0], "a span without a record had no traffic"


def test_faults_are_marked() -> None:
    told = [each.children[0].text for each in rates().every("g")]
    assert told == [f"22:14:30 link {ODD} - a down, {ODD} broke off"]
    calm = ALL | {"logs/changes": [], "logs/lives": [life("a", "stopped", 120)]}
    assert 'class="mark"' not in page(calm)


def test_long_tables_are_folded_but_for_that_of_faults() -> None:
    rows: Rows = [{"router": f"r{number}", "messages_in": number} for number in range(OPEN_ROWS_MAX)]
    tables = LOGS | DELIVERY | {"traffic/by_router": rows, "traffic/over_time": []}
    assert "<details>" not in page(tables)
    tables["traffic/by_router"] = [*rows, {"router": "more", "messages_in": 1}]
    assert page(tables).count("<details><summary><h3>By router</h3>") == 1


def test_equal_faults_are_one_row_with_their_number() -> None:
    one = DELIVERY["delivery/faults"][0]
    many = [one | {"number": number, "at_us": START_US + number * 1_000_000} for number in range(220)]
    other = one | {"client": "desk"}
    (table,) = (
        each
        for each in outline(page(LOGS | DELIVERY | {"delivery/faults": [*many, other]})).every("table")
        if each["data-table"] == "delivery/faults"
    )
    head, *rows = table.every("tr")
    columns = [each["data-column"] for each in head.children]
    cells = [dict(zip(columns, (each.text for each in row.children), strict=True)) for row in rows]
    assert [(row["verdict"], row["cases"], row["client"]) for row in cells] == [
        ("missing", "220", ODD),
        ("missing", "1", "desk"),
    ]
    assert (cells[0]["from_us"], cells[0]["to_us"]) == ("2023-11-14 22:13:20.000", "2023-11-14 22:16:59.000")
    assert next(rows[0].children[columns.index("message")].every("code")).text == "0f-0"


def test_the_head_has_the_name_of_the_network() -> None:
    written = outline(page(ALL, "plant <1>"))
    assert (
        next(written.every("h1")).text
        == next(written.every("title")).text
        == "plant <1>: analysis of the routers' logs"
    )


def test_filters_have_whole_ticks() -> None:
    drawn = next(each for each in outline(page(ALL)).every("svg") if each.get("aria-labelledby").startswith("selec"))
    ticks = [float(each["data-x"]) for each in drawn.every("path") if each.get("data-x")]
    assert len(ticks) > 1
    assert all(tick == int(tick) for tick in ticks)


def test_what_is_counted_has_no_ticks_between() -> None:
    assert Axis.over("links", [1, 2, 3], log=False).ticks == [0, 1, 2, 3]
    assert Axis.over("ms", [0.0, 3.0], log=False).ticks == [0, 0.5, 1, 1.5, 2, 2.5, 3]


@pytest.mark.parametrize(
    ("column", "value", "text", "exact"),
    [
        ("at_us", START_US, "2023-11-14 22:13:20.000", ""),
        ("messages", 1_234_567, "1,234,567", ""),
        ("epoch", 1_700_000_000_005, "1700000000005", ""),
        ("share", 0.123456, "12.3%", "0.123456"),
        ("took_us", 3_609_673, "3.61 s", "3,609,673 µs"),
        ("match_ns_mean", 12_428.5, "12.4 µs", "12,428.5 ns"),
        ("bytes_out", 43_537, "43.5 kB", "43,537 B"),
        ("seen_at", ["a", "b"], "a, b", ""),
        ("whats", ["b link up", "a link up", "a life"], "link up: a, b; life: a", ""),
        ("form", '[["price", "<", 5]]', "price < 5", ""),
        ("attributes", '{"price": 5}', "price=5", ""),
        ("cause", None, "", ""),
    ],
)
def test_cells_are_read_by_people(column: str, value: object, text: str, exact: str) -> None:
    assert shown(column, value) == (text, exact)


def test_headings_have_no_units() -> None:
    assert [heading(each) for each in ("p50_us", "match_ns_mean", "from_us", "whats", "in_vain")] == [
        *("p50", "match mean", "from", "what changed", "in vain")
    ]
