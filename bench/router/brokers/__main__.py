"""`python -m tamis.bench.router.brokers`: the table of Tamis and other brokers.

Law: results to stdout, measure by measure as they are known; everything else to stderr. The exit code is 1 if a daemon
failed, and 0 if one is only missing. Being ended by a signal is an ordinary way out: daemons are stopped.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from collections.abc import Mapping
from types import FrameType

import click

from tamis.bench.router.brokers import build, report
from tamis.bench.router.brokers.daemons import BROKERS
from tamis.bench.router.brokers.measures import MEASURES
from tamis.bench.router.brokers.run import Plan, run


@click.command()
@click.option("--only", default=",".join(BROKERS), show_default=True, help="Which brokers.")
@click.option("--measure", default=",".join(MEASURES), show_default=True, help="Which measures.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Of each; medians are shown.")
@click.option("--seconds", type=click.FloatRange(min=0.1), default=2.0, show_default=True, help="Of each round.")
@click.option("--json", "as_json", is_flag=True, help="One object a line.")
def main(only: str, measure: str, rounds: int, seconds: float, as_json: bool) -> None:
    """Start each daemon on loopback, drive it and Tamis with one load generator, compare."""
    brokers, measures = _chosen(only, BROKERS, "--only"), _chosen(measure, MEASURES, "--measure")
    signal.signal(signal.SIGTERM, _leave)
    _raise_open_files()
    failed = False
    try:
        build.load_generator()
        for rows in run([MEASURES[name] for name in measures], brokers, Plan(rounds, seconds), _say):
            failed = failed or any(row.trouble for row in rows)
            if as_json:
                for row in report.rows_for_programs(rows):
                    click.echo(json.dumps(row))
            elif rows:
                click.echo(report.table_for_people(rows[0].measure, rows))
    except build.NotBuilt as error:
        raise click.ClickException(str(error)) from None
    sys.exit(1 if failed else 0)


def _chosen(names: str, known: Mapping[str, object], option: str) -> list[str]:
    chosen = names.split(",")
    for name in chosen:
        if name not in known:
            raise click.UsageError(f"{option}: no {name!r}; one of {', '.join(known)}")
    return chosen


def _raise_open_files() -> None:
    """Five thousand clients need as many files at both ends; what we start inherits the limit."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(1)


def _say(words: str) -> None:
    click.echo(words, err=True)


if __name__ == "__main__":
    main()
