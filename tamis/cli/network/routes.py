"""`tamis show routes`: show what a router knows of the network, and its routes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, Final

import click

from tamis.cli.network.edge_tables import edges_text, trees_text
from tamis.cli.reach.admin import AdminTarget, NoAnswer, admin_token_option, routers
from tamis.cli.tables import columns
from tamis.protocol.shown import shown

_EXAMPLE = """\b
Examples:
  tamis show routes
  tamis show routes network.yaml
  tamis show routes --json unix:/run/tamis/admin.sock
  tamis show routes network.yaml --audit
  tamis show routes network.yaml --edges
"""
AUDIT_S: Final = 30.0
_ASK_AGAIN_S: Final = 0.05
_PAGE: Final = 500


@click.command("routes", epilog=_EXAMPLE)
@click.argument("target", required=False, type=click.Path())
@click.option("--audit", is_flag=True, help="Also compare the state of all routers with that of this one.")
@click.option("--edges", is_flag=True, help="Also show the filters behind each edge, by root.")
@admin_token_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each router queried.")
def command(target: str | None, audit: bool, edges: bool, as_json: bool) -> int:
    """Show the routes of routers.

    For each router: its neighbours with the routers and filters behind each, and every known router with the version of
    its advertisement. TARGET is as for `tamis status`. With --audit the states of all routers in the tree are compared;
    routers that differ are named and repaired. With --edges (for strategies such as `profile`): the filters received
    and sent for each edge of the tree, and whether they are complete; an incomplete edge matches every message. The
    exit code is 1 if a router did not answer, or if an audit found a difference.
    """
    code = 0
    by_edges: list[dict[str, Any]] = []
    for router in routers(target):
        try:
            form = whole("/routes", router) | ({"audit": _audit(router)} if audit else {})
            if edges:
                by_edges.append(whole("/edges", router))
                form["edges"] = by_edges[-1]["edges"]
        except NoAnswer as error:
            click.echo(str(error), err=True)
            code = 1
            continue
        if audit and (not form["audit"]["done"] or form["audit"]["differing"]):
            code = 1
        if as_json:
            click.echo(json.dumps(form))
            continue
        click.echo(_text(form))
        if edges:
            click.echo(edges_text(by_edges[-1]) + "\n")
    if len(by_edges) > 1 and not as_json and (trees := trees_text(by_edges)):
        click.echo(trees)
    return code


def whole(path: str, router: AdminTarget) -> dict[str, Any]:
    """Return a paged list of one router as a whole; NoAnswer if the router does not provide it."""
    found: dict[str, Any] = router.ask(path, limit=_PAGE)
    items = path.removeprefix("/")
    while found["next"] is not None:
        page = router.ask(path, limit=_PAGE, cursor=found["next"])
        found[items] += page[items]
        found["next"] = page["next"]
    return found


def _audit(router: AdminTarget) -> dict[str, Any]:
    ticket = router.ask("/audit", b"")["ticket"]
    end_s = time.monotonic() + AUDIT_S
    found: dict[str, Any] = router.ask("/audited", ticket=ticket)
    while not found["done"] and time.monotonic() < end_s:
        time.sleep(_ASK_AGAIN_S)
        found = router.ask("/audited", ticket=ticket)
    return found


def _text(form: dict[str, Any]) -> str:
    return "\n".join(line if "\n" in line else shown(line) for line in _lines(form))


def _lines(form: dict[str, Any]) -> Iterator[str]:
    yield f"{form['router']}  epoch {form['epoch']}, {form['broadcast']}"
    ways = form["interfaces"]
    head = ("neighbour", "state", "cost", "in own tree", "below", "routers", "filters")
    rows = [
        (way["neighbour"], _state(way), way["cost"], "child" if way["child"] else "", *_behind(way)) for way in ways
    ]
    yield columns(head, rows)
    yield ""
    heads = ("router", "next hop", "parent", "epoch", "seq", "filters", "links")
    yield columns(heads, [_row(each) for each in form["routers"]])
    if "audit" in form:
        yield ""
        yield _audit_text(form["audit"])
    yield ""


def _state(way: dict[str, Any]) -> str:
    return "catching up" if way["state"] == "up" and not way["synced"] else str(way["state"])


def _behind(way: dict[str, Any]) -> tuple[int, int, int]:
    return way["below"], way["routers"], way["filters"]


def _row(each: dict[str, Any]) -> list[object]:
    version = each["version"] or ["", ""]
    hop = each["next_hop"] or ("" if each["reachable"] else "unreachable")
    links = " ".join(f"{link['neighbour']}:{link['cost']}" for link in each["links"])
    return [each["router"], hop, each["parent"] or "", str(version[0]), str(version[1]), each["filters"], links]


def _audit_text(found: dict[str, Any]) -> str:
    if not found["done"]:
        return f"audit: not finished after {AUDIT_S:.0f} s"
    differing = " ".join(found["differing"])
    result = f"different state: {differing}" if differing else "all agree"
    answered = "1 router" if found["answered"] == 1 else f"{found['answered']} routers"
    return f"audit: {answered} answered, {result}"
