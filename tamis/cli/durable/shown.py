"""`tamis durable ls`, `info`, `peek` and `dead`: show durable subscriptions and the messages stored in them.

Law: these commands query the administration of routers, so they attach no consumer and count as no delivery.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, cast

import click

from tamis.cli.network.durable_lines import lost_of
from tamis.cli.reach.admin import AdminTarget, Command, NoAnswer, admin_token_option, routers_called
from tamis.cli.reach.connecting import is_like_an_address
from tamis.cli.tables import byte_count, columns, duration, so_many
from tamis.protocol.message_text import format_attributes
from tamis.protocol.shown import shown

_LS_EXAMPLE = """\b
Examples:
  tamis durable ls
  tamis durable ls network.yaml --json | jq 'select(.depth > 1000)'
"""
_INFO_EXAMPLE = """\b
Example:
  tamis durable info network.yaml jobs
"""
_PEEK_EXAMPLE = """\b
Examples:
  tamis durable peek jobs
  tamis durable peek network.yaml jobs --lines 100 --json
"""
_DEAD_EXAMPLE = """\b
Example:
  tamis durable dead network.yaml jobs
"""
_DURABLES_MAX: Final = 1_000_000
_DURABLES_NAMED: Final = 10
"""The most names of durable subscriptions that the error for an unknown name lists."""


def looks(command: Command) -> Command:
    for option in (
        click.option("--json", "as_json", is_flag=True, help="One JSON object a line."),
        admin_token_option,
        click.option("--router", "name", metavar="ROUTER", help="Query only this router of the file."),
    ):
        command = option(command)
    return command


@click.command("ls", epilog=_LS_EXAMPLE)
@click.argument("target", required=False, type=click.Path())
@looks
def ls(target: str | None, name: str | None, as_json: bool) -> int:
    """List durable subscriptions of routers, with their depth and lag.

    `depth` is the number of messages that are not acknowledged; `unacked` of them are at consumers, and `lag` is the
    age of the oldest. `lost` counts messages that expired, were dropped past a limit, could not be delivered, were
    damaged with the log, or were skipped by the owner. Those that a queried router knows of routers that were not
    queried, or do not answer, follow with the state `elsewhere` or `out of reach`, and `best effort` if other routers
    store nothing for them. A name that two routers have is shown as NAME@ROUTER. TARGET is as for `tamis status`. The
    exit code is 1 if a router does not answer.
    """
    code, rows = 0, []
    elsewhere: dict[tuple[str, str], dict[str, Any]] = {}
    answered = set()
    for router in asked(target, name):
        try:
            for form in router.items("/durables", _DURABLES_MAX):
                if as_json:
                    click.echo(json.dumps({"router": router.name} | form))
                rows.append(_row(router.name, form))
            answered.add(router.name)
            elsewhere |= _elsewhere(router)
        except NoAnswer as error:
            click.echo(str(error), err=True)
            code = 1
    for (home, _), form in sorted(elsewhere.items()):
        if home not in answered:
            if as_json:
                click.echo(json.dumps({**form, "state": "elsewhere"}))
            state = "elsewhere" if form["is_in_reach"] else "out of reach"
            state += ", best effort" if form.get("is_best_effort") else ""
            rows.append((home, form["durable"], state, *("",) * 8))
    if not as_json:
        click.echo(columns(_HEAD, _told_apart(rows)) if rows else "no durable subscriptions")
    return code


_HEAD: Final = ("router", "durable", "state", "consumers", "depth", "unacked", "lag", "bytes", "again", "dead", "lost")


def _elsewhere(router: AdminTarget) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the durable subscriptions of other routers that a router knows, by router and name; one of an earlier
    version knows none."""
    try:
        found = list(router.items("/durables/elsewhere", _DURABLES_MAX))
    except NoAnswer as error:
        if error.is_refusal:
            return {}
        raise
    return {(form["router"], form["durable"]): form for form in found}


