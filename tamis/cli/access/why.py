"""`tamis access why`: show why a client may do something, or why it may not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tamis.cli.access.asked import RULES_FILE, question_of, question_options, rules_in
from tamis.cli.delivery.verdicts import constraint_lines, yes_or_no
from tamis.cli.reach.connecting import refusals
from tamis.protocol.access.decision import Decision, Verb
from tamis.protocol.access.questions import MESSAGE_VERBS, Ask, ask
from tamis.protocol.explain import explain
from tamis.protocol.language import format_constraint, format_filter
from tamis.protocol.nearest import did_you_mean
from tamis.protocol.shown import shown

if TYPE_CHECKING:
    from tamis.protocol.access.rules import Principal

_EXAMPLE = """\b
Examples:
  tamis access why press-1 rules.yaml --publish 'kind=reading plant=oslo'
  tamis access why fleet/device-17 network.yaml --subscribe 'kind = "order"'
"""


@click.command("why", epilog=_EXAMPLE)
@click.argument("name")
@click.argument("file", type=RULES_FILE)
@question_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def why(name: str, file: str, as_json: bool, **given: str | None) -> int:
    """Show why the client NAME may do what one option says by the rules in FILE, or why it may not.

    The output has the principal of NAME with its roles, and the role and constraint that decided; for a message also
    each rule with its constraints and the values that they were compared with. The exit code is 0 whether or not it
    is allowed, and 1 if NAME is no principal.
    """
    with refusals():
        question = question_of(given)
    rules = rules_in(file).rules
    principal = rules.of(name)
    if principal is None:
        near = did_you_mean(name, (line for line, _ in rules.lines()))
        raise click.ClickException(f"no principal of {file} has the name {shown(name)}{near}")
    decision = ask(principal.rights, name, question)
    if as_json:
        click.echo(json.dumps(_form(name, principal, decision)))
        return 0
    roles = ", ".join(principal.rights.names) or "none"
    click.echo(f"allowed: {yes_or_no(decision.allowed)}")
    click.echo(shown(f"principal {principal.line}, roles: {roles}"))
    click.echo(shown(decision.reason))
    for line in _rules(principal, name, question):
        click.echo(shown(line))
    return 0


def _form(name: str, principal: Principal, decision: Decision) -> dict[str, object]:
    form: dict[str, object] = {
        "allowed": decision.allowed,
        "verb": decision.verb.value,
        "name": name,
        "principal": principal.line,
        "roles": list(principal.rights.names),
        "role": decision.role,
        "reason": decision.reason,
        "narrowed": decision.narrowed,
    }
    constraint = decision.constraint
    return form if constraint is None else form | {"constraint": format_constraint(constraint)}


def _rules(principal: Principal, name: str, question: Ask) -> Iterator[str]:
    """Yield each rule that was asked about a message, with its constraints."""
    rights, message = principal.rights, question.about
    if question.verb not in MESSAGE_VERBS or not isinstance(message, dict):
        return
    if question.verb is Verb.PUBLISH:
        message = rights.stamped(name, message)
    parts = [("denies", each) for each in rights.denying(question.verb)]
    parts += [("allows", each) for each in rights.allowing(question.verb)]
    for what, part in parts:
        for verdict in explain(part.rule.bound(name), message).filters:
            yield f"{yes_or_no(verdict.matches):<3}  role {part.role} {what} {format_filter(verdict.filter)}"
            yield from constraint_lines(verdict)
