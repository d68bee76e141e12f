"""Files of records brought into another form: compressed when they are closed, or converted later.

Law: a whole file exists at every moment. The new form is made as `.part`, brought to disk, and renamed; only then is
the old one removed, and readers take one of the two. A file that is written or converted is locked, until its process
ends: a file that is being written is never converted, and no two processes convert one file. (A file system without
locks cannot tell; there, convert when no router writes.)
"""

from __future__ import annotations

import fcntl
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, Literal

from tamis.protocol.records import ENDINGS, whole_lines
from tamis.router.records.files import NAME, PART, RecordFile, record_files
from tamis.router.records.reading import router_folders

COLUMNS, COMPRESSED, _ = ENDINGS
CLOSED: Final = {"parquet": COLUMNS, "jsonl": COMPRESSED}
"""By the name of a format in a topology file: the form of its closed files."""
COMPRESS_LEVEL: Final = 1
"""Level of compression: files are a tenth larger than with the usual 6, and compression is three times as fast. It must
keep up with the records, or some are lost."""
BLOCK_BYTES: Final = 1024 * 1024
"""Bytes of lines that are converted at a time: little enough that the loop does not wait for Python's global lock."""
ROW_GROUP_BYTES: Final = 16 * 1024 * 1024
"""Bytes of lines in a row group of Parquet, which is in memory until it is complete."""


COLUMNS_MIN_BYTES: Final = 512 * 1024
"""Bytes of lines below which compressed lines are smaller than columns, whose names alone take some 20 kB."""


def compress(path: Path, ending: str = COMPRESSED) -> None:
    """Bring a closed file of lines into another form, a small one into compressed lines; do nothing if it has been
    removed, or another process writes or converts it."""
    with suppress(FileNotFoundError, BlockingIOError), locked(path):
        is_small = path.stat().st_size < COLUMNS_MIN_BYTES
        convert(path, path, COMPRESSED if is_small else ending)
        path.unlink()


