"""`python -m tamis.bench.durable`: stored messages of Tamis, JetStream, Redis and RabbitMQ streams, side by side.

Law: results to stdout, measure by measure as they are known; everything else to stderr. The disk's own fdatasync
of 4 KiB stands beside each measure, as a rate of messages on disk means nothing without it. The exit code is 1 if a
daemon failed, and 0 if one is only missing.
"""

from __future__ import annotations

import sys

import click

from tamis.bench.commands import chosen, leave_on_sigterm, round_options, say
from tamis.bench.durable.daemons import KEEPERS
from tamis.bench.durable.log import sync_us
from tamis.bench.durable.measures import CONSUMED, measures
from tamis.bench.router.brokers import build, report
from tamis.bench.router.brokers.run import Plan, run
from tamis.bench.scratch import scratch_folder


@click.command()
@click.option("--only", default=",".join(KEEPERS), show_default=True, help="Brokers to measure.")
@click.option("--measure", default=",".join(measures()), show_default=True, help="Measures to take.")
@round_options
@click.option(
    "--count",
    type=click.IntRange(min=1),
    default=CONSUMED,
    show_default=True,
    help="Messages to consume, of 150 B each.",
)
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
                report.tell_beside_disk(rows, as_json, disk_us)
    except build.NotBuilt as error:
        raise click.ClickException(str(error)) from None
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
