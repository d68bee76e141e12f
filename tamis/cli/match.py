"""`tamis match`: which interfaces want each message, offline.

Law: the output has one line for each message line, so that the two files can be laid side by side: `null` where the
message could not be read. Messages are streamed, in batches of what one read brings; only the filters are held.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TypeVar

import click

from tamis.cli.engines import DEFAULT, ENGINES, Engine
from tamis.cli.progress import Progress
from tamis.protocol.errors import Refused
from tamis.protocol.json_form import Interface, decode_message, decode_table_line

_EXAMPLE = """\b
Example:
  filters.jsonl    {"i": 7, "f": [["price", "<", 500], ["dest", "=", "MXP"]]}
  messages.jsonl   {"price": 300, "dest": "MXP"}
  $ tamis match --filters filters.jsonl --messages messages.jsonl
  [7]
"""

Taken = TypeVar("Taken")

_READ_BYTES = 65_536
"""A few hundred messages of ordinary size."""

_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)


@click.command("match", epilog=_EXAMPLE)
@click.option("--filters", type=_FILE, required=True, metavar="FILE", help="JSON lines; - is stdin.")
@click.option("--messages", type=_FILE, required=True, metavar="FILE", help="JSON lines; - is stdin.")
@click.option("--engine", type=click.Choice(list(ENGINES)), default=DEFAULT, show_default=True, help="How to match.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines; there is no other form.")
def command(filters: str, messages: str, engine: str, as_json: bool) -> int:  # noqa: ARG001 - see --json
    """Print which interfaces want each message.

    For each message, the sorted list of the interfaces of which a filter matches it, as one JSON line.

    Blank lines of both files are skipped. Mistakes are reported on stderr as file:line: reason. A mistake in a
    filter stops everything before the first message (exit code 2); a message that cannot be read gives the line
    null, the rest is matched, and the exit code is 1.
    """
    if filters == messages == "-":
        raise click.UsageError("only one of --filters and --messages can be read from stdin")
    table = ENGINES[engine]()
    return _match_all(table, messages) if _fill(table, filters) else 2


def _fill(table: Engine, path: str) -> bool:
    """Whether every filter line was sound."""

    def add(text: str) -> bool:
        entry = decode_table_line(text)
        table.add(entry.filter, entry.interface)
        return True

    sound = True
    for added in _taken(path, add):
        sound = sound and None not in added
    return sound


def _match_all(table: Engine, path: str) -> int:
    code = 0
    progress = Progress("messages matched")
    for messages in _taken(path, decode_message):
        answers = table.match_many([attributes for attributes in messages if attributes is not None])
        for attributes in messages:
            interfaces = None if attributes is None else in_order(next(answers))
            sys.stdout.write(json.dumps(interfaces) + "\n")
            progress.step()
        sys.stdout.flush()
        code = 1 if None in messages else code
    return code


def in_order(interfaces: Iterable[Interface]) -> list[Interface]:
    """Integers before strings, each sorted."""
    return sorted(interfaces, key=lambda interface: (isinstance(interface, str), interface))


def _taken(path: str, take: Callable[[str], Taken]) -> Iterator[list[Taken | None]]:
    """What `take` makes of the lines that are not blank, a list for each read; None for a line that was refused."""
    numbers = itertools.count(1)
    with click.open_file(path, "rb") as file:
        for lines in _lines_of_each_read(file):
            # The lines first: where they end, no number is used up.
            numbered = zip(lines, numbers, strict=False)
            yield [_taken_or_reported(path, number, line, take) for line, number in numbered if line.strip()]


def _taken_or_reported(path: str, number: int, line: bytes, take: Callable[[str], Taken]) -> Taken | None:
    try:
        return take(line.decode())
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 at byte {error.start + 1}"
    except Refused as error:
        reason = str(error)
    click.echo(f"{'<stdin>' if path == '-' else path}:{number}: {reason}", err=True)
    return None


def _lines_of_each_read(file: IO[bytes]) -> Iterator[list[bytes]]:
    """Batches that are large where input is plenty, and yet never wait for more of it."""
    pending = bytearray()
    while data := file.read1(_READ_BYTES):  # type: ignore[attr-defined]
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            yield bytes(pending + whole).split(b"\n")
            pending.clear()
        pending += rest
    if pending:
        yield [bytes(pending)]
