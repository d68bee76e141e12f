"""Each line of a log is a typed record or kept as text, whichever parser reads it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from tamis.analysis.records import reading
from tamis.protocol import record_columns
from tamis.protocol.records import COMMON
from tamis.router.records import converting
from tests import record_samples
from tests.protocol import test_record_columns

HEAD: dict[str, Any] = {"v": 1, "t_us": 5, "router": "a", "epoch": 7}
HALF = '{"v":1,"kind":"message","t_us":9,"router":"a","epo'


def parsed(folder: Path, family: str, text: bytes, ending: str = "") -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each folder of the store."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{family}-7-000000.jsonl{ending}"
    file.write_bytes(gzip.compress(text) if ending else text)
    return stored(folder, family, file)


def stored(folder: Path, family: str, file: Path) -> dict[str, list[dict[str, Any]]]:
    store = folder / "store"
    for each in reading.FOLDERS:
        (store / each).mkdir(parents=True)
    reading.parse(str(file), family, str(store), "0")
    found = {
        each: pq.ParquetFile(store / each / "0.parquet") for each in reading.FOLDERS if any((store / each).iterdir())
    }
    return {each: file.read().to_pylist() for each, file in found.items()}


def lines(*records: dict[str, Any] | str) -> bytes:
    texts = (each if isinstance(each, str) else json.dumps(HEAD | each, ensure_ascii=False) for each in records)
    return "".join(f"{text}\n" for text in texts).encode()


def message(n: int, **fields: object) -> dict[str, Any]:
    return {"kind": "message", "n": n, **fields}


def rows_of(folder: Path, *records: dict[str, Any] | str) -> list[dict[str, Any]]:
    rows = parsed(folder, "messages", lines(*records))["messages"]
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def test_a_record_has_its_fields_and_no_other(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, message(0, to_neighbours=["b"], to_connections=[3, 4], attributes="{}", hue="red"))
    assert row == HEAD | {
        "kind": "message",
        "n": 0,
        "to_neighbours": ["b"],
        "to_connections": [3, 4],
        "attributes": "{}",
    }


@pytest.mark.parametrize(
    "wrong",
    [
        HALF,
        "no JSON",
        "[1, 2]",
        '"text"',
        "null",
        json.dumps(HEAD | message(1, hop="x")),
        json.dumps(HEAD | message(1, hop=1.5)),
        json.dumps(HEAD | message(1, hop=True)),
        json.dumps(HEAD | message(1, number=1 << 63)),
        json.dumps(HEAD | message(1, to_connections=["x"])),
        json.dumps(HEAD | message(1)) * 2,
    ],
)
def test_a_line_that_is_no_record_is_kept_as_text(tmp_path: Path, wrong: str) -> None:
    before, found, after = rows_of(tmp_path, message(0, hop=1), wrong, message(2, hop=2))
    assert found == {"corrupt": wrong}
    assert (before["n"], before["hop"], after["n"], after["hop"]) == (0, 1, 2, 2)


def test_both_parsers_read_the_same(tmp_path: Path) -> None:
    """One broken line sends its block to the other parser."""
    records = [
        message(0, hop=-5, bytes=1 << 62),
        message(1, origin="e\u0301\U0001f600\u2028", to_neighbours=[]),
        message(2),
    ]
    quick = rows_of(tmp_path / "quick", *records)
    slow = rows_of(tmp_path / "slow", *records, HALF)
    assert slow == [*quick, {"corrupt": HALF}]
    assert len(quick) == len(records)


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    text = lines(message(0, origin="x")).replace(b'"x"', b'"\xff"') + lines(message(1, origin="y"))
    rows = parsed(tmp_path, "messages", text)["messages"]
    assert [row["origin"] for row in rows] == ["\ufffd", "y"]
    half = lines(message(0, origin="x")).replace(b'"x"', b'"\\ud800"')
    assert [row["origin"] for row in parsed(tmp_path / "half", "messages", half)["messages"]] == ["?"]


def test_events_are_kept_by_kind(tmp_path: Path) -> None:
    found = parsed(
        tmp_path,
        "events",
        lines(
            {"kind": "interface", "n": 0, "messages_in": 3, "dropped": {"queue full": 2, "link down": 1}},
            {"kind": "interface", "n": 1, "messages_in": 4},
            {"kind": "life", "n": 2, "what": "started"},
            {"kind": "yet unknown", "n": 3, "what": 7},
            {"kind": "link", "what": "up"},
            {"kind": "link", "n": 4, "what": "up", "cost": "dear"},
        ),
        ".gz",
    )
    assert [row["n"] for row in found["events"]] == [0, 1, 2, 3, None, 4]
    assert found.keys() == {"events", "tallies", "kinds/interface", "kinds/life", "kinds/link"}
    first, second = found["kinds/interface"]
    assert (dict(first["dropped"]), first["refused"], second["dropped"]) == (
        {"queue full": 2, "link down": 1},
        None,
        None,
    )
    assert [row["what"] for row in found["kinds/life"]] == ["started"]
    (link,) = found["kinds/link"]
    assert (link["n"], link["what"], link["cost"]) == (4, "up", None)


def test_blocks_end_with_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size of a block, also one smaller than a line, and without a last newline."""
    records = [message(number, attributes="x" * (17 * number % 50)) for number in range(40)]
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr(reading, "BLOCK_BYTES", size)
        rows = parsed(tmp_path / str(size), "messages", lines(*records)[:-1], ".gz")["messages"]
        assert [(row["n"], row["attributes"]) for row in rows] == [(each["n"], each["attributes"]) for each in records]