def convert(source: Path, target: Path, ending: str) -> int:
    """Write the records of `source` to `target` with another ending, and return their number. The time of the file is
    that of its last record. OSError: `source` cannot be read to its end, or the disk refuses."""
    match = NAME.fullmatch(source.name)
    assert match is not None, source  # noqa: S101 - callers list the files by these names
    whole = with_ending(target, ending)
    part = whole.with_name(whole.name + PART)
    blocks = _Counted(blocks_of(source))
    try:
        with part.open("wb") as raw:
            if ending == COLUMNS:
                _write_columns(blocks, raw, match[1])
            else:
                with gzip.GzipFile("", "wb", COMPRESS_LEVEL, raw, mtime=0) as packed:
                    for block in blocks:
                        packed.write(block)
            raw.flush()
            os.fsync(raw.fileno())
        changed_ns = source.stat().st_mtime_ns
        os.utime(part, ns=(changed_ns, changed_ns))
        part.rename(whole)
        _sync_folder(whole.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return blocks.records


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file. BlockingIOError: it is written or converted now; FileNotFoundError: it is gone."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:
            pass  # this file system has no locks
        if not os.path.samestat(path.stat(), os.fstat(file.fileno())):
            raise FileNotFoundError(path)
        yield


def with_ending(path: Path, ending: str) -> Path:
    stem = next(path.name.removesuffix(each) for each in ENDINGS if path.name.endswith(each))
    return path.with_name(stem + ending)


class _Counted:
    """Passes blocks of lines on and counts their records."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks, self.records = blocks, 0

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            self.records += _records_in(block)
            yield block


def _records_in(block: bytes) -> int:
    if b"\n\n" in block:
        return sum(1 for line in block.split(b"\n") if line.strip())
    return block.count(b"\n") + (not block.endswith(b"\n"))


def blocks_of(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file in blocks that end with a line, or with the file. OSError with a sentence: it was cut
    or is damaged."""
    if path.name.endswith(COLUMNS):
        from tamis.protocol.record_columns import lines_of, rows_in

        with path.open("rb") as raw:
            for batch in rows_in(raw):
                if len(batch):
                    yield b"".join(line + b"\n" for line in lines_of(batch))
        return
    with gzip.open(path) if path.name.endswith(COMPRESSED) else path.open("rb") as stream:
        yield from whole_lines(iter(partial(_chunk, stream), b""))


def _chunk(stream: BinaryIO | gzip.GzipFile) -> bytes:
    try:
        return stream.read(BLOCK_BYTES)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise OSError(f"it was cut or is damaged: {error}") from error


def _write_columns(blocks: Iterable[bytes], raw: BinaryIO, family: str) -> None:
    import pyarrow as pa

    from tamis.protocol.record_columns import table_of, writer

    with writer(raw, family) as out:
        waiting: list[pa.Table] = []
        size = 0
        for block in blocks:
            waiting.append(table_of(block, family))
            size += len(block)
            if size >= ROW_GROUP_BYTES:
                out.write_table(pa.concat_tables(waiting))
                waiting, size = [], 0
        if waiting:
            out.write_table(pa.concat_tables(waiting))


def _sync_folder(folder: Path) -> None:
    """Bring the names of a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- folders ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of one file. `reason`: of `failed`, a sentence."""

    path: Path
    what: Literal["converted", "copied", "there", "in use", "failed"]
    records: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    reason: str = ""


def convert_folder(folder: Path, into: Path | None, ending: str) -> Iterator[Conversion]:
    """Convert the files of one router or several, in place or to a folder `into` of equal structure, file by file. It
    may end at any time, and is repeated to go on."""
    for home in router_folders(folder):
        target = home if into is None else into / home.relative_to(folder)
        target.mkdir(parents=True, exist_ok=True)
        forms: dict[tuple[str, int, int], list[RecordFile]] = {}
        for file in sorted(record_files(home), key=lambda file: ENDINGS.index(file.ending)):
            forms.setdefault((file.family, file.epoch, file.number), []).append(file)
        for key in sorted(forms):
            yield _convert_file([file.path for file in forms[key]], target, ending)


def _convert_file(forms: list[Path], folder: Path, ending: str) -> Conversion:
    """Convert the file whose existing forms are given, the one that is read first."""
    source, *others = forms
    target = with_ending(folder / source.name, ending)
    try:
        with ExitStack() as locks:
            for path in forms:
                locks.enter_context(locked(path))
            if target.parent != source.parent:
                return _copied(source, target, ending)
            return _in_place(source, others, target, ending)
    except BlockingIOError:
        return Conversion(source, "in use")
    except FileNotFoundError:
        return Conversion(source, "failed", reason="it was removed or converted by another process meanwhile")
    except OSError as error:
        return Conversion(source, "failed", reason=error.strerror or str(error))


def _copied(source: Path, target: Path, ending: str) -> Conversion:
    if target.exists():
        return Conversion(source, "there")
    records = convert(source, target, ending)
    what: Literal["copied", "converted"] = "copied" if source.name == target.name else "converted"
    return Conversion(source, what, records, source.stat().st_size, target.stat().st_size)


def _in_place(source: Path, others: list[Path], target: Path, ending: str) -> Conversion:
    if target in (source, *others):
        rest = [path for path in (source, *others) if path != target]
        if not rest:
            return Conversion(target, "there")
        return _decided(target, rest, ending)
    size = source.stat().st_size
    records = convert(source, source, ending)
    for path in (source, *others):
        path.unlink()
    return Conversion(source, "converted", records, size, target.stat().st_size)


def _decided(target: Path, rest: list[Path], ending: str) -> Conversion:
    """Remove the other forms of a file whose conversion was interrupted after the new form was complete."""
    source, size = rest[0], rest[0].stat().st_size
    wanted = sum(map(_records_in, blocks_of(source)))
    try:
        found = sum(map(_records_in, blocks_of(target)))
    except OSError:  # damaged later
        found = convert(source, source, ending)
    if found != wanted:
        reason = f"{target.name} has {found:,} records and {source.name} {wanted:,}: remove the wrong one"
        return Conversion(source, "failed", reason=reason)
    for path in rest:
        path.unlink()
    return Conversion(source, "converted", found, size, target.stat().st_size)
