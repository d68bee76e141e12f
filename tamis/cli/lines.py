"""The lines of a file or of stdin, each parsed or reported.

Law: blank lines are skipped and counted. A refused line is reported on stderr as file:line: reason, and yields None in
its place; of one file the first REPORTED_MAX are reported.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import IO, Final, TypeVar

import click

from tamis.protocol.errors import Refused

Taken = TypeVar("Taken")

REPORTED_MAX: Final = 20
_READ_BYTES = 65_536
"""The size of one read: a few hundred messages of ordinary size."""


def taken(path: str, take: Callable[[str], Taken]) -> Iterator[list[Taken | None]]:
    """Yield the results of `take` for the lines that are not blank, a list for each read; None for a refused line."""
    numbers, reports = itertools.count(1), itertools.count(1)
    with click.open_file(path, "rb") as file:
        for lines in _lines_of_each_read(file):
            # `lines` comes first: zip takes no number when it ends.
            numbered = zip(lines, numbers, strict=False)
            yield [_taken_or_reported(path, number, line, take, reports) for line, number in numbered if line.strip()]


def _taken_or_reported(
    path: str, number: int, line: bytes, take: Callable[[str], Taken], reports: Iterator[int]
) -> Taken | None:
    try:
        return take(line.decode())
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 at byte {error.start + 1}"
    except Refused as error:
        reason = str(error)
    report = next(reports)
    file = "<stdin>" if path == "-" else path
    if report <= REPORTED_MAX:
        click.echo(f"{file}:{number}: {reason}", err=True)
    elif report == REPORTED_MAX + 1:
        click.echo(f"{file}: further refused lines are not shown", err=True)
    return None


def _lines_of_each_read(file: IO[bytes]) -> Iterator[list[bytes]]:
    """Yield batches of lines: large where much input is available, but never waiting for more of it."""
    pending = bytearray()
    while data := file.read1(_READ_BYTES):  # type: ignore[attr-defined]
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            yield bytes(pending + whole).split(b"\n")
            pending.clear()
        pending += rest
    if pending:
        yield [bytes(pending)]
