"""A store that reads records in increments has the rows that one reading of all files has, each once."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyarrow.parquet as pq

from tamis.analysis.records import increments, reading
from tamis.analysis.records.files import family_of, log_files
from tamis.analysis.records.logs import HELD
from tamis.analysis.spark.failure import SparkFailed
from tamis.protocol.records import ENDINGS
from tamis.router.records.converting import convert

Rows = dict[str, Counter[str]]
CUTS = 20


class Spark:
    """What a store asks a session of Spark's: whether files are read here."""

    class sparkContext:  # noqa: N801 - Spark's word
        master = "local[1]"


@pytest.fixture
def spark() -> Any:
    return Spark()


class Files:
    """The files of two routers, of which each step writes some more bytes: seldom whole lines."""

    def __init__(self, folder: Path, random: Random, closed: str) -> None:
        self.folder, self.random, self.closed = folder, random, closed
        self.texts = {
            folder / router / f"{family}-{epoch}-{number:06}.jsonl": self._text(router, epoch, family, number)
            for router in "ab"
            for epoch in (1, 2)  # the router came twice
            for family in ("messages", "events")
            for number in range(2)
        }
        self.written = dict.fromkeys(self.texts, 0)

    def _text(self, router: str, epoch: int, family: str, number: int) -> bytes:
        lines = []
        for n in range(10 * number, 10 * number + 10):
            kinds = ["message", "kept"] if family == "messages" else ["life", "interface", "unheard-of"]
            head = {"v": 1, "kind": self.random.choice(kinds), "t_us": self.random.randrange(99), "router": router}
            line = json.dumps(head | {"epoch": epoch, "n": n, "what": "\u00e9", "number": n, "hop": 1})
            lines.append(line if self.random.random() < 0.9 else self.random.choice(["{half", "[]", "", line[:-9]]))
        return "\n".join(lines).encode() + self.random.choice([b"\n", b"", b"\n{"])

    def step(self) -> None:
        for path in self.random.sample(sorted(self.texts), 3):
            text, written = self.texts[path], self.written[path]
            path.parent.mkdir(parents=True, exist_ok=True)
            if written < len(text):
                end = self.random.choice([len(text), self.random.randint(written, len(text))])
                if path.exists() or not written:
                    with path.open("ab") as file:
                        file.write(text[written:end])
                    self.written[path] = end
            elif path.exists():
                self._close(path)

    def _close(self, path: Path) -> None:
        target = path.with_name(path.name.removesuffix(".jsonl") + self.closed)
        convert(path, target, self.closed)
        if self.random.random() < 0.7:  # both forms may exist for a while
            path.unlink()


def rows_of(folders: Iterator[Path] | list[Path]) -> Rows:
    found: Rows = {}
    for folder in folders:
        for name in reading.FOLDERS:
            for path in (folder / name).glob("*.parquet"):
                found.setdefault(name, Counter()).update(map(repr, pq.read_table(path).to_pylist()))
    counts = found.pop("tallies", Counter())
    return found | {"tallies": totals(counts)}


def totals(tallies: Counter[str]) -> Counter[str]:
    """Tallies are by block, of which increments have more: what counts is their sums."""
    found: Counter[str] = Counter()
    for text, times in tallies.items():
        row = eval(text)  # noqa: S307 - written above
        place = tuple(row[name] for name in ("family", "router", "epoch", "v"))
        for name in ("lines", "broken", "numbered", "n_sum"):
            found[repr((place, name))] += (row[name] or 0) * times
    return +found


def whole(logs: Path, store: Path) -> Rows:
    for name in reading.FOLDERS:
        (store / name).mkdir(parents=True)
    for number, path in enumerate([*log_files(logs, "messages"), *log_files(logs, "events")]):
        reading.parse(str(path), family_of(path), str(store), f"{number}")
    return rows_of([store])


def stored(store: increments.RecordStore) -> Rows:
    names = [*store.manifest.generations, store.manifest.rests]
    return rows_of([store.place / name for name in names if name])


@pytest.mark.slow
@pytest.mark.parametrize("closed", [ENDINGS[0], ENDINGS[1]])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_each_line_is_read_once_wherever_files_are_cut(spark: Any, tmp_path: Path, seed: int, closed: str) -> None:
    random = Random(seed)
    files = Files(tmp_path / "logs", random, closed)
    files.folder.mkdir()
    for cut in range(CUTS):
        files.step()
        with increments.opened(tmp_path / "store", files.folder) as store:
            store.take(spark)
            assert not store.take(spark)
            assert stored(store) == whole(files.folder, tmp_path / f"whole-{cut}"), (seed, cut)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 4))])
