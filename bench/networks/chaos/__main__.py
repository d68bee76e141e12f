"""`python -m tamis.bench.networks.chaos`: real routers in a random network, killed, stopped, cut and linked under
traffic.

Law: results to stdout, progress to stderr; exit 1 where something was violated or did not come back.
"""

from __future__ import annotations

import asyncio
import json
import sys

import click

from tamis.bench.commands import leave_on_sigterm, say
from tamis.bench.networks.chaos import report
from tamis.bench.networks.chaos.contents import COLUMNS
from tamis.bench.networks.chaos.run import Plan, run
from tamis.bench.scratch import scratch_folder

_COUNT = click.IntRange(min=0)


@click.command()
@click.option("--routers", type=click.IntRange(min=2), default=8, show_default=True)
@click.option(
    "--clients",
    type=click.IntRange(min=2),
    default=32,
    show_default=True,
    help="Clients, distributed over the routers.",
)
@click.option(
    "--rate", type=click.FloatRange(min=1), default=10.0, show_default=True, help="Messages per second of each client."
)
@click.option("--kills", type=_COUNT, default=5, show_default=True, help="SIGKILLs, each with a restart.")
@click.option("--stops", type=_COUNT, default=5, show_default=True, help="SIGSTOPs, each with a SIGCONT.")
@click.option("--cuts", type=_COUNT, default=5, show_default=True, help="Links reset or blocked, and restored.")
@click.option("--adds", type=_COUNT, default=5, show_default=True, help="Links to add.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--minutes", type=float, default=60.0, show_default=True, help="Begin no operation after this time.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(seed: int, minutes: float, as_json: bool, **chosen: float) -> None:
    """Judge every delivery while things fail."""
    routers, clients = int(chosen["routers"]), int(chosen["clients"])
    if clients > routers * COLUMNS:
        raise click.UsageError(f"--clients: {COLUMNS} for each router at most")
    operations = {kind: int(chosen[f"{kind}s"]) for kind in ("kill", "stop", "cut", "add")}
    plan = Plan(routers, clients, chosen["rate"], operations, seed, 60 * minutes)
    leave_on_sigterm()
    with scratch_folder() as folder:
        found = asyncio.run(run(plan, folder, say))
    click.echo(json.dumps(report.for_programs(plan, found)) if as_json else report.for_people(plan, found))
    sys.exit(0 if found.is_clean else 1)


if __name__ == "__main__":
    main()
