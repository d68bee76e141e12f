"""Records in a bucket are read as those in a folder, while requests fail and files go."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("moto")
pytest.importorskip("pyspark")

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import report
from tamis.analysis.records import logs, reading, remote
from tamis.analysis.records.remote import RemoteUnreadable
from tamis.router.records.converting import COLUMNS, convert_folder
from tests.analysis.bucket import Bucket, served
from tests.analysis.conftest import NOTICE_US, Simulated, Tables
from tests.analysis.test_increments import rows_of

HEAD = {"v": 1, "kind": "message", "t_us": 5, "router": "a", "epoch": 7}
NAME = "a/messages-7-000000.jsonl"
pytestmark = pytest.mark.slow


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    with served(monkeypatch.setenv) as found:
        yield found


def lines(count: int, size: int = 40) -> bytes:
    return b"".join(
        json.dumps(HEAD | {"n": number, "origin": f"{number:0{size}}"}).encode() + b"\n" for number in range(count)
    )


def numbers(store: Path, *addresses: str) -> list[int]:
    """Return the numbers of the messages that are stored of these files, in order."""
    for folder in reading.FOLDERS:
        (store / folder).mkdir(parents=True, exist_ok=True)
    for place, address in enumerate(addresses):
        reading.parse(address, "messages", str(store), str(place))
    found: list[int] = []
    for file in sorted((store / "messages").glob("*.parquet")):
        found += pq.ParquetFile(file).read(["n"]).column("n").to_pylist()
    assert not list(store.rglob(".*-*"))  # nothing that is half written remains
    return found


def rows(store: Path) -> list[dict[str, Any]]:
    return [row for file in sorted(store.rglob("*.parquet")) for row in pq.ParquetFile(file).read().to_pylist()]


def test_each_form_is_read_while_requests_are_refused_and_cut(bucket: Bucket, tmp_path: Path) -> None:
    content = lines(50_000)
    (tmp_path / "logs").mkdir()
    here = tmp_path / "logs" / Path(NAME).name
    here.write_bytes(content)
    list(convert_folder(tmp_path / "logs", tmp_path / "columns", COLUMNS))
    bucket.put("a/messages-7-000000.parquet", next((tmp_path / "columns").rglob(f"*{COLUMNS}")).read_bytes())
    bucket.put("b/messages-7-000000.jsonl", content)
    bucket.put("c/messages-7-000000.jsonl.gz", gzip.compress(content))
    bucket.put("c/truth.json", b"{}")
    bucket.put("c/messages-7-000001.jsonl.part", b"half")
    found = remote.log_files(bucket.folder)
    assert [address.removeprefix(bucket.folder) for address in found] == [
        "/a/messages-7-000000.parquet",
        "/b/messages-7-000000.jsonl",
        "/c/messages-7-000000.jsonl.gz",
    ]
    assert remote.are_few(bucket.folder)
    numbers(tmp_path / "here", str(here))
    wanted = rows(tmp_path / "here")
    bucket.refuses, bucket.cuts = 4, 5
    for place, address in enumerate(found):
        before = bucket.requests
        numbers(tmp_path / str(place), address)
        assert rows(tmp_path / str(place)) == wanted, address
        assert bucket.requests > before


def test_a_large_file_comes_in_bounded_parts(bucket: Bucket, tmp_path: Path) -> None:
    content = lines(30_000, 700)
    bucket.put(NAME, content)
    assert len(content) > reading.BLOCK_BYTES
    assert numbers(tmp_path, f"{bucket.folder}/{NAME}") == list(range(30_000))
    assert max(bucket.sizes) <= reading.BLOCK_BYTES
    assert sum(bucket.sizes) <= len(content) + remote.READ_BYTES


@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_file_that_goes_after_the_listing_is_read_in_its_next_form_or_not(
    bucket: Bucket, tmp_path: Path, is_compressed: bool
) -> None:
    bucket.put(NAME, lines(10))
    bucket.put("b/messages-7-000000.jsonl", lines(3))
    found = remote.log_files(bucket.folder)
    bucket.remove(NAME)
    if is_compressed:
        bucket.put(f"{NAME}.gz", gzip.compress(lines(10)))
    assert numbers(tmp_path, *found) == [*range(10 if is_compressed else 0), *range(3)]


def test_a_file_that_goes_while_it_is_read_counts_once(bucket: Bucket, tmp_path: Path) -> None:
    content = lines(40_000, 1_000)
    bucket.put(NAME, content)

    def compressed_meanwhile(path: str) -> None:
        if path.endswith(".jsonl") and len(bucket.sizes) == 1:
            bucket.before = lambda _: None
            bucket.put(f"{NAME}.gz", gzip.compress(content, 1))
            bucket.remove(NAME)

    bucket.before = compressed_meanwhile
    assert numbers(tmp_path, *remote.log_files(bucket.folder)) == list(range(40_000))
    assert len(bucket.sizes) > 2


def test_a_file_that_grows_is_read_as_it_was(bucket: Bucket, tmp_path: Path) -> None:
    content = lines(30_000, 1_000)
    bucket.put(NAME, content[: len(content) * 3 // 4])

    def grown_meanwhile(_: str) -> None:
        if len(bucket.sizes) == 1:
            bucket.put(NAME, content)

    bucket.before = grown_meanwhile
    found = numbers(tmp_path, f"{bucket.folder}/{NAME}")
    whole = content[: len(content) * 3 // 4].count(b"\n")
    assert found == [*range(whole), None]  # half a line is left out where they are read


def test_what_cannot_be_read_is_told_in_a_sentence(bucket: Bucket) -> None:
    for address in ("s3://", "ftp://a/b", "s3a://a/b", "hdfs://", "s3:///a"):
        with pytest.raises(RemoteUnreadable, match="allowed: a folder, s3://BUCKET/FOLDER or hdfs://HOST:PORT/FOLDER"):
            remote.checked(address)
    with pytest.raises(RemoteUnreadable, match="credentials in an address"):
        remote.checked("s3://key:secret@bucket/folder")
    assert remote.checked("s3://records/logs/") == "s3://records/logs"
    with pytest.raises(RemoteUnreadable, match="s3://records/none: the folder has no records"):
        remote.are_few("s3://records/none")
    with pytest.raises(RemoteUnreadable, match=r"^s3://elsewhere/logs: .*NO_SUCH_BUCKET"):
        remote.are_few("s3://elsewhere/logs")
    bucket.put(f"{NAME}.gz", gzip.compress(lines(1_000))[:-20])
    with pytest.raises(RemoteUnreadable, match=r"^s3://records/logs/a/messages-7-000000.jsonl.gz: "):
        list(reading.lines_in(f"{bucket.folder}/{NAME}.gz"))


def test_what_is_read_is_what_a_folder_has(
    bucket: Bucket, spark: SparkSession, simulated: Simulated, tmp_path: Path
) -> None:
    bucket.filled(simulated.folder)
    logs.read(spark, bucket.folder, tmp_path / "there")
    logs.read(spark, simulated.folder, tmp_path / "here")
    found = rows_of([tmp_path / "there"])
    assert found == rows_of([tmp_path / "here"])
    assert {"messages", "events", "kinds/control", "kinds/interface"} <= found.keys()


@pytest.mark.long
def test_all_answers_are_those_of_a_folder(
    bucket: Bucket, spark: SparkSession, simulated: Simulated, tables: Tables, tmp_path: Path
) -> None:
    bucket.filled(simulated.folder)
    analyze(spark, bucket.folder, Job(tmp_path, notice_us=NOTICE_US))
    found = report.read(tmp_path)
    assert found.keys() == tables.keys()
    for name, those in tables.items():
        assert sorted(map(repr, found[name])) == sorted(map(repr, those)), name
