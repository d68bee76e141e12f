"""`python -m tamis.bench.durable`: stored messages of Tamis, JetStream, Redis and RabbitMQ streams, side by side.

Law: results to stdout, measure by measure as they are known; everything else to stderr. The disk's own fdatasync
of 4 KiB stands beside each measure, as a rate of messages on disk means nothing without it. The exit code is 1 if a
daemon failed, and 0 if one is only missing.
"""

from __future__ import annotations

import sys

import click

from tamis.bench.commands import chosen, leave_on_sigterm, say
from tamis.bench.durable.daemons import KEEPERS
from tamis.bench.durable.log import sync_us
from tamis.bench.durable.measures import CONSUMED, measures
from tamis.bench.router.brokers import build, report
from tamis.bench.router.brokers.run import Plan, run
from tamis.bench.scratch import scratch_folder


@click.command()
@click.option("--only", default=",".join(KEEPERS), show_default=True, help="Brokers to measure.")
@click.option("--measure", default=",".join(measures()), show_default=True, help="Measures to take.")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Rounds of each; medians are shown."
)
@click.option("--seconds", type=click.FloatRange(min=0.1), default=2.0, show_default=True, help="Duration of a round.")
@click.option(
    "--count",
    type=click.IntRange(min=1),
    default=CONSUMED,
    show_default=True,
    help="Messages to consume, of 150 B each.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def main(only: str, measure: str, rounds: int, seconds: float, count: int, as_json: bool) -> None:
    """Start each daemon on loopback and on a folder of its own, drive it with one load generator, compare."""
    known = measures(count)
    names, questions = chosen(only, KEEPERS, "--only"), chosen(measure, known, "--measure")
    leave_on_sigterm()
    failed = False
    try:
        build.load_generator()
        for question in questions:
            with scratch_folder() as folder:
                disk_us = sync_us(folder)
            for rows in run([known[question]], names, Plan(rounds, seconds), say, KEEPERS):
                failed = failed or any(row.trouble for row in rows)
                report.tell(rows, as_json, fdatasync_us=round(disk_us, 1))
                if not as_json:
                    click.echo(f"one fdatasync of 4 KiB: {disk_us:,.0f} us (median)\n")
    except build.NotBuilt as error:
        raise click.ClickException(str(error)) from None
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
