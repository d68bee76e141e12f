"""`tamis analyze`: the routers' logs in, tables and a page for people out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tamis.cli.extras import analysis_extra
from tamis.protocol.errors import ConfigError, TamisError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.analysis.advice.say import Advice
    from tamis.analysis.job import Job

_EXAMPLE = """\b
Examples:
  tamis analyze logs --out answers
  tamis analyze logs --out answers --only delivery --since 2026-11-21T10:00:00
  tamis analyze logs --out answers --advise network.yaml
  tamis analyze /srv/tamis/logs --out answers --follow --master spark://10.0.0.5:7077
"""
_MASTER = r"local(\[(\*|[1-9]\d*)\])?|spark://[^/]+:\d+|yarn|k8s://.+"


def _master(_context: click.Context, _option: click.Parameter, text: str) -> str:
    """Spark itself would say so after seconds, and at length."""
    if re.fullmatch(_MASTER, text) is None:
        raise click.BadParameter(f"{text!r} is none; choose local[*], local[2] or spark://HOST:PORT")
    return text


@click.command("analyze", epilog=_EXAMPLE)
@click.argument("logs", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Where the answers go.")
@click.option(
    "--master", callback=_master, default="local[*]", show_default=True, help="local[CORES], or spark://HOST:PORT."
)
@click.option("--only", metavar="NAME", multiple=True, help="One question; may be given again.")
@click.option("--since", type=click.DateTime(), help="Leave out earlier messages; UTC.")
@click.option(
    "--settle",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=5.0,
    show_default=True,
    help="So long after a change of the network, deliveries between routers are not judged.",
)
@click.option(
    "--notice",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=3.0,
    show_default=True,
    help="Nor so long before it: a dead link is noticed late.",
)
@click.option(
    "--advise",
    metavar="TOPOLOGY",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What this file of the same network should say instead.",
)
@click.option("--follow", is_flag=True, help="Go on: answer again as files are closed, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(
    logs: Path,
    out: Path,
    master: str,
    only: tuple[str, ...],
    since: datetime | None,
    settle: float,
    notice: float,
    advise: Path | None,
    follow: bool,
    as_json: bool,
) -> int:
    """Answer from the event logs of routers where traffic goes, how long it takes, and what was not delivered.

    LOGS has a folder for each router. The questions are delivery, traffic, latency, control and content; their tables
    come as Parquet to OUT/QUESTION/TABLE, and all together as OUT/report.html.

    With --advise the topology file is held against this traffic: what to change and what that is promised to bring, or
    why nothing is to change. OUT/topology.advised.yaml is the file with the changes, OUT/advice.patch the same for
    `patch`.
    """
    with analysis_extra():
        from tamis.analysis import answers, session
        from tamis.analysis.advice.job import wanted
        from tamis.analysis.failure import SparkFailed, explained
        from tamis.analysis.java import NoJava
        from tamis.analysis.job import Job
    for name in only:
        if name not in answers.QUESTIONS:
            raise click.UsageError(f"there is no question {name!r}; choose {', '.join(answers.QUESTIONS)}")
    if follow and (advise is not None or as_json):
        raise click.UsageError("--advise and --json are for one answer, not for --follow")
    try:
        asked = None if advise is None else wanted(advise, logs)
    except ConfigError as error:
        click.echo("\n".join(error.mistakes), err=True)
        return 1
    except TamisError as error:
        raise click.ClickException(str(error)) from None
    since_us = None if since is None else round(since.replace(tzinfo=UTC).timestamp() * 1e6)
    job = Job(out, only, since_us, round(settle * 1e6), round(notice * 1e6), asked)
    try:
        with explained():
            found = _run(session.start(master), logs, job, follow)
    except (NoJava, SparkFailed) as error:
        raise click.ClickException(str(error)) from None
    _tell(job, found, as_json)
    return 0


def _run(spark: SparkSession, logs: Path, job: Job, is_followed: bool) -> Sequence[Advice]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from tamis.analysis.follow import follow
    from tamis.analysis.job import analyze

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with spark, Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("reading")

        def told(what: str) -> None:
            shown.update(task, description=what)

        if is_followed:
            follow(spark, logs, job, told).awaitTermination()
            return ()
        return analyze(spark, logs, job, told)


def _tell(job: Job, found: Sequence[Advice], as_json: bool) -> None:
    from tamis.analysis.advice.job import ADVISED, PATCH
    from tamis.analysis.job import REPORT

    files = {"report": job.out / REPORT}
    if job.advise is not None:
        files |= {"topology": job.out / ADVISED, "patch": job.out / PATCH}
    if as_json:
        paths = {name: str(path) for name, path in files.items()}
        click.echo(json.dumps(paths | ({} if job.advise is None else {"advice": [each.row for each in found]})))
        return
    for line in (*found, *files.values()):
        click.echo(line)
