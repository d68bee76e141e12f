"""The reasons why a message would be delivered or forwarded, from the tables of running routers.

Law: the router reports which filters match, and which programs do not let the message pass; the values that each
constraint and each condition of a program saw are computed here, by the rules of the language and by the twin.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import click

from tamis.cli.delivery.program_verdict import program_verdict
from tamis.cli.delivery.trails import some
from tamis.cli.delivery.verdicts import constraint_lines
from tamis.cli.network.strategy_lines import message_by_root
from tamis.cli.reach.admin import NoAnswer, routers
from tamis.protocol.explain import explain
from tamis.protocol.language import parse
from tamis.protocol.limits import PREDICATE_BYTES_MAX
from tamis.protocol.residual import read_program
from tamis.protocol.shown import shown
from tamis.protocol.values import Value


def explain_live(target: str, attributes: Mapping[str, Value], as_json: bool) -> int:
    """Query all routers of `target` and print the answers; return the exit code."""
    code = 0
    body = json.dumps(attributes).encode()
    for router in routers(target):
        try:
            answer = router.ask("/explain", body)
        except NoAnswer as error:
            click.echo(str(error), err=True)
            code = 1
            continue
        if as_json:
            click.echo(json.dumps({"router": router.name} | answer))
        else:
            click.echo("\n".join(map(shown, _as_text(router.name, answer, attributes))))
    return code


def _as_text(router: str, answer: dict[str, Any], attributes: Mapping[str, Value]) -> Iterator[str]:
    filters, total = answer["filters"], answer["matching_filters"]
    passed_on = answer.get("passed_on")  # null if the router has no neighbours
    by_root = answer.get("by_root") or {}
    onward = list(_onward(passed_on or (), by_root.get("root")))
    if by_root:
        yield f"router {router}: {message_by_root(by_root)}"
    if not total:
        none = "no filter matches" if passed_on is None else "no filter of its clients matches"
        passed = f"it is forwarded {'; '.join(onward)}" if onward else "the message has no receiver"
        yield f"router {router}: {none}, {passed}"
        return
    matching = "1 filter matches" if total == 1 else f"{total:,} filters match"
    yield f"router {router}: {matching}, the message {' and '.join(_fate(answer))}"
    if onward:
        yield f"and it is forwarded {'; '.join(onward)}"
    for item in filters:
        yield f"{_whose(item)}: {item['filter']}"
        yield from _verdict_lines(item, attributes)
    denied = answer.get("denied_filters", [])  # routers of earlier versions do not list them
    for item in denied:
        yield f"not for {_whose(item)}, by its program: {item['filter']}"
        yield from _verdict_lines(item, attributes)
    if not answer["complete"] or len(denied) < answer.get("denied", 0):
        yield f"{total - len(filters) - len(denied):,} more filters match"


def _verdict_lines(item: dict[str, Any], attributes: Mapping[str, Value]) -> Iterator[str]:
    """Return a line for each constraint of a filter, and for each condition of its residual program."""
    if item.get("cut") or len(item["filter"].encode()) > PREDICATE_BYTES_MAX:
        yield f"     (too long to explain: {item.get('filter_length', len(item['filter'])):,} characters)"
        return
    for verdict in explain(parse(item["filter"]), attributes).filters:
        yield from constraint_lines(verdict)
    if item.get("program"):
        program = read_program(bytes.fromhex(item["program"]))
        yield from program_verdict(program, (), attributes).condition_lines()


def _whose(item: dict[str, Any]) -> str:
    if item.get("durable"):
        return f"durable subscription {item['durable']}"
    shares = f", group {item['group']}" if item.get("group") else ""
    return f"{item['client']}, subscription {item['subscription']}{shares}"


def _fate(answer: dict[str, Any]) -> Iterator[str]:
    receivers, durables = list(_receivers(answer)), answer.get("durables", [])
    if receivers or not answer.get("durable_count"):
        yield f"goes to {', '.join(receivers)}"
    if answer.get("durable_count"):
        yield f"is stored by {some(durables, answer['durable_count'], ', ')}"


def _receivers(answer: dict[str, Any]) -> Iterator[str]:
    """Return the clients that receive a copy each, then the worker groups, of which one member here or at another
    router receives it."""
    filters = [item for item in answer["filters"] if not item.get("durable")]
    members = {item["client"] for item in filters if item.get("group")}
    alone = {item["client"] for item in filters if not item.get("group")}
    yield from sorted(alone | ({*answer["clients"]} - members))
    for group in sorted({item["group"] for item in filters if item.get("group")}):
        yield f"one of the members of group {group}"


def _onward(passed_on: Iterable[dict[str, Any]], root: str | None) -> Iterator[str]:
    """Return to which neighbours the message goes, and why: for which routers behind each that have matching filters,
    where these are known."""
    for way in passed_on:
        for_whom = f"for {', '.join(way['routers'])}" if way["routers"] else ""
        why = _WHY.get(way.get("why", ""), "").format(root=root)  # routers of earlier versions do not say it
        yield f"to {way['neighbour']}{', ' if why or for_whom else ''}{' and '.join(filter(None, (why, for_whom)))}"


_WHY: Final = {
    "root": "towards its root {root}",
    "edge": "which has matching filters behind it",
    "everything": "behind which every message matches",
}