def test_a_run_that_ends_at_any_point_has_happened_or_not(
    spark: Any, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    files = Files(tmp_path / "logs", random, ENDINGS[1])
    files.folder.mkdir()
    left = 0

    def passed(*_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt

    for name in ("_parse_rests", "_parsed", "json.dumps", "shutil.rmtree", "Path.replace"):
        before = reduce(getattr, name.split("."), increments)

        def act(*args: Any, before: Any = before, **more: Any) -> Any:
            passed()
            found = before(*args, **more)
            passed()
            return found

        monkeypatch.setattr(f"{increments.__name__}.{name}", act)
    for cut in range(CUTS // 2):
        files.step()
        left = random.randrange(1, 16)
        try:
            with increments.opened(tmp_path / "store", files.folder) as store:
                store.take(spark)
        except KeyboardInterrupt:
            pass
        left = 0
        with increments.opened(tmp_path / "store", files.folder) as store:
            store.take(spark)
            assert stored(store) == whole(files.folder, tmp_path / f"whole-{cut}"), (seed, cut)
            folders = {path.name for path in store.place.iterdir() if path.is_dir()}
            assert folders == {*store.manifest.generations, store.manifest.rests}


def test_what_a_manifest_names_is_on_the_disk_before_it(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, place = Files(tmp_path / "logs", Random(1), ENDINGS[1]), tmp_path / "store"
    synced: dict[Path, int] = {}
    """With its size then."""
    replaced = 0
    fsync, replace = os.fsync, Path.replace

    def sync(number: int) -> None:
        fsync(number)
        synced[Path(f"/proc/self/fd/{number}").readlink()] = os.fstat(number).st_size

    def act(path: Path, target: Path) -> Path:
        nonlocal replaced
        if target.name != increments.MANIFEST:
            return replace(path, target)
        for name in increments.Manifest.read(path.read_text()).named:
            for each in (place / name, *(place / name).rglob("*")):
                assert synced[each] == each.stat().st_size, each
        assert synced[path] == path.stat().st_size
        synced.pop(place, None)
        replaced += 1
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", act)
    files.folder.mkdir()
    for _ in range(3):
        files.step()
        with increments.opened(place, files.folder) as store:
            store.take(spark)
            assert place in synced, "the new name of the manifest is on the disk"
    assert replaced > 3


def test_records_stay_when_their_file_is_removed(spark: Any, tmp_path: Path) -> None:
    files = Files(tmp_path / "logs", Random(1), ENDINGS[1])
    for path, text in files.texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    with increments.opened(tmp_path / "store", files.folder) as store:
        assert store.take(spark)
        before = stored(store)
        next(iter(files.texts)).unlink()
        assert not store.take(spark)
        assert stored(store) == before == whole_of(files, tmp_path)


def whole_of(files: Files, folder: Path) -> Rows:
    for path, text in files.texts.items():
        path.write_bytes(text)
    return whole(files.folder, folder / "whole")


def test_files_that_may_be_written_are_left_out_if_wanted(spark: Any, tmp_path: Path) -> None:
    files = Files(tmp_path / "logs", Random(1), ENDINGS[1])
    path = min(files.texts)
    path.parent.mkdir(parents=True)
    path.write_bytes(files.texts[path])
    with increments.opened(tmp_path / "store", files.folder) as store:
        assert not store.take(spark, has_open=False)
        files._close(path)
        assert store.take(spark, has_open=False)
        assert not store.take(spark, has_open=False)


def test_a_store_is_of_one_folder_and_one_process(spark: Any, tmp_path: Path) -> None:
    files = Files(tmp_path / "logs", Random(1), ENDINGS[1])
    path = min(files.texts)
    path.parent.mkdir(parents=True)
    path.write_bytes(files.texts[path])
    with increments.opened(tmp_path / "store", files.folder) as store:
        store.take(spark)
        with pytest.raises(SparkFailed, match="is in use by another analysis"), opened_again(tmp_path, files.folder):
            pass
    with pytest.raises(SparkFailed, match=f"has the records of {files.folder}"), opened_again(tmp_path, tmp_path):
        pass
    (tmp_path / "logs" / "a" / "other").touch()
    with pytest.raises(SparkFailed, match="has files and is no store"), increments.opened(path.parent, files.folder):
        pass
    manifest = tmp_path / "store" / increments.MANIFEST
    manifest.write_text(manifest.read_text().replace(f'"version": {increments._VERSION}', '"version": 0'))
    with pytest.raises(SparkFailed, match="another version"), opened_again(tmp_path, files.folder):
        pass


def opened_again(folder: Path, logs: Path) -> AbstractContextManager[increments.RecordStore]:
    return increments.opened(folder / "store", logs)


def test_a_file_that_became_shorter_is_named(spark: Any, tmp_path: Path) -> None:
    files = Files(tmp_path / "logs", Random(1), ENDINGS[1])
    path = min(files.texts)
    path.parent.mkdir(parents=True)
    path.write_bytes(files.texts[path])
    with increments.opened(tmp_path / "store", files.folder) as store:
        store.take(spark)
        path.write_bytes(b"{}\n")
        with pytest.raises(OSError, match="shorter than what was read of it before") as error:
            store.take(spark)
        assert error.value.filename == str(path)


def test_what_a_killed_run_held_is_removed(tmp_path: Path) -> None:
    place, records = tmp_path / "store", tmp_path / "logs"
    with increments.opened(place, records) as store:
        held = store._made("rests", 1) / f"{HELD}0123"
        held.mkdir()
        store.commit(replace(store.manifest, rests="rests-000001"))
    with increments.opened(place, records):
        assert not held.exists()
        assert held.parent.exists()
