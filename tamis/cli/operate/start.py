"""`tamis start`: start one stopped router of a network."""

from __future__ import annotations

import click

from tamis.cli.operate.one_router import do

_EXAMPLE = """\b
Example:
  $ tamis start network.yaml b
  b: ready, process 4713, clients tamis://127.0.0.1:7401, admin http://127.0.0.1:7601
"""


@click.command("start", epilog=_EXAMPLE)
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("router")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(file: str, router: str, as_json: bool) -> int:
    """Start one router of `tamis up FILE` that is stopped or failed.

    A router that is waiting for its next start is started at once. The exit code is 0 once it is ready.
    """
    return do("start", file, router, as_json)
