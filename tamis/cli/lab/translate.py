"""`tamis translate`: a filter of another system as a predicate, offline.

Law: a filter whose predicate is wider is told as such, and no verdict on an event is a guess: it is null where neither
the predicate nor a program decides.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from typing import Any

import click

from tamis.cli.lab.dialect_lines import translated
from tamis.cli.lines import taken
from tamis.cli.reach.connecting import refusals
from tamis.cli.reach.events import read_json
from tamis.protocol import dialects
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.verdict import verdict_on
from tamis.protocol.errors import Refused
from tamis.protocol.json_form import encode_filter
from tamis.protocol.language import format_predicate
from tamis.protocol.shown import shown

_EXAMPLE = """\b
Examples:
  $ tamis translate --from mqtt 'sensors/+/temperature'
  topic/1 = "sensors" and topic/3 = "temperature" and not exists topic/4
  exact
  $ tamis translate 'sym = "A" and price * qty > 1000'
  exists price and exists qty and sym = "A"
  wider; a program decides arithmetic at column 27
  $ echo '{"dialect": "nats", "filter": "a.>", "events": ["a.b", "a"]}' | tamis translate --jsonl
  {"verdicts": [true, false], "exact": true, "error": null}
"""


@click.command("translate", epilog=_EXAMPLE)
@click.argument("text", metavar="[FILTER]", required=False)
@click.option(
    "--from",
    "name",
    metavar="DIALECT",
    default="tamis",
    show_default=True,
    help="The dialect of FILTER; `help` lists them.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
@click.option("--jsonl", "as_lines", is_flag=True, help="Read filters with events from stdin, one JSON object a line.")
def command(text: str | None, name: str, as_json: bool, as_lines: bool) -> int:
    """Print FILTER, which is of another system, as a predicate.

    Without --from it is in the language of Tamis, and may have conditions that a program decides.

    Dialects, and how their events become attributes: docs/reference/dialects.md. The second line of the output is
    `exact`, or `wider` with the parts of FILTER that the predicate leaves undecided. If no program decides them, the
    exit code is 1. It is 2 for a FILTER that its dialect does not allow.

    With --jsonl, each line of stdin is {"dialect": D, "filter": F, "events": [E, ...]}, where F is a text or JSON, and
    an event is as the dialect has it. For each line one is printed: {"verdicts": [...], "exact": ..., "error": ...}. A
    verdict is true, false, or null where nothing decides or the event is none. `error` is null or a
    sentence; with one of a filter, there are no verdicts. The exit code is 1 if a line has an error.
    """
    if name == "help":
        click.echo("\n".join(f"{each:14} {dialects.get(each).title}" for each in dialects.names()))
        return 0
    if as_lines:
        return _translate_lines(name)
    if text is None:
        raise click.UsageError("write FILTER and --from DIALECT, or --jsonl")
    with refusals():
        found = _dialect(name).translate(text)
    for warning in found.warnings:
        click.echo(shown(warning), err=True)
    click.echo(json.dumps(_as_form(name, text, found)) if as_json else shown(_as_text(found), "\n"))
    return 0 if found.decided else 1


def _dialect(name: str) -> Dialect:
    try:
        return dialects.get(name)
    except Refused as error:
        raise click.UsageError(str(error)) from None


def _as_text(found: Translated) -> str:
    decides = "; a program decides" if found.decided else ": not decided are"
    rest = "exact" if found.exact else f"wider{decides} {'; '.join(found.needs)}"
    return f"{format_predicate(found.predicate)}\n{rest}"


def _as_form(name: str, text: str, found: Translated) -> dict[str, object]:
    return {
        "dialect": name,
        "filter": text,
        "predicate": format_predicate(found.predicate),
        "filters": [encode_filter(filter_) for filter_ in found.predicate.filters],
        "exact": found.exact,
        "needs": list(found.needs),
        "decided": found.decided,
        "indexed": None if found.indexed is None else format_predicate(found.indexed),
        "residual": None if found.residual is None else base64.b64encode(found.residual.pack()).decode(),
        "warnings": list(found.warnings),
    }


def _translate_lines(name: str) -> int:
    code = 0
    for answers in taken("-", lambda line: _answer(line, name)):
        for answer in answers:
            code = 1 if answer is None or answer["error"] is not None else code
            sys.stdout.write(json.dumps(answer or _failed("the line is not as it should be")) + "\n")
        sys.stdout.flush()
    return code


def _answer(line: str, name: str) -> dict[str, Any]:
    """Return the verdicts on the events of one line."""
    form = read_json(line)
    if not isinstance(form, Mapping) or not isinstance(form.get("events"), list) or "filter" not in form:
        raise Refused('a line is {"dialect": D, "filter": F, "events": [E, ...]}')
    try:
        dialect = dialects.get(str(form.get("dialect", name)))
        found = translated(dialect, form["filter"])
    except Refused as error:
        return _failed(str(error))
    verdicts, problems = [], []
    for number, event in enumerate(form["events"]):
        try:
            verdicts.append(verdict_on(found, dialect, event))
        except Refused as error:
            verdicts.append(None)
            problems.append(f"event {number}: {error}")
    return {"verdicts": verdicts, "exact": found.exact, "error": "; ".join(problems) or None}


def _failed(error: str) -> dict[str, Any]:
    return {"verdicts": [], "exact": None, "error": error}
