"""`tamis match`: print which interfaces match each message, offline.

Law: the output has one line for each message line, which keeps the two files aligned: `null` for a message that could
not be read. Messages are streamed, in batches of one read each; only the filters are stored.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence

import click

from tamis.cli.lab.dialect_lines import DialectLines
from tamis.cli.lab.engines import DEFAULT, EngineName, OfferedEngine, new_engine
from tamis.cli.lines import taken
from tamis.cli.progress import Progress
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Filter
from tamis.protocol.json_form import Interface, decode_message, decode_table_line
from tamis.protocol.values import Value

_EXAMPLE = """\b
Example:
  filters.jsonl    {"i": 7, "f": [["price", "<", 500], ["dest", "=", "MXP"]]}
  messages.jsonl   {"price": 300, "dest": "MXP"}
  $ tamis match --filters filters.jsonl --messages messages.jsonl
  [7]
  $ tamis match --filters filters.jsonl --messages messages.jsonl --engine pst:delay=8,order=names --stats
  $ tamis match --engine help
"""

_HASH_SEED = 2003
"""The seed of the table for --stats: equal files take equal steps in every run."""

Wanting = Callable[[list[Interface], dict[str, Value]], Iterable[Interface]]
"""Returns the interfaces that want a message, of those that match it in the table."""

_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)


@click.command("match", epilog=_EXAMPLE)
@click.option(
    "--filters", type=_FILE, required=True, metavar="FILE", help="Read JSON lines from this file; - is stdin."
)
@click.option(
    "--messages", type=_FILE, required=True, metavar="FILE", help="Read JSON lines from this file; - is stdin."
)
@click.option(
    "--engine",
    type=EngineName(),
    default=DEFAULT,
    show_default=True,
    is_eager=True,
    help="Match with this engine; `help` lists engines and options.",
)
@click.option(
    "--stats", "with_stats", is_flag=True, help="Print the counts and the cost on stderr, as one JSON object."
)
@click.option(
    "--dialect",
    metavar="NAME",
    envvar="TAMIS_DIALECT",
    help="Filters and messages are of this dialect of `tamis translate`.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON lines, the only format.")
def command(
    filters: str,
    messages: str,
    engine: str,
    with_stats: bool,
    dialect: str | None,
    as_json: bool,  # noqa: ARG001 - the only format
) -> int:
    """Print the interfaces whose filters match each message.

    For each message, the sorted list of the interfaces with a matching filter, as one JSON line.

    Blank lines of both files are skipped. Mistakes are reported on stderr as file:line: reason. A mistake in a
    filter ends the command before the first message (exit code 2); a message that cannot be read gives the line
    null, the rest is matched, and the exit code is 1.

    With --dialect, a filter line is {"i": INTERFACE, "f": FILTER}, FILTER a text or JSON, and a message an event as the
    dialect has it. A filter with a residual program matches if its predicate matches and its program says so. A filter
    that is not decided is a mistake.

    --stats prints filters, messages, and, except for `plain`, the constraints, the steps of all messages and the bytes
    of the table. A step is a unit of counted work, equal in every run (docs/design/engines.md defines it for each
    engine).
    """
    if filters == messages == "-":
        raise click.UsageError("only one of --filters and --messages can be read from stdin")
    table = new_engine(engine, _HASH_SEED if with_stats else None)
    try:
        lines = None if dialect is None else DialectLines(dialect, engine)
    except Refused as error:
        raise click.UsageError(str(error)) from None
    held = _fill(table, filters, _table_line if lines is None else lines.table_line)
    if held is None:
        return 2
    if lines is None:
        code, matched = _match_all(table, messages, decode_message, lambda found, _: found)
    else:
        code, matched = _match_all(table, messages, lines.event, lines.interfaces)
    if with_stats:
        told = {"engine": engine, "filters": held, "messages": matched, **table.figures()}
        click.echo(json.dumps(told), err=True)
    return code


def _fill(table: OfferedEngine, path: str, read: Callable[[str], tuple[Interface, Sequence[Filter]]]) -> int | None:
    """Return the number of filters; None if a line was invalid."""

    def add(text: str) -> int:
        interface, filters = read(text)
        for filter_ in filters:
            table.add(filter_, interface)
        return len(filters)

    held, sound = 0, True
    for added in taken(path, add):
        held += sum(count for count in added if count is not None)
        sound = sound and None not in added
    return held if sound else None


def _table_line(text: str) -> tuple[Interface, Sequence[Filter]]:
    entry = decode_table_line(text)
    return entry.interface, (entry.filter,)


def _match_all(
    table: OfferedEngine, path: str, read: Callable[[str], dict[str, Value]], wanting: Wanting
) -> tuple[int, int]:
    """Return the exit code, and the number of matched messages."""
    code, matched = 0, 0
    progress = Progress("messages matched")
    for messages in taken(path, read):
        answers = table.match_many([attributes for attributes in messages if attributes is not None])
        for attributes in messages:
            interfaces = None if attributes is None else in_order(wanting(next(answers), attributes))
            sys.stdout.write(json.dumps(interfaces) + "\n")
            progress.step()
        sys.stdout.flush()
        code = 1 if None in messages else code
        matched += len(messages) - messages.count(None)
    return code, matched


def in_order(interfaces: Iterable[Interface]) -> list[Interface]:
    """Return integers before strings, each sorted."""
    return sorted(interfaces, key=lambda interface: (isinstance(interface, str), interface))
