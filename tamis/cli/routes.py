"""`tamis routes`: what a router knows of the network, and which way it sends."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, Final

import click

from tamis.cli.admin import AdminTarget, NoAnswer, admin_token_option, routers
from tamis.cli.tables import columns
from tamis.protocol.shown import shown

_EXAMPLE = """\b
Examples:
  tamis routes
  tamis routes network.yaml
  tamis routes --json unix:/run/tamis/admin.sock
  tamis routes network.yaml --audit
  tamis routes network.yaml --edges
"""
AUDIT_S: Final = 30.0
_ASK_AGAIN_S: Final = 0.05
_PAGE: Final = 500


@click.command("routes", epilog=_EXAMPLE)
@click.argument("target", required=False, type=click.Path())
@click.option("--audit", is_flag=True, help="Also ask every router whether it holds what this one does.")
@click.option(
    "--edges", is_flag=True, help="Also what neighbours have said of the routers behind each edge of the tree."
)
@admin_token_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each router that was asked.")
def command(target: str | None, audit: bool, edges: bool, as_json: bool) -> int:
    """Show the routes of routers.

    For each router that is asked: its neighbours, with what lies behind each of them (the filters of an interface are
    its predicate), and every router it knows of, with the version of what that one asks for. TARGET is as for `tamis
    status`. With --audit every router is asked over the whole tree; those that held something else are named, and are
    set right. With --edges, where messages go by edges (strategy `profile`): what is held of each edge of the tree and
    said of it, and whether that is complete; an edge that is not counts as one that wants everything. The exit code is
    1 if a router did not answer, or if an audit found a difference.
    """
    code = 0
    for router in routers(target):
        try:
            form = whole_routes(router) | ({"audit": _audit(router)} if audit else {})
        except NoAnswer as error:
            click.echo(str(error), err=True)
            code = 1
            continue
        if audit and (not form["audit"]["done"] or form["audit"]["differing"]):
            code = 1
        if not edges:
            form.pop("edges", None)
        click.echo(json.dumps(form) if as_json else _text(form))
    return code


def whole_routes(router: AdminTarget) -> dict[str, Any]:
    """What one router knows, all pages as one; NoAnswer where it does not say."""
    whole: dict[str, Any] = router.ask("/routes", limit=_PAGE)
    while whole["next"] is not None:
        page = router.ask("/routes", limit=_PAGE, cursor=whole["next"])
        whole["routers"] += page["routers"]
        whole["next"] = page["next"]
    return whole


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
    if "edges" in form:
        yield ""
        yield _edges_text(form["edges"])
    if "audit" in form:
        yield ""
        yield _audit_text(form["audit"])
    yield ""


def _edges_text(edges: list[dict[str, Any]]) -> str:
    if not edges:
        return "edges: messages do not go by edges here"
    heads = ("edge to", "root", "routers behind", "filters", "", "filters said", "")
    return columns(heads, [_edge_row(each) for each in edges])


def _edge_row(each: dict[str, Any]) -> list[object]:
    held, said = ("complete" if each[key] else "not yet: everything" for key in ("complete", "said_complete"))
    return [each["neighbour"], each["root"], each["routers"], each["filters"], held, each["said_filters"], said]


def _state(way: dict[str, Any]) -> str:
    return "catching up" if way["state"] == "up" and not way["synced"] else str(way["state"])


def _behind(way: dict[str, Any]) -> tuple[int, int, int]:
    return way["below"], way["routers"], way["filters"]


def _row(each: dict[str, Any]) -> list[object]:
    version = each["version"] or ["", ""]
    hop = each["next_hop"] or ("" if each["reachable"] else "out of reach")
    links = " ".join(f"{link['neighbour']}:{link['cost']}" for link in each["links"])
    return [each["router"], hop, each["parent"] or "", str(version[0]), str(version[1]), each["filters"], links]


def _audit_text(found: dict[str, Any]) -> str:
    if not found["done"]:
        return f"audit: no end after {AUDIT_S:.0f} s"
    differing = " ".join(found["differing"])
    result = f"these held something else: {differing}" if differing else "all hold the same"
    answered = "1 router" if found["answered"] == 1 else f"{found['answered']} routers"
    return f"audit: {answered} answered, {result}"
