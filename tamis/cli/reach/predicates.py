"""How commands read predicates: in the language of Tamis, of a space or not, or as filters of another system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tamis.protocol.shown import shown

if TYPE_CHECKING:
    from tamis.protocol.filters import Predicate
    from tamis.protocol.spaces import SpaceSet

dialect_option = click.option(
    "--dialect",
    metavar="NAME",
    envvar="TAMIS_DIALECT",
    help="Predicates are filters of another system: mqtt, jms, ... (`tamis translate --from help` lists them).",
)

event_dialect_option = click.option(
    "--dialect",
    metavar="NAME",
    envvar="TAMIS_DIALECT",
    help="The message is an event of this system, as `tamis translate` names them.",
)


def read_predicate(
    text: str, known: SpaceSet | None = None, space: str | None = None, dialect: str | None = None
) -> Predicate:
    """Return the predicate of a text; the exceptions of parsing and of translation."""
    from tamis.protocol import dialects
    from tamis.protocol.language import parse
    from tamis.protocol.spaces import NO_SPACES

    if not dialect:
        return parse(text, spaces=known or NO_SPACES, space=space)
    _refuse_space(space)
    return dialects.get(dialect).exactly(text)


def check_filter(
    text: str,
    known: SpaceSet | None = None,
    space: str | None = None,
    dialect: str | None = None,
    exact_for: str | None = None,
) -> None:
    """Check a text as the client does, and say so if a residual program decides a part of it. `exact_for`: what has no
    program, so that this is a mistake."""
    from tamis.client.messages.pending import exactly
    from tamis.protocol import dialects
    from tamis.protocol.language import format_predicate
    from tamis.protocol.language.reading import plainly
    from tamis.protocol.spaces import NO_SPACES

    if dialect:
        _refuse_space(space)
    if dialect and exact_for is not None:
        exactly(dialect, text, exact_for)
        return
    if not dialect and (exact_for is not None or plainly(text, space) is not None):
        read_predicate(text, known, space)
        return
    if dialect:
        found = dialects.get(dialect).decided(text)
    else:
        from tamis.protocol.dialects.tamis.tamis import translate

        found = translate(text, known or NO_SPACES, space)
    if not found.exact:
        rest = "; ".join(found.needs)
        click.echo(f"index part: {shown(format_predicate(found.predicate))}; a program decides {shown(rest)}", err=True)


def _refuse_space(space: str | None) -> None:
    if space is not None:
        raise click.UsageError("a filter of a dialect is of no space: omit --space")
