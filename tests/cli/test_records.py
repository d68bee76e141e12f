"""`tamis records`: records for people and for programs."""

from __future__ import annotations

import json
import sys

import pytest

from tamis.cli.main import main
from tamis.cli.operate.records import shown
from tamis.router.records.lines import RecordLines

BASE_US = 1_800_000_000_000_000  # 2027-01-15T08:00Z


def link(t_us: int, router: str, **more: object) -> bytes:
    return RecordLines(router, 5).line("link", BASE_US + t_us, t_us, {"neighbour": "b", "what": "up"} | more)


@pytest.fixture
def folder(tmp_path):
    for router, times in (("a", (1, 3)), ("c", (2, 4))):
        (tmp_path / "records" / router).mkdir(parents=True)
        file = tmp_path / "records" / router / "events-5-000000.jsonl"
        file.write_bytes(b"".join(link(t_us, router) for t_us in times))
    message = RecordLines("a", 5).line(
        "message", BASE_US + 5, 0, {"origin": "07", "to_connections": [1, 2], "dropped": []}
    )
    (tmp_path / "records" / "a" / "messages-5-000000.jsonl").write_bytes(message)
    return tmp_path / "records"


def told(capsys, *arguments: str) -> list[str]:
    assert main(["records", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_all_routers_in_order_of_time(folder, capsys):
    lines = told(capsys, "cat", str(folder))
    assert lines[:2] == [
        "2027-01-15T08:00:00.000001Z a link neighbour=b what=up",
        "2027-01-15T08:00:00.000002Z c link neighbour=b what=up",
    ]
    assert lines[4] == "2027-01-15T08:00:00.000005Z a message origin=07 to_connections=1,2"


def test_the_lines_as_they_are(folder, capsys):
    lines = told(capsys, "cat", str(folder), "--json", "--router", "c")
    assert [line.encode() + b"\n" for line in lines] == [link(2, "c"), link(4, "c")]


@pytest.mark.parametrize(
    ("options", "times"),
    [
        (["--kind", "message"], [5]),
        (["--kind", "link", "--router", "a"], [1, 3]),
        (["--since", "2027-01-15T08:00:00.000003+00:00"], [3, 4, 5]),
    ],
)
@pytest.mark.parametrize("command", ["cat", "tail"])
def test_some_of_them(folder, capsys, command, options, times):
    lines = told(capsys, command, str(folder), "--json", *options)
    assert [json.loads(line)["t_us"] - BASE_US for line in lines] == times


@pytest.mark.parametrize("command", ["cat", "tail"])
def test_a_router_that_has_no_records_is_named_with_those_that_have(folder, capsys, command):
    assert main(["records", command, str(folder), "--router", "nobody"]) == 2
    assert "--router nobody: no records of this router; records exist of a, c" in capsys.readouterr().err


def test_a_topology_with_a_mistake_is_refused_with_its_line(folder, capsys):
    file = folder.parent / "net.yaml"
    file.write_text("records: {}\nrouters: {a: {nieghbours: 'h:1'}}\n")
    assert main(["records", "cat", str(file)]) == 1
    assert capsys.readouterr().err.startswith(f"Error: {file}:2:15: routers.a.nieghbours: unknown key")


def test_the_last_ones(folder, capsys):
    lines = told(capsys, "tail", str(folder), "-n", "2", "--json")
    assert [json.loads(line)["t_us"] - BASE_US for line in lines] == [4, 5]


def test_a_topology_file_says_where_records_are(folder, capsys):
    file = folder.parent / "net.yaml"
    file.write_text("records: {}\nrouters: {a: {neighbours: 'h:1'}, c: {}}\nlinks: [[a, c]]\n")
    assert len(told(capsys, "cat", str(file))) == 5
    file.write_text("routers: {a: {}}\n")
    assert main(["records", "cat", str(file)]) == 1
    assert "no router writes records" in capsys.readouterr().err


def test_half_a_line_is_told_on_stderr(folder, capsys):
    with (folder / "a" / "events-5-000000.jsonl").open("ab") as stream:
        stream.write(b"garbage\nhalf a li")
    assert main(["records", "cat", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 5
    assert err == "1 line or file could not be read\n"


def test_what_comes_is_followed(folder, capsys, monkeypatch):
    turns = []

    def sleep(_: float) -> None:
        turns.append(None)
        if len(turns) == 1:
            with (folder / "a" / "events-5-000000.jsonl").open("ab") as stream:
                stream.write(link(9, "a"))
        elif len(turns) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("tamis.cli.operate.records.time.sleep", sleep)
    assert main(["records", "tail", str(folder), "-n", "1", "-f", "--json"]) == 130
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["t_us"] - BASE_US for line in lines] == [5, 9]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["cat", "nowhere"], 2, "neither a folder of records nor a topology file"),
        (["cat", "."], 1, "the folder has no records"),
        (["cat", ".", "--since", "yesterday"], 1, "no records"),
        (["cat", "--kind", "nonsense"], 2, "nonsense"),
    ],
)
def test_what_is_refused(arguments, code, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["records", *arguments]) == code
    assert said in capsys.readouterr().err


