"""`tamis access check`: validate rules, run their tests, and warn of what is doubtful."""

from __future__ import annotations

import json

import click

from tamis.cli.access.asked import RULES_FILE
from tamis.cli.extras import router_extra
from tamis.cli.tables import so_many
from tamis.protocol.errors import ConfigError

_EXAMPLE = """\b
Example:
  $ tamis access check rules.yaml
  rules.yaml: mode enforce, 3 roles, 40 principals in 4 classes, 6 tests passed
"""


@click.command("check", epilog=_EXAMPLE)
@click.argument("file", type=RULES_FILE)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def check(file: str, as_json: bool) -> int:
    """Validate the rules in FILE, a topology file with `access` or a file of rules, and run its tests.

    Every mistake is reported on stderr as file:line:column: path: problem, and the exit code is 1; a test that fails is
    a mistake. Warnings are reported likewise, and the exit code stays 0: a rule that no message satisfies or that
    another one covers, a denial that a message passes by lacking an attribute (with the message), a principal without a
    role, and a pattern of durable subscriptions that no role makes.

    `tamis check` of a topology file with `access` reports the mistakes of its rules, too.
    """
    with router_extra("access rules"):
        from tamis.configs.access.load import load_access
    try:
        found = load_access(file)
    except ConfigError as error:
        click.echo("\n".join(error.mistakes), err=True)
        if as_json:
            click.echo(json.dumps({"file": file, "sound": False, "mistakes": error.mistakes}))
        return 1
    for line in found.warnings:
        click.echo(line, err=True)
    rules = found.rules
    counts = {
        "roles": len(rules.roles),
        "principals": rules.count,
        "classes": len(rules.classes.rights),
        "tests": found.tests,
    }
    if as_json:
        sound = {"file": file, "sound": True, "warnings": list(found.warnings), "mode": rules.mode.value}
        click.echo(json.dumps(sound | counts))
        return 0
    click.echo(
        f"{file}: mode {rules.mode.value}, {so_many(counts['roles'], 'role')}, "
        f"{so_many(counts['principals'], 'principal')} in {_classes(counts['classes'])}, "
        f"{so_many(counts['tests'], 'test')} passed"
    )
    return 0


def _classes(count: int) -> str:
    return "1 class" if count == 1 else f"{count:,} classes"
