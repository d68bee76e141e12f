"""The files of records: rotation, compression, the bound, and what a crash leaves."""

from __future__ import annotations

import errno
import gzip
import os

import pytest

from tamis.router.records.converting import compress
from tamis.router.records.files import Bounds, RecordFiles, left_plain, record_files, sweep

LINE = b'{"n":%03d,"pad":"' + b"x" * 80 + b'"}\n'


def lines(first: int, count: int) -> bytes:
    return b"".join(LINE % number for number in range(first, first + count))


def files_in(folder, bounds, closed=compress, epoch=7):
    return RecordFiles(folder, epoch, bounds, closed)


def content(folder, family="messages") -> bytes:
    found = sorted((file for file in record_files(folder) if file.family == family), key=lambda file: file.number)
    data = [(file.path.read_bytes(), not file.is_plain) for file in found]
    return b"".join(gzip.decompress(some) if is_compressed else some for some, is_compressed in data)


ROOMY = Bounds(10_000, 60.0, 1_000_000)


def test_a_file_is_closed_at_its_size_between_two_lines(tmp_path):
    files = files_in(tmp_path, Bounds(1_000, 60.0, 1_000_000))
    files.write("messages", lines(0, 25), 0.0)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "messages-7-000000.jsonl.gz",
        "messages-7-000001.jsonl.gz",
        "messages-7-000002.jsonl",
    ]
    assert content(tmp_path) == lines(0, 25)
    assert all(gzip.decompress(path.read_bytes()).endswith(b"}\n") for path in tmp_path.glob("*.gz"))
    files.close()


def test_a_line_longer_than_a_file_has_one_of_its_own(tmp_path):
    files = files_in(tmp_path, Bounds(1_000, 60.0, 1_000_000))
    long = b'{"pad":"' + b"y" * 3_000 + b'"}\n'
    for some in (lines(0, 2), long, lines(2, 1)):
        files.write("messages", some, 0.0)
    files.close()
    assert content(tmp_path) == lines(0, 2) + long + lines(2, 1)
    assert {file.number for file in record_files(tmp_path)} == {0, 1, 2}


def test_a_file_is_closed_at_its_age_even_if_nothing_comes(tmp_path):
    files = files_in(tmp_path, ROOMY)
    files.write("events", lines(0, 1), 100.0)
    files.age(159.9)
    assert [path.name for path in tmp_path.iterdir()] == ["events-7-000000.jsonl"]
    files.age(160.0)
    assert [path.name for path in tmp_path.iterdir()] == ["events-7-000000.jsonl.gz"]
    files.write("events", lines(1, 1), 161.0)
    assert content(tmp_path, "events") == lines(0, 2)
    files.close()


def test_the_oldest_go_first_and_the_bound_holds_at_every_moment(tmp_path):
    bounds = Bounds(1_000, 60.0, 5_000)
    files = files_in(tmp_path, bounds, closed=lambda _: None)
    (tmp_path / "notes.txt").write_bytes(bytes(9_000))
    clock_ns = 10**18
    for number in range(100):
        files.write("messages" if number % 3 else "events", lines(number, 1), 0.0)
        for file in record_files(tmp_path):  # a clock coarser than the test would make all of one age
            if file.changed_ns > clock_ns:
                clock_ns += 1_000_000
                os.utime(file.path, ns=(clock_ns, clock_ns))
        assert sum(file.size for file in record_files(tmp_path)) <= bounds.stored_bytes_max
    files.close()
    kept = content(tmp_path)
    assert kept
    assert lines(99 - 99 % 3, 1) in content(tmp_path, "events")
    assert LINE % 98 in kept
    assert LINE % 1 not in kept
    assert (tmp_path / "notes.txt").stat().st_size == 9_000


def test_what_is_there_on_start_is_left_intact(tmp_path):
    half = lines(0, 1) + b'{"n":1,"pa'
    (tmp_path / "messages-7-000003.jsonl").write_bytes(half)
    (tmp_path / "messages-6-000009.jsonl").write_bytes(half)
    (tmp_path / "messages-6-000008.jsonl.gz.part").write_bytes(b"half of a compression")
    sweep(tmp_path)
    files = files_in(tmp_path, ROOMY)
    files.write("messages", lines(5, 1), 0.0)
    files.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "messages-6-000009.jsonl",
        "messages-7-000003.jsonl",
        "messages-7-000004.jsonl",
    ]
    assert (tmp_path / "messages-7-000003.jsonl").read_bytes() == half
    assert (tmp_path / "messages-6-000009.jsonl").read_bytes() == half


def test_what_other_lives_left_plain_is_found_the_oldest_first(tmp_path):
    names = ["messages-5-000007.jsonl", "events-5-000000.jsonl", "messages-6-000000.jsonl.gz", "events-7-000000.jsonl"]
    for age, name in enumerate(names):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(10 - age, 10 - age))
    assert [path.name for path in left_plain(tmp_path, 7)] == ["events-5-000000.jsonl", "messages-5-000007.jsonl"]


def test_a_full_disk_leaves_whole_lines(tmp_path, monkeypatch):
    files = files_in(tmp_path, ROOMY)
    files.write("messages", lines(0, 2), 0.0)
    write = os.write
    room = [100]

    def write_some(descriptor: int, data) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        size, room[0] = write(descriptor, data[: room[0]]), 0
        return size

    monkeypatch.setattr(os, "write", write_some)
    with pytest.raises(OSError, match="No space left"):
        files.write("messages", lines(2, 3), 0.0)
    monkeypatch.undo()
    files.write("messages", lines(5, 1), 0.0)
    files.close()
    assert content(tmp_path) == lines(0, 2) + lines(5, 1)


def test_compression_that_fails_leaves_the_file(tmp_path, monkeypatch):
    path = tmp_path / "messages-7-000000.jsonl"
    path.write_bytes(lines(0, 3))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        compress(path)
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == lines(0, 3)


def test_a_file_that_went_before_it_was_compressed_stays_gone(tmp_path):
    compress(tmp_path / "messages-7-000000.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_compressed_file_is_as_old_as_its_last_line(tmp_path):
    path = tmp_path / "events-7-000000.jsonl"
    path.write_bytes(lines(0, 3))
    os.utime(path, ns=(5_000, 5_000))
    compress(path)
    [file] = record_files(tmp_path)
    assert (file.changed_ns, not file.is_plain, file.epoch, file.number) == (5_000, True, 7, 0)
