"""Records divided by message: each in one piece, with all others of its message, and in the chapter that the ranges
say, counted one by one."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import chain, pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.analysis.questions import attributes
from tamis.analysis.records import by_message, pieces, reading
from tamis.analysis.records.by_message import CHAPTER, RECORD, SPANS, PieceDivision, RecordChoice
from tamis.protocol.record_columns import arrow_fields

STORED = pa.schema([*arrow_fields(reading.MESSAGE), (reading.CORRUPT, pa.string())])
HEAD = {"v": 1, "kind": "message", "router": "a", "epoch": 1}
Row = dict[str, Any]


def stored(random: Random, count: int) -> list[Row]:
    """Return records, some without a publisher or number, and lines that are none."""
    rows: list[Row] = []
    for n in range(count):
        row = HEAD | {"n": n, "t_us": n, "origin": random.choice(("x", "y", None)), "bytes": n}
        row["number"] = random.choice((None, random.randrange(-40, 40), random.randrange(2**62)))
        row["dropped"] = random.choice((None, [], [1]))
        row["to_neighbours"] = random.choice((None, [], ["b"]))
        row["refused"] = random.choice((None, "quota"))
        broken = {"corrupt": "{"} if random.random() < 0.1 else None
        rows.append(broken or row | random.choice(({}, {}, {}, {"kind": "kept"}, {"epoch": None})))
    return rows


@pytest.mark.parametrize("seed", range(10))
def test_each_record_is_in_the_piece_of_its_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    random = Random(seed)
    monkeypatch.setattr(by_message, "DIVIDED_ROWS", random.choice((1, 30, 1_000)))
    rows, files = [], []
    for number in range(3):
        rows += (mine := stored(random, random.choice((0, 1, 200))))
        pq.write_table(pa.Table.from_pylist(mine, STORED), tmp_path / f"{number}.parquet", row_group_size=40)
        files.append((str(tmp_path / f"{number}.parquet"), str(tmp_path / f"{number}.arrow")))
    since_us = random.choice((None, 50))
    count = random.choice((1, 2, 7))
    for task in files:
        pieces._divide(PieceDivision(RecordChoice(since_us), count), task)
    found = [by_message.piece([made for _, made in files], count, piece).to_pylist() for piece in range(count)]
    wanted = [
        row
        for row in rows
        if row.get("kind") == "message" and row["epoch"] is not None and (since_us is None or row["t_us"] >= since_us)
    ]
    assert sorted(map(told, chain(*found))) == sorted(map(told, map(seen, wanted)))
    of_message = defaultdict[Any, set[int]](set)
    for piece, mine in enumerate(found):
        for row in mine:
            of_message[row["origin"], row["number"]].add(piece)
    assert all(len(of) == 1 for of in of_message.values())
    if count == 7 and len(of_message) > 50:
        assert min(map(len, found)) > 0, "pieces have about equally many"


def seen(row: Row) -> Row:
    has_dropped = bool(row["dropped"])
    sent = {"is_refused": row["refused"] is not None, "has_dropped": has_dropped}
    sent["is_sent_on"] = has_dropped or bool(row["to_neighbours"])
    return {name: row.get(name) for name in RECORD.names} | sent


def told(row: Row) -> str:
    return json.dumps(row, sort_keys=True)


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from("wxyz"),
        st.tuples(st.none() | st.integers(-9, 9), st.sets(st.integers(-9, 9), max_size=6)),
    ),
    st.lists(
        st.tuples(st.sampled_from(["v", "w", "x", "y", "z", None]), st.none() | st.integers(-10, 10)), max_size=30
    ),
)
def test_chapters_are_those_of_the_ranges(
    known: dict[str, tuple[int | None, set[int]]], ids: list[tuple[str | None, int | None]]
) -> None:
    """A range goes from one edge to the next; each second one is summed by this run."""
    spans: dict[str, list[Row]] = {}
    for origin, (_, edges) in known.items():
        ends = sorted(edges)
        every = pairwise(ends)
        spans[origin] = [{"above": a, "to": b, CHAPTER: 100 + b} for place, (a, b) in enumerate(every) if place % 2]
    table = [{"origin": origin, "end": known[origin][0], "spans": spans[origin]} for origin in known]
    rows = [dict.fromkeys(STORED.names) | HEAD | {"n": 0, "t_us": 0, "origin": o, "number": n} for o, n in ids]
    batch = pa.RecordBatch.from_pylist(rows, STORED)
    found = RecordChoice(spans=pa.Table.from_pylist(table, SPANS)).of(batch).to_pylist()
    wanted = []
    for origin, number in ids:
        end = known.get(origin or "", (None, None))[0]
        is_behind = number is None or end is None or number > end
        of = [each[CHAPTER] for each in spans.get(origin or "", []) if each["above"] < (number or 0) <= each["to"]]
        if (of and number is not None) or is_behind:
            wanted.append((origin, number, of[0] if of and number is not None else None))
    assert [(row["origin"], row["number"], row[CHAPTER]) for row in found] == wanted


values = st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(["2020-01-01", 2**53, 0.5])


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "", "é"]), values, max_size=3), max_size=5), st.booleans())
def test_columns_hold_what_each_text_says(messages: list[dict[str, Any]], is_ascii: bool) -> None:
    texts = [json.dumps(message, ensure_ascii=is_ascii) for message in messages]
    try:
        found = attributes.columns(pa.array(texts, pa.string()))
    except UnicodeEncodeError:
        return  # a half of a pair of code units is in no text of Arrow's
    if found is None:
        return
    columns = {name: column.to_pylist() for name, column in found.items()}
    for row, text in enumerate(texts):
        mine = {name: column[row] for name, column in columns.items() if column[row] is not None}
        said = json.loads(text)
        assert mine == said
        assert {name: isinstance(value, str) for name, value in mine.items()} == {
            name: isinstance(value, str) for name, value in said.items()
        }


@pytest.mark.parametrize(
    "texts",
    [
        ['{"a":1}', '{"a":"x"}'],
        ['{"a":9007199254740993}', '{"a":0.5}'],
        ['{"a":99999999999999999999}'],
        ['{"a":NaN}'],
        ['{"a":1,"a":2}'],
        ['{"a":1}{"a":2}', ""],
        ['{"a":{"b":1}}'],
        ["{broken"],
    ],
)
def test_what_columns_cannot_hold_is_left_to_others(texts: list[str]) -> None:
    assert attributes.columns(pa.array(texts)) is None


def test_usual_texts_are_read_by_column() -> None:
    found = attributes.columns(pa.array(['{"a":1,"b":"2020-01-01"}', '{"a":1.5}', '{"c":true}', "{}"]))
    assert found is not None
    assert {name: column.to_pylist() for name, column in found.items()} == {
        "a": [1.0, 1.5, None, None],
        "b": ["2020-01-01", None, None, None],
        "c": [None, None, True, None],
    }
