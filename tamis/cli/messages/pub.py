"""`tamis pub`: publish messages."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import click

from tamis.cli.amounts import TIMES, checked
from tamis.cli.messages.pace import Pace
from tamis.cli.messages.pub_tally import Tally
from tamis.cli.reach.connecting import access, access_options, refusals, split_addresses
from tamis.cli.reach.predicates import event_dialect_option
from tamis.cli.reach.spaces_at import spaces_option, told_spaces
from tamis.cli.reach.wanted_names import WantedNames
from tamis.client.messages.published import TTL_MS_MAX
from tamis.protocol.amounts import milliseconds_of

if TYPE_CHECKING:
    from tamis.blocking import Client
    from tamis.cli.messages.publications import Fit, InputMessages, Made, Publication
    from tamis.client.confirming import Confirm
    from tamis.protocol.spaces import SpaceSet

_EXAMPLE = """\b
Examples:
  tamis pub class=alert severity=6 device=web-3 --payload 'disk full'
  tamis pub 'n={{count}}' 'price={{random 1 100}}' 'venue={{pick X Y}}' --count 1000 --rate 100
  tamis pub < messages.jsonl
  tamis pub tamis://10.0.0.5:7400 tamis://10.0.0.6:7400 kind=photo --payload-file photo.jpg --confirm
  tamis pub class=job number=1 --confirm stored --ttl 1h
  tamis pub --dialect mqtt hall/temperature --payload 21.5
"""


_LEVELS: Final = ("accepted", "stored", "held")
_OF_DISK: Final = ("stored", "held")
_time = checked(partial(milliseconds_of, most=TTL_MS_MAX), f"{TIMES}, at most 36500d")


class _Pub(click.Command):
    """A command that accepts `--confirm` without a level, too: no level looks like an attribute or an address."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = args.index("--") if "--" in args else len(args)
        pairs = zip(args[:own], [*args[1:own], ""], strict=False)  # no words make no pairs
        told = ["--confirm=accepted" if word == "--confirm" and after not in _LEVELS else word for word, after in pairs]
        return super().parse_args(ctx, told + args[own:])


