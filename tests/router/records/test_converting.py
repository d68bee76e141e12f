"""Files of records in another form: all records, once, whatever interrupts the conversion."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tamis.router.records import converting
from tamis.router.records.converting import CLOSED, COLUMNS, COMPRESSED, Conversion, compress, convert_folder, locked
from tamis.router.records.files import Bounds, RecordFiles, record_files, sweep
from tamis.router.records.lines import RecordLines
from tamis.router.records.reading import Reader, router_folders
from tests.record_samples import lines, meaning

pytest.importorskip("pyarrow")

FORMS = ("parquet", "jsonl")


def filled(folder: Path, seed: int = 0, files: int = 3, strange: float = 0.05) -> None:
    """Files of two routers in all forms, one of them cut by a crash."""
    random = Random(seed)
    for router in "ab":
        (folder / router).mkdir(parents=True)
        for number in range(files):
            for family in ("events", "messages"):
                text = b"".join(line + b"\n" for line in lines(random, family, random.randrange(60), strange))
                path = folder / router / f"{family}-7-{number:06}.jsonl"
                if random.random() < 0.5:
                    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(text))
                else:
                    path.write_bytes(text + (b'{"v":1,"kind":"mess' if number == files - 1 else b""))


def told(folder: Path) -> dict[str, list[str]]:
    """What the lines of each router and family say, read by nothing of ours but for columns."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*-7-*")):
        if path.name.endswith(COLUMNS):
            text = b"".join(converting.blocks_of(path))
        else:
            text = gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
        said = found.setdefault(f"{path.parent.name}/{path.name.split('-')[0]}", [])
        said += [said_by(line) for line in text.split(b"\n") if line]
    return found


def said_by(line: bytes) -> str:
    try:
        return json.dumps(meaning(line), sort_keys=True)
    except (TypeError, ValueError):  # bytes that are no JSON
        return repr(line)


def read(folder: Path) -> list[str]:
    reader = Reader.of(router_folders(folder))
    return sorted(json.dumps(line.record, sort_keys=True) for line in reader.read())


@pytest.mark.parametrize("seed", range(6))
def test_records_go_to_columns_and_back(tmp_path: Path, seed: int) -> None:
    filled(tmp_path / "old", seed)
    before = told(tmp_path / "old")
    for source, target, form in (("old", "columns", "parquet"), ("columns", "new", "jsonl")):
        outcomes = list(convert_folder(tmp_path / source, tmp_path / target, CLOSED[form]))
        assert {outcome.what for outcome in outcomes} <= {"converted", "copied"}
        assert {path.suffixes[-1] for path in (tmp_path / target).glob("*/*")} == {f".{CLOSED[form].split('.')[-1]}"}
        assert told(tmp_path / target) == before
        assert sum(outcome.records for outcome in outcomes) == sum(map(len, before.values()))
    assert told(tmp_path / "old") == before


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_is_converted_in_place_and_only_once(tmp_path: Path, form: str) -> None:
    filled(tmp_path)
    before = told(tmp_path)
    assert "converted" in {outcome.what for outcome in convert_folder(tmp_path, None, CLOSED[form])}
    assert told(tmp_path) == before
    assert {file.ending for folder in router_folders(tmp_path) for file in record_files(folder)} == {CLOSED[form]}
    assert {outcome.what for outcome in convert_folder(tmp_path, None, CLOSED[form])} == {"there"}


def test_a_file_keeps_the_time_of_its_last_record(tmp_path: Path) -> None:
    filled(tmp_path)
    for path in tmp_path.glob("*/*"):
        os.utime(path, ns=(5_000, 5_000))
    list(convert_folder(tmp_path, None, COLUMNS))
    assert {file.changed_ns for file in record_files(tmp_path / "a")} == {5_000}


