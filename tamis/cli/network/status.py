"""`tamis status`: show which routers are up, and their state."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import click

from tamis.cli.network.broken_links import broken_links
from tamis.cli.network.durable_lines import durable_lines
from tamis.cli.network.strategy_lines import of_strategies, strategy_problems
from tamis.cli.reach.admin import AdminTarget, NoAnswer, admin_token_option, routers
from tamis.cli.reach.supervised import Supervised, supervised
from tamis.cli.tables import byte_count, columns, duration
from tamis.protocol.shown import shown

_EXAMPLE = """\b
Examples:
  tamis status
  tamis status network.yaml
  tamis status --json unix:/run/tamis/admin.sock
  tamis status network.yaml --wait-quiet 1
"""
_ASK_AGAIN_S: Final = 0.05


@click.command("status", epilog=_EXAMPLE)
@click.argument("target", required=False, type=click.Path())
@click.option(
    "--wait-quiet",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="First wait until no router has received a change for this time.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    help="The timeout of --wait-quiet, in seconds.",
)
@admin_token_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each router.")
def command(target: str | None, wait_quiet: float | None, timeout: float, as_json: bool) -> int:
    """Show the state of routers.

    TARGET is a topology file, for all of its routers, or the admin address of one: host:port, http://host:port or
    unix:path. An address for clients is accepted if a context or a `tamis up` of this machine has both. Default:
    TAMIS_ADMIN, the context in use (`tamis context`), or 127.0.0.1:7600. The exit code is 1 if a router is not ready.

    Lines below the table show a strategy that is not the default, with the root of each class and the use of sets of
    routers; the durable subscriptions and the log of each router (`tamis durable ls` lists each subscription); and
    problems: incomplete edges, links that are down and why, restarts by `tamis up` on this machine and why,
    certificates that expire within 14 days. `lost` excludes copies that arrived by another route; `certificate` is the
    time for which the router's certificates are valid.

    --wait-quiet waits until no router that answers has received a change from a neighbour for this time: all
    subscriptions have reached all routers. Keep-alives and periodic requests do not count. The exit code is 1 after
    --timeout.
    """
    asked = routers(target)
    is_quiet = wait_quiet is None or _wait(asked, wait_quiet, timeout)
    found = [(router, _status(router)) for router in asked]
    kept = supervised(target, [router.address for router in asked])
    by = {router.name: kept.get(router.name) for router in asked}
    if as_json:
        for router, status in found:
            keeper = by[router.name]
            head = {"router": router.name, "admin": router.address}
            click.echo(json.dumps(head | status | {"supervisor": None if keeper is None else keeper.form()}))
    else:
        named = [status | {"name": router.name} for router, status in found]
        click.echo(_table(named))
        for line in (*of_strategies(named), *_problems(named, by)):
            click.echo(shown(line))
    if not is_quiet:
        click.echo(f"not quiet for {wait_quiet} s within {timeout} s", err=True)
    return 0 if is_quiet and all(_is_ready(status) for _, status in found) else 1


def _is_ready(status: dict[str, Any]) -> bool:
    """Return whether a router is ready; one of an earlier version reports only that it serves."""
    return bool(status.get("ready", status["state"] == "serving"))


def _problems(statuses: list[dict[str, Any]], by: Mapping[str, Supervised | None]) -> Iterator[str]:
    """Yield the problems of each router: from its supervisor, why it is not ready, certificates that expire soon, links
    that are down, its log, changes of the file that wait for a restart, and its last alarm."""
    for status in statuses:
        who, keeper = status.get("router", status["name"]), by[status["name"]]
        problems = status.get("problems", {})
        unready = status.get("unready", problems)  # a router of an earlier version is not ready if it has any problem
        if keeper is not None:
            yield from keeper.lines()
        yield from (
            f"{who} is not ready: {text}" if name in unready else f"{who}: {text}" for name, text in problems.items()
        )
        yield from _expiring(who, status)
        yield from broken_links(who, status)
        yield from strategy_problems(who, status)
        yield from durable_lines(who, status)
        if status.get("settings_refused"):
            yield f"{who} does not use the changed file: {status['settings_refused']}"
        elif status.get("need_a_restart"):
            yield f"{who} needs a restart for {', '.join(status['need_a_restart'])}, which changed in its file"
        yield from (f"{who} raised an alarm: {alarm['text']}" for alarm in status.get("alarms", [])[-1:])
    alone = [status["name"] for status in statuses if "problem" in status and by[status["name"]] is None]
    if alone:
        yield f"not supervised by `tamis up` on this machine: {', '.join(alone)}; if they end, they are not restarted"


def _expiring(who: str, status: dict[str, Any]) -> Iterator[str]:
    for each in status.get("certificates", ()):
        if each["expires_soon"]:
            date = f"{datetime.fromtimestamp(each['until_s'], UTC):%Y-%m-%d %H:%M} UTC"
            left = duration(each["left_s"])
            yield f"{who}: {each['key']}: the certificate {each['file']} expires on {date}, in {left}"


def _wait(asked: list[AdminTarget], quiet_s: float, timeout_s: float) -> bool:
    end_s = time.monotonic() + timeout_s
    while not all(_is_quiet(router, quiet_s) for router in asked):
        if time.monotonic() > end_s:
            return False
        time.sleep(_ASK_AGAIN_S)
    return True


def _is_quiet(router: AdminTarget, quiet_s: float) -> bool:
    """Return whether a router is quiet; one without links and one that does not answer are."""
    try:
        network = router.ask("/status")["network"]
    except NoAnswer:
        return True
    return network is None or network["quiet_s"] >= quiet_s


def _status(router: AdminTarget) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = router.ask("/status")
    except NoAnswer as error:
        click.echo(str(error), err=True)
        return {"state": "no answer", "problem": str(error)}
    return answer


def lost(status: dict[str, Any]) -> int:
    """Return how many messages did not reach a subscriber, without unmatched messages and second copies."""
    return sum(status.get("lost", {}).values())


def _lost_in_words(status: dict[str, Any]) -> str:
    """Return how many were lost, and for which reasons."""
    reasons = [f"{reason} {count:,}" for reason, count in status.get("lost", {}).items() if count]
    return f"{lost(status):,}" + (f" ({', '.join(reasons)})" if reasons else "")


_HEAD = ("router", "state", "up", "links", "clients", "filters", "in", "delivered", "lost", "queued", "memory")
_CERTIFICATE: Final = "certificate"
"""The column that is shown if a router has a certificate."""


def _table(statuses: list[dict[str, Any]]) -> str:
    has_certificates = any(status.get("certificates") for status in statuses)
    head = (*_HEAD, _CERTIFICATE) if has_certificates else _HEAD
    rows = []
    for status in statuses:
        row: list[object] = [status.get("router", status["name"]), status["state"]]
        if "uptime_s" in status:
            row += [
                duration(status["uptime_s"]),
                _links(status),
                *(status[key] for key in ("clients", "filters", "messages_in")),
            ]
            row += [status["deliveries"], _lost_in_words(status)]
            row += [byte_count(status["queued_bytes"]), byte_count(status["memory_bytes"])]
            row += [_time_left(status)] if has_certificates else []
        rows.append(row + [""] * (len(head) - len(row)))
    return columns(head, rows)


def _time_left(status: dict[str, Any]) -> str:
    """Return for how long all certificates of a router are valid; empty if it reports none."""
    left_s = [each["left_s"] for each in status.get("certificates", ())]
    if not left_s:
        return ""
    return duration(min(left_s)) if min(left_s) > 0 else "expired"


def _links(status: dict[str, Any]) -> str:
    """Return how many links are up, of how many."""
    if status["network"] is None:
        return ""
    links = status["network"]["links"]
    behind = [link["neighbour"] for link in links if link["state"] == "up" and not link.get("in_step", True)]
    shown = f"{sum(link['state'] == 'up' for link in links)}/{len(links)}"
    return f"{shown}, not in step: {' '.join(behind)}" if behind else shown
