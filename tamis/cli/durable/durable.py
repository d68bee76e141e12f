"""`tamis durable`: create, show, replay and remove durable subscriptions."""

from __future__ import annotations

import json

import click

from tamis.cli.durable.create import create
from tamis.cli.durable.give import give
from tamis.cli.durable.purge import purge
from tamis.cli.durable.replay import replay
from tamis.cli.durable.shown import dead, info, ls, peek
from tamis.cli.reach.connecting import access, access_options, refusals, split_addresses
from tamis.cli.tables import so_many
from tamis.protocol.old_names import with_old

_EXAMPLE = """\b
Examples:
  tamis durable create jobs 'class = "job"'
  tamis durable ls
  tamis durable peek jobs
  tamis durable replay 'class = "job"' --since 1h
  tamis durable rm jobs
"""


@click.group("durable", epilog=_EXAMPLE)
def command() -> None:
    """Create, show, replay and remove durable subscriptions."""


for each in (create, ls, info, peek, dead, replay, give, purge):
    command.add_command(each)


@command.command("rm")
@click.argument("words", nargs=-1, metavar="[ADDRESS]... NAME")
@access_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def rm(words: tuple[str, ...], name: str | None, token_file: str | None, ca: str | None, as_json: bool) -> int:
    """Remove the durable subscription NAME and its messages.

    An ADDRESS is as for `tamis pub`.
    """
    addresses, others = split_addresses(words)
    if len(others) != 1:
        raise click.UsageError(f"give the NAME of one durable subscription, not {so_many(len(others), 'word')}")
    [durable] = others
    with refusals(), access(addresses, name, token_file, ca).blocking_client() as client:
        client.remove_durable(durable)
    if as_json:
        click.echo(json.dumps(with_old({"removed": durable}, forgotten="removed")))
    else:
        click.echo(f"durable subscription {durable} and its messages are removed", err=True)
    return 0
