"""`tamis sub`: receive what satisfies a predicate."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Literal

import click

from tamis.cli.admin import admin_token_option
from tamis.cli.connecting import Access, access, access_options, refusals, split_addresses
from tamis.cli.spaces_at import names_space, spaces_option, told_spaces

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
  tamis sub 'exists price' --format '{{symbol}} {{price}} {{.payload}}'
  tamis sub tamis+tls://router.example:7400 --ca root.pem --name desk-3 --token-file token true
"""


@click.command("sub", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[ADDRESS]... PREDICATE...")
@click.option("--count", type=click.IntRange(min=1), help="Stop after so many messages.")
@click.option("--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Stop after so long.")
@click.option("--format", "form", help="text (the default), json, raw, or a template.")
@click.option("--own", is_flag=True, help="Also messages that were published under this client's own name.")
@click.option(
    "--wait",
    type=click.Choice(["home", "network"]),
    default="home",
    show_default=True,
    help="Say that it is subscribed when the router has it, or when every router within reach has.",
)
@click.option("--space", metavar="NAME", help="The predicates are about messages of this space.")
@spaces_option
@click.option("--das", "is_das", is_flag=True, help="PREDICATEs are profiles: PROFILE(PRI(a1=5,a2>10,TYPE=T1)).")
@admin_token_option
@click.option("--group", metavar="NAME", help="Share messages: one of those that name this group gets each.")
@access_options
@click.option("--json", "as_json", is_flag=True, help="As --format json; also what was lost.")
def command(
    words: tuple[str, ...],
    count: int | None,
    timeout: float | None,
    form: str | None,
    own: bool,
    wait: Literal["home", "network"],
    space: str | None,
    declared: str | None,
    is_das: bool,
    group: str | None,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    as_json: bool,
) -> int:
    """Print messages that satisfy one of the PREDICATEs, until Ctrl-C.

    A predicate is one word for the shell: quote it. An ADDRESS is as for `tamis pub`. When the router has the
    subscription, stderr says so.

    --format raw prints payloads, each with a line break behind it. A template has places such as {{severity}}, an
    attribute by its name, and {{.payload}} {{.id}} {{.time}} {{.attributes}}; what a message lacks is printed as
    nothing. In a terminal what would control it is escaped; into a file or a pipe everything goes as it is.

    A predicate may name a space (`trades: price < 120`), and --space names one for all of them. Where neither --spaces
    nor a profile says otherwise, the administration of the router is asked what the space says.

    Messages that were lost, by a slow reader or a cut connection, are told of on stderr, and as an object
    {"gap": {...}} with --json. The exit code is 1 if --timeout ended it before --count was reached.
    """
    from tamis.cli.event_loop import run

    addresses, predicates = split_addresses(words)
    if not predicates:
        raise click.UsageError("Missing argument 'PREDICATE'; `true` is every message")
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json is --format json, and --format {form} something else: leave one out")
    with refusals():
        told = access(addresses, name, token_file, ca)
        known = told_spaces(declared, space is not None or any(map(names_space, predicates)))
        read = [_read(text, known, space, is_das) for text in predicates]
        receiver = _Receiver(predicates, read, "json" if as_json else form or "text", count, own, wait, group)
        return run(receiver.run(told, timeout))


def _read(text: str, known: SpaceSet, space: str | None, is_das: bool) -> Predicate:
    from tamis.protocol.language import parse
    from tamis.protocol.language.das import compile_profile

    if is_das and space is not None:
        raise click.UsageError("a profile names its own type: leave out --space")
    return compile_profile(text, known).predicate if is_das else parse(text, spaces=known, space=space)


class _Receiver:
    """Prints what satisfies one of `predicates`, which were written as `texts`."""

    def __init__(
        self,
        texts: tuple[str, ...],
        predicates: list[Predicate],
        form: str,
        count: int | None,
        own: bool,
        wait: Literal["home", "network"],
        group: str | None,
    ) -> None:
        from tamis.cli.received import writer

        self._texts = texts
        self._predicates = predicates
        self._form = form
        self._count = count
        self._own = own
        self._wait: Literal["home", "network"] = wait
        self._group = group
        self._received = 0
        writer(form, {})  # what is wrong is said before anything is connected

    async def run(self, told: Access, timeout_s: float | None) -> int:
        import asyncio

        try:
            async with asyncio.timeout(timeout_s):
                await self._receive(told)
        except TimeoutError:
            return 0 if self._count is None else 1
        return 0

    async def _receive(self, told: Access) -> None:
        import tamis
        from tamis.cli.received import for_a_terminal, writer

        async with (
            told.client() as client,
            client.subscribe(*self._predicates, own_messages=self._own, wait=self._wait, group=self._group) as items,
        ):
            click.echo(f"subscribed as {client.name}", err=True)
            write = writer(self._form, dict(zip(items.ids, self._texts, strict=True)))
            write = for_a_terminal(write) if sys.stdout.isatty() else write
            async for item in items:
                if isinstance(item, tamis.Gap):
                    self._tell(item)
                    continue
                sys.stdout.buffer.write(write(item))
                sys.stdout.buffer.flush()
                self._received += 1
                if self._received == self._count:
                    return

    def _tell(self, gap: tamis.Gap) -> None:
        from tamis.cli.received import gap_form, gap_in_words

        if self._form == "json":
            click.echo(json.dumps(gap_form(gap)))
        click.echo(gap_in_words(gap), err=True)
