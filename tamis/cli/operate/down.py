"""`tamis down`: stop the routers that `tamis up` started."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tamis.cli.extras import router_extra
from tamis.cli.operate.own_router import file_or_own
from tamis.protocol.errors import TamisError

_EXAMPLE = """\b
Example:
  $ tamis down network.yaml
  a: stopped
"""


@click.command("down", epilog=_EXAMPLE)
@click.argument("file", required=False, type=click.Path(dir_okay=False), callback=file_or_own)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each router.")
def command(file: str, as_json: bool) -> int:
    """Stop the routers that `tamis up FILE` started here. Without FILE, the router of `tamis up` without FILE.

    Each router gets SIGTERM and time to drain, and is killed after that. Only processes that `tamis up` has recorded
    are stopped, and only if process number and start time still agree. FILE need not exist any longer. The exit code
    is 1 if no router was running, or one had to be killed.
    """
    with router_extra("routers"):
        from tamis.router.supervisor.state import StateFolder
        from tamis.router.supervisor.stop import End, stop_routers
    try:
        ends = stop_routers(StateFolder.of(file))
    except TamisError as error:
        there = "" if Path(file).exists() else "no such file, and "
        raise click.ClickException(f"{file}: {there}{error}") from None
    for router_id, end in ends.items():
        click.echo(json.dumps({"router": router_id, "end": end}) if as_json else f"{router_id}: {end}")
    return 1 if End.KILLED in ends.values() else 0
