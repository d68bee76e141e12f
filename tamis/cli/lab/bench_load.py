"""`tamis bench pub`, `sub` and `route`: load a running router through the client."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tamis.cli.reach.connecting import access, access_options, refusals, split_addresses

if TYPE_CHECKING:
    from tamis.cli.lab import loads

_TWO_ATTRIBUTES = ("class=bench", "severity=6")

Command = TypeVar("Command", bound=Callable[..., Any])


def _bounded(messages: int) -> Callable[[Command], Command]:
    """Add the options that all three commands have."""

    def add(command: Command) -> Command:
        for option in (
            click.option("--json", "as_json", is_flag=True, help="One JSON object."),
            click.option(
                "--seconds",
                type=click.FloatRange(0.1, 3600),
                default=10.0,
                show_default=True,
                help="Stop after this time.",
            ),
            click.option(
                "--count",
                type=click.IntRange(min=1),
                default=messages,
                show_default=True,
                help="Stop after this many messages.",
            ),
        ):
            command = option(command)
        return command

    return add


_ROUNDS = click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="Number of measurements, for the spread.",
)
_PAYLOAD = click.option(
    "--payload-bytes",
    type=click.IntRange(0, 1_000_000),
    default=16,
    show_default=True,
    help="Bytes of payload in each message.",
)


@click.command("pub", epilog="\b\nExample:\n  tamis bench pub --count 1000000 class=bench severity=6\n")
@click.argument("words", nargs=-1, metavar="[ADDRESS]... [ATTRIBUTE]...")
@_ROUNDS
@_PAYLOAD
@access_options
@_bounded(200_000)
def pub(
    words: tuple[str, ...],
    rounds: int,
    payload_bytes: int,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    count: int,
    seconds: float,
    as_json: bool,
) -> int:
    """Publish one message repeatedly, as fast as the router accepts it.

    A round ends when the router has confirmed its last message. Without attributes: class=bench severity=6. An
    ADDRESS is as for `tamis pub`.
    """
    from tamis.cli.event_loop import run
    from tamis.cli.lab import loads
    from tamis.protocol.message_text import parse_message

    addresses, attributes = split_addresses(words)
    with refusals():
        told = access(addresses, name, token_file, ca)
        message = parse_message(attributes or _TWO_ATTRIBUTES)
        bounds = loads.LoadBounds(count, seconds)
        _print_throughput(run(loads.publish(told.client, message, bytes(payload_bytes), bounds, rounds)), as_json)
    return 0


@click.command("sub", epilog="\b\nExample:\n  tamis bench sub 'class = \"bench\"' &  tamis bench pub\n")
@click.argument("words", nargs=-1, metavar="[ADDRESS]... [PREDICATE]")
@_ROUNDS
@access_options
@_bounded(200_000)
def sub(
    words: tuple[str, ...],
    rounds: int,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    count: int,
    seconds: float,
    as_json: bool,
) -> int:
    """Receive matching messages, and measure the rate from the first message on.

    Without a predicate: class = "bench", which is what `tamis bench pub` publishes. An ADDRESS is as for `tamis pub`.
    The exit code is 1 if no message arrived.
    """
    from tamis.cli.event_loop import run
    from tamis.cli.lab import loads
    from tamis.protocol.language import parse

    addresses, predicates = split_addresses(words)
    if len(predicates) > 1:
        raise click.UsageError(f"give one PREDICATE, quoted as one word, not {len(predicates)} words")
    with refusals():
        told = access(addresses, name, token_file, ca)
        predicate = parse(predicates[0] if predicates else 'class = "bench"')
        found = run(loads.receive(told.client, predicate, loads.LoadBounds(count, seconds), rounds))
    _print_throughput(found, as_json)
    if not found.messages:
        click.echo(f"no message arrived from {' and '.join(addresses)} within the {seconds:g} s of --seconds", err=True)
    return 0 if found.messages else 1


@click.command("route", epilog="\b\nExample:\n  tamis bench route --rate 5000\n")
@click.argument("words", nargs=-1, metavar="[ADDRESS]...")
@click.option(
    "--rate", type=click.FloatRange(1, 1_000_000), default=1_000.0, show_default=True, help="Messages a second."
)
@_PAYLOAD
@access_options
@_bounded(5_000)
def route(
    words: tuple[str, ...],
    rate: float,
    payload_bytes: int,
    name: str | None,
    token_file: str | None,
    ca: str | None,
    count: int,
    seconds: float,
    as_json: bool,
) -> int:
    """Measure the latency of messages through a router, at a steady rate.

    The latency is from the call that publishes a message to its receipt by the subscriber, both in this program, over
    two connections. The exit code is 1 if a message did not arrive.
    """
    from tamis.cli.event_loop import run
    from tamis.cli.lab import loads

    addresses, others = split_addresses(words)
    if others:
        raise click.UsageError(f"an address begins with tamis://, tamis+tls:// or tamis+unix:, not {others[0]!r}")
    if name is not None:
        raise click.UsageError("this command connects two clients, which need two names: omit --name")
    with refusals():
        told = access(addresses, None, token_file, ca, is_named=False)
        found = run(loads.route(told.client, bytes(payload_bytes), rate, loads.LoadBounds(count, seconds)))
    if as_json:
        click.echo(json.dumps(asdict(found)))
    else:
        times = f"p50 {found.p50_us:,.0f} us, p99 {found.p99_us:,.0f} us, max {found.max_us:,.0f} us"
        click.echo(f"{found.messages:,} messages: {times}; {found.lost:,} lost")
    return 1 if found.lost else 0


def _print_throughput(found: loads.Throughput, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(asdict(found)))
        return
    spread = f"{found.slowest:,.0f} to {found.fastest:,.0f}"
    click.echo(f"{found.median:,.0f} messages a second ({spread}), {found.messages:,} in {found.seconds:.2f} s")
    if found.lost:
        click.echo(f"{found.lost:,} messages were lost", err=True)
