"""`tamis durable give`: let a durable subscription belong to another principal."""

from __future__ import annotations

import json

import click

from tamis.cli.durable.shown import asked, looks
from tamis.cli.reach.admin import NoAnswer
from tamis.cli.tables import so_many

_EXAMPLE = """\b
Examples:
  tamis durable give network.yaml jobs worker-7
  tamis durable give jobs worker-7 --admin-token-file admin.token
"""


@click.command("give", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[TARGET] NAME PRINCIPAL")
@looks
def give(words: tuple[str, ...], name: str | None, as_json: bool) -> int:
    """Let the durable subscription NAME belong to PRINCIPAL, with all that is stored in it.

    Its owner may do so, with its own `NAME:TOKEN` as the token, and who may administer. From then on it stores what
    the new owner may have. TARGET is as for `tamis status`. The exit code is 1 if nothing has changed.
    """
    if len(words) not in (2, 3):
        expected = "an optional TARGET, the NAME of a durable subscription, and the PRINCIPAL to whom it is given"
        raise click.UsageError(f"give {expected}, not {so_many(len(words), 'word')}")
    problems = []
    for router in asked(words[0] if len(words) == 3 else None, name):
        try:
            done = router.ask("/durables/give", b"", durable=words[-2], owner=words[-1])
        except NoAnswer as error:
            problems.append(str(error))
            continue
        told = f"durable subscription {done['durable']} belongs to {done['owner']}, no longer to {done['before']}"
        click.echo(json.dumps(done) if as_json else told, err=not as_json)
        return 0
    raise click.ClickException("; ".join(problems))
