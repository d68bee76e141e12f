"""`tamis logs`: show the logs of the routers of a network.

Law: *records* of routers are shown by `tamis records`. `tamis logs cat` and `tail`, which once showed them, still do,
with a warning.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import click

from tamis.cli.extras import router_extra
from tamis.cli.operate.own_router import file_or_own
from tamis.cli.operate.router_logs import LogFollower, LogLine, in_order, more_of
from tamis.cli.since import HELP as SINCE_HELP
from tamis.cli.since import since_us
from tamis.protocol.shown import shown as escape

_EXAMPLE = """\b
Examples:
  tamis logs network.yaml
  tamis logs network.yaml --router b -f
  tamis logs network.yaml --level warning --since 10m
"""
FOLLOW_S: Final = 0.25
LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_HEAD: Final = ("time", "level", "message", "trace")


class _Logs(click.Command):
    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401
    ) -> click.Context:
        if args[:1] in (["cat"], ["tail"]) and not Path(args[0]).is_file():
            click.echo(f"`tamis logs {args[0]}` is now `tamis records {args[0]}`", err=True)
            from tamis.cli.operate.records import command as records

            return records.make_context("records", args, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command("logs", cls=_Logs, epilog=_EXAMPLE)
@click.argument("file", required=False, type=click.Path(dir_okay=False), callback=file_or_own)
@click.option("--router", "names", multiple=True, metavar="NAME", help="Show only this router; may be repeated.")
@click.option("--level", type=click.Choice(LEVELS), default="debug", help="Show only lines of this level or above.")
@click.option("--since", metavar="T", help=SINCE_HELP)
@click.option("--lines", "-n", type=click.IntRange(min=1), help="Show only the last lines, this many.")
@click.option("--follow", "-f", is_flag=True, help="Continue with new lines, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def command(
    file: str, names: tuple[str, ...], level: str, since: str | None, lines: int | None, follow: bool, as_json: bool
) -> int:
    """Show the logs of the routers of the topology FILE by time. `tamis up` writes them on this machine.

    Without FILE, the router of `tamis up` without one. At most 20 MiB of each router are kept. Lines that are no log
    lines, such as the last words of a process, count as errors. (What routers recorded is under `tamis records`.
    Routers that systemd runs log to the journal: journalctl -u 'tamis-router@*' -o cat.)
    """
    logs = _logs(file, names)
    since_at_us = since_us(since, time.time()) if since else 0

    def is_wanted(line: LogLine) -> bool:
        return line.at_us >= since_at_us and LEVELS.index(_level(line)) >= LEVELS.index(level)

    found: Iterable[LogLine] = filter(is_wanted, in_order(logs))
    if lines is not None:
        found = deque(found, maxlen=lines)
    _show(found, as_json)
    while follow:
        time.sleep(FOLLOW_S)
        _show(filter(is_wanted, more_of(logs)), as_json)
    return 0


def _logs(file: str, names: tuple[str, ...]) -> list[LogFollower]:
    with router_extra("routers"):
        from tamis.router.supervisor.state import StateFolder
    folder = StateFolder.of(file).logs
    found = {path.name.removesuffix(".log"): path for path in sorted(folder.glob("*.log"))}
    if not found:
        raise click.ClickException(f"{file}: no router of this file was started by `tamis up` on this machine")
    for name in names:
        if name not in found:
            raise click.UsageError(f"--router {name}: no log of this router; logs exist of {', '.join(found)}")
    return [LogFollower(name, path) for name, path in found.items() if name in names or not names]


def _level(line: LogLine) -> str:
    level = line.fields.get("level", "error")
    return level if level in LEVELS else "error"


def _show(lines: Iterable[LogLine], as_json: bool) -> None:
    for line in lines:
        click.echo(_as_json(line) if as_json else _as_text(line))


def _as_json(line: LogLine) -> str:
    return json.dumps({"router": line.router} | (line.fields or {"level": _level(line), "message": line.text}))


def _as_text(line: LogLine) -> str:
    if not line.fields:
        return escape(f"{line.router} {line.text}")
    said = line.fields
    more = " ".join(f"{key}={_value(value)}" for key, value in said.items() if key not in _HEAD)
    text = f"{said['time']} {line.router} {_level(line):<7} {said.get('message', '')}  {more}".rstrip()
    return escape(text) + (escape(str(said["trace"]), keep="\n") if "trace" in said else "")


def _value(value: object) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if text.isprintable() and text and " " not in text else json.dumps(text)