@click.command("pub", cls=_Pub, epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[ADDRESS]... [ATTRIBUTE]...")
@click.option("--payload", metavar="TEXT", help="Set the payload; may hold templates.")
@click.option(
    "--payload-file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Read the payload from this file; - is stdin.",
)
@click.option(
    "--count",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Publish this many messages; 0: until Ctrl-C.",
)
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Publish at most this many a second.")
@click.option(
    "--confirm",
    type=click.Choice(_LEVELS),
    help="Wait until the router has accepted each message (accepted, also without a value), has stored it on its disk "
    "(stored), or all routers that store it have done so (held).",
)
@click.option(
    "--require-stored",
    is_flag=True,
    help="With --confirm stored or held: exit with 1 unless a durable subscription has every message.",
)
@click.option(
    "--retry",
    is_flag=True,
    help="With --confirm: publish a message again, under its id, if the connection is cut before the router answers.",
)
@click.option(
    "--ttl",
    metavar="TIME",
    callback=_time,
    help="Messages expire after this time: 30s, 15m, 12h, 7d.",
)
@click.option("--seed", type=int, help="For random and pick: equal seeds give equal messages.")
@click.option("--space", metavar="NAME", help="Publish messages of this space; sets the attribute that names it.")
@spaces_option
@event_dialect_option
@access_options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object on stdout.")
def command(
    words: tuple[str, ...],
    payload: str | None,
    payload_file: str | None,
    count: int,
    rate: float | None,
    confirm: Literal["accepted", "stored", "held"] | None,
    require_stored: bool,
    retry: bool,
    ttl: str | None,
    seed: int | None,
    space: str | None,
    declared: str | None,
    dialect: str | None,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    as_json: bool,
) -> int:
    """Publish a message, or many.

    The attributes are one a word (class=alert severity=6 'note="two words"'), or one JSON object; {} has none.
    Without attributes, each line of stdin is a message: a JSON object of attributes, or {"attributes": {...},
    "payload": "..."} as `tamis sub --json` prints.

    With --dialect, the attributes are those of an event of another system: attributes, JSON, or the text of a topic,
    and a JSON value in each line of stdin. docs/reference/dialects.md has the attributes that an event is given. Of an
    event with more than 64, those that filters of the network use are kept, as the administration of the router says,
    and the attribute `left-out` is the number of the others.

    Attributes and --payload may hold {{count}}, {{random 1 100}}, {{pick a b c}} and {{time}}, filled in for each
    message.

    An ADDRESS is tamis://host:port, tamis+tls://host:port or tamis+unix:/path; several are tried in order. From the
    address of a router's administration (http://host:port) the address for clients is looked up. Default: TAMIS_URL
    (several, separated by blanks or commas), the context in use (`tamis context`), or tamis://127.0.0.1:7400.

    Without --confirm the summary counts the messages sent, not those accepted; a router drops messages if the clock
    here is more than a day ahead of its own, and the summary reports this if the router has sent its time. With
    --confirm the summary counts the messages published and those refused, with reasons; with stored and held also
    those that match no durable subscription. With --spaces, messages that violate their space are not sent.

    The exit code is 1 if a message was not published, and with --require-stored if a message is not known to be
    stored.
    """
    if require_stored and confirm not in _OF_DISK:
        raise click.UsageError("--require-stored needs --confirm stored or --confirm held")
    if retry and confirm is None:
        raise click.UsageError("--retry needs --confirm")
    if dialect is not None and space is not None:
        raise click.UsageError("an event of a dialect is of no space: omit --space")
    addresses, attributes = split_addresses(words)
    with refusals():
        told = access(addresses, name, token_file, ca)
        fit = None if space is None else _fit(space, told_spaces(declared, is_needed=False))
        names = None if dialect is None else WantedNames(told.addresses[0])
        source = _source(attributes, payload, payload_file, count, seed, fit, dialect, names)
        with told.blocking_client() as client:
            tally = Tally(client.router or "", is_confirmed=confirm is not None, says_stored=confirm in _OF_DISK)
            how = _How(confirm, retry, ttl, Pace(rate) if rate else None)
            try:
                _publish(client, source, how, tally)
                client.close()  # the drain also requests the router's clock, after all messages
            finally:
                tally.refused_lines, tally.clock_ahead_s = source.refused, client.clock_ahead_s
                tally.is_left_out = names is not None and names.is_left_out
                tally.sum_up(as_json=as_json)
    return 0 if tally.is_whole and (tally.is_all_stored or not require_stored) else 1


class _How(NamedTuple):
    """What to set for each message besides its content, and the rate."""

    confirm: Confirm
    retry: bool
    ttl: str | None
    pace: Pace | None


def _source(
    words: tuple[str, ...],
    payload: str | None,
    payload_file: str | None,
    count: int,
    seed: int | None,
    fit: Fit | None,
    dialect: str | None,
    names: WantedNames | None,
) -> Made | InputMessages:
    from tamis.cli.messages.publications import InputMessages, Made, Recipe
    from tamis.protocol import dialects

    if dialect is not None:
        dialects.get(dialect)  # refused here, not once for each line
    if payload is not None and payload_file is not None:
        raise click.UsageError("use --payload or --payload-file, not both")
    if words:
        content = payload or _content(payload_file)
        return Made(Recipe(words, content, Random(seed), fit, dialect, names), count)  # noqa: S311 - no secret
    if payload is not None or payload_file is not None:
        raise click.UsageError(
            "a payload option needs attributes as arguments ({} for none); lines of stdin have their own payloads"
        )
    if sys.stdin.isatty():
        click.echo("reading messages from stdin, one JSON object a line; Ctrl-D ends", err=True)
    return InputMessages(fit, dialect, names)


def _fit(space: str, known: SpaceSet) -> Fit:
    """Return a function that gives a message the name of its space; it raises Refused if the message violates the
    space."""
    from tamis.client.messages.in_space import message_of

    return lambda attributes: message_of(attributes, space, known)


def _content(file: str | None) -> bytes:
    if file is None:
        return b""
    with click.open_file(file, "rb") as opened:
        content: bytes = opened.read()
    return content


def _publish(client: Client, source: Iterable[list[Publication]], how: _How, tally: Tally) -> None:
    """Publish all of `source`: one by one at a given rate, otherwise many at a time."""
    for batch in source:
        for part in [batch] if how.pace is None else ([message] for message in batch):
            if how.pace is not None:
                how.pace.wait()
            _publish_part(client, part, how, tally)


def _publish_part(client: Client, part: list[Publication], how: _How, tally: Tally) -> None:
    if how.confirm is None:
        for attributes, payload in part:
            client.publish(attributes, payload, ttl_s=how.ttl)
            tally.sent_one()
        return
    receipts = client.publish_many(part, confirm=how.confirm, retry=how.retry, ttl_s=how.ttl, on_failed=tally.failed)
    tally.confirmed(receipts)
    if tally.first_unknown is not None:
        raise tally.first_unknown