def test_what_stays_of_an_interruption_is_removed_if_both_forms_are_whole(tmp_path: Path) -> None:
    filled(tmp_path)
    before, old = told(tmp_path), {path: path.read_bytes() for path in tmp_path.glob("*/*")}
    list(convert_folder(tmp_path, None, COLUMNS))
    for path, data in old.items():
        path.write_bytes(data)
    outcomes = list(convert_folder(tmp_path, None, COLUMNS))
    assert {outcome.what for outcome in outcomes} == {"converted"}
    assert told(tmp_path) == before
    assert all(path.name.endswith(COLUMNS) for path in tmp_path.glob("*/*"))


def test_a_new_form_that_was_damaged_is_made_again_and_one_that_differs_is_not_touched(tmp_path: Path) -> None:
    filled(tmp_path, strange=0.0)
    old = {path: path.read_bytes() for path in tmp_path.glob("*/*")}
    before = told(tmp_path)
    list(convert_folder(tmp_path, None, COLUMNS))
    for path, data in old.items():
        path.write_bytes(data)
    cut, other = sorted((tmp_path / "a").glob(f"messages-*{COLUMNS}"))[:2]
    cut.write_bytes(cut.read_bytes()[:-9])
    other.write_bytes(min((tmp_path / "b").glob(f"messages-*{COLUMNS}")).read_bytes())
    failed = [outcome for outcome in convert_folder(tmp_path, None, COLUMNS) if outcome.what == "failed"]
    assert [outcome.reason.startswith(f"{other.name} has ") for outcome in failed] == [True]
    assert len(list((tmp_path / "a").glob(f"{other.name.removesuffix(COLUMNS)}*"))) == 2
    other.unlink()
    list(convert_folder(tmp_path, None, COLUMNS))
    assert told(tmp_path) == before


def test_a_file_that_is_being_written_is_left(tmp_path: Path) -> None:
    made = RecordLines("a", 7)
    files = RecordFiles(tmp_path / "a", 7, Bounds(10**6, 60.0, 10**9), lambda _: None)
    for number in range(3):
        files.write("events", made.line("life", number, number, {"what": "ready"}), 0.0)
    for into in (None, tmp_path / "other"):
        assert [outcome.what for outcome in convert_folder(tmp_path / "a", into, COLUMNS)] == ["in use"]
    files.write("events", made.line("life", 3, 3, {"what": "ready"}), 0.0)
    files.close()
    assert [outcome.records for outcome in convert_folder(tmp_path / "a", None, COLUMNS)] == [4]


def test_two_conversions_do_not_take_one_file(tmp_path: Path) -> None:
    filled(tmp_path, files=1)
    with locked(next((tmp_path / "a").glob("events-*"))):
        outcomes = list(convert_folder(tmp_path / "a", None, COLUMNS))
    assert [outcome.what for outcome in outcomes] == ["in use", "converted"]


def test_a_router_leaves_a_file_to_the_conversion_that_has_it(tmp_path: Path) -> None:
    filled(tmp_path, files=2)
    path = next(path for path in tmp_path.glob("*/*") if path.suffix == ".jsonl")
    with locked(path):
        compress(path)
        assert list(path.parent.glob(f"{path.name}*")) == [path]
    compress(path)
    assert list(path.parent.glob(f"{path.name}*")) == [path.with_name(f"{path.name}.gz")]


def test_a_file_system_without_locks_is_used_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refused)
    filled(tmp_path)
    before = told(tmp_path)
    assert {outcome.what for outcome in convert_folder(tmp_path, None, COLUMNS)} == {"converted"}
    assert told(tmp_path) == before


