"""`tamis kept`: show and remove durable subscriptions."""

from __future__ import annotations

import json

import click

from tamis.cli.durable.kept_replay import replay
from tamis.cli.durable.kept_shown import dead, info, ls, peek
from tamis.cli.reach.connecting import access, access_options, refusals, split_addresses
from tamis.cli.tables import so_many

_EXAMPLE = """\b
Examples:
  tamis kept ls
  tamis kept peek jobs
  tamis kept replay 'class = "job"' --since 1h
  tamis kept rm jobs
"""


@click.group("kept", epilog=_EXAMPLE)
def command() -> None:
    """Show durable subscriptions and what waits in them; end them. `tamis keep` makes them."""


for each in (ls, info, peek, dead, replay):
    command.add_command(each)


@command.command("rm")
@click.argument("words", nargs=-1, metavar="[ADDRESS]... NAME")
@access_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def rm(words: tuple[str, ...], name: str | None, token_file: str | None, ca: str | None, as_json: bool) -> int:
    """End the keep NAME, and let go of the messages that are kept for it.

    An ADDRESS is as for `tamis pub`.
    """
    addresses, others = split_addresses(words)
    if len(others) != 1:
        raise click.UsageError(f"the NAME of one keep is wanted, not {so_many(len(others), 'word')}")
    [keep] = others
    with refusals(), access(addresses, name, token_file, ca).blocking_client() as client:
        client.forget(keep)
    if as_json:
        click.echo(json.dumps({"forgotten": keep}))
    else:
        click.echo(f"keep {keep} is gone, with what was kept for it", err=True)
    return 0