def _told_apart(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Return rows in which a name that several routers have is followed by its router."""
    homes = Counter(row[1] for row in rows)
    return [(row[0], f"{row[1]}@{row[0]}" if homes[row[1]] > 1 else row[1], *row[2:]) for row in rows]


def _row(router: str, form: dict[str, Any]) -> tuple[object, ...]:
    homes = form.get("homes")
    state = f"{form['state']}, homes {','.join(homes)}" if homes else form["state"]
    return (
        *(router, form["durable"], state, form["consumers"], form["depth"], form["unacked"]),
        duration(form["lag_s"]) if form["depth"] else "",
        byte_count(form["bytes"]),
        *(form["redelivered"], form["dead"], lost_of(form)),
    )


@click.command("info", epilog=_INFO_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[TARGET] NAME")
@looks
def info(words: tuple[str, ...], name: str | None, as_json: bool) -> int:
    """Show one durable subscription: predicate, policy, state, and counts of its messages by outcome.

    TARGET is as for `tamis status`. The exit code is 1 if it does not exist.
    """
    router, form = _found(words, name)
    if as_json:
        click.echo(json.dumps({"router": router.name} | form))
        return 0
    policy = form.pop("policy")
    for key, value in ({"router": router.name} | form | policy).items():
        click.echo(shown(f"{key:<15} {_value(value)}"))
    return 0


def _value(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


@click.command("peek", epilog=_PEEK_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[TARGET] NAME")
@click.option(
    "--lines", "-n", type=click.IntRange(min=1), default=20, show_default=True, help="Print at most this many messages."
)
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="POSITION", help="Start after this position.")
@looks
def peek(words: tuple[str, ...], lines: int, after: int, name: str | None, as_json: bool) -> int:
    """Print the messages stored in the durable subscription NAME, oldest first, without consuming them.

    Messages that were delivered and are not acknowledged are printed, too. TARGET is as for `tamis status`.
    """
    router, form = _found(words, name)
    for message in _waiting(router, form["durable"], lines, after, dead=0):
        click.echo(json.dumps(message) if as_json else shown(_text(message)))
    return 0


@click.command("dead", epilog=_DEAD_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[TARGET] NAME")
@click.option(
    "--lines", "-n", type=click.IntRange(min=1), default=20, show_default=True, help="Print at most this many messages."
)
@looks
def dead(words: tuple[str, ...], lines: int, name: str | None, as_json: bool) -> int:
    """Print the dead letters of the durable subscription NAME, with the reason of each: messages that were rejected or
    delivered too often.

    They are stored in the durable subscription that `--dead-letter` names; `tamis sub --durable` consumes them there.
    TARGET is as for `tamis status`.
    """
    router, form = _found(words, name)
    for message in _waiting(router, form["durable"], lines, 0, dead=1):
        click.echo(json.dumps(message) if as_json else shown(_text(message)))
    return 0


# --- routers ---------------------------------------------------------------------------------------------------------


def asked(target: str | None, name: str | None) -> list[AdminTarget]:
    return routers_called(target, () if name is None else (name,))


def _found(words: tuple[str, ...], name: str | None) -> tuple[AdminTarget, dict[str, Any]]:
    """Return the router that has the named durable subscription, and its state; an error that lists others if none has
    it."""
    if len(words) not in (1, 2):
        raise click.UsageError(
            f"give an optional TARGET and the NAME of one durable subscription, not {so_many(len(words), 'word')}"
        )
    durable, others, not_storing, at = words[-1], list[str](), list[str](), list[str]()
    for router in asked(words[0] if len(words) == 2 else None, name):
        try:
            page = router.ask("/durables", name=durable)
            if page["durables"]:
                return router, page["durables"][0]
            at = [form["router"] for form in _elsewhere_of(router, durable)]
            if not page["is_storing"]:
                not_storing.append(router.name)
            others += [form["durable"] for form in router.items("/durables", _DURABLES_NAMED)]
        except NoAnswer as error:
            click.echo(str(error), err=True)
    if not others and len(words) == 1 and is_like_an_address(durable):
        raise click.UsageError(f"{durable!r} is a TARGET; the NAME of a durable subscription is missing")
    there = f"; durable subscriptions: {', '.join(map(repr, others[:_DURABLES_NAMED]))}" if others else ""
    none = f"; {', '.join(not_storing)} stores no messages: no `data`, or `durable: false`" if not_storing else ""
    where = f" here: it is at router {' and '.join(at)}" if at else ""
    raise click.ClickException(shown(f"no durable subscription {durable!r}{where or there}{none}"))


def _elsewhere_of(router: AdminTarget, durable: str) -> list[dict[str, Any]]:
    """Return what a router knows of the durable subscription at other routers."""
    try:
        return cast("list[dict[str, Any]]", router.ask("/durables/elsewhere", name=durable)["elsewhere"])
    except NoAnswer as error:
        if error.is_refusal:
            return []
        raise


def _waiting(router: AdminTarget, durable: str, limit: int, after: int, dead: int) -> Iterator[dict[str, Any]]:
    cursor: int | None = after
    while cursor is not None and limit > 0:
        try:
            page = router.ask("/durables/waiting", name=durable, cursor=cursor, limit=min(limit, 500), dead=dead)
        except NoAnswer as error:
            raise click.ClickException(str(error)) from None
        for form in page["messages"]:
            came = datetime.fromtimestamp(form.pop("came_ms") / 1e3, UTC).isoformat(timespec="milliseconds")
            yield {"position": form.pop("position"), "came": came.replace("+00:00", "Z")} | form
        limit, cursor = limit - len(page["messages"]), page["next"]


def _text(message: dict[str, Any]) -> str:
    """Return when the message arrived, its position and its attributes; for a dead letter also the reason."""
    if "unreadable" in message:
        said = f"unreadable: {message['unreadable']}"
    elif message["attributes"] is None:
        said = f"{message['text']} ..."
    else:
        said = format_attributes(message["attributes"])
    return f"{message['came']} {message['position']}: {said}{_payload(message)}{_why(message.get('dead'))}"


def _payload(message: dict[str, Any]) -> str:
    if "payload" in message:
        return f" {message['payload']!r}"
    size = message.get("payload_bytes", len(message.get("payload_base64", "")) * 3 // 4)
    return f" (payload of {size:,} bytes)" if size else ""


def _why(death: dict[str, Any] | None) -> str:
    if death is None:
        return ""
    return f"; delivered {so_many(death['deliveries'], 'time')}" + (f": {death['reason']}" if death["reason"] else "")
