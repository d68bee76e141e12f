"""`tamis restart`: one router of a network stops and starts again."""

from __future__ import annotations

import click

from tamis.cli.operate.one_router import do

_EXAMPLE = """\b
Example:
  $ tamis restart network.yaml b
  b: ready, process 4713, clients tamis://127.0.0.1:7401, admin http://127.0.0.1:7601
"""


@click.command("restart", epilog=_EXAMPLE)
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("router")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(file: str, router: str, as_json: bool) -> int:
    """Stop one router of those that `tamis up FILE` keeps, and start it again.

    It is stopped cleanly: clients are told, queues are flushed, and other routers go around it. It reads FILE when it
    starts. One that was stopped or has failed is just started. The exit code is 0 once it is ready.
    """
    return do("restart", file, router, as_json)
