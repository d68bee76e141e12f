"""`tamis sub`: print messages that satisfy a predicate."""

from __future__ import annotations

import json
import sys
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Literal

import click

from tamis.cli.reach.admin import admin_token_option
from tamis.cli.reach.connecting import Access, access, access_options, refusals, split_addresses
from tamis.cli.reach.predicates import check_filter, dialect_option
from tamis.cli.reach.spaces_at import names_space, spaces_option, told_spaces

if TYPE_CHECKING:
    import tamis
    from tamis.protocol.filters import Predicate
    from tamis.protocol.spaces import SpaceSet

_EXAMPLE = """\b
Examples:
  tamis sub 'severity > 2 and class = "alert"'
  tamis sub 'device ^= "web"' 'device ^= "db"' --json --count 10
  tamis sub --space trades 'price < 120 and side > "buy"'
  tamis sub 'class = "job"' --group workers
  tamis sub --durable jobs --count 10
  tamis sub 'exists price' --format '{{symbol}} {{price}} {{.payload}}'
  tamis sub tamis+tls://router.example:7400 --ca root.pem --name desk-3 --token-file token true
"""


@click.command("sub", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[ADDRESS]... [PREDICATE]...")
@click.option("--count", type=click.IntRange(min=1), help="Stop after this many messages.")
@click.option("--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Stop after this time.")
@click.option("--format", "form", help="text (the default), json, raw, or a template.")
@click.option("--own", is_flag=True, help="Also receive messages published under this client's own name.")
@click.option(
    "--wait",
    type=click.Choice(["home", "network"]),
    default="home",
    show_default=True,
    help="Report the subscription when this router has it, or when every reachable router has it.",
)
@click.option("--space", metavar="NAME", help="The predicates are of this space.")
@spaces_option
@dialect_option
@click.option("--das", "is_das", is_flag=True, help="PREDICATEs are profiles: PROFILE(PRI(a1=5,a2>10,TYPE=T1)).")
@admin_token_option
@click.option("--group", metavar="NAME", help="Share messages: each goes to one client of this group.")
@click.option("--durable", metavar="NAME", help="Consume this durable subscription; no PREDICATE.")
@click.option(
    "--ack/--no-ack", default=None, help="With --durable: acknowledge printed messages (the default), or not."
)
@access_options
@click.option("--json", "as_json", is_flag=True, help="As --format json; reports losses, too.")
def command(
    words: tuple[str, ...],
    count: int | None,
    timeout: float | None,
    form: str | None,
    own: bool,
    wait: Literal["home", "network"],
    space: str | None,
    declared: str | None,
    dialect: str | None,
    is_das: bool,
    group: str | None,
    durable: str | None,
    ack: bool | None,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    as_json: bool,
) -> int:
    """Print messages that satisfy a PREDICATE, until Ctrl-C.

    A predicate is one word for the shell: quote it. An ADDRESS is as for `tamis pub`. A line on stderr reports when the
    router has the subscription.

    --format raw prints payloads, each with a line break after it. A template has placeholders: {{severity}} for an
    attribute, and {{.payload}} {{.id}} {{.time}} {{.attributes}}; a missing value is printed as empty text. For a
    terminal, control characters are escaped; files and pipes receive all bytes unchanged.

    A predicate may name a space (`trades: price < 120`); --space names one for all predicates. Without --spaces or a
    profile, the declaration of the space is requested from the administration of the router.

    With --durable it prints the messages that the router stores under that name, and acknowledges each one printed. A
    message that was not acknowledged (with --no-ack: every one) is delivered again, which counts towards
    --max-deliveries. With --json a message has its `position` in the log and its `deliveries`, this one included.

    Messages lost by a slow reader or a cut connection are reported on stderr, and with --json as an object
    {"gap": {...}}. The exit code is 1 if --timeout ended it before --count was reached.
    """
    from tamis.cli.event_loop import run

    addresses, predicates = split_addresses(words)
    if durable is not None:
        _refuse_beside_stored(
            predicates, own=own, wait=wait != "home", space=space, spaces=declared, das=is_das, group=group
        )
    elif ack is not None:
        raise click.UsageError("--ack and --no-ack need --durable NAME")
    elif not predicates:
        raise click.UsageError("Missing argument 'PREDICATE'; `true` matches every message")
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} contradict each other: omit one")
    with refusals():
        told = access(addresses, name, token_file, ca)
        printer = _Printer("json" if as_json else form or "text", count)
        if durable is not None:
            code = run(_until(_print_stored(told, durable, ack is not False, printer), timeout, count))
            return _checked(code, printer, told, timeout)
        known = told_spaces(declared, space is not None or (not dialect and any(map(names_space, predicates))))
        read = [_read(text, known, space, dialect, is_das, group) for text in predicates]
        receiver = _Receiver(predicates, read, printer, own, wait, group, dialect, known, space)
        return _checked(run(_until(receiver.run(told), timeout, count)), printer, told, timeout)


