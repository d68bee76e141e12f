"""`python -m tamis.bench.kept`: kept messages of Tamis, JetStream, Redis streams and RabbitMQ streams, side by side.

Law: results to stdout, measure by measure as they are known; everything else to stderr. The disk's own fdatasync
of 4 KiB stands beside each measure, as a rate of messages on disk means nothing without it. The exit code is 1 if a
daemon failed, and 0 if one is only missing.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterable
from types import FrameType

import click

from tamis.bench.kept.daemons import KEEPERS
from tamis.bench.kept.log import sync_us
from tamis.bench.kept.measures import CONSUMED, measures
from tamis.bench.router.brokers import build, report
from tamis.bench.router.brokers.run import Plan, run
from tamis.bench.scratch import scratch_folder


@click.command()
@click.option("--only", default=",".join(KEEPERS), show_default=True, help="Which brokers.")
@click.option("--measure", default=",".join(measures()), show_default=True, help="Which measures.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Of each; medians are shown.")
@click.option("--seconds", type=click.FloatRange(min=0.1), default=2.0, show_default=True, help="Of each round.")
@click.option(
    "--count", type=click.IntRange(min=1), default=CONSUMED, show_default=True, help="Messages to consume; 150 B each."
)
@click.option("--json", "as_json", is_flag=True, help="One object a line.")
def main(only: str, measure: str, rounds: int, seconds: float, count: int, as_json: bool) -> None:
    """Start each daemon on loopback and on a folder of its own, drive it with one load generator, compare."""
    known = measures(count)
    names, questions = _chosen(only, KEEPERS, "--only"), _chosen(measure, known, "--measure")
    signal.signal(signal.SIGTERM, _leave)
    failed = False
    try:
        build.load_generator()
        for question in questions:
            with scratch_folder() as folder:
                disk_us = sync_us(folder)
            for rows in run([known[question]], names, Plan(rounds, seconds), _say, KEEPERS):
                failed = failed or any(row.trouble for row in rows)
                if as_json:
                    for row in report.rows_for_programs(rows):
                        click.echo(json.dumps(row | {"fdatasync_us": round(disk_us, 1)}))
                else:
                    click.echo(report.table_for_people(known[question], rows))
                    click.echo(f"one fdatasync of 4 KiB: {disk_us:,.0f} us (median)\n")
    except build.NotBuilt as error:
        raise click.ClickException(str(error)) from None
    sys.exit(1 if failed else 0)


def _chosen(names: str, known: Iterable[str], option: str) -> list[str]:
    chosen = names.split(",")
    for name in chosen:
        if name not in known:
            raise click.UsageError(f"{option}: no {name!r}; one of {', '.join(known)}")
    return chosen


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(1)


def _say(words: str) -> None:
    click.echo(words, err=True)


if __name__ == "__main__":
    main()
