"""Records are read in order of time, whole or compressed, while they are written and after a crash."""

from __future__ import annotations

import gzip
import json

from tamis.router.records.converting import compress
from tamis.router.records.files import Bounds, RecordFiles
from tamis.router.records.lines import RecordLines
from tamis.router.records.reading import Reader, router_folders


def put(folder, name: str, *times_us: int, end: bytes = b"") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = b"".join(json.dumps({"t_us": t_us, "file": name}).encode() + b"\n" for t_us in times_us) + end
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


def times(lines) -> list[int]:
    return [line.t_us for line in lines]


def test_all_streams_come_as_one_in_order_of_time(tmp_path):
    put(tmp_path / "a", "events-5-000000.jsonl.gz", 1, 4)
    put(tmp_path / "a", "events-5-000001.jsonl", 6)
    put(tmp_path / "a", "messages-5-000000.jsonl", 2, 5)
    put(tmp_path / "b", "events-6-000000.jsonl", 3, 7)
    (tmp_path / "notes").mkdir()
    folders = router_folders(tmp_path)
    assert [folder.name for folder in folders] == ["a", "b"]
    assert times(Reader.of(folders).read()) == [1, 2, 3, 4, 5, 6, 7]
    assert times(Reader.of(folders, ["messages"]).read()) == [2, 5]
    assert router_folders(tmp_path / "a") == [tmp_path / "a"]


def test_lives_follow_each_other_and_the_compressed_of_two_is_read(tmp_path):
    put(tmp_path, "events-10-000000.jsonl", 3)
    put(tmp_path, "events-9-000000.jsonl", 1)
    put(tmp_path, "events-9-000001.jsonl", 2)
    put(tmp_path, "events-9-000001.jsonl.gz", 2)
    put(tmp_path, "events-9-000002.jsonl.gz.part", 99)
    assert times(Reader.of([tmp_path]).read()) == [1, 2, 3]


def test_what_a_crash_left_is_passed_over_and_counted(tmp_path):
    put(tmp_path, "events-5-000000.jsonl", 1, 2, end=b'{"t_us": 3, "ha')
    put(tmp_path, "events-6-000000.jsonl", 4, end=b"no json\n[]\n")
    put(tmp_path, "events-7-000000.jsonl.gz", 5)
    cut = (tmp_path / "events-7-000000.jsonl.gz").read_bytes()[:-4]
    (tmp_path / "events-7-000000.jsonl.gz").write_bytes(cut)
    reader = Reader.of([tmp_path])
    assert times(reader.read()) == [1, 2, 4, 5]
    assert reader.broken == 3


def test_reading_goes_on_where_it_stopped_through_rotation_and_compression(tmp_path):
    lines, waiting = RecordLines("a", 5), []
    files = RecordFiles(tmp_path, 5, Bounds(300, 60.0, 10**9), waiting.append)
    reader = Reader.of([tmp_path])
    seen: list[int] = []
    for number in range(40):
        files.write("events", lines.line("life", number, lines.number("events"), {"what": "ready"}), 0.0)
        if number % 7 == 0:
            seen += times(reader.read())
        if number % 5 == 0 and waiting:
            compress(waiting.pop(0))
    files.close()
    assert seen == list(range(36))
    assert times(reader.read()) == [36, 37, 38, 39]
    assert times(reader.read()) == []


def test_a_half_written_line_is_read_when_it_is_whole(tmp_path):
    put(tmp_path, "events-5-000000.jsonl", 1, end=b'{"t_us":')
    reader = Reader.of([tmp_path])
    assert times(reader.read()) == [1]
    with (tmp_path / "events-5-000000.jsonl").open("ab") as stream:
        stream.write(b" 2}\n")
    assert times(reader.read()) == [2]


def test_the_last_lines_of_all_streams_and_what_follows(tmp_path):
    put(tmp_path, "events-5-000000.jsonl.gz", 1, 2, 3)
    put(tmp_path, "events-5-000001.jsonl", 6)
    put(tmp_path, "messages-5-000000.jsonl", 4, 5)
    reader = Reader.of([tmp_path])
    assert times(reader.last(4)) == [3, 4, 5, 6]
    put(tmp_path, "events-5-000001.jsonl", 6, 7)
    assert times(reader.read()) == [7]
