"""`tamis match`: which interfaces want each message, offline.

Law: the output has one line for each message line, so that the two files can be laid side by side: `null` where the
message could not be read. Messages are streamed, in batches of what one read brings; only the filters are held.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

import click

from tamis.cli.engines import DEFAULT, EngineName, OfferedEngine, new_engine
from tamis.cli.lines import taken
from tamis.cli.progress import Progress
from tamis.protocol.json_form import Interface, decode_message, decode_table_line

_EXAMPLE = """\b
Example:
  filters.jsonl    {"i": 7, "f": [["price", "<", 500], ["dest", "=", "MXP"]]}
  messages.jsonl   {"price": 300, "dest": "MXP"}
  $ tamis match --filters filters.jsonl --messages messages.jsonl
  [7]
"""

_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)


@click.command("match", epilog=_EXAMPLE)
@click.option("--filters", type=_FILE, required=True, metavar="FILE", help="JSON lines; - is stdin.")
@click.option("--messages", type=_FILE, required=True, metavar="FILE", help="JSON lines; - is stdin.")
@click.option("--engine", type=EngineName(), default=DEFAULT, show_default=True, help="How to match.")
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
    table = new_engine(engine)
    return _match_all(table, messages) if _fill(table, filters) else 2


def _fill(table: OfferedEngine, path: str) -> bool:
    """Whether every filter line was sound."""

    def add(text: str) -> bool:
        entry = decode_table_line(text)
        table.add(entry.filter, entry.interface)
        return True

    sound = True
    for added in taken(path, add):
        sound = sound and None not in added
    return sound


def _match_all(table: OfferedEngine, path: str) -> int:
    code = 0
    progress = Progress("messages matched")
    for messages in taken(path, decode_message):
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
