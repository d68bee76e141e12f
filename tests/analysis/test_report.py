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

from tamis.analysis.remarks import remarks
from tamis.analysis.report import OPEN_ROWS_MAX, page, read, shown
from tamis.analysis.svg import Axis

START_US = 1_700_000_000_000_000


def _life(router: str, end: str, last_s: int) -> dict[str, Any]:
    return {"router": router, "epoch": 1, "first_us": START_US, "last_us": START_US + last_s * 1_000_000, "end": end}


def _lines(**counts: int) -> dict[str, Any]:
    return {"family": "messages", "lines": 100, "broken": 0, "newer": 0, "versions": [1]} | counts


WHOLE: dict[str, list[dict[str, Any]]] = {
    "logs/lines": [_lines()],
    "logs/lives": [_life("a", "stopped", 600)],
    "logs/holes": [],
    "logs/clocks": [{"router": "a", "reference": "a", "offset_us": 0, "error_us": 0}],
}
TRAFFIC: dict[str, list[dict[str, Any]]] = {
    "traffic/by_router": [{"router": "<a>", "messages_in": 30}],
    "traffic/over_time": [
        {"router": "<a>", "from_us": START_US + second * 1_000_000, "messages_in": 10 * second, "bytes_out": 7}
        for second in range(3)
    ],
}


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
        ({"logs/lines": [_lines(lines=0)]}, "There were no records"),
        ({"logs/lines": [_lines(broken=2)]}, "2 of 100 lines of messages are no records"),
        ({"logs/lines": [_lines(newer=7)]}, "7 lines of messages are of a newer version"),
        ({"logs/holes": [{"records": 5}, {"records": 2}]}, "7 records are missing in 2 holes"),
        ({"logs/lives": [_life("a", "broke off", 9), _life("a", "open", 600)]}, "1 life of a router broke off"),
        ({"logs/lives": [_life("a", "open", 600), _life("b", "open", 100)]}, "The log of b ends 500 s before"),
        (
            {"logs/clocks": [{"router": each, "reference": each, "error_us": None} for each in "ab"]},
            "Nobody compared clocks with a, b",
        ),
    ],
)
def test_what_the_logs_lack_is_said(change: dict[str, list[dict[str, Any]]], words: str) -> None:
    (found,) = remarks(WHOLE | change)
    assert words in found


def test_faults_and_vain_frames_are_counted() -> None:
    counts = [("delivered", 90), ("missing", 2), ("stray", 1), ("dropped", 3), ("undecided", 4)]
    tables = WHOLE | {
        "delivery/counts": [{"verdict": verdict, "deliveries": count} for verdict, count in counts],
        "delivery/in_vain": [{"frames": 40, "in_vain": 10}],
    }
    first, dropped, undecided, vain = remarks(tables)
    assert first.endswith("90 are right; 2 missing, 0 duplicate, 1 stray.")
    assert (dropped[0], undecided[0]) == ("3", "4")
    assert "10 of 40 frames between routers (25.0%)" in vain


def test_plots_are_svg_and_names_are_escaped() -> None:
    written = page(WHOLE | TRAFFIC)
    drawings = re.findall(r"<svg.*?</svg>", written, re.DOTALL)
    assert len(drawings) == 2
    for drawing in drawings:
        assert ET.fromstring(drawing).tag.endswith("svg")  # noqa: S314 - our own text
    assert "<a>" not in written
    assert "&lt;a&gt;" in written


def test_long_tables_are_folded() -> None:
    rows = [{"router": f"r{number}", "messages_in": number} for number in range(OPEN_ROWS_MAX)]
    tables: dict[str, list[dict[str, Any]]] = WHOLE | {"traffic/by_router": rows, "traffic/over_time": []}
    assert "<details>" not in page(tables)
    tables["traffic/by_router"] = [*rows, {"router": "more", "messages_in": 1}]
    assert page(tables).count("<details><summary><h3>by router</h3> 25 rows</summary>") == 1


def test_what_is_counted_has_no_ticks_between() -> None:
    assert Axis.over("links", [1, 2, 3], log=False).ticks == [0, 1, 2, 3]
    assert Axis.over("ms", [0.0, 3.0], log=False).ticks == [0, 0.5, 1, 1.5, 2, 2.5, 3]


def test_cells_are_read_by_people() -> None:
    assert shown("at_us", START_US) == "2023-11-14 22:13:20.000"
    assert shown("messages", 1_234_567) == "1,234,567"
    assert shown("epoch", 1_700_000_000_005) == "1700000000005"
    assert shown("share", 0.123456) == "0.1235"
    assert shown("seen_at", ["a", "b"]) == "a, b"
    assert shown("cause", None) == ""
