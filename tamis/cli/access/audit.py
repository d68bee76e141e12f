"""`tamis audit`: verify the audit logs of routers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from tamis.cli.tables import so_many
from tamis.protocol.access.audit_line import FILE_FORM, verified

_EXAMPLE = """\b
Example:
  $ tamis audit verify data/rome/audit
  1,204 lines in 1 file are one chain, which ends with 5d0b8c1e... (line 1,204)
"""


@click.group("audit", epilog=_EXAMPLE)
def command() -> None:
    """Verify the audit logs of routers."""


@command.command("verify", epilog=_EXAMPLE)
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def verify(folder: str, as_json: bool) -> int:
    """Verify that the lines of the audit log in FOLDER are one chain: none was changed, added, or removed from between.

    Lines that were removed from the end are not found by this: compare the last digest with one that you have kept. The
    exit code is 1, with the place of the first wrong line, if they are no chain.
    """
    paths = sorted(path for path in Path(folder).iterdir() if FILE_FORM.fullmatch(path.name))
    try:
        found = verified((str(path), _lines(path)) for path in paths)
    except OSError as error:
        raise click.ClickException(f"{error.filename}: cannot be read: {error.strerror}") from None
    last = found.removed + found.lines
    if as_json:
        said = {"sound": not found.problem, "lines": found.lines, "files": len(paths), "removed_before": found.removed}
        click.echo(json.dumps(said | {"last": found.last, "problem": found.problem or None}))
    elif found.problem:
        click.echo(found.problem, err=True)
    else:
        removed = f", after {found.removed:,} that the bound of bytes has removed" if found.removed else ""
        lines, files = so_many(found.lines, "line"), so_many(len(paths), "file")
        click.echo(f"{lines} in {files} are one chain{removed}, which ends with {found.last} (line {last:,})")
    return 1 if found.problem else 0


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file
