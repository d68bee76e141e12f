"""`tamis pub`: publish messages."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import click

from tamis.cli.amounts import TIMES, checked
from tamis.cli.connecting import access, access_options, refusals, split_addresses
from tamis.cli.pace import Pace
from tamis.cli.progress import Progress
from tamis.cli.spaces_at import spaces_option, told_spaces
from tamis.cli.tables import duration, so_many
from tamis.client.errors import STORED_NOWHERE
from tamis.client.published import TTL_MS_MAX
from tamis.protocol.amounts import milliseconds_of

if TYPE_CHECKING:
    from tamis.blocking import Client
    from tamis.cli.publications import InputMessages, Made, Publication
    from tamis.client.confirming import Confirm
    from tamis.client.receipt import Receipts
    from tamis.protocol.spaces import SpaceSet

_EXAMPLE = """\b
Examples:
  tamis pub class=alert severity=6 device=web-3 --payload 'disk full'
  tamis pub 'n={{count}}' 'price={{random 1 100}}' 'venue={{pick X Y}}' --count 1000 --rate 100
  tamis pub < messages.jsonl
  tamis pub tamis://10.0.0.5:7400 tamis://10.0.0.6:7400 kind=photo --payload-file photo.jpg --confirm
  tamis pub class=job number=1 --confirm kept --ttl 1h
"""


_LEVELS: Final = ("accepted", "kept", "held")
_OF_DISK: Final = ("kept", "held")
_time = checked(partial(milliseconds_of, most=TTL_MS_MAX), f"{TIMES}, at most 36500d")


class _Pub(click.Command):
    """Takes `--confirm` without a level, too: no level looks like an attribute or an address."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = args.index("--") if "--" in args else len(args)
        pairs = zip(args[:own], [*args[1:own], ""], strict=False)  # of no words there are none
        told = ["--confirm=accepted" if word == "--confirm" and after not in _LEVELS else word for word, after in pairs]
        return super().parse_args(ctx, told + args[own:])


