"""`tamis durable replay`: print the history in a router's log."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime

import click

from tamis.cli.reach.connecting import access, access_options, refusals, split_addresses
from tamis.cli.reach.predicates import check_filter, dialect_option
from tamis.cli.since import since_us
from tamis.cli.tables import so_many

_EXAMPLE = """\b
Examples:
  tamis durable replay 'class = "job"'
  tamis durable replay 'device ^= "web"' --since 1h --count 100 --json
"""


@click.command("replay", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[ADDRESS]... PREDICATE")
@click.option("--since", metavar="WHEN", help="Start at this time: `10m` ago, or 2026-01-31T09:00.")
@click.option("--until", metavar="WHEN", help="End at this time; as --since.")
@click.option("--count", type=click.IntRange(min=1), help="Stop after this many messages.")
@click.option("--format", "form", default="text", help="text (the default), json, raw, or a template: see `tamis sub`.")
@dialect_option
@access_options
@click.option("--json", "as_json", is_flag=True, help="As --format json.")
def replay(
    words: tuple[str, ...],
    since: str | None,
    until: str | None,
    count: int | None,
    form: str,
    dialect: str | None,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    as_json: bool,
) -> int:
    """Print the messages in the router's log that satisfy PREDICATE, in the order in which they arrived, and end.

    The log holds messages of durable subscriptions until their disk space is reused, so acknowledged messages are
    printed, too, for some time. Nothing is consumed. An ADDRESS is as for `tamis pub`.
    """
    from tamis.cli.messages.received import for_a_terminal, writer
    from tamis.client.durable.consumer_state import CREDIT
    from tamis.client.gap import Gap

    addresses, others = split_addresses(words)
    if len(others) != 1:
        raise click.UsageError(f"give one PREDICATE, quoted as one word, not {so_many(len(others), 'word')}")
    with refusals():
        check_filter(others[0], dialect=dialect)
        first, last = _when("--since", since), _when("--until", until)
        if first is not None and last is not None and first > last:
            raise click.UsageError(f"--since {since} is after --until {until}")
        write = writer("json" if as_json else form, {})
        write = for_a_terminal(write) if sys.stdout.isatty() else write
        shown = 0
        with (
            access(addresses, name, token_file, ca).blocking_client() as client,
            client.replay(
                others[0],
                since=first,
                until=last,
                credit=CREDIT if count is None else min(CREDIT, count),
                dialect=dialect or None,
            ) as messages,
        ):
            for message in messages:
                if isinstance(message, Gap):
                    continue
                sys.stdout.buffer.write(write(message))
                shown += 1
                if shown == count:
                    break
    sys.stdout.buffer.flush()
    click.echo(f"{so_many(shown, 'message')} of the log", err=True)
    return 0


def _when(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromtimestamp(since_us(text, time.time()) / 1e6, UTC)
    except click.UsageError as error:
        raise click.UsageError(error.message.replace("--since", option, 1)) from None
