"""`tamis analyze`: turn the records of routers into tables and a page."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tamis.cli.extras import analysis_extra
from tamis.protocol.errors import ConfigError, TamisError
from tamis.protocol.old_names import with_old

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tamis.analysis.advice.wording import Advice
    from tamis.analysis.job import Job
    from tamis.configs import Topology

_EXAMPLE = """\b
Examples:
  tamis analyze logs --out answers
  tamis analyze network.yaml --out answers --only delivery --fail-on missing,duplicate,stray
  tamis analyze logs --out answers --only delivery --since 2026-11-21T10:00:00
  tamis analyze logs --out answers --advise network.yaml
  tamis analyze logs --out answers --into store
  tamis analyze network.yaml --out answers --only access
  tamis analyze /srv/tamis/logs --out answers --follow --master spark://10.0.0.5:7077
  tamis analyze s3://tamis/logs --out /srv/answers --master spark://10.0.0.5:7077
"""
Shown = Callable[[str, bool], None]
"""Called with words, and whether they stay on the terminal."""
_STEPS = {
    "logs": "what the logs hold",
    "traffic": "where messages go",
    "latency": "how long they take",
    "delivery": "whether deliveries are missing",
    "durable": "what became of stored messages",
    "control": "what routers tell each other",
    "content": "what messages and filters contain",
    "access": "what access rules decided",
}
"""By question: what is being found out."""
_FAULTS = ("missing", "duplicate", "stray", "dropped", "durable")
_MASTER = r"local(\[(\*|[1-9]\d*)\])?|spark://[^/,]+:\d+(,[^/,]+:\d+)*|yarn|k8s://https?://[^/:]+(:\d+)?/?"
_SETTING = r"spark\.[\w.-]+"


def _master(_context: click.Context, _option: click.Parameter, text: str) -> str:
    """Refuse a wrong master here: Spark reports it only after seconds, and at length."""
    if re.fullmatch(_MASTER, text) is None:
        raise click.BadParameter(
            f"{text!r} is no Spark master; use local[*], local[2], spark://HOST:PORT, k8s://https://HOST:PORT or yarn"
        )
    return text


def _settings(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    found = dict(text.partition("=")[::2] for text in texts)
    for text, name in zip(texts, (text.partition("=")[0] for text in texts), strict=True):
        if "=" not in text or re.fullmatch(_SETTING, name) is None:
            raise click.BadParameter(f"{text!r} is no setting of Spark's; use spark.NAME=VALUE")
        if name == "spark.master":
            raise click.BadParameter("the master is given by --master")
    return found


class _Records(click.Path):
    """A folder or a topology file; or the address of a folder elsewhere, which stays a text."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        return value if "://" in str(value) else super().convert(value, param, ctx)


