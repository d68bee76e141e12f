"""Records that are read in increments, each line once: a folder that gains a generation with each run.

    <store>/manifest.json       the generations that count, and how far each file of records was read
    <store>/generation-000001/  what a run found, in the folders of `reading.py`
    <store>/rests-000001/       the last lines of files that are not whole, of the newest run only
    <store>/chapter-000001/     messages that were summed up, and their sums (`chapters.py`)
    <store>/lock                held by the process that uses the store

Law: what a manifest names is on the disk before the manifest is, and a manifest replaces the one before at once. So a
run that is killed, or loses its power, at any point has happened as a whole or not at all, and what no manifest names
is removed. A file is known by its name without its form. It only grows: the next run goes on behind the last whole
line, in whichever form the file has then; a file that was read in a closed form is not opened again. Records stay when
their file is removed.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from pyspark.sql import SparkSession

from tamis.analysis.records import logs, reading
from tamis.analysis.records.files import FAMILIES, PLAIN, family_of, log_files, stem_of
from tamis.analysis.records.logs import Logs
from tamis.analysis.records.reading import FileProgress
from tamis.analysis.spark.failure import SparkFailed

MANIFEST: Final = "manifest.json"
LOCK: Final = "lock"
_BEFORE_ALL: Final = {LOCK, f"{MANIFEST}.part"}
"""What a store has before its first manifest."""
_VERSION: Final = 4
"""It grows with each change of what records or sums are stored."""
MESSAGES: Final = "messages"
STORED: Final = f"kinds/{reading.STORED}"
DIVIDED: Final = {MESSAGES: "chapter", STORED: "positions"}
"""The folders of a generation whose records are divided into chapters, and how folders of these chapters are called."""
_FOLDERS: Final = ("generation", "rests", *DIVIDED.values(), "made")


class Chapter(NamedTuple):
    """Messages, or positions of durable subscriptions, that were summed up, and the files of the store that may have
    records of them."""

    number: int
    files: list[str]
    grounds: str = ""
    """What its rows depend on beside records; empty without rows."""
    name: str = DIVIDED[MESSAGES]

    @property
    def folder(self) -> str:
        return f"{self.name}-{self.number:06}"


@dataclass
class Division:
    """The chapters of one folder of DIVIDED."""

    chapters: list[Chapter] = field(default_factory=list)
    made: int = 0
    """The number of the last chapter."""
    behind: list[str] = field(default_factory=list)
    """The files of the store with records that are in no chapter."""
    fresh: list[str] = field(default_factory=list)
    """Those in which records of chapters have not been looked for."""

    def joined(self, files: list[str]) -> Division:
        """Return it with files that are new."""
        return replace(self, behind=self.behind + files, fresh=self.fresh + files)


@dataclass
class Manifest:
    """The state of a store. Folders are named; `files` has how far each was read, by its name without its form."""

    records: str
    """The folder of the logs."""
    version: int = _VERSION
    runs: int = 0
    generations: list[str] = field(default_factory=list)
    rests: str = ""
    files: dict[str, FileProgress] = field(default_factory=dict)
    divisions: dict[str, Division] = field(default_factory=lambda: {name: Division() for name in DIVIDED})
    job: str = ""
    """What the sums of chapters depend on beside records."""

    @property
    def named(self) -> set[str]:
        """The folders that count."""
        return {*self.generations, *filter(None, [self.rests]), *(chapter.folder for chapter in self.chapters)}

    @property
    def chapters(self) -> list[Chapter]:
        return [chapter for each in self.divisions.values() for chapter in each.chapters]

    @classmethod
    def read(cls, text: str) -> Manifest:
        found: dict[str, Any] = json.loads(text)
        found["files"] = {name: FileProgress(*place) for name, place in found["files"].items()}
        for name, each in found["divisions"].items():
            found["divisions"][name] = Division(**each | {"chapters": [Chapter(*one) for one in each["chapters"]]})
        return cls(**found)


class RecordStore:
    """An opened store. One process has it open."""

    def __init__(self, place: Path, manifest: Manifest) -> None:
        self.place, self.manifest = place, manifest

    def take(self, spark: SparkSession, has_open: bool = True) -> bool:
        """Read what is new in the folder of the logs, and return whether anything is. Without `has_open` files that a
        router may still write are left out."""
        found = {str(stem_of(path)): path for path in _files(Path(self.manifest.records), has_open)}
        known = self.manifest.files
        tasks = [
            (str(path), known.get(name, FileProgress()))
            for name, path in found.items()
            if name not in known or not known[name].is_closed
        ]
        number = self.manifest.runs + 1
        generation = self._made("generation", number)
        places = _parsed(spark, tasks, generation)
        news = {str(stem_of(Path(path))): place for (path, _), place in zip(tasks, places, strict=True) if place}
        if all(known.get(name) == place for name, place in news.items()):
            shutil.rmtree(generation)
            return False
        files = {**known, **news}
        rests = self._made("rests", number)
        _parse_rests(files, rests)
        names = [generation.name] if any(generation.rglob("*.parquet")) else []
        now = self.manifest
        divisions = {name: each.joined(self.files_in(generation.name, name)) for name, each in now.divisions.items()}
        self.commit(
            replace(
                now,
                runs=number,
                generations=now.generations + names,
                divisions=divisions,
                rests=rests.name,
                files=files,
            )
        )
        return True

    def logs(self, spark: SparkSession, since_us: int | None = None) -> Logs:
        """Return all records of the store."""
        names = [*self.manifest.generations, *filter(None, [self.manifest.rests])]
        return logs.kept(spark, [self.place / name for name in names], since_us)

    def files_in(self, generation: str, folder: str) -> list[str]:
        files = sorted((self.place / generation / folder).glob("*.parquet"))
        return [str(path.relative_to(self.place)) for path in files]

    def _made(self, what: str, number: int) -> Path:
        folder = self.place / f"{what}-{number:06}"
        shutil.rmtree(folder, ignore_errors=True)
        for name in reading.FOLDERS:
            (folder / name).mkdir(parents=True)
        return folder

    def commit(self, manifest: Manifest) -> None:
        """Let the store be as the manifest tells, and remove what it does not name."""
        made, named = self.place / f"{MANIFEST}.part", manifest.named
        for name in sorted(named - self.manifest.named):
            _to_disk(self.place / name)
        made.write_text(json.dumps(asdict(manifest)), encoding="utf-8")
        _to_disk(made)
        made.replace(self.place / MANIFEST)
        _sync(self.place)
        self.manifest = manifest
        for folder in self.place.iterdir():
            if folder.name.startswith(_FOLDERS) and folder.name not in named:
                shutil.rmtree(folder)


@contextmanager
def opened(place: Path, records: Path) -> Iterator[RecordStore]:
    """Open the store at `place` of the logs in folder `records`; an empty folder becomes one. SparkFailed if another
    process has it open, it is of other logs or another version, or the folder has other files."""
    place.mkdir(parents=True, exist_ok=True)
    if not (place / MANIFEST).exists() and {path.name for path in place.iterdir()} - _BEFORE_ALL:
        raise SparkFailed(f"{place} has files and is no store of records: name an empty folder, or a new one")
    with (place / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SparkFailed(f"{place} is in use by another analysis") from None
        store = RecordStore(place, _manifest(place / MANIFEST, str(records.resolve())))
        store.commit(store.manifest)
        for folder in place.glob(f"*/{logs.HELD}*"):  # of a run that was killed
            shutil.rmtree(folder)
        yield store


def _to_disk(place: Path) -> None:
    """Wait until a file, or a folder with all that is in it, is on the disk."""
    for path in place.iterdir() if place.is_dir() else ():
        _to_disk(path)
    _sync(place)


def _sync(place: Path) -> None:
    number = os.open(place, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _manifest(file: Path, records: str) -> Manifest:
    if not file.exists():
        return Manifest(records)
    text = file.read_text(encoding="utf-8")
    if json.loads(text)["version"] != _VERSION:
        raise SparkFailed(f"{file.parent} was written by another version of tamis: name a new folder")
    found = Manifest.read(text)
    if found.records != records:
        raise SparkFailed(f"{file.parent} has the records of {found.records}, not of {records}: name another folder")
    return found


def _files(folder: Path, has_open: bool) -> Iterator[Path]:
    for family in FAMILIES:
        yield from (path for path in log_files(folder, family) if has_open or not path.name.endswith(PLAIN))


def _parsed(spark: SparkSession, tasks: Sequence[tuple[str, FileProgress]], store: Path) -> list[FileProgress | None]:
    """Parse what follows the places of files, by threads here or by the workers of a cluster."""

    def parse(task: tuple[int, tuple[str, FileProgress]]) -> FileProgress | None:
        number, (path, read) = task
        return reading.parse_more(path, family_of(Path(path)), str(store), f"{number:06}", read)

    if str(spark.sparkContext.master).startswith("local"):
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            return list(threads.map(parse, enumerate(tasks)))
    return spark.sparkContext.parallelize(list(enumerate(tasks)), len(tasks)).map(parse).collect() if tasks else []


def _parse_rests(files: Mapping[str, FileProgress], store: Path) -> None:
    for family in FAMILIES:
        rests = [place.rest for name, place in sorted(files.items()) if place.rest and family_of(Path(name)) == family]
        if rests:
            reading.parse_lines("\n".join([*rests, ""]).encode("latin-1"), family, str(store), family)