def test_empty_lines_count_for_nothing_and_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    assert [row["n"] for row in rows_of(tmp_path / "lines", "", message(0), "", "  ", message(1), "")] == [0, 1]
    assert parsed(tmp_path / "none", "messages", b"") == {}


def test_a_file_that_has_gone_is_passed_over(tmp_path: Path) -> None:
    reading.parse(str(tmp_path / "messages-7-000000.jsonl"), "messages", str(tmp_path), "0")
    assert list(tmp_path.iterdir()) == []


def test_a_compressed_file_that_was_cut_off_is_named(tmp_path: Path) -> None:
    text = lines(*(message(number, origin=f"{number:x}") for number in range(1000)))
    for folder in reading.FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
    file = tmp_path / "messages-7-000000.jsonl.gz"
    file.write_bytes(gzip.compress(text)[:-100])
    with pytest.raises(OSError, match=file.name):
        reading.parse(str(file), "messages", str(tmp_path), "0")


def test_a_block_is_tallied_by_life_and_version(tmp_path: Path) -> None:
    records = [message(0), message(2, t_us=9), message(3, v=2), {"kind": "message"}, HALF, "null"]
    rows = parsed(tmp_path, "messages", lines(*records))["tallies"]
    found = sorted(rows, key=lambda row: row["v"] or 0)
    of_none = dict.fromkeys(("router", "epoch", "v", "n_max", "n_sum", "first_us", "last_us"))
    of_life = {"family": "messages", "router": "a", "epoch": 7, "v": 1, "first_us": 5}
    assert found == [
        of_none | {"family": "messages", "lines": 2, "broken": 2, "numbered": 0},
        of_life | {"lines": 3, "broken": 1, "numbered": 2, "n_max": 2, "n_sum": 2, "last_us": 9},
        of_life | {"v": 2, "lines": 1, "broken": 0, "numbered": 1, "n_max": 3, "n_sum": 3, "last_us": 5},
    ]


def of_columns(folder: Path, family: str, text: bytes) -> dict[str, list[dict[str, Any]]]:
    """Return what `parsed` returns, of a file of columns with these lines."""
    folder.mkdir(parents=True)
    source = folder / f"{family}-7-000000.jsonl"
    source.write_bytes(text)
    converting.convert(source, source, converting.COLUMNS)
    source.unlink()
    return stored(folder, family, source.with_name(f"{family}-7-000000.parquet"))


