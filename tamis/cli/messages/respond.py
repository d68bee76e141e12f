"""`tamis respond`: answer questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tamis.cli.reach.connecting import access, access_options, refusals, split_addresses
from tamis.cli.reach.predicates import check_filter, dialect_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tamis.cli.messages.received import Writer
    from tamis.cli.reach.connecting import Access

_EXAMPLE = """\b
Examples:
  tamis respond 'do = "greet"' --answer 'hello, {{name}}'
  tamis respond true --answer '{{.attributes}} and {{.payload}}' --count 1
"""


@click.command("respond", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[ADDRESS]... PREDICATE...")
@click.option(
    "--answer", "template", default="{{.payload}}", show_default=True, help="A template for the payload of answers."
)
@click.option("--count", type=click.IntRange(min=1), help="Stop after this many questions.")
@dialect_option
@access_options
def command(
    words: tuple[str, ...],
    template: str,
    count: int | None,
    dialect: str | None,
    name: str | None,
    token_file: str | None,
    ca: str | None,
) -> int:
    """Answer questions that satisfy a PREDICATE, until Ctrl-C.

    The payload of each answer is made by the template, with placeholders as for `tamis sub`: {{name}} is an attribute
    of the question, {{.payload}} its payload. A line on stderr reports when the router has the subscription.

    Use it to test `tamis request` and programs that send requests; a program answers by `client.respond`.
    """
    from tamis.cli.event_loop import run
    from tamis.cli.messages.received import writer

    addresses, predicates = split_addresses(words)
    if not predicates:
        raise click.UsageError("Missing argument 'PREDICATE'; `true` matches every question")
    with refusals():
        write = writer(template, {}) if "{{" in template else lambda _: template.encode()
        for text in predicates:
            check_filter(text, dialect=dialect)
        return run(_respond(access(addresses, name, token_file, ca), predicates, dialect, write, count))


async def _respond(
    told: Access, predicates: Sequence[str], dialect: str | None, write: Writer, count: int | None
) -> int:
    answered = 0
    async with told.client() as client, client.respond(*predicates, dialect=dialect) as questions:
        click.echo(f"responding as {client.name}", err=True)
        async for question in questions:
            await question.answer({}, write(question).removesuffix(b"\n"))
            answered += 1
            if answered == count:
                break
    return 0
