"""`tamis explain`: show why a predicate matches a message, or why it does not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import click

from tamis.cli.delivery.program_verdict import ProgramVerdict, program_verdict
from tamis.cli.delivery.verdicts import constraint_lines, yes_or_no
from tamis.cli.reach.admin import admin_token_option
from tamis.cli.reach.connecting import refusals
from tamis.cli.reach.events import event_of, message_of
from tamis.cli.reach.predicates import dialect_option
from tamis.cli.reach.spaces_at import names_space, spaces_option, told_spaces
from tamis.protocol import dialects
from tamis.protocol.dialects.dialect import Translated
from tamis.protocol.dialects.events import LEFT_OUT
from tamis.protocol.dialects.tamis.tamis import translate
from tamis.protocol.explain import ConstraintVerdict, Explanation, FilterVerdict, explain
from tamis.protocol.json_form import encode_constraint, encode_filter
from tamis.protocol.language import format_constraint, format_filter
from tamis.protocol.language.das import compile_profile
from tamis.protocol.message_text import parse_message
from tamis.protocol.shown import shown
from tamis.protocol.spaces import SpaceSet
from tamis.protocol.values import Value

_EXAMPLE = """\b
Examples:
  tamis explain 'severity > 2 and device ^= "web"' severity=6 device=web-3
  tamis explain 'price < 500' '{"price": 300, "dest": "MXP"}'
  tamis explain 'trades: side > "buy"' type=trades side=sell --spaces network.yaml
  tamis explain --router 127.0.0.1:7600 class=alert severity=6
"""


@click.command("explain", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[PREDICATE] [ATTRIBUTE]...")
@click.option(
    "--router",
    "target",
    type=click.Path(),
    metavar="TARGET",
    help="Use the live tables of these routers instead of PREDICATE.",
)
@spaces_option
@dialect_option
@click.option("--das", "is_das", is_flag=True, help="PREDICATE is a profile: PROFILE(PRI(a1=5,a2>10,TYPE=T1)).")
@admin_token_option
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object instead of text; with --router one a line for each router."
)
def command(
    words: tuple[str, ...], target: str | None, declared: str | None, dialect: str | None, is_das: bool, as_json: bool
) -> int:
    """Show why PREDICATE matches a message, or why it does not. With --router, show why a message goes where.

    For each filter of the predicate: whether it matches, and the value that each of its constraints was compared with.

    The message is attributes, one a word (class=alert severity=6 'note="two words"'), or one JSON object. The exit
    code is 0 whether or not it matches.

    A predicate may name a space (`trades: price < 120`): its filters are those after translation. With --spaces the
    output also shows whether the message is valid in the space that it names; without it, the declaration of the space
    is requested from the administration of the router. With --dialect the message is an event of that system,
    as attributes, as JSON, or as the text of a topic; for a filter that a residual program decides, the last line is
    what the program says, with the attributes that it asks for.

    With --router there is no PREDICATE: the filters are those in the tables of running routers, and the output lists
    each client that would receive the message and each durable subscription that would store it, with the filters that
    match. For a message from one of its own clients, each router also shows the neighbours to which it would forward
    the message, and the routers behind them. TARGET is as for `tamis status`; the exit code is 1 if a router did not
    answer. Nothing is published.
    """
    if target is not None:
        from tamis.cli.delivery.explain_live import explain_live

        with refusals():
            return explain_live(target, message_of(words, dialect), as_json)
    if not words:
        raise click.UsageError("Missing argument 'PREDICATE'")
    with refusals():
        known = told_spaces(declared, not is_das and not dialect and names_space(words[0]))
        found = _read(words[0], known, dialect, is_das)
        attributes = _attributes(words[1:], dialect, found)
    for warning in found.warnings:
        click.echo(shown(warning), err=True)
    explanation = explain(found.predicate, attributes)
    said = None if found.residual is None else program_verdict(found.residual, found.needs, attributes)
    refusal = known.check(attributes)
    if as_json:
        form = _as_form(explanation, said)
        click.echo(json.dumps(form | {"refused": str(refusal)} if refusal is not None else form))
        return 0
    lines = [*_as_text(explanation, said), *([] if refusal is None else [f"a router would refuse it: {refusal}"])]
    click.echo("\n".join(map(shown, lines)))
    return 0


def _read(text: str, known: SpaceSet, dialect: str | None, is_das: bool) -> Translated:
    """Return a predicate, or a filter of another system; Refused for one that is not decided."""
    if is_das and dialect:
        raise click.UsageError("--das and --dialect contradict each other: omit one")
    if dialect:
        return dialects.get(dialect).decided(text)
    if not is_das:
        return translate(text, known)
    compiled = compile_profile(text, known)
    return Translated(compiled.predicate, warnings=compiled.warnings)


def _attributes(words: tuple[str, ...], dialect: str | None, found: Translated) -> Mapping[str, Value]:
    """Return the attributes of a message, or of an event: those that the filter uses, if there are too many."""
    if not dialect:
        return parse_message(words)
    names = {each.name for filter_ in found.predicate.filters for each in filter_.constraints}
    attributes = dialects.get(dialect).attributes(
        event_of(words), names.union(found.residual.names() if found.residual else ())
    )
    if LEFT_OUT in attributes:
        click.echo(f"a message has no room for {attributes[LEFT_OUT]} values of the event", err=True)
    return attributes


def _as_text(explanation: Explanation, said: ProgramVerdict | None) -> Iterator[str]:
    yield f"match: {yes_or_no(_matches(explanation, said))}"
    if not explanation.filters:
        yield "`false` matches no message"
    for verdict in explanation.filters:
        yield f"{yes_or_no(verdict.matches):<3}  {format_filter(verdict.filter)}"
        yield from constraint_lines(verdict)
    if said is not None:
        yield from said.lines()


def _matches(explanation: Explanation, said: ProgramVerdict | None) -> bool:
    return explanation.matches and (said is None or said.matches)


def _as_form(explanation: Explanation, said: ProgramVerdict | None) -> dict[str, object]:
    filters = [_filter_form(verdict) for verdict in explanation.filters]
    form = {"match": _matches(explanation, said), "filters": filters}
    return form if said is None else form | {"program": said.form()}


def _filter_form(verdict: FilterVerdict) -> dict[str, object]:
    return {
        "match": verdict.matches,
        "filter": encode_filter(verdict.filter),
        "text": format_filter(verdict.filter),
        "constraints": [_constraint_form(part) for part in verdict.constraints],
    }


def _constraint_form(verdict: ConstraintVerdict) -> dict[str, object]:
    """Return a constraint as JSON; `value` is present only if the message has the attribute."""
    form: dict[str, object] = {
        "holds": verdict.holds,
        "constraint": encode_constraint(verdict.constraint),
        "text": format_constraint(verdict.constraint),
        "seen": verdict.seen,
    }
    return form if verdict.value is None else form | {"value": verdict.value}
