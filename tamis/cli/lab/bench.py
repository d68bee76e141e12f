"""`tamis bench`: measure engines on seeded workloads, and a running router through the client."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tamis.cli.lab.bench_load import pub, route, sub
from tamis.cli.lab.engines import listed_if_asked

if TYPE_CHECKING:
    from tamis.bench.matching.contenders import Setup
    from tamis.bench.matching.match import Result
    from tamis.bench.matching.workloads import Workload

_NOT_HERE = (
    "the engines are measured in a checkout; an installed package has no benchmarks. "
    "`tamis bench pub`, `sub` and `route`, which measure a running router, work here"
)

_EXAMPLE = """\b
Example:
  tamis bench match --workload sigcomm03 --filters 20000 --interfaces 20 --engine sff,tamis
"""


@click.group("bench", epilog=_EXAMPLE)
def command() -> None:
    """Measure the engines, or a running router."""


for _load in (pub, sub, route):
    command.add_command(_load)


@command.command("match", epilog=_EXAMPLE)
@click.option(
    "--workload",
    default="sigcomm03",
    show_default=True,
    help="The workload: sigcomm03, cu922, geo or another of bench/README.md.",
)
@click.option("--filters", type=click.IntRange(min=1), default=20_000, show_default=True, help="Number of filters.")
@click.option("--interfaces", default="20", show_default=True, help="Number of interfaces; F: one for each filter.")
@click.option("--messages", type=click.IntRange(min=1), default=2_000, show_default=True, help="Number of messages.")
@click.option(
    "--names", type=click.IntRange(min=1), default=1_000, show_default=True, help="Number of attribute names."
)
@click.option("--seed", type=int, default=2003, show_default=True, help="Equal seeds give equal workloads.")
@click.option(
    "--engine",
    "engines",
    default="sff,tamis",
    show_default=True,
    is_eager=True,
    callback=listed_if_asked,
    help="Engines, with options (sff:circuit=each,counters=hash,tamis are two) or without, or library:NAME (or "
    "peer:NAME); ratios are to the first one. `help` lists engines and options.",
)
@click.option("--rounds", "--sff-rounds", default="0,10", show_default=True, help="Selectivity rounds of sff.")
@click.option(
    "--passes",
    type=click.IntRange(min=1),
    default=7,
    show_default=True,
    help="Passes over the messages in each of three repeats.",
)
@click.option("--grouping", type=click.IntRange(min=1), help="Put the interfaces behind this many links.")
@click.option("--callgrind", is_flag=True, help="Also count instructions (needs valgrind; slow).")
@click.option("--churn", is_flag=True, help="Also match during 50,000 adds and 50,000 removals a second.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each engine.")
def match(
    workload: str,
    filters: int,
    interfaces: str,
    messages: int,
    names: int,
    seed: int,
    engines: str,
    rounds: str,
    passes: int,
    grouping: int | None,
    callgrind: bool,
    churn: bool,
    as_json: bool,
) -> int:
    """Match the same messages with each engine and compare times, memory and answers.

    Times are microseconds per message on one thread, decoding excluded. The exit code is 1 if the engines disagree.
    """
    try:
        from tamis.bench.matching import contenders, report
        from tamis.bench.matching import match as bench
        from tamis.native import engines_listed
    except ModuleNotFoundError as error:
        if error.name not in ("tamis.bench", "tamis.bench.matching"):
            raise
        raise click.ClickException(_NOT_HERE) from None
    try:
        chosen = contenders.contenders(engines_listed(engines), [int(count) for count in rounds.split(",")])
        interface_count = None if interfaces == "F" else int(interfaces)
        setup = contenders.Setup(workload, filters, interface_count, messages, names, seed, chosen, grouping, passes)
        _say(f"making {filters:,} filters and {messages:,} messages of {workload}")
        made = setup.make()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        results = bench.run(setup, made, _say)
    except contenders.EnginesDisagree as error:
        raise click.ClickException(str(error)) from None
    results = _more(results, setup, made, callgrind=callgrind, churn=churn)
    if as_json:
        for row in report.rows_for_programs(setup, results):
            click.echo(json.dumps(row))
    else:
        click.echo(report.table_for_people(results))
    return 0


def _more(results: list[Result], setup: Setup, made: Workload, callgrind: bool, churn: bool) -> list[Result]:
    """Return the results with the measurements that need a run of their own."""
    from tamis.bench.callgrind import is_installed
    from tamis.bench.matching.churn import speed_left
    from tamis.bench.matching.instructions import per_message

    if callgrind and not is_installed():
        _say("valgrind is not installed: no instructions are counted")
    for index, each in enumerate(setup.contenders):
        if callgrind and is_installed():
            results[index] = replace(results[index], instructions=per_message(setup, each, made, _say))
        if churn:
            results[index] = replace(results[index], churn=speed_left(setup, each, made, _say))
    return results


def _say(words: str) -> None:
    click.echo(words, err=True)
