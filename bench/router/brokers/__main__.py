"""`python -m tamis.bench.router.brokers`: the table of Tamis and other brokers.

Law: results to stdout, measure by measure as they are known; everything else to stderr. The exit code is 1 if a daemon
failed, and 0 if one is only missing. Being ended by a signal is an ordinary way out: daemons are stopped.
"""

from __future__ import annotations

import resource
import sys

import click

from tamis.bench.commands import chosen, leave_on_sigterm, round_options, say
from tamis.bench.router.brokers import build, report
from tamis.bench.router.brokers.daemons import BROKERS
from tamis.bench.router.brokers.measures import MEASURES
from tamis.bench.router.brokers.run import Plan, run


@click.command()
@click.option("--only", default=",".join(BROKERS), show_default=True, help="Brokers to measure.")
@click.option("--measure", default=",".join(MEASURES), show_default=True, help="Measures to take.")
@round_options
def main(only: str, measure: str, rounds: int, seconds: float, as_json: bool) -> None:
    """Start each daemon on loopback, drive it and Tamis with one load generator, compare."""
    brokers, measures = chosen(only, BROKERS, "--only"), chosen(measure, MEASURES, "--measure")
    leave_on_sigterm()
    _raise_open_files()
    failed = False
    try:
        build.load_generator()
        for rows in run([MEASURES[name] for name in measures], brokers, Plan(rounds, seconds), say):
            failed = failed or any(row.trouble for row in rows)
            report.tell(rows, as_json)
    except build.NotBuilt as error:
        raise click.ClickException(str(error)) from None
    sys.exit(1 if failed else 0)


def _raise_open_files() -> None:
    """Five thousand clients need as many files at both ends; what we start inherits the limit."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    main()
