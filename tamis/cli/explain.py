"""`tamis explain`: why a predicate matches a message, or why not."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from tamis.protocol.errors import MessageTextError, PredicateError, SyntaxRefused
from tamis.protocol.explain import ConstraintVerdict, Explanation, FilterVerdict, explain
from tamis.protocol.json_form import encode_constraint, encode_filter
from tamis.protocol.language import compile_text, format_constraint, format_filter
from tamis.protocol.message_text import parse_message

_EXAMPLE = """\b
Examples:
  tamis explain 'severity > 2 and device ^= "web"' severity=6 device=web-3
  tamis explain 'price < 500' '{"price": 300, "dest": "MXP"}'
"""

_WHAT: dict[type[SyntaxRefused], str] = {PredicateError: "predicate", MessageTextError: "message"}


@click.command("explain", epilog=_EXAMPLE)
@click.argument("predicate")
@click.argument("message", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(predicate: str, message: tuple[str, ...], as_json: bool) -> int:
    """Show why PREDICATE matches MESSAGE, or not.

    For each filter of the predicate: whether it matches, and what each of its constraints saw.

    MESSAGE is attributes, one a word (class=alert severity=6 'note="two words"'), or one JSON object. The exit code
    is 0 whether or not it matches.
    """
    try:
        compiled = compile_text(predicate)
        attributes = parse_message(message)
    except SyntaxRefused as error:
        click.echo(f"{_WHAT[type(error)]}, {error}", err=True)
        return 2
    for warning in compiled.warnings:
        click.echo(warning, err=True)
    explanation = explain(compiled.predicate, attributes)
    click.echo(json.dumps(_as_form(explanation)) if as_json else "\n".join(_as_text(explanation)))
    return 0


def _as_text(explanation: Explanation) -> Iterator[str]:
    yield f"match: {_yes(explanation.matches)}"
    if not explanation.filters:
        yield "no message matches false"
    for verdict in explanation.filters:
        yield f"{_yes(verdict.matches):<3}  {format_filter(verdict.filter)}"
        texts = [format_constraint(part.constraint) for part in verdict.constraints]
        width = max(map(len, texts), default=0)
        for part, text in zip(verdict.constraints, texts, strict=True):
            yield f"     {_yes(part.holds):<3}  {text:<{width}}  {part.seen}"


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


def _as_form(explanation: Explanation) -> dict[str, object]:
    return {"match": explanation.matches, "filters": [_filter_form(verdict) for verdict in explanation.filters]}


def _filter_form(verdict: FilterVerdict) -> dict[str, object]:
    return {
        "match": verdict.matches,
        "filter": encode_filter(verdict.filter),
        "text": format_filter(verdict.filter),
        "constraints": [_constraint_form(part) for part in verdict.constraints],
    }


def _constraint_form(verdict: ConstraintVerdict) -> dict[str, object]:
    """`value` stands only where the attribute does."""
    form: dict[str, object] = {
        "holds": verdict.holds,
        "constraint": encode_constraint(verdict.constraint),
        "text": format_constraint(verdict.constraint),
        "seen": verdict.seen,
    }
    return form if verdict.value is None else form | {"value": verdict.value}
