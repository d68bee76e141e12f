"""`tamis durable create`: create a durable subscription.

Law: each option is a part of the policy; an invalid value is refused before a connection is made.
"""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from typing import Any, Final

import click

from tamis.cli.amounts import TIMES, checked
from tamis.cli.reach.connecting import access, access_options, refusals, split_addresses
from tamis.cli.reach.predicates import check_filter, dialect_option
from tamis.cli.reach.spaces_at import names_space, spaces_option, told_spaces
from tamis.cli.since import since_us
from tamis.cli.tables import so_many
from tamis.client.durable.policy import (
    ACK_WAIT_S,
    BACKOFF_S,
    DELIVERIES,
    DURABLE_BYTES,
    IDLE,
    UNACKED,
    Start,
    new_durable_name,
)
from tamis.client.messages.pending import HOMES
from tamis.protocol.amounts import milliseconds_of, octets_of, short_milliseconds_of
from tamis.protocol.limits import DURABLE_HOMES_MAX, DURABLE_UNACKED_MAX
from tamis.protocol.messages import MessageId
from tamis.protocol.old_names import with_old

_EXAMPLE = """\b
Examples:
  tamis durable create jobs 'class = "job"'
  tamis durable create jobs 'class = "job"' --start 1h
  tamis durable create jobs 'class = "job"' --bytes '64 MiB' --overflow refuse --ack-wait 5m --dead-letter dead
"""
_NEVER: Final = "never"


_size = checked(octets_of, "a number of bytes, or a size such as '64 MiB' and '1 GiB'")
_time = checked(short_milliseconds_of, f"{TIMES}, at most 49d")
_time_or_never = checked(milliseconds_of, f"{_NEVER}, or {TIMES}", _NEVER)


_STARTS: Final[dict[str, Start]] = {"new": "new", "earliest": "earliest"}
_ID: Final = re.compile(r"([0-9a-f]{16})-([0-9]{1,20})")


def _start_checked(_ctx: click.Context, _param: click.Parameter, text: str) -> Start:
    """Return where a durable subscription starts, from the text of --start."""
    if text in _STARTS:
        return _STARTS[text]
    if id_ := _ID.fullmatch(text):
        return MessageId(int(id_[1], 16), int(id_[2]))
    try:
        return datetime.fromtimestamp(since_us(text, time.time()) / 1e6, UTC)
    except click.UsageError:
        raise click.BadParameter(
            "expected new, earliest, a time such as 10m (ago) or 2026-01-31T09:00, or the id of a message as `tamis "
            f"sub --json` prints it, not {text!r}"
        ) from None