def _faults(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    names = () if text is None else tuple(text.split(","))
    for name in names:
        if name not in _FAULTS:
            raise click.BadParameter(f"{name!r} is no fault; use one of {', '.join(_FAULTS)}")
    return names


@click.command("analyze", epilog=_EXAMPLE)
@click.argument("logs", type=_Records(exists=True, path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Write the answers to this folder."
)
@click.option(
    "--master",
    callback=_master,
    default="local[*]",
    show_default=True,
    help="The Spark master: local[CORES], spark://HOST:PORT, k8s://https://HOST:PORT or yarn.",
)
@click.option(
    "--conf",
    "settings",
    metavar="NAME=VALUE",
    callback=_settings,
    multiple=True,
    help="A setting of Spark's, such as spark.executor.memory=8g; may be repeated.",
)
@click.option("--only", metavar="NAME", multiple=True, help="Answer only this question; may be repeated.")
@click.option("--since", type=click.DateTime(), help="Ignore earlier messages; UTC.")
@click.option(
    "--settle",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=5.0,
    show_default=True,
    help="Do not judge deliveries between routers for this time after a change of the network.",
)
@click.option(
    "--notice",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=3.0,
    show_default=True,
    help="Nor for this time before the change: a dead link is detected late.",
)
@click.option(
    "--advise",
    metavar="TOPOLOGY",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Recommend changes to this topology file of the same network.",
)
@click.option(
    "--planned", is_flag=True, help="With --advise: also estimate the gain of features that are for experiments."
)
@click.option(
    "--into",
    metavar="STORE",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep what was read in this folder; the next run with it reads only what is new.",
)
@click.option("--follow", is_flag=True, help="Update the answers every 30 s if files were closed, until Ctrl-C.")
@click.option(
    "--fail-on",
    metavar="VERDICT,...",
    callback=_faults,
    help="Exit with 1 if a delivery is missing, duplicate, stray or dropped; durable: if a stored message has a fault.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON object instead of text: each answer is a line of it, printed when it is ready.",
)
def command(
    logs: Path | str,
    out: Path,
    master: str,
    settings: dict[str, str],
    only: tuple[str, ...],
    since: datetime | None,
    settle: float,
    notice: float,
    advise: Path | None,
    planned: bool,
    into: Path | None,
    follow: bool,
    fail_on: tuple[str, ...],
    as_json: bool,
) -> int:
    """Analyze records: routes of traffic, latency, missing messages.

    LOGS has a folder for each router, or is a topology file whose routers write records, or is the address of such a
    folder, s3://BUCKET/FOLDER or hdfs://HOST:PORT/FOLDER. The questions are delivery, traffic, latency, durable,
    control, content and access, which is about the audit logs in LOGS, or in the data folders of a topology file; their
    tables come as Parquet to OUT/QUESTION/TABLE, and all together as OUT/report.html.

    With --advise the topology file is compared with this traffic: the output recommends changes with their expected
    gain, or states why none is needed. OUT/topology.advised.yaml is the changed file, OUT/advice.patch the change as a
    patch.

    With --into the answers are those of all records that were ever read into STORE.

    With --fail-on the exit code is 1 if deliveries have one of these verdicts, for automated tests.
    """
    with analysis_extra():
        from tamis.analysis.advice.job import wanted
        from tamis.analysis.job import Job
        from tamis.analysis.spark.failure import SparkFailed, explained
        from tamis.analysis.spark.java import NoJava
    _check_options(only, fail_on, follow, advise, planned, as_json)
    _check_place(logs, only, follow or into is not None, advise)
    network = (Path(logs) if isinstance(logs, str) else logs.resolve()).stem
    audits = _audits(logs, only)
    is_small, logs = _looked_at(logs, follow, audits, only)
    try:
        asked = None if advise is None else wanted(advise, Path(logs), planned)
    except ConfigError as error:
        click.echo("\n".join(error.mistakes), err=True)
        return 1
    except TamisError as error:
        raise click.ClickException(str(error)) from None
    since_us = None if since is None else round(since.replace(tzinfo=UTC).timestamp() * 1e6)
    job = Job(out, only, since_us, round(settle * 1e6), round(notice * 1e6), asked, network, into, audits)
    try:
        with explained():
            is_brief = master.startswith("local") and not follow and advise is None and is_small
            with _progress() as shown:
                found = _run(_started(master, settings, is_brief), logs, job, follow, shown, as_json)
    except (NoJava, SparkFailed) as error:
        raise click.ClickException(str(error)) from None
    _tell(job, found, as_json)
    return _failed(job, fail_on)


def _started(master: str, settings: dict[str, str], is_brief: bool) -> SparkSession:
    """Start Spark; for jobs that are not brief, let this process keep freed memory."""
    from tamis.analysis.spark import session

    if not is_brief:
        session.keep_memory()
    return session.start(master, brief=is_brief, more=settings)


def _check_options(
    only: tuple[str, ...], fail_on: tuple[str, ...], follow: bool, advise: Path | None, planned: bool, as_json: bool
) -> None:
    """Refuse options that exclude each other."""
    from tamis.analysis import answers

    for name in only:
        if name not in answers.QUESTIONS:
            raise click.UsageError(f"no question {name!r}; use one of {', '.join(answers.QUESTIONS)}")
    if follow and (advise is not None or as_json or fail_on):
        raise click.UsageError("--advise, --fail-on and --json cannot be used with --follow")
    if planned and advise is None:
        raise click.UsageError("--planned needs --advise")
    for question, verdicts in (("delivery", set(fail_on) - {"durable"}), ("durable", set(fail_on) & {"durable"})):
        if verdicts and only and question not in only:
            raise click.UsageError(f"--fail-on counts deliveries: add --only {question}")


def _check_place(logs: Path | str, only: Sequence[str], is_stored: bool, advise: Path | None) -> None:
    """Refuse options that what is read does not allow. `is_stored`: whether records are kept in a store."""
    if isinstance(logs, str) and (is_stored or advise is not None):
        raise click.UsageError("--advise, --follow and --into need records in a folder of this machine")
    if only == ("access",) and is_stored:
        raise click.UsageError("--follow and --into read records: use them without --only access")


def _audits(logs: Path | str, only: Sequence[str]) -> tuple[Path, ...]:
    """Return the folders of audit logs in `logs`, or of the routers of this topology file."""
    from tamis.analysis.answers import ACCESS
    from tamis.analysis.records import audit_logs

    if isinstance(logs, str):
        if ACCESS in only:
            raise click.UsageError("--only access needs audit logs in a folder of this machine")
        return ()
    places = [logs]
    if logs.is_file():
        topology = _topology(logs)
        data = [topology.router(name).data for name in topology.routers]
        places = [Path(folder) / audit_logs.FOLDER for folder in data if folder is not None]
    found = audit_logs.folders_in(places)
    if ACCESS in only and not found:
        raise click.ClickException(
            f"{logs}: there are no audit logs; a router with access rules and a `data` folder writes them to "
            f"`{audit_logs.FOLDER}` there, for its own user to read"
        )
    return tuple(found)


def _looked_at(
    logs: Path | str, is_followed: bool, audits: Sequence[Path], only: Sequence[str]
) -> tuple[bool, Path | str]:
    """Return whether there are few records, and where they are."""
    from tamis.analysis.answers import ACCESS
    from tamis.analysis.records import audit_logs, files, remote

    if isinstance(logs, str):
        folder = remote.checked(logs)
        return remote.are_few(folder), folder
    found = audits[0] if only == (ACCESS,) else _folder(logs, is_followed)
    return files.are_few(found) and audit_logs.size_of(audits) <= files.FEW_BYTES, found


def _folder(logs: Path, is_followed: bool) -> Path:
    """Return the folder of records that `logs` is, or the one that all routers of this topology file use. A missing
    folder is reported here, since starting Spark takes seconds."""
    from tamis.router.records.reading import router_folders

    if logs.is_file():
        logs = _of_topology(logs)
    if not is_followed and not (logs.is_dir() and router_folders(logs)):
        raise click.ClickException(f"{logs}: the folder has no records")
    return logs


def _topology(file: Path) -> Topology:
    from tamis.configs import load_topology

    try:
        return load_topology(file)
    except ConfigError as error:
        raise click.ClickException("\n".join(error.mistakes)) from None


def _of_topology(file: Path) -> Path:
    topology = _topology(file)
    kept = [topology.router(name).records for name in topology.routers]
    folders = sorted({records.folder for records in kept if records is not None})
    if not folders:
        raise click.ClickException(f"{file}: no router writes records; add `records: {{}}`")
    if len(folders) > 1:
        raise click.ClickException(f"{file}: routers write records to {' and '.join(folders)}; name one folder")
    return Path(folders[0])


def _run(
    spark: SparkSession, logs: Path | str, job: Job, is_followed: bool, shown: Shown, as_json: bool
) -> Sequence[Advice]:
    from tamis.analysis.follow import follow
    from tamis.analysis.job import analyze
    from tamis.analysis.page.headlines import figures, sentence

    def told(step: str) -> None:
        shown(", ".join(_STEPS.get(each, each) for each in step.split(", ")), False)

    def answered(question: str) -> None:
        found = figures(question, job.out)
        shown(sentence(question, found), True)
        if as_json:
            _tell_first(question, found)

    with spark:
        if is_followed:
            follow(spark, Path(logs), job, told, answered)
            return ()
        return analyze(spark, logs, job, told, answered)


@contextmanager
def _progress() -> Iterator[Shown]:
    """Print the next step to stderr, in place on a terminal, else as a line with the seconds so far; and what stays."""
    began_s = time.monotonic()
    if not sys.stderr.isatty():
        yield lambda what, _: click.echo(f"{time.monotonic() - began_s:4.0f} s  {what}", err=True)
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("starting Spark")

        def show(what: str, stays: bool) -> None:
            if stays:
                shown.console.print(what, markup=False, highlight=False, soft_wrap=True)
            else:
                shown.update(task, description=what)

        yield show


def _failed(job: Job, fail_on: tuple[str, ...]) -> int:
    """Return the exit code, and print the faults that --fail-on names."""
    from tamis.analysis.questions.verdict_counts import durable_counts, verdict_counts

    stored = durable_counts(job.out)
    counts = (verdict_counts(job.out) or {}) | ({} if stored is None else {"durable": sum(stored["faults"].values())})
    found = {name: counts.get(name, 0) for name in fail_on if counts.get(name)}
    if found:
        said = (
            f"{count:,} {'faults of durable subscriptions' if name == 'durable' else name}"
            for name, count in found.items()
        )
        click.echo(f"deliveries: {', '.join(said)}", err=True)
    return int(bool(found))


def _tell_first(question: str, found: dict[str, object]) -> None:
    """Print the answer to a question as members of the object that --json prints."""
    told: dict[str, object] = {"deliveries": found} if question == "delivery" else {question: found}
    if question == "durable":
        told = with_old(told, kept="durable")
    begins = "{" if question == "logs" else ""  # it is the first of all answers
    click.echo(f"{begins}{json.dumps(told)[1:-1]},")


def _tell(job: Job, found: Sequence[Advice], as_json: bool) -> None:
    from tamis.analysis.advice.job import ADVISED, PATCH
    from tamis.analysis.job import REPORT

    files = {"report": job.out / REPORT}
    if job.advise is not None:
        files |= {"topology": job.out / ADVISED, "patch": job.out / PATCH}
    if as_json:
        told: dict[str, object] = {name: str(path) for name, path in files.items()}
        told |= {} if job.advise is None else {"advice": [each.row for each in found]}
        click.echo(json.dumps(told)[1:])
        return
    for line in (*found, *files.values()):
        click.echo(line)