def comparable(found: dict[str, list[dict[str, Any]]]) -> dict[str, object]:
    """The rows in no order; tallies are of blocks, and only their sums are equal; of other records than messages only
    the fields of every record are read where messages are."""
    heads = {*(field.name for field in COMMON), "corrupt"}
    for row in found.get("messages", ()):
        if row["kind"] == "kept":
            row.update(dict.fromkeys(row.keys() - heads))
    sums: Counter[tuple[object, ...]] = Counter()
    for row in found.get("tallies", ()):
        life = tuple(row[name] for name in ("family", "router", "epoch", "v"))
        for name in ("lines", "broken", "numbered", "n_sum"):
            sums[(*life, name)] += row[name] or 0
    rows = {folder: sorted(map(repr, rows)) for folder, rows in found.items() if folder != "tallies" and rows}
    return {**rows, "tallies": {key: count for key, count in sums.items() if count}}


@pytest.mark.parametrize("family", ["messages", "events"])
@pytest.mark.parametrize("seed", range(25))
def test_lines_and_columns_are_read_alike(tmp_path: Path, family: str, seed: int) -> None:
    random = Random(f"{family} {seed}")
    texts = record_samples.lines(random, family, random.randrange(60), strange=random.choice((0.0, 0.1)))
    text = b"".join(each + b"\n" for each in texts)
    (tmp_path / "lines").mkdir()
    assert comparable(of_columns(tmp_path / "columns", family, text)) == comparable(
        parsed(tmp_path / "lines", family, text)
    )


def test_a_file_that_begins_with_null_is_read(tmp_path: Path) -> None:
    rows = parsed(tmp_path, "messages", b"null\n" + lines(message(1)))["messages"]
    assert [(row["corrupt"], row["n"]) for row in rows] == [("null", None), (None, 1)]


def test_of_columns_of_a_later_version_the_known_ones_are_read(tmp_path: Path) -> None:
    file = tmp_path / "messages-7-000000.parquet"
    said = test_record_columns.of_a_later_version(file)
    rows = stored(tmp_path, "messages", file)["messages"]
    for row, each in zip(rows, said, strict=True):
        known = {name: value for name, value in row.items() if value is not None}
        assert known == {name: value for name, value in each.items() if name not in ("hue", "zone", "rain")}


def test_columns_of_another_type_are_read_as_the_line_that_they_say(tmp_path: Path) -> None:
    file = tmp_path / "messages-7-000000.parquet"
    table = record_columns.table_of(lines(message(0, hop=1), message(1, hop=2)), "messages")
    pq.write_table(table.set_column(3, "router", pa.array([5, None])), file)
    first, second = stored(tmp_path, "messages", file)["messages"]
    assert json.loads(first["corrupt"]) == HEAD | message(0, hop=1) | {"router": 5}
    assert (second["n"], second["hop"], second["router"], second["corrupt"]) == (1, 2, None, None)


def test_columns_that_were_cut_are_named(tmp_path: Path) -> None:
    of_columns(tmp_path / "logs", "messages", lines(*(message(number) for number in range(100))))
    file = tmp_path / "logs" / "messages-7-000000.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(OSError, match=f"it was cut or is damaged: .*{file.name}"):
        reading.parse(str(file), "messages", str(tmp_path / "logs" / "store"), "0")


def test_a_file_that_was_converted_meanwhile_is_read_in_its_new_form(tmp_path: Path) -> None:
    of_columns(tmp_path / "logs", "messages", lines(message(5)))
    rows = stored(tmp_path / "new", "messages", tmp_path / "logs" / "messages-7-000000.jsonl.gz")["messages"]
    assert [row["n"] for row in rows] == [5]


def test_records_of_stored_messages_are_read_apart_from_those_of_messages(tmp_path: Path) -> None:
    kept = {"kind": "kept", "n": 1, "keep": 3, "what": "given", "position": 2**60, "connection": 4, "deliveries": 2}
    half = '{"v":1,"kind":"kept","router":"a","epoch":7,"t_us":9,"n":'
    found = parsed(tmp_path, "messages", lines(message(0, hop=0), kept, message(2, hop=1), half))
    assert [row["kind"] for row in found["messages"]] == ["message", "kept", "message", None]
    (row,) = found["kinds/kept"]
    assert {name: value for name, value in row.items() if value is not None} == HEAD | kept
    assert found["tallies"][0]["numbered"] == 3