@click.command("create", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[ADDRESS]... NAME PREDICATE")
@click.option(
    "--start",
    metavar="WHERE",
    callback=_start_checked,
    default="new",
    show_default=True,
    help="Where in the router's log to start: new, earliest, `10m` ago, 2026-01-31T09:00, or after the message "
    "with this id.",
)
@click.option(
    "--until", type=click.Choice(["acked"]), default="acked", show_default=True, help="How long a message is stored."
)
@click.option(
    "--bytes",
    "bytes",
    metavar="SIZE",
    callback=_size,
    default=DURABLE_BYTES,
    show_default=True,
    help="Store at most this many bytes.",
)
@click.option("--count", type=click.IntRange(min=1), help="Store at most this many messages.")
@click.option(
    "--overflow",
    type=click.Choice(["drop-oldest", "refuse"]),
    default="drop-oldest",
    show_default=True,
    help="Past that limit: drop the oldest messages, or refuse publishes.",
)
@click.option(
    "--idle",
    metavar="TIME",
    callback=_time_or_never,
    default=IDLE,
    show_default=True,
    help="Remove the durable subscription after this time without a consumer, or never.",
)
@click.option(
    "--ack-wait",
    "ack_wait_s",
    metavar="TIME",
    callback=_time,
    default=f"{ACK_WAIT_S}s",
    show_default=True,
    help="Deliver a message again that is not acknowledged within this time.",
)
@click.option(
    "--max-deliveries",
    type=click.IntRange(min=0),
    callback=lambda _ctx, _param, most: most or None,
    default=DELIVERIES,
    show_default=True,
    help="The limit of failed deliveries of a message; 0: no limit.",
)
@click.option(
    "--backoff",
    "backoff_s",
    metavar="TIME",
    callback=_time,
    multiple=True,
    default=[f"{pause}s" for pause in BACKOFF_S],
    show_default=True,
    help="The pause before the second delivery; repeat it for the third, and so on.",
)
@click.option(
    "--dead-letter",
    metavar="NAME",
    help="Move messages that were rejected or delivered too often to this durable subscription.",
)
@click.option(
    "--max-unacked",
    type=click.IntRange(1, DURABLE_UNACKED_MAX),
    default=UNACKED,
    show_default=True,
    help="Deliver at most this many messages that are not acknowledged.",
)
@click.option(
    "--order-by",
    metavar="ATTRIBUTE",
    help="Deliver messages with equal values of this attribute to one consumer at a time, in order.",
)
@click.option(
    "--homes",
    metavar="ROUTERS",
    callback=lambda _ctx, _param, text: tuple(text.split(",")) if text else (),
    help=f"Up to {DURABLE_HOMES_MAX} routers, as in a,b, that store all messages each; the first in reach serves.",
)
@click.option(
    "--copies-min",
    type=click.IntRange(1, DURABLE_HOMES_MAX),
    help="Of the routers of --homes, how many have a message on disk when it counts as held; else each with a copy.",
)
@click.option("--space", metavar="NAME", help="The predicate is of this space.")
@spaces_option
@dialect_option
@access_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def create(
    words: tuple[str, ...],
    space: str | None,
    declared: str | None,
    dialect: str | None,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    as_json: bool,
    **policy: Any,  # noqa: ANN401 - each option is an argument of `Client.durable`
) -> int:
    """Create the durable subscription NAME: the router stores messages that satisfy PREDICATE from now on and, with
    --start, those that its log has already.

    A router stores messages if it has a data folder and `durable` is not false. `tamis sub --durable NAME` consumes
    the messages, `tamis durable rm NAME` removes the subscription. If one of this name exists, its policy must equal
    this one. If clients use tokens, the subscription belongs to the client of this --name, and only that client can
    remove it. An ADDRESS is as for `tamis pub`.
    """
    addresses, others = split_addresses(words)
    if len(others) != 2:
        raise click.UsageError(f"give a NAME and one PREDICATE, quoted as one word, not {so_many(len(others), 'word')}")
    durable, predicate = others
    with refusals():
        new_durable_name(durable)
        if policy["dead_letter"] is not None:
            new_durable_name(policy["dead_letter"], "--dead-letter")
        told = access(addresses, name, token_file, ca)
        known = told_spaces(declared, space is not None or (not dialect and names_space(predicate)))
        check_filter(predicate, known, space, dialect, HOMES if policy["homes"] else None)
        with told.blocking_client(known) as client:
            at = client.durable(durable, predicate, space=space, dialect=dialect or None, **policy)
    if as_json:
        told_of = {"known_at": at.known, "unknown_at": at.unknown, "is_best_effort": at.is_best_effort}
        told_of |= {"homes": policy["homes"], "lacking": at.lacking} if policy["homes"] else {}
        told_of |= {"copies_min": policy["copies_min"]} if policy["copies_min"] else {}
        made = {"durable": durable, "predicate": predicate, **told_of}
        click.echo(json.dumps(with_old(made, keep="durable")))
    else:
        click.echo(f"durable subscription {durable} exists: {predicate}", err=True)
        if at.known_count:
            click.echo(f"known at {_named(at.known, at.known_count)}", err=True)
        if at.unknown_count:
            click.echo(f"not known yet at {_named(at.unknown, at.unknown_count)}", err=True)
        if at.lacking:
            click.echo(f"no copy yet at {', '.join(at.lacking)}", err=True)
        if at.is_best_effort:
            click.echo("some of these store nothing: messages that enter there are best effort", err=True)
    return 0


def _named(routers: tuple[str, ...], count: int) -> str:
    """Return `count` routers, of which `routers` are named, as words."""
    more = count - len(routers)
    return f"{so_many(count, 'other router')}: " + ", ".join(routers) + (f" and {more:,} more" if more else "")
