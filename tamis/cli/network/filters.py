"""`tamis filters`: list the filters in the tables of running routers."""

from __future__ import annotations

import json
from typing import Any

import click

from tamis.cli.reach.admin import NoAnswer, admin_token_option, routers
from tamis.cli.tables import columns

_EXAMPLE = """\b
Examples:
  tamis filters
  tamis filters network.yaml --limit 1000 --json
"""


@click.command("filters", epilog=_EXAMPLE)
@click.argument("target", required=False, type=click.Path())
@click.option("--client", metavar="NAME", help="List only filters of this client.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="List at most this many filters of each router.",
)
@admin_token_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each filter.")
def command(target: str | None, client: str | None, limit: int, as_json: bool) -> int:
    """List the filters of routers. Each belongs to a subscription of a client, or to a durable subscription.

    A predicate with alternatives is several filters. `dialect` is the one that it was written in. Where a filter is not
    `exact`, a residual program decides about the messages that it matches: its expression stands behind `and`, and
    `passed` has how many of these candidates it let pass. TARGET is as for
    `tamis status`. The exit code is 1 if a router did not answer.
    """
    code = 0
    rows = []
    for router in routers(target):
        try:
            for item in router.items("/filters", limit):
                if client not in (None, item["client"]):
                    continue
                if as_json:
                    click.echo(json.dumps({"router": router.name} | item))
                rows.append((router.name, *_whose(item), *_decided(item), item["filter"] + _rest(item)))
        except NoAnswer as error:
            click.echo(str(error), err=True)
            code = 1
    if not as_json:
        click.echo(columns(("router", "client", "subscription", "dialect", "exact", "passed", "filter"), rows))
    return code


def _decided(item: dict[str, Any]) -> tuple[str, str, str]:
    """Return the dialect of a filter, whether it is exact, and how many candidates its residual program let pass."""
    dialect = item.get("dialect") or ""  # earlier routers do not say it
    if "residual" not in item:
        return dialect, "yes", ""
    return dialect, "no", f"{item['passed']:,} of {item['candidates']:,}"


def _rest(item: dict[str, Any]) -> str:
    return f", and {item['residual']}" if "residual" in item else ""


def _whose(item: dict[str, Any]) -> tuple[str, str]:
    durable = item.get("durable")
    return (item["client"], str(item["subscription"])) if durable is None else (f"durable {durable}", "")
