"""`tamis stop`: stop one router of a network until it is started again."""

from __future__ import annotations

import click

from tamis.cli.operate.one_router import do

_EXAMPLE = """\b
Example:
  $ tamis stop network.yaml b
  b: stopped
"""


@click.command("stop", epilog=_EXAMPLE)
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("router")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(file: str, router: str, as_json: bool) -> int:
    """Stop one router of `tamis up FILE`; the others run on.

    Its clients are notified, its queues are flushed, and other routers route around it. It stays stopped until
    `tamis start` or `tamis restart`. The exit code is 0 once it is stopped.
    """
    return do("stop", file, router, as_json)
