"""The options by which a command asks the rules: one verb, and what it is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tamis.cli.extras import router_extra
from tamis.protocol.access.decision import Verb
from tamis.protocol.access.questions import ASKED, MESSAGE_VERBS, NAME_VERBS, Ask
from tamis.protocol.access.role import AdminLevel
from tamis.protocol.errors import ConfigError
from tamis.protocol.language import parse
from tamis.protocol.message_text import parse_message

if TYPE_CHECKING:
    from tamis.configs.access.load import LoadedAccess

RULES_FILE = click.Path(exists=True, dir_okay=False)
_HELP = {
    Verb.PUBLISH: "Publish this message.",
    Verb.SEES: "Receive this message.",
    Verb.REPLAY: "Receive this stored message again.",
    Verb.SUBSCRIBE: "Subscribe to this predicate.",
    Verb.GROUP: "Join this worker group.",
    Verb.MAKE: "Make a durable subscription of this name.",
    Verb.CONSUME: "Consume this durable subscription of another.",
    Verb.SKIP: "Consume this one, beginning behind what waits.",
    Verb.INSPECT: "Look at this durable subscription of another.",
    Verb.REMOVE: "Remove this durable subscription of another.",
    Verb.ADMIN: "Ask for administration of this level.",
}


def question_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each verb; the command gets them as keyword arguments for `question_of`."""
    for verb in reversed(ASKED):
        kind = click.Choice([level.name.lower() for level in AdminLevel]) if verb is Verb.ADMIN else None
        metavar = "MESSAGE" if verb in MESSAGE_VERBS else "PREDICATE" if verb is Verb.SUBSCRIBE else "NAME"
        option = click.option(
            f"--{verb.value}", verb.value, type=kind, metavar=None if kind else metavar, help=_HELP[verb]
        )
        command = option(command)
    return command


def question_of(given: dict[str, str | None]) -> Ask:
    """Return the question of the one option that is given."""
    asked = [verb for verb in ASKED if given[verb.value] is not None]
    if len(asked) != 1:
        options = ", ".join(f"--{verb.value}" for verb in ASKED)
        raise click.UsageError(f"give one of {options}" + (f", not {len(asked)}" if asked else ""))
    [verb] = asked
    text = str(given[verb.value])
    if verb in NAME_VERBS:
        return Ask(verb, text)
    if verb is Verb.ADMIN:
        return Ask(verb, AdminLevel[text.upper()])
    return Ask(verb, parse(text) if verb is Verb.SUBSCRIBE else parse_message(text))


def rules_in(file: str) -> LoadedAccess:
    """Return the rules of a file; print its mistakes and end with exit code 1 if there are any."""
    with router_extra("access rules"):
        from tamis.configs.access.load import load_access
    try:
        return load_access(file)
    except ConfigError as error:
        click.echo("\n".join(error.mistakes), err=True)
        raise click.exceptions.Exit(1) from None
