"""`tamis top`: what flows through routers, as it flows."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import click

from tamis.cli.admin import AdminTarget, admin_token_option, routers
from tamis.cli.extras import router_extra
from tamis.cli.rates import Sample, View, sampled, view
from tamis.cli.tables import byte_count, columns

_EXAMPLE = """\b
Examples:
  tamis top
  tamis top network.yaml --connections 50
  tamis top --once --json
"""


@click.command("top", epilog=_EXAMPLE)
@click.argument("target", required=False)
@click.option(
    "--interval", type=click.FloatRange(0.1, 3600), default=1.0, show_default=True, help="Seconds between looks."
)
@click.option(
    "--connections", type=click.IntRange(0, 1000), default=20, show_default=True, help="Show the busiest so many."
)
@click.option("--once", is_flag=True, help="One interval, and done.")
@admin_token_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each interval.")
def command(target: str | None, interval: float, connections: int, once: bool, as_json: bool) -> int:
    """Show what flows through routers, until Ctrl-C.

    Of each router: messages and bytes a second in and out, what waits, what was lost, how long a match takes. Of the
    busiest connections: the same, and whether the router makes them wait. TARGET is as for `tamis status`. The exit
    code is 1 if no router answers.
    """
    found = routers(target)
    code = 1
    with ExitStack() as stack:
        show = _json_lines if as_json else _screen(stack) if sys.stdout.isatty() and not once else _text
        for shown in _views(found, interval, connections):
            code = 0 if any(row.get("state") == "serving" for row in shown["routers"]) else 1
            show(shown)
            if once:
                break
    return code


def _views(found: list[AdminTarget], interval_s: float, connections: int) -> Iterator[View]:
    before = [sampled(router) for router in found]
    while True:
        time.sleep(interval_s)
        now: list[Sample] = [sampled(router) for router in found]
        yield view(before, now, connections)
        before = now


def _json_lines(shown: View) -> None:
    print(json.dumps(shown), flush=True)


def _text(shown: View) -> None:
    print(as_text(shown), flush=True)


def _screen(stack: ExitStack) -> Callable[[View], None]:
    with router_extra("live views"):
        from rich.live import Live
        from rich.text import Text
    live = stack.enter_context(Live(screen=True, auto_refresh=False))

    def show(shown: View) -> None:
        live.update(Text(as_text(shown), no_wrap=True, overflow="ellipsis"), refresh=True)

    return show


def as_text(shown: View) -> str:
    parts = [_routers(shown), _connections(shown)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _routers(shown: View) -> str:
    head = ("router", "state", "clients", "filters", "in/s", "out/s", "in", "out", "waiting", "lost/s", "match")
    rows = []
    for row in shown["routers"]:
        cells: list[object] = [row["router"], row["state"]]
        if "in_s" in row:
            match_us = "-" if row["match_us"] is None else f"{row['match_us']:.2f} us"
            cells += [row["clients"], row["filters"], row["in_s"], row["out_s"], f"{byte_count(row['bytes_in_s'])}/s"]
            cells += [f"{byte_count(row['bytes_out_s'])}/s", byte_count(row["queued_bytes"]), row["lost_s"], match_us]
        rows.append(cells + [""] * (len(head) - len(cells)))
    return columns(head, rows)


def _connections(shown: View) -> str:
    if not shown["connections"]:
        return ""
    head = ("router", "client", "peer", "in/s", "out/s", "waiting", "most", "lost", "filters", "")
    rows = [
        (
            *(row["router"], row["client"], row["peer"], row["in_s"], row["out_s"]),
            *(byte_count(row["queued_bytes"]), byte_count(row["queued_peak"]), row["dropped"], row["filters"]),
            "made to wait" if row["is_blocked"] else "",
        )
        for row in shown["connections"]
    ]
    return columns(head, rows)
