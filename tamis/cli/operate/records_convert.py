"""`tamis records convert`: records in another form."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tamis.cli.extras import parquet_extra
from tamis.cli.progress import Progress

if TYPE_CHECKING:
    from tamis.router.records.converting import Conversion

_EXAMPLE = """\b
Examples:
  tamis records convert records --format parquet
  tamis records convert records/a --to lines/a --format jsonl
"""


@click.command("convert", epilog=_EXAMPLE)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["parquet", "jsonl"]),
    required=True,
    help="The form: columns, or compressed lines of JSON.",
)
@click.option(
    "--to",
    "into",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write to this folder and leave FOLDER unchanged. Default: replace each file of FOLDER.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(folder: Path, form: str, into: Path | None, as_json: bool) -> int:
    """Convert records to columns, or to lines.

    FOLDER has the records of one router, or a folder for each. A file is replaced when its new form is complete: the
    command may be interrupted, and continues if it is repeated. A file that a router is writing is left as it is.

    The exit code is 1 if nothing was converted, or a file could not be.
    """
    _check_folders(folder, into)
    progress, done = Progress("records converted"), []
    with parquet_extra():
        from tamis.router.records.converting import CLOSED, convert_folder

        for outcome in convert_folder(folder, into, CLOSED[form]):
            done.append(outcome)
            progress.step(outcome.records)
            if outcome.what == "failed" and not as_json:
                click.echo(f"{outcome.path}: {outcome.reason}", err=True)
    _tell(done, form, as_json)
    counts = Counter(outcome.what for outcome in done)
    return int(bool(counts["failed"]) or not counts["converted"] + counts["copied"])


def _check_folders(folder: Path, into: Path | None) -> None:
    """Refuse a folder in which analyses would find each record twice."""
    if into is None:
        return
    source, target = folder.resolve(), into.resolve()
    if source == target or source in target.parents or target in source.parents:
        raise click.UsageError(f"--to {into}: allowed is a folder that is not {folder}, not in it and not above it")


def _tell(done: list[Conversion], form: str, as_json: bool) -> None:
    counts = Counter(outcome.what for outcome in done)
    made = [outcome for outcome in done if outcome.what in ("converted", "copied")]
    records = sum(outcome.records for outcome in made)
    before, after = sum(outcome.bytes_before for outcome in made), sum(outcome.bytes_after for outcome in made)
    if as_json:
        failed = [{"file": str(each.path), "reason": each.reason} for each in done if each.what == "failed"]
        told = {"converted": counts["converted"], "copied": counts["copied"], "there": counts["there"]}
        told |= {"in_use": counts["in use"], "records": records, "bytes_before": before, "bytes_after": after}
        click.echo(json.dumps(told | {"failed": failed}))
        return
    click.echo(f"converted {_files(len(made))}: {records:,} records, {before:,} bytes to {after:,}")
    if counts["there"]:
        click.echo(f"{_files(counts['there'])} already in format {form}")
    if counts["in use"]:
        click.echo(f"left {_files(counts['in use'])} that a router or another conversion uses")


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"
