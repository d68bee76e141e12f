"""Records in a bucket or in Hadoop's file system, read by pyarrow where they are.

    s3://BUCKET/FOLDER          credentials, region and AWS_ENDPOINT_URL are in the environment, as for AWS's programs
    hdfs://HOST:PORT/FOLDER     needs Hadoop's libhdfs and Java's class path

Law: nothing is written there. A file is read as it is when it is opened: one that was removed since it was listed is
read in another form, one that grew is read up to the size that it had. A request that fails is repeated ATTEMPTS times.
An open file takes READ_BYTES and the block that is read of it, whatever its size.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from tamis.analysis.records.files import FAMILIES, FEW_BYTES, ending_of, family_of, first_forms, text_bytes
from tamis.protocol.errors import TamisError

FORMS: Final = "s3://BUCKET/FOLDER or hdfs://HOST:PORT/FOLDER"
READ_BYTES: Final = 4 * 1024 * 1024
"""Bytes of a compressed file that one request brings; of a plain one it is a block of `reading.py`."""
ATTEMPTS: Final = 8
"""Tries of a request, the last some 20 s after the first."""
CONNECT_S: Final = 10.0
REQUEST_S: Final = 60.0
FILES_MAX: Final = 200_000
"""Files in one folder with all below it; each takes some 300 bytes of memory. More are refused with a sentence."""
_ADDRESS: Final = re.compile(r"s3://[a-z0-9][a-z0-9.-]+(/.*)?|hdfs://[\w.-]+(:\d+)?/.*")
_GONE: Final = ("NO_SUCH_KEY", "RESOURCE_NOT_FOUND", "HTTP status 404")
"""Words of the errors about a file that is not there, which have no number of the system."""


class RemoteUnreadable(TamisError):
    """Raised for an address that is none, or whose storage refuses or does not answer."""


def is_remote(address: Path | str) -> bool:
    return "://" in str(address)


def checked(address: str) -> str:
    """Return `address` without a slash at its end, if it is one of FORMS."""
    if "@" in urlsplit(address).netloc:
        raise RemoteUnreadable("credentials in an address are shown to others: use the environment, or ~/.aws")
    if _ADDRESS.fullmatch(address) is None:
        raise RemoteUnreadable(f"{address!r} has no records; allowed: a folder, {FORMS}")
    return address.rstrip("/")


def log_files(folder: str) -> list[str]:
    """Return the addresses of the log files in `folder`, of all routers."""
    return first_forms(address for address, _ in _listed(folder))


def are_few(folder: str) -> bool:
    """Return whether the logs in `folder` are small enough for a brief start of Spark. RemoteUnreadable if there are
    none."""
    sizes = [text_bytes(address, size) for address, size in _listed(folder)]
    if not sizes:
        raise RemoteUnreadable(f"{folder}: the folder has no records")
    return sum(sizes) <= FEW_BYTES


def opened(address: str) -> pa.NativeFile:
    """Return a file to be read in any order."""
    system, path = _system_of(address)
    with _explained(address):
        return system.open_input_file(path)


def stream(address: str) -> pa.NativeFile:
    """Return a file to be read once from its begin, without its compression."""
    system, path = _system_of(address)
    with _explained(address):
        return system.open_input_stream(path, compression="detect", buffer_size=READ_BYTES)


def _listed(folder: str) -> Iterator[tuple[str, int]]:
    """Yield the address and size of each file of records."""
    system, path = _system_of(folder)
    prefix = folder[: len(folder) - len(path)]
    try:
        with _explained(folder):
            found = system.get_file_info(fs.FileSelector(path, recursive=True))
    except FileNotFoundError:
        found = []
    if len(found) > FILES_MAX:
        raise RemoteUnreadable(f"{folder} has {len(found):,} files; at most {FILES_MAX:,} are read: name a part of it")
    for info in found:
        if info.type == fs.FileType.File and ending_of(info.path) and family_of(info.path) in FAMILIES:
            yield f"{prefix}{info.path}", info.size


def _system_of(address: str) -> tuple[fs.FileSystem, str]:
    parts = urlsplit(address)
    if parts.scheme == "s3":
        return _bucket_system(), address.removeprefix("s3://")
    return _hadoop(parts.netloc), parts.path


@lru_cache(maxsize=1)
def _bucket_system() -> fs.FileSystem:
    return fs.S3FileSystem(
        endpoint_override=os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL"),
        region=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
        connect_timeout=CONNECT_S,
        request_timeout=REQUEST_S,
    )


@lru_cache(maxsize=4)
def _hadoop(place: str) -> fs.FileSystem:
    try:
        return fs.FileSystem.from_uri(f"hdfs://{place}/")[0]
    except OSError as error:
        raise RemoteUnreadable(f"hdfs://{place}: {str(error).splitlines()[0]}") from error


@contextmanager
def _explained(address: str) -> Iterator[None]:
    """Bring errors of a storage into the form of a file's: FileNotFoundError, or a sentence."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise translated(error, address) from error


def translated(error: OSError, address: str) -> Exception:
    words = str(error)
    if any(mark in words for mark in _GONE):
        return FileNotFoundError(address)
    return RemoteUnreadable(f"{address}: {words.splitlines()[0]}")
