"""`tamis status`: which routers are up, and what they hold."""

from __future__ import annotations

import json
from typing import Any

import click

from tamis.cli.admin import NoAnswer, Router, routers
from tamis.cli.tables import byte_count, columns, duration

_EXAMPLE = """\b
Examples:
  tamis status
  tamis status network.yaml
  tamis status --json unix:/run/tamis/admin.sock
"""


@click.command("status", epilog=_EXAMPLE)
@click.argument("target", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each router.")
def command(target: str | None, as_json: bool) -> int:
    """Show how routers are.

    TARGET is a topology file, for all of its routers, or the admin address of one: host:port, http://host:port or
    unix:path. Without it, 127.0.0.1:7600. The exit code is 1 if one of them is not serving.
    """
    found = [(router, _status(router)) for router in routers(target)]
    if as_json:
        for router, status in found:
            click.echo(json.dumps({"router": router.name, "admin": router.address} | status))
    else:
        click.echo(_table([status | {"name": router.name} for router, status in found]))
    return 0 if all(status["state"] == "serving" for _, status in found) else 1


def _status(router: Router) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = router.ask("/status")
    except NoAnswer as error:
        click.echo(str(error), err=True)
        return {"state": "no answer", "problem": str(error)}
    return answer


def lost(dropped: dict[str, int]) -> int:
    """Of what went no further, that which somebody misses: not what nobody wanted, nor what came twice."""
    return sum(count for reason, count in dropped.items() if reason not in ("unmatched", "duplicate"))


_HEAD = ("router", "state", "up", "clients", "filters", "in", "delivered", "dropped", "queued", "memory")


def _table(statuses: list[dict[str, Any]]) -> str:
    rows = []
    for status in statuses:
        row: list[object] = [status.get("router", status["name"]), status["state"]]
        if "uptime_s" in status:
            row += [duration(status["uptime_s"]), *(status[key] for key in ("clients", "filters", "messages_in"))]
            row += [status["deliveries"], lost(status["dropped"])]
            row += [byte_count(status["queued_bytes"]), byte_count(status["memory_bytes"])]
        rows.append(row + [""] * (len(_HEAD) - len(row)))
    return columns(_HEAD, rows)