@pytest.mark.parametrize("ending", [COLUMNS, COMPRESSED])
def test_a_file_cut_anywhere_is_refused_by_a_sentence_and_kept(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converting, "COLUMNS_MIN_BYTES", 0)
    random = Random(3)
    text = b"".join(line + b"\n" for line in lines(random, "messages", 80))
    path = tmp_path / "messages-7-000000.jsonl"
    path.write_bytes(text)
    compress(path, ending)
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    other = "jsonl" if ending == COLUMNS else "parquet"
    for size in (*range(0, len(data), len(data) // 40), len(data) - 1):
        path.write_bytes(data[:size])
        if ending == COMPRESSED and not size:
            continue  # an empty file is no damage to gzip
        (outcome,) = convert_folder(tmp_path, None, CLOSED[other])
        assert (outcome.what, outcome.path) == ("failed", path)
        assert outcome.reason.startswith("it was cut or is damaged: ")
        assert path.read_bytes() == data[:size]
        assert list(tmp_path.iterdir()) == [path]
        reader = Reader.of([tmp_path], ["messages"])
        records = [line.record["n"] for line in reader.read()]
        assert records == list(range(len(records)))
        assert reader.broken == len(reader.damaged) == 1
        assert reader.damaged[0].startswith(f"{path}: ")


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    before = told(tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        outcomes = list(convert_folder(tmp_path, None, COLUMNS))
    assert {(outcome.what, outcome.reason) for outcome in outcomes} == {("failed", "No space left on device")}
    assert told(tmp_path) == before


def test_readers_go_on_through_a_conversion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read as lines is not read again as columns, and the other way round."""
    monkeypatch.setattr(converting, "COLUMNS_MIN_BYTES", 0)
    made, waiting = RecordLines("a", 7), []
    files = RecordFiles(tmp_path / "a", 7, Bounds(700, 60.0, 10**9), waiting.append)
    reader, seen, endings = Reader.of([tmp_path / "a"]), [], [COLUMNS, COMPRESSED]
    for number in range(120):
        files.write("events", made.line("life", number, number, {"what": "ready"}), 0.0)
        if number % 7 == 0:
            seen += [line.record["n"] for line in reader.read()]
        if number % 5 == 0 and waiting:
            compress(waiting.pop(0), endings[number % 2])
        if number % 31 == 0:
            list(convert_folder(tmp_path / "a", None, endings[number % 2])) if number else None
    files.close()
    seen += [line.record["n"] for line in reader.read()]
    assert seen == list(range(120))
    assert {file.ending for file in record_files(tmp_path / "a")} == {*endings, ".jsonl"}


def test_the_bound_counts_all_forms(tmp_path: Path) -> None:
    made, bounds = RecordLines("a", 7), Bounds(2 * converting.COLUMNS_MIN_BYTES, 60.0, 3_000_000)
    files = RecordFiles(tmp_path, 7, bounds, lambda path: compress(path, COLUMNS))
    filters = [Random(0).randbytes(200).hex() for _ in range(20)]
    for number in range(4_000):
        said = {"what": "added", "filters": [Random(number).randbytes(500).hex(), *filters[: number % 20]]}
        files.write("events", made.line("subscription", number, number, said), 0.0)
        for file in record_files(tmp_path) if number % 50 == 0 else ():
            os.utime(file.path, ns=(file.number, file.number))
            assert sum(file.size for file in record_files(tmp_path)) <= bounds.stored_bytes_max
    files.close()
    found = list(record_files(tmp_path, with_parts=True))
    assert {COLUMNS, COMPRESSED} & {file.ending for file in found} == {COLUMNS}
    numbers = sorted(file.number for file in found)
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert numbers[0] > 0


def test_a_small_file_is_compressed_since_columns_would_be_larger(tmp_path: Path) -> None:
    made = RecordLines("a", 7)
    for number, count in enumerate((100, 2 * converting.COLUMNS_MIN_BYTES // 90)):
        path = tmp_path / f"events-7-{number:06}.jsonl"
        path.write_bytes(b"".join(made.line("link", n, n, {"neighbour": "b", "what": "up"}) for n in range(count)))
        compress(path, COLUMNS)
    small, large = sorted(record_files(tmp_path), key=lambda file: file.number)
    assert (small.ending, large.ending) == (COMPRESSED, COLUMNS)
    gz = gzip.compress(b"".join(converting.blocks_of(large.path)), converting.COMPRESS_LEVEL)
    assert large.size < len(gz)


def test_partial_files_of_all_forms_are_swept(tmp_path: Path) -> None:
    for ending in (COLUMNS, COMPRESSED):
        (tmp_path / f"events-7-000000{ending}.part").write_bytes(b"x")
    (tmp_path / "notes.parquet.part").write_bytes(b"x")
    sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.parquet.part"]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_conversion_that_is_killed_anywhere_is_completed_by_the_next(tmp_path: Path, form: str) -> None:
    """Real processes and SIGKILL; readers see every record once at every moment."""
    seed = Random(form).randrange(100)
    filled(tmp_path, seed, files=12)
    before, seen = told(tmp_path), read(tmp_path)
    code = (
        "import sys; from pathlib import Path; from tamis.router.records import converting as c; "
        "import tamis.protocol.record_columns; print(flush=True); "
        "[print(o.what, flush=True) for o in c.convert_folder(Path(sys.argv[1]), None, sys.argv[2])]"
    )
    random, ending = Random(seed), CLOSED[form]
    if form == "jsonl":
        list(convert_folder(tmp_path, None, COLUMNS))
    for _ in range(5):
        command = [sys.executable, "-c", code, str(tmp_path), ending]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603 - ourselves
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.random() * 0.05)
        process.kill()
        process.communicate()
        assert read(tmp_path) == seen
    outcomes: list[Conversion] = list(convert_folder(tmp_path, None, ending))
    assert {outcome.what for outcome in outcomes} <= {"converted", "there"}
    assert told(tmp_path) == before
    for folder in router_folders(tmp_path):
        sweep(folder)
    assert {path.name[path.name.index(".") :] for path in tmp_path.glob("*/*")} == {ending}


WRITER = """
import sys, time
from pathlib import Path
from tamis.native import RecordRing
import tamis.protocol.record_columns
from tamis.router.records.converting import CLOSED
from tamis.router.records.files import Bounds
from tamis.router.records.lines import RecordLines
from tamis.router.records.writer import Writer
lines = RecordLines("a", int(sys.argv[3]))
ring = RecordRing(lines.prefix("message"), 2**64 - 1)
writer = Writer(Path(sys.argv[1]), Bounds(600_000, 60.0, 10**9), lines, ring, ending=CLOSED[sys.argv[2]])
writer._compressor.start()
writer.compress_earlier()
for turn in range(100000):
    for _ in range(50):
        writer.note("link", {"neighbour": "b", "what": "up", "session": turn, "interface": 3})
    writer.turn()
    print(50 * (turn + 1), flush=True)
    time.sleep(0.001)
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_writer_that_is_killed_anywhere_loses_nothing_that_it_wrote_and_doubles_nothing(
    tmp_path: Path, form: str
) -> None:
    """What a turn of the writer has written is there after SIGKILL, whichever files were being closed."""
    random, written = Random(f"killed {form}"), {}
    for epoch in range(1, 4):
        command = [sys.executable, "-c", WRITER, str(tmp_path / "a"), form, str(epoch)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ourselves
        assert process.stdout is not None
        first = process.stdout.readline()
        deadline_s = time.monotonic() + 60  # the thread that closes files has a low priority
        while epoch == 1 and not list((tmp_path / "a").glob(f"events-{epoch}-*{CLOSED[form]}")):
            assert time.monotonic() < deadline_s
            time.sleep(0.01)
        time.sleep(random.random() * 0.4)
        process.kill()
        written[epoch] = int((first + process.communicate()[0]).split("\n")[-2])
        reader = Reader.of([tmp_path / "a"], ["events"])
        found = [(line.record["epoch"], line.record["n"]) for line in reader.read()]
        for life, least in written.items():
            mine = [n for each, n in found if each == life]
            assert mine == list(range(len(mine)))
            assert len(mine) >= least
        assert reader.broken == len(reader.damaged) == 0
    assert CLOSED[form] in {file.ending for file in record_files(tmp_path / "a")}
