"""`tamis top`: show the traffic of routers, continuously."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Final

import click

from tamis.cli.extras import router_extra
from tamis.cli.network.rates import Sample, View, sampled, view
from tamis.cli.reach.admin import AdminTarget, admin_token_option, routers
from tamis.cli.tables import byte_count, columns, duration, fitted

_EXAMPLE = """\b
Examples:
  tamis top
  tamis top network.yaml --connections 50 --sort lost
  tamis top --once --json
"""
WIDTH: Final = 10_000
"""The width of lines without a terminal: all columns."""
SORTS: Final = ("busy", "name", "in", "out", "fwd", "lost", "waiting")


@click.command("top", epilog=_EXAMPLE)
@click.argument("target", required=False, type=click.Path())
@click.option(
    "--interval", type=click.FloatRange(0.1, 3600), default=1.0, show_default=True, help="Seconds between samples."
)
@click.option(
    "--connections",
    type=click.IntRange(0, 1000),
    default=20,
    show_default=True,
    help="Show this many of the busiest connections.",
)
@click.option("--sort", "by", type=click.Choice(SORTS), default="busy", show_default=True, help="Sort by this column.")
@click.option("--once", is_flag=True, help="Stop after one interval.")
@admin_token_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each interval.")
def command(target: str | None, interval: float, connections: int, by: str, once: bool, as_json: bool) -> int:
    """Show the traffic of routers, until Ctrl-C.

    For each router: links that are up; messages a second in, out to clients, forwarded to other routers and lost; bytes
    queued; the time of a match; messages a second forwarded by their set of routers; depth and lag of durable
    subscriptions, and the median time of a commit; bytes a second in and out. For the busiest connections: rates,
    losses and queues, and whether the router blocks them. A narrow terminal omits the least important columns. Routers
    are in the order of the file; --sort orders them and the connections, by name or by the largest value. TARGET is as
    for `tamis status`. The exit code is 1 if no router answers.
    """
    found = routers(target)
    code = 1
    with ExitStack() as stack:
        show = _json_lines if as_json else _screen(stack) if sys.stdout.isatty() and not once else _text
        for shown in _views(found, interval, connections, by):
            code = 0 if any(row.get("state") == "serving" for row in shown["routers"]) else 1
            show(shown)
            if once:
                _tell_problems(found if code else [])
                break
    return code


def _views(found: list[AdminTarget], interval_s: float, connections: int, by: str) -> Iterator[View]:
    before = [sampled(router) for router in found]
    while True:
        time.sleep(interval_s)
        now: list[Sample] = [sampled(router) for router in found]
        yield view(before, now, connections, by)
        before = now


def _tell_problems(found: list[AdminTarget]) -> None:
    """Print on stderr why each router that does not answer failed to."""
    for problem in filter(None, (sampled(router).problem for router in found)):
        click.echo(problem, err=True)


def _json_lines(shown: View) -> None:
    print(json.dumps(shown), flush=True)


def _text(shown: View) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    print(as_text(shown, width), flush=True)


def _screen(stack: ExitStack) -> Callable[[View], None]:
    with router_extra("live views"):
        from rich.live import Live
        from rich.text import Text
    live = stack.enter_context(Live(screen=True, auto_refresh=False))

    def show(shown: View) -> None:
        size = shutil.get_terminal_size()
        lines = as_text(shown, size.columns).splitlines()[: size.lines]
        live.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"), refresh=True)

    return show


def as_text(shown: View, width: int = WIDTH) -> str:
    """Return the tables, in lines of `width` characters if the most important columns fit."""
    parts = [_routers(shown, width), _connections(shown, width)]
    return "\n\n".join(part for part in parts if part) + "\n"


_ROUTER_HEAD: Final = (
    *("router", "state", "links", "clients", "filters", "in/s", "out/s", "fwd/s", "lost/s", "waiting", "match"),
    *("by set/s", "depth", "lag", "commit", "in", "out"),
)
_ROUTER_LESS: Final = ("out", "in", "commit", "filters", "match", "clients", "waiting", "state")
"""The columns that are dropped first in a narrow terminal; rates, links and losses stay."""


def _routers(shown: View, width: int) -> str:
    rows = []
    for row in shown["routers"]:
        cells: list[object] = [row["router"], row["state"]]
        if "in_s" in row:
            match_us = "-" if row["match_us"] is None else f"{row['match_us']:.2f} us"
            links = "" if row["links"] is None else f"{row['links'][0]}/{row['links'][1]}"
            cells += [links, row["clients"], row["filters"]]
            cells += [row["in_s"], row["out_s"], row["forwarded_s"], row["lost_s"], byte_count(row["queued_bytes"])]
            cells += [
                match_us,
                "" if row.get("sets_s") is None else row["sets_s"]["believed"],
                *_durable(row["durable"]),
            ]
            cells += [f"{byte_count(row['bytes_in_s'])}/s", f"{byte_count(row['bytes_out_s'])}/s"]
        rows.append(cells + [""] * (len(_ROUTER_HEAD) - len(cells)))
    return columns(*fitted(_ROUTER_HEAD, rows, width, _ROUTER_LESS))


def _durable(form: dict[str, Any] | None) -> list[object]:
    """Return depth and lag of durable subscriptions, and the median time of a commit; empty if there are none."""
    if form is None:
        return [""] * 3
    commit = "-" if form["commit_ms"]["p50"] is None else f"{form['commit_ms']['p50']:.1f} ms"
    return [form["depth"], duration(form["lag_s"]) if form["depth"] else "-", commit]


_CONNECTION_HEAD: Final = (
    *("router", "client", "in/s", "out/s", "lost", "waiting", "most", "filters", "peer", "held"),
)
_CONNECTION_LESS: Final = ("peer", "most", "filters", "waiting")


def _connections(shown: View, width: int) -> str:
    if not shown["connections"]:
        return ""
    rows = [
        (
            *(row["router"], row["client"], row["in_s"], row["out_s"], row["dropped"]),
            *(byte_count(row["queued_bytes"]), byte_count(row["queued_peak"]), row["filters"], row["peer"]),
            "blocked" if row["is_blocked"] else "",
        )
        for row in shown["connections"]
    ]
    return columns(*fitted(_CONNECTION_HEAD, rows, width, _CONNECTION_LESS))