@click.command("pub", cls=_Pub, epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[ADDRESS]... [ATTRIBUTE]...")
@click.option("--payload", metavar="TEXT", help="The payload; may hold templates.")
@click.option(
    "--payload-file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="The payload, as it is; - is stdin.",
)
@click.option("--count", type=click.IntRange(min=0), default=1, show_default=True, help="How many; 0 is until Ctrl-C.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="At most so many a second.")
@click.option(
    "--confirm",
    type=click.Choice(_LEVELS),
    help="Wait until the router has taken each message (accepted, also without a word), has it on its disk for whoever "
    "keeps it (kept), or all who keep it have it on theirs (held).",
)
@click.option(
    "--require-stored",
    is_flag=True,
    help="With --confirm kept or held: the exit code is 1 unless a keep at the router has every message.",
)
@click.option(
    "--ttl",
    metavar="TIME",
    callback=_time,
    help="After this time nobody gets the messages any more: 30s, 15m, 12h, 7d.",
)
@click.option("--seed", type=int, help="For random and pick: equal seeds give equal messages.")
@click.option("--space", metavar="NAME", help="The messages are of this space, and name it.")
@spaces_option
@access_options
@click.option("--json", "as_json", is_flag=True, help="The summary as one JSON object on stdout.")
def command(
    words: tuple[str, ...],
    payload: str | None,
    payload_file: str | None,
    count: int,
    rate: float | None,
    confirm: Literal["accepted", "kept", "held"] | None,
    require_stored: bool,
    ttl: str | None,
    seed: int | None,
    space: str | None,
    declared: str | None,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    as_json: bool,
) -> int:
    """Publish a message, or many.

    The attributes are one a word (class=alert severity=6 'note="two words"'), or one JSON object; {} is none at all.
    Without any, each line of stdin is a message: a JSON object of attributes, or {"attributes": {...}, "payload":
    "..."} as `tamis sub --json` prints.

    Attributes and --payload may hold {{count}}, {{random 1 100}}, {{pick a b c}} and {{time}}, filled in for each
    message.

    An ADDRESS is tamis://host:port, tamis+tls://host:port or tamis+unix:/path; they are tried in order. A router whose
    administration is named (http://host:port) is asked where clients connect. Without one, those of TAMIS_URL
    (several, with blanks or commas between them), those of the context in use (`tamis context`), or
    tamis://127.0.0.1:7400.

    With --space the router refuses what does not fit, and says why with --confirm; with --spaces it is said before
    anything is sent. With --confirm kept and held it is said how many messages no keep at the router wants. The exit
    code is 1 if a message was not published, and with --require-stored if one is not known to be stored.
    """
    if require_stored and confirm not in _OF_DISK:
        raise click.UsageError("--require-stored goes with --confirm kept or --confirm held")
    addresses, attributes = split_addresses(words)
    with refusals():
        told = access(addresses, name, token_file, ca)
        source = _source(attributes, payload, payload_file, count, seed)
        known = told_spaces(declared, is_needed=False)
        of_space = source if space is None else _of_space(source, space, known)
        with told.blocking_client() as client:
            tally = _Tally(says_stored=confirm in _OF_DISK)
            try:
                _publish(client, of_space, Pace(rate) if rate else None, _How(confirm, ttl), tally)
            finally:
                tally.sum_up(source.refused, as_json)
    return 1 if source.refused or (require_stored and not tally.is_all_stored) else 0


class _How(NamedTuple):
    """What is said of each message beside what it holds."""

    confirm: Confirm
    ttl: str | None


class _Tally:
    """What was published, and how much of it is stored. `says_stored`: the router was asked for that."""

    def __init__(self, *, says_stored: bool) -> None:
        self.published = self.stored = self.unstored = 0
        self._says_stored = says_stored
        self._began_s = time.monotonic()
        self._progress = Progress("messages published")

    @property
    def is_all_stored(self) -> bool:
        return self.stored == self.published

    def add(self, receipts: Receipts) -> None:
        self.published += receipts.published
        self.stored += receipts.stored
        self.unstored += receipts.unstored
        self._progress.step(receipts.published)

    def sum_up(self, refused: int, as_json: bool) -> None:
        seconds = time.monotonic() - self._began_s
        if as_json:
            stored = {"stored": self.stored, "unstored": self.unstored} if self._says_stored else {}
            counts = {"published": self.published, **stored, "refused": refused}
            click.echo(json.dumps({**counts, "seconds": round(seconds, 6)}))
        bad = f", {so_many(refused, 'line')} refused" if refused else ""
        count, took = so_many(self.published, "message"), duration(seconds)
        if self._says_stored and self.unstored == self.published > 0:
            click.echo(f"{count} published; {STORED_NOWHERE} ({took}){bad}", err=True)
        else:
            click.echo(f"{count} published in {took}{self._told_unstored()}{bad}", err=True)

    def _told_unstored(self) -> str:
        """What is to be said of some messages that are not known to be stored; empty where all are."""
        if not self._says_stored:
            return ""
        unknown = self.published - self.stored - self.unstored
        them = "it" if self.unstored == 1 else "them"
        nowhere = f"; {self.unstored} of them stored nowhere: no keep at this router wants {them}"
        unsaid = f"; of {unknown} the router does not say whether they are stored"
        return (nowhere if self.unstored else "") + (unsaid if unknown else "")


def _source(
    words: tuple[str, ...], payload: str | None, payload_file: str | None, count: int, seed: int | None
) -> Made | InputMessages:
    from tamis.cli.publications import InputMessages, Made, Recipe

    if payload is not None and payload_file is not None:
        raise click.UsageError("the payload is given by --payload or by --payload-file, not by both")
    if words:
        return Made(Recipe(words, payload or _content(payload_file), Random(seed)), count)  # noqa: S311 - no secret
    if payload is not None or payload_file is not None:
        raise click.UsageError("a payload needs attributes on the line ({} is none); lines of stdin have their own")
    if sys.stdin.isatty():
        click.echo("one JSON object a line is a message; Ctrl-D ends", err=True)
    return InputMessages()


def _of_space(source: Iterable[list[Publication]], space: str, known: SpaceSet) -> Iterator[list[Publication]]:
    """The batches with the name of their space; Refused where a message does not fit."""
    from tamis.client.in_space import message_of

    for batch in source:
        yield [(message_of(attributes, space, known), payload) for attributes, payload in batch]


def _content(file: str | None) -> bytes:
    if file is None:
        return b""
    with click.open_file(file, "rb") as opened:
        content: bytes = opened.read()
    return content


def _publish(client: Client, source: Iterable[list[Publication]], pace: Pace | None, how: _How, tally: _Tally) -> None:
    for batch in source:
        # What keeps a pace, or is alone, goes at once; else the router confirms many at a time.
        for part in [batch] if pace is None else ([message] for message in batch):
            if pace is not None:
                pace.wait()
            tally.add(client.publish_many(part, confirm=how.confirm, ttl_s=how.ttl))
