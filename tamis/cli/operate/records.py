"""`tamis records`: show and convert the records of routers."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from tamis.cli.extras import parquet_extra, router_extra
from tamis.cli.operate import records_convert
from tamis.cli.since import HELP as SINCE_HELP
from tamis.cli.since import since_us
from tamis.protocol.records import COMMON, KINDS
from tamis.protocol.shown import shown as escape

if TYPE_CHECKING:
    from tamis.router.records.reading import Reader, RecordLine

_EXAMPLE = """\b
Examples:
  tamis records tail --follow
  tamis records cat network.yaml --router a --kind link --since 10m
  tamis records cat records --kind message --json | jq .match_ns
"""
FOLLOW_S: Final = 0.25
_COMMON: Final = {item.name for item in COMMON}
F = TypeVar("F", bound=Callable[..., object])


@click.group("records", epilog=_EXAMPLE)
def command() -> None:
    """Show or convert the records that routers write.

    Routers write them if the topology file has `records`. For their logs use `tamis logs`.

    TARGET is a folder of records (of one router, or the parent folder of several) or a topology file whose routers
    write records; default: the folder `records`. Lines are ordered by time. Records that a crash left incomplete are
    skipped, and counted on stderr.
    """


command.add_command(records_convert.command)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The lines to show."""

    routers: frozenset[str]
    kinds: frozenset[str]
    since_us: int

    def __call__(self, line: RecordLine) -> bool:
        record = line.record
        return (
            line.t_us >= self.since_us
            and (not self.kinds or record.get("kind") in self.kinds)
            and (not self.routers or record.get("router") in self.routers)
        )


def _options(function: F) -> F:
    """Add the options that both commands have."""
    for decorate in (
        click.option("--json", "as_json", is_flag=True, help="Print each record as a JSON object on a line."),
        click.option("--follow", "-f", is_flag=True, help="Continue with new records, until Ctrl-C."),
        click.option("--since", metavar="T", help=SINCE_HELP),
        click.option(
            "--kind",
            "kinds",
            multiple=True,
            type=click.Choice(list(KINDS)),
            help="Show only records of this kind; may be repeated.",
        ),
        click.option(
            "--router", "names", multiple=True, metavar="NAME", help="Show only this router; may be repeated."
        ),
        click.argument("target", required=False, type=click.Path()),
    ):
        function = decorate(function)
    return function


@command.command("cat")
@_options
def cat(
    target: str | None, names: tuple[str, ...], kinds: tuple[str, ...], since: str | None, follow: bool, as_json: bool
) -> int:
    """Show all of it, the oldest first."""
    reader, wanted = _reader(target, kinds, names), _wanted(names, kinds, since)
    with parquet_extra():
        return _show(reader, filter(wanted, reader.read()), wanted, follow, as_json)


@command.command("tail")
@_options
@click.option("--lines", "-n", type=click.IntRange(min=1), default=20, show_default=True, help="Show this many lines.")
def tail(
    target: str | None,
    names: tuple[str, ...],
    kinds: tuple[str, ...],
    since: str | None,
    follow: bool,
    as_json: bool,
    lines: int,
) -> int:
    """Show the last lines."""
    reader, wanted = _reader(target, kinds, names), _wanted(names, kinds, since)
    chosen = names or kinds or since
    with parquet_extra():
        last = reader.last(lines) if not chosen else _last(filter(wanted, reader.read()), lines)
        return _show(reader, last, wanted, follow, as_json)


def _last(lines: Iterable[RecordLine], count: int) -> Iterable[RecordLine]:
    return deque(lines, maxlen=count)


def _show(reader: Reader, lines: Iterable[RecordLine], wanted: _Wanted, follow: bool, as_json: bool) -> int:
    for line in lines:
        click.echo(line.text if as_json else shown(line.record))
    while follow:
        time.sleep(FOLLOW_S)
        for line in filter(wanted, reader.read()):
            click.echo(line.text if as_json else shown(line.record))
    for sentence in reader.damaged:
        click.echo(sentence, err=True)
    if reader.broken:
        many = "1 line or file" if reader.broken == 1 else f"{reader.broken:,} lines or files"
        click.echo(f"{many} could not be read", err=True)
    return 0


# --- selection ------- -----------------------------------------------------------------------------------------------


def _reader(target: str | None, kinds: tuple[str, ...], names: tuple[str, ...]) -> Reader:
    from tamis.router.records.reading import Reader

    families = sorted({KINDS[kind].family for kind in kinds or KINDS})
    folders = _folders(target or "records")
    known = [folder.name for folder in folders]
    for name in names:
        if name not in known and folders != [Path(target or "records")]:  # the folder of one router may have any name
            raise click.UsageError(f"--router {name}: no records of this router; records exist of {', '.join(known)}")
    return Reader.of(folders, families)


def _folders(target: str) -> list[Path]:
    from tamis.router.records.reading import router_folders

    path = Path(target)
    if path.is_file():
        return _of_topology(target)
    if not path.is_dir():
        raise click.UsageError(f"{target!r} is neither a folder of records nor a topology file")
    found = router_folders(path)
    if not found:
        raise click.ClickException(f"{target}: the folder has no records")
    return found


def _of_topology(file: str) -> list[Path]:
    with router_extra("topology files"):
        from tamis.configs import load_topology

        topology = load_topology(file)
    kept = {name: topology.router(name).records for name in topology.routers}
    folders = [Path(records.folder) / name for name, records in kept.items() if records is not None]
    if not folders:
        raise click.ClickException(f"{file}: no router writes records; add `records: {{}}`")
    return folders


def _wanted(names: tuple[str, ...], kinds: tuple[str, ...], since: str | None) -> _Wanted:
    return _Wanted(frozenset(names), frozenset(kinds), since_us(since, time.time()) if since else 0)


# --- lines for people ------------------------------------------------------------------------------------------------


def shown(record: dict[str, Any]) -> str:
    """Return a record as a line: time, router, kind, then the fields that have a value."""
    when = datetime.fromtimestamp(record["t_us"] / 1e6, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    head = f"{when} {record.get('router', '?')} {record.get('kind', '?')}"
    return escape(" ".join([head, *_fields(record)]))


def _fields(record: dict[str, Any]) -> Iterator[str]:
    for name, value in record.items():
        if name not in _COMMON and value not in ([], {}):
            yield f"{name}={_value(value)}"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{key}:{count}" for key, count in value.items())
    if isinstance(value, list):
        return ",".join(map(_value, value))
    if isinstance(value, str):
        return value if value.isprintable() and value and " " not in value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)