def test_a_time_that_is_none(folder, capsys):
    assert main(["records", "cat", str(folder), "--since", "yesterday"]) == 2
    assert "neither an age such as 10m" in capsys.readouterr().err


def test_values_for_people():
    record = {
        "t_us": 0,
        "kind": "link",
        "router": "a",
        "reason": "it says: no",
        "dropped": {"queue_full": 3},
        "own": True,
    }
    assert shown(record) == '1970-01-01T00:00:00.000000Z a link reason="it says: no" dropped=queue_full:3 own=true'


def convert(folder, *options: str) -> int:
    return main(["records", "convert", str(folder), *options])


def test_records_are_converted_and_shown_as_before(folder, capsys):
    before = told(capsys, "cat", str(folder), "--json")
    assert convert(folder, "--format", "parquet") == 0
    out, err = capsys.readouterr()
    assert out.startswith("converted 3 files: 5 records, ")
    assert not err
    assert {path.suffix for path in folder.glob("*/*")} == {".parquet"}
    shown_after = told(capsys, "cat", str(folder), "--json")
    assert [json.loads(line) for line in shown_after] == [json.loads(line) for line in before]
    assert convert(folder, "--format", "parquet") == 1
    assert capsys.readouterr().out.endswith("3 files already in format parquet\n")


def test_a_conversion_to_another_folder_leaves_the_first(folder, capsys, tmp_path):
    files = {path: path.read_bytes() for path in folder.glob("*/*")}
    assert convert(folder, "--format", "parquet", "--to", str(tmp_path / "columns"), "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert {path: path.read_bytes() for path in folder.glob("*/*")} == files
    sizes = [path.stat().st_size for path in (tmp_path / "columns").glob("*/*.parquet")]
    assert said == {
        "converted": 3,
        "copied": 0,
        "there": 0,
        "in_use": 0,
        "records": 5,
        "bytes_before": sum(map(len, files.values())),
        "bytes_after": sum(sizes),
        "failed": [],
    }
    assert len(told(capsys, "cat", str(tmp_path / "columns"))) == 5


def test_a_file_that_is_damaged_is_named_and_the_others_are_converted(folder, capsys):
    assert convert(folder, "--format", "parquet") == 0
    file = folder / "a" / "messages-5-000000.parquet"
    file.write_bytes(file.read_bytes()[:-1])
    capsys.readouterr()
    assert convert(folder, "--format", "jsonl") == 1
    out, err = capsys.readouterr()
    assert out.startswith("converted 2 files: 4 records")
    assert err.startswith(f"{file}: it was cut or is damaged: ")
    assert main(["records", "cat", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 4
    assert err.splitlines()[0].startswith(f"{file}: it was cut or is damaged: ")


@pytest.mark.parametrize("place", [".", "inside", ".."])
def test_no_folder_is_made_in_which_records_would_be_found_twice(folder, capsys, place):
    assert convert(folder, "--format", "parquet", "--to", str(folder / place)) == 2
    assert f"allowed is a folder that is not {folder}, not in it and not above it" in capsys.readouterr().err


def test_columns_without_pyarrow_name_the_extra(folder, capsys, monkeypatch):
    assert convert(folder, "--format", "parquet") == 0
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "tamis.protocol.record_columns")
    capsys.readouterr()
    for arguments in (["cat", str(folder)], ["tail", str(folder)], ["convert", str(folder), "--format", "jsonl"]):
        assert main(["records", *arguments]) == 1
        assert "need pyarrow: pip install 'tamis[parquet]'" in capsys.readouterr().err