def _checked(code: int, printer: _Printer, told: Access, timeout_s: float | None) -> int:
    """Return the exit code `code`; a ClickException if the timeout passed before any router had the subscription."""
    if not printer.has_begun and timeout_s is not None:
        addresses = " and ".join(told.addresses)
        raise click.ClickException(f"{addresses} did not take the subscription within the {timeout_s:g} s of --timeout")
    return code


def _refuse_beside_stored(predicates: tuple[str, ...], **others: object) -> None:
    """UsageError for an option that belongs to the policy of a durable subscription, or to subscriptions that are not
    durable."""
    wrong = [f"--{name}" for name, value in others.items() if value]
    if predicates:
        raise click.UsageError(f"a durable subscription has its own predicate: omit {predicates[0]!r}, or --durable")
    if wrong:
        raise click.UsageError(f"--durable cannot be used with {', '.join(wrong)}")


def _read(
    text: str, known: SpaceSet, space: str | None, dialect: str | None, is_das: bool, group: str | None
) -> str | Predicate:
    """Return what a client subscribes to: the text, which is checked here, or the predicate of a profile."""
    from tamis.client.messages.pending import GROUP
    from tamis.protocol.language.das import compile_profile

    if is_das and space is not None:
        raise click.UsageError("a profile names its own type: omit --space")
    if is_das and dialect:
        raise click.UsageError("--das and --dialect contradict each other: omit one")
    if is_das:
        return compile_profile(text, known).predicate
    check_filter(text, known, space, dialect, GROUP if group is not None else None)
    return text


async def _until(receiving: Coroutine[None, None, None], timeout_s: float | None, count: int | None) -> int:
    """Print messages; return the exit code: 1 if `timeout_s` passed before `count` messages arrived."""
    import asyncio

    try:
        async with asyncio.timeout(timeout_s):
            await receiving
    except TimeoutError:
        return 0 if count is None else 1
    return 0


async def _print_stored(told: Access, durable: str, acks: bool, printer: _Printer) -> None:
    from tamis.client.durable.consumer_state import CREDIT
    from tamis.client.gap import Gap

    credit = CREDIT if printer.count is None else min(CREDIT, printer.count)  # a sent message is a delivery
    async with told.client() as client, client.consume(durable, credit=credit) as items:
        click.echo(f"consuming {durable} as {client.name}", err=True)
        printer.begin({})
        async for item in items:
            is_last = printer.put(item)
            if acks and not isinstance(item, Gap):
                acknowledged = item.ack()
                if is_last:
                    await acknowledged
            if is_last:
                return


class _Receiver:
    """Receives messages that satisfy one of `predicates`, whose texts are `texts`."""

    def __init__(
        self,
        texts: tuple[str, ...],
        predicates: list[str | Predicate],
        printer: _Printer,
        own: bool,
        wait: Literal["home", "network"],
        group: str | None,
        dialect: str | None,
        known: SpaceSet,
        space: str | None,
    ) -> None:
        self._texts = texts
        self._predicates = predicates
        self._printer = printer
        self._own = own
        self._wait: Literal["home", "network"] = wait
        self._group = group
        self._dialect = dialect
        self._known = known
        self._space = space

    async def run(self, told: Access) -> None:
        async with (
            told.client(self._known) as client,
            client.subscribe(
                *self._predicates,
                own_messages=self._own,
                wait=self._wait,
                group=self._group,
                dialect=self._dialect or None,
                space=self._space,
            ) as items,
        ):
            click.echo(f"subscribed as {client.name}", err=True)
            texts = dict(zip(items.ids, self._texts, strict=True))
            for id_, in_force in items.narrowed.items():
                what = f"that satisfy {in_force}" if in_force else "that they allow"
                click.echo(f"of {texts[id_]!r} the rules of access let through only messages {what}", err=True)
            self._printer.begin(texts)
            async for item in items:
                if self._printer.put(item):
                    return


class _Printer:
    """Prints at most `count` messages in the format `form`, and reports losses."""

    def __init__(self, form: str, count: int | None) -> None:
        from tamis.cli.messages.received import writer

        self.count = count
        self.has_begun = False
        self._form = form
        self._left = count
        self._write = writer(form, {})  # a mistake is reported before a connection is made

    def begin(self, predicates: Mapping[int, str]) -> None:
        """Set the subscribed predicates, by id."""
        from tamis.cli.messages.received import for_a_terminal, writer

        self.has_begun = True
        write = writer(self._form, predicates)
        self._write = for_a_terminal(write) if sys.stdout.isatty() else write

    def put(self, item: tamis.Message | tamis.Gap) -> bool:
        """Print `item`; return whether it was the last message to print."""
        from tamis.client.gap import Gap

        if isinstance(item, Gap):
            self._tell(item)
            return False
        sys.stdout.buffer.write(self._write(item))
        sys.stdout.buffer.flush()
        if self._left is not None:
            self._left -= 1
        return self._left == 0

    def _tell(self, gap: tamis.Gap) -> None:
        from tamis.cli.messages.received import gap_form, gap_in_words

        if self._form == "json":
            click.echo(json.dumps(gap_form(gap)))
        click.echo(gap_in_words(gap), err=True)
