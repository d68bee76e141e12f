"""`tamis access who`: list the principals that may do something."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tamis.cli.access.asked import RULES_FILE, question_of, question_options, rules_in
from tamis.cli.reach.connecting import refusals
from tamis.cli.tables import columns
from tamis.protocol.access.decision import Decision
from tamis.protocol.access.questions import Ask, ask

if TYPE_CHECKING:
    from tamis.protocol.access.rules import AccessRules

_EXAMPLE = """\b
Examples:
  tamis access who rules.yaml --publish 'kind=reading plant=rome'
  tamis access who rules.yaml --sees '{"kind": "reading", "salary": 3}'
  tamis access who rules.yaml --consume orders-eu
"""


@click.command("who", epilog=_EXAMPLE)
@click.argument("file", type=RULES_FILE)
@question_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def who(file: str, as_json: bool, **given: str | None) -> int:
    """List the principals of FILE that may do what one option says, each with the role that allows it.

    A message is attributes, one a word (kind=reading plant=rome), or one JSON object. Where a rule has ${name}, each
    line is asked with its own name; for a client with a sub-name use `tamis access why`. Principals that an issuer of
    signed tokens names are not in FILE, and not in the list. The exit code is 0, also if nothing is listed.
    """
    with refusals():
        question = question_of(given)
    found = _allowed(rules_in(file).rules, question)
    if as_json:
        rows = [{"principal": line, "role": decision.role, "reason": decision.reason} for line, decision in found]
        click.echo(json.dumps({"verb": question.verb.value, "principals": rows}))
        return 0
    rows_of_text = [[line, decision.role, decision.reason] for line, decision in found]
    if rows_of_text:
        click.echo(columns(["principal", "role", "because"], rows_of_text))
    else:
        click.echo("no principal of the file may", err=True)
    return 0


def _allowed(rules: AccessRules, question: Ask) -> Iterator[tuple[str, Decision]]:
    """Yield the principals that may, with the decisions; a class whose rules ask for no name is asked once."""
    known: dict[int, Decision] = {}
    for line, number in rules.lines():
        rights = rules.classes.rights[number]
        decision = known.get(number)
        if decision is None:
            decision = ask(rights, line, question)
        if not rights.asks_name:
            known[number] = decision
        if decision.allowed:
            yield line, decision
