"""`python -m tamis.bench.custody`: messages that are stored for another process, of Tamis and of other daemons.

Law: three processes each, on one disk, in turns; results to stdout, measure by measure, everything else to stderr. The
disk's own fdatasync of 4 KiB stands beside each measure. The exit code is 1 if one failed, and 0 if one is missing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tamis.bench.commands import chosen, leave_on_sigterm, round_options, say
from tamis.bench.custody.catch_up import Absence
from tamis.bench.custody.clusters import CONTENDERS
from tamis.bench.custody.measures import CustodyMeasure, measures
from tamis.bench.durable.log import sync_us
from tamis.bench.router.brokers import build, report
from tamis.bench.router.brokers.figures import Round
from tamis.bench.router.brokers.run import Plan, Row
from tamis.bench.scratch import scratch_folder
from tamis.protocol.errors import TamisError

MIB = 64
PAYLOAD_BYTES = 1_024
MEASURES = ("publish", "latency", "catch-up")


@click.command()
@click.option("--only", default=",".join(CONTENDERS), show_default=True, help="Who is measured.")
@click.option("--measure", default=",".join(MEASURES), show_default=True, help="Measures to take.")
@round_options
@click.option(
    "--mib", type=click.IntRange(min=1, max=4_000), default=MIB, show_default=True, help="MiB to catch up with."
)
@click.option(
    "--payload-bytes",
    type=click.IntRange(min=1, max=1 << 20),
    default=PAYLOAD_BYTES,
    show_default=True,
    help="Bytes of each message to catch up with.",
)
def main(only: str, measure: str, rounds: int, seconds: float, mib: int, payload_bytes: int, as_json: bool) -> None:
    """Start three processes of each on loopback, drive them with one load generator, compare."""
    known = measures(Absence(mib, payload_bytes))
    names, questions = chosen(only, CONTENDERS, "--only"), chosen(measure, known, "--measure")
    leave_on_sigterm()
    failed = False
    try:
        build.load_generator()
        for question in questions:
            with scratch_folder() as folder:
                disk_us = sync_us(folder)
                rows = measured(known[question], names, Plan(rounds, seconds), folder)
            failed = failed or any(row.trouble for row in rows)
            report.tell_beside_disk(rows, as_json, disk_us)
    except build.NotBuilt as error:
        raise click.ClickException(str(error)) from None
    sys.exit(1 if failed else 0)


def measured(asked: CustodyMeasure, names: list[str], plan: Plan, folder: Path) -> list[Row]:
    """Return a row for each contender: round 1 of all, round 2 of all, and so on."""
    rows = {name: Row(asked.measure, name) for name in names if name in asked.measure.brokers}
    programs = {name: CONTENDERS[name].program() for name in rows}
    for name, row in rows.items():
        row.missing = "" if programs[name] is not None else f"not measured: it needs {CONTENDERS[name].needs}"
    files = asked.measure.inputs().write(folder)
    for number in range(plan.rounds):
        for name, row in rows.items():
            program = programs[name]
            if program is not None and not row.trouble:
                say(f"{asked.measure.name}: round {number + 1} of {plan.rounds}: {name}")
                _add_round(asked, row, program, files, plan.seconds)
    return [*rows.values()]


def _add_round(asked: CustodyMeasure, row: Row, program: str, files: dict[str, str], seconds: float) -> None:
    with scratch_folder() as folder:
        try:
            seen = asked.take(CONTENDERS[row.broker], program, folder, files, seconds)
            row.rounds.append(Round(seen, ready_s=0, idle_bytes=0, subscribers=1, subscriptions=1))
        except TamisError as error:
            row.trouble = str(error)


if __name__ == "__main__":
    main()
