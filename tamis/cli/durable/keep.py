"""`tamis keep`: make a durable subscription.

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
from tamis.cli.reach.spaces_at import names_space, spaces_option, told_spaces
from tamis.cli.since import since_us
from tamis.cli.tables import so_many
from tamis.client.durable.terms import (
    ACK_WAIT_S,
    BACKOFF_S,
    DELIVERIES,
    IDLE,
    KEEP_BYTES,
    UNACKED,
    Start,
    new_keep_name,
)
from tamis.protocol.amounts import milliseconds_of, octets_of, short_milliseconds_of
from tamis.protocol.limits import KEEP_UNACKED_MAX
from tamis.protocol.messages import MessageId

_EXAMPLE = """\b
Examples:
  tamis keep jobs 'class = "job"'
  tamis keep jobs 'class = "job"' --start 1h
  tamis keep jobs 'class = "job"' --bytes '64 MiB' --overflow refuse --ack-wait 5m --dead-letter dead
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
            "it is new, earliest, a time such as 10m (ago) or 2026-01-31T09:00, or the id of a message as `tamis sub "
            f"--json` prints it, not {text!r}"
        ) from None


@click.command("keep", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[ADDRESS]... NAME PREDICATE")
@click.option(
    "--start",
    metavar="WHERE",
    callback=_start_checked,
    default="new",
    show_default=True,
    help="What of the router's log it begins with: new, earliest, `10m` ago, 2026-01-31T09:00, or behind the message "
    "of this id.",
)
@click.option(
    "--until", type=click.Choice(["acked"]), default="acked", show_default=True, help="Until when a message is kept."
)
@click.option(
    "--bytes",
    "bytes",
    metavar="SIZE",
    callback=_size,
    default=KEEP_BYTES,
    show_default=True,
    help="What is kept at most.",
)
@click.option("--count", type=click.IntRange(min=1), help="How many messages are kept at most.")
@click.option(
    "--overflow",
    type=click.Choice(["drop-oldest", "refuse"]),
    default="drop-oldest",
    show_default=True,
    help="What becomes of messages past that: the oldest go, or publishers are refused.",
)
@click.option(
    "--idle",
    metavar="TIME",
    callback=_time_or_never,
    default=IDLE,
    show_default=True,
    help="The keep is forgotten when nobody was attached for so long; or never.",
)
@click.option(
    "--ack-wait",
    "ack_wait_s",
    metavar="TIME",
    callback=_time,
    default=f"{ACK_WAIT_S}s",
    show_default=True,
    help="A message that is not acknowledged in so long is given out again.",
)
@click.option(
    "--max-deliveries",
    type=click.IntRange(min=0),
    callback=lambda _ctx, _param, most: most or None,
    default=DELIVERIES,
    show_default=True,
    help="How many attempts with a message may fail; 0 is without a bound.",
)
@click.option(
    "--backoff",
    "backoff_s",
    metavar="TIME",
    callback=_time,
    multiple=True,
    default=[f"{pause}s" for pause in BACKOFF_S],
    show_default=True,
    help="The pause before the second time, and again for the third, and so on.",
)
@click.option("--dead-letter", metavar="NAME", help="The keep that gets what was given out too often or rejected.")
@click.option(
    "--max-unacked",
    type=click.IntRange(1, KEEP_UNACKED_MAX),
    default=UNACKED,
    show_default=True,
    help="How many messages are given out and not acknowledged at a time.",
)
@click.option(
    "--order-by", metavar="ATTRIBUTE", help="Equal values of it go to one consumer at a time, in the order they came."
)
@click.option("--space", metavar="NAME", help="The predicate is about messages of this space.")
@spaces_option
@access_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(
    words: tuple[str, ...],
    space: str | None,
    declared: str | None,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    as_json: bool,
    **terms: Any,  # noqa: ANN401 - each option is an argument of `Client.keep`
) -> int:
    """Store at the router, under NAME, what satisfies PREDICATE. That is what comes from now on and, with --start, what
    its log has already.

    A router keeps wherever it has a data folder and `kept` is not false. `tamis sub --kept NAME` gets the messages,
    `tamis kept rm NAME` ends it. A keep of this name with these terms may be there already; one with others is an
    error. Where routers ask for tokens it belongs to the client of this --name, which alone may end it. An ADDRESS is
    as for `tamis pub`.
    """
    from tamis.protocol.language import parse

    addresses, others = split_addresses(words)
    if len(others) != 2:
        raise click.UsageError(
            f"a keep has a NAME and one PREDICATE, which is one word for the shell, not {so_many(len(others), 'word')}"
        )
    keep, predicate = others
    with refusals():
        new_keep_name(keep)
        if terms["dead_letter"] is not None:
            new_keep_name(terms["dead_letter"], "--dead-letter")
        told = access(addresses, name, token_file, ca)
        known = told_spaces(declared, space is not None or names_space(predicate))
        wanted = parse(predicate, spaces=known, space=space)
        with told.blocking_client() as client:
            client.keep(keep, wanted, **terms)
    if as_json:
        click.echo(json.dumps({"keep": keep, "predicate": predicate}))
    else:
        click.echo(f"keep {keep} is there: {predicate}", err=True)
    return 0
