"""`tamis durable purge`: remove what the owner of a durable subscription may not have any more."""

from __future__ import annotations

import json

import click

from tamis.cli.durable.shown import asked, looks
from tamis.cli.reach.admin import NoAnswer
from tamis.cli.tables import so_many

_EXAMPLE = """\b
Example:
  tamis durable purge network.yaml jobs --forbidden
"""


@click.command("purge", epilog=_EXAMPLE)
@click.argument("words", nargs=-1, metavar="[TARGET] NAME")
@click.option("--forbidden", is_flag=True, required=True, help="What the owner may not have by the rules of access.")
@looks
def purge(words: tuple[str, ...], name: str | None, as_json: bool, **_: bool) -> int:
    """Remove the messages of the durable subscription NAME that its owner may not have any more.

    Such messages are held back, and would come back if the rules did; this removes them, counted as acknowledged. Its
    owner may do so, with its own `NAME:TOKEN` as the token, and who may administer. TARGET is as for `tamis status`.
    The exit code is 1 if nothing was removed.
    """
    if len(words) not in (1, 2):
        raise click.UsageError(
            f"give an optional TARGET and the NAME of one durable subscription, not {so_many(len(words), 'word')}"
        )
    problems = []
    for router in asked(words[0] if len(words) == 2 else None, name):
        try:
            done = router.ask("/durables/purge", b"", durable=words[-1])
        except NoAnswer as error:
            problems.append(str(error))
            continue
        if as_json:
            click.echo(json.dumps(done))
        else:
            click.echo(
                f"removed {so_many(done['removed'], 'message')} of {words[-1]} that {done['owner']} may not have",
                err=True,
            )
        return 0 if done["removed"] else 1
    raise click.ClickException("; ".join(problems))
