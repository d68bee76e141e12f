"""`tamis restart`: restart routers of a network, one after another.

Law: at most one router is away at a time: the next one is stopped when the one before is ready and linked again.
"""

from __future__ import annotations

import click

from tamis.cli.operate.one_router import do, kept
from tamis.protocol.shown import shown

_EXAMPLE = """\b
Examples:
  $ tamis restart network.yaml b
  b: ready, process 4713, clients tamis://127.0.0.1:7401, admin http://127.0.0.1:7601
  $ tamis restart network.yaml --all
"""


@click.command("restart", epilog=_EXAMPLE)
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("routers", metavar="[ROUTER]...", nargs=-1)
@click.option("--all", "is_all", is_flag=True, help="Restart all supervised routers, in the order of FILE.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each router.")
def command(file: str, routers: tuple[str, ...], is_all: bool, as_json: bool) -> int:
    """Restart routers of `tamis up FILE`, one after the other.

    Each is stopped gracefully: clients with another address move there without loss, other clients are notified, queues
    are flushed, and other routers route around it. It reads FILE when it starts. A router that is stopped or failed is
    only started. The next router follows when this one is ready and linked again; if it does not become ready, the rest
    are not restarted. The exit code is 0 once all are ready.
    """
    there = kept(file)
    wanted = tuple(there) if is_all else tuple(dict.fromkeys(routers))
    if not wanted or (is_all and routers):
        raise click.UsageError("name the routers to restart, or give --all")
    unknown = [router_id for router_id in wanted if there and router_id not in there]
    if unknown:
        names = ", ".join(there)
        raise click.ClickException(f"{file}: there is no router {shown(unknown[0])!r}; routers: {names}")
    for place, router_id in enumerate(wanted, 1):
        if do("restart", file, router_id, as_json) != 0 or not (place == len(wanted) or _is_linked(file)):
            if left := wanted[place:]:
                click.echo(f"not restarted: {', '.join(left)}", err=True)
            return 1
    return 0


def _is_linked(file: str) -> bool:
    """Wait until the running routers are linked; return whether they are, and print what is missing."""
    from tamis.cli.network.linked import wait_until_linked

    missing = wait_until_linked(file, {router_id for router_id, state in kept(file).items() if state == "ready"})
    for sentence in missing:
        click.echo(sentence, err=True)
    return not missing
