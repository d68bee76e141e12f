"""`tamis request`: publish a question, and print its answer."""

from __future__ import annotations

import sys
from typing import BinaryIO

import click

from tamis.cli.reach.connecting import access, access_options, refusals, split_addresses

_EXAMPLE = """\b
Examples:
  tamis request do=greet name=Zoe
  tamis request do=add a=2 b=3 --timeout 0.5 --format raw
  tamis request do=resize width=200 --payload-file photo.jpg --format raw > small.jpg
"""


@click.command("request", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[ADDRESS]... ATTRIBUTE...")
@click.option("--payload", default="", metavar="TEXT", help="Set the payload.")
@click.option(
    "--payload-file", type=click.File("rb"), metavar="FILE", help="Read the payload from this file; - is stdin."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Wait this long for the answer.",
)
@click.option("--format", "form", default="text", show_default=True, help="text, json, raw, or a template.")
@access_options
@click.option("--json", "as_json", is_flag=True, help="As --format json.")
def command(
    words: tuple[str, ...],
    payload: str,
    payload_file: BinaryIO | None,
    timeout: float,
    form: str,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    as_json: bool,
) -> int:
    """Publish a question, and print the first answer.

    Attributes and ADDRESS are as for `tamis pub`, --format as for `tamis sub`. The question is delivered to responders
    whose predicate it satisfies: `tamis respond`, or a program by `client.respond`. The exit code is 1 if no answer
    arrives in time, and at once if no subscription matches; `tamis trace --dry-run` shows who would receive the
    question.
    """
    from tamis.cli.messages.received import for_a_terminal, writer
    from tamis.protocol.message_text import parse_message

    addresses, attributes = split_addresses(words)
    if not attributes:
        raise click.UsageError("Missing argument 'ATTRIBUTE'; {} is a message without attributes")
    if payload and payload_file is not None:
        raise click.UsageError("use --payload or --payload-file, not both")
    with refusals():
        write = writer("json" if as_json else form, {})
        write = for_a_terminal(write) if sys.stdout.isatty() else write
        question = parse_message(list(attributes))
        content = payload.encode() if payload_file is None else payload_file.read()
        with access(addresses, name, token_file, ca).blocking_client() as client:
            answer = client.request(question, content, timeout_s=timeout)
        sys.stdout.buffer.write(write(answer))
    return 0
