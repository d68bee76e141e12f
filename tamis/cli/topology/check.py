"""`tamis check`: validate a topology file, or a file of predicates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from tamis.cli.network.strategy_lines import of_file
from tamis.cli.operate.startable import machines_of, unstartable
from tamis.cli.reach.predicates import dialect_option
from tamis.cli.reach.spaces_at import spaces_option, told_spaces
from tamis.cli.topology.durable_check import durable_meaning
from tamis.protocol.errors import ConfigError
from tamis.protocol.old_names import with_old

if TYPE_CHECKING:
    from tamis.configs import Topology
    from tamis.configs.sections.durable import DurableSettings

_EXAMPLE = """\b
Examples:
  $ tamis check network.yaml
  network.yaml: 3 routers, 2 links, strategy advertise, engine tamis
  $ tamis check --predicates selectors.txt --dialect jms
  selectors.txt: 12 filters of jms: 9 exact, 3 decided by a program, 0 not decided
"""
_OF_TOPOLOGY = ("file", "machine", "insecure", "text_only")
_OF_PREDICATES = ("dialect", "declared")


@click.command("check", epilog=_EXAMPLE)
@click.argument("file", type=click.Path(exists=True, dir_okay=False), required=False)
@click.option(
    "--predicates",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Check this file of predicates, one a line; - is stdin.",
)
@dialect_option
@spaces_option
@click.option("--machine", metavar="LABEL", help="This machine; needed if FILE has several machines.")
@click.option("--insecure", is_flag=True, help="As for `tamis up`.")
@click.option("--text-only", is_flag=True, help="Read only FILE, no file that it names.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
@click.pass_context
def command(
    ctx: click.Context,
    file: str | None,
    predicates: str | None,
    dialect: str | None,
    declared: str | None,
    machine: str | None,
    insecure: bool,
    text_only: bool,
    as_json: bool,
) -> int:
    """Validate the topology FILE, or a file of predicates.

    Nothing is started.

    Every mistake is reported on stderr as file:line:column: path: problem, and the exit code is 1. So are faults that
    would prevent the start of a router of this machine: missing or wrong tokens, secrets and certificates, and
    addresses open to others without authentication. If FILE has several machines, name this one by --machine; without
    it, only FILE itself is checked.

    Keys of the previous version are reported as warnings; they are valid until the next version.

    For a valid file the output shows routers, links, the strategy with the roots of its classes, the folder and limits
    of each log with the effect of each limit, and why other routers store no messages.

    With --predicates, each line that is not blank is a predicate, or with --dialect a filter of another system. Every
    mistake is reported on stderr as file:line:column: problem, with the line and a caret below it. A filter that
    neither a predicate nor a program decides is a mistake, too, and so is a file without predicates: the exit code is
    1. The last line counts the predicates, and with --dialect those that are exact, decided by a program, and neither.
    """
    _refuse_others(ctx, _OF_PREDICATES if predicates is None else _OF_TOPOLOGY, predicates is not None)
    if predicates is not None:
        from tamis.cli.topology.predicate_lines import check_lines

        return check_lines(predicates, dialect or None, told_spaces(declared, is_needed=False), as_json)
    if file is None:
        raise click.UsageError("Missing argument 'FILE', or --predicates FILE")
    return _check_topology(file, machine, insecure, text_only, as_json)


def _refuse_others(ctx: click.Context, names: tuple[str, ...], is_of_predicates: bool) -> None:
    """Refuse parameters on the command line that are of the other kind of file."""
    for parameter in ctx.command.params:
        is_given = ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if parameter.name in names and is_given and ctx.params[parameter.name] is not None:
            word = parameter.opts[0] if parameter.name != "file" else "FILE"
            raise click.UsageError(f"{word} {'cannot be used with' if is_of_predicates else 'needs'} --predicates")


def _check_topology(file: str, machine: str | None, insecure: bool, text_only: bool, as_json: bool) -> int:
    try:
        from tamis.configs import load_topology
    except ModuleNotFoundError as error:
        if error.name not in ("pydantic", "yaml"):
            raise
        raise click.ClickException(f"topology files need {error.name}: pip install 'tamis[router]'") from error
    warnings: list[str] = []
    try:
        topology = load_topology(file, warnings.append)
        mistakes = _of_rules(file, topology) if text_only else unstartable(file, machine, insecure)
    except ConfigError as error:
        mistakes = list(error.mistakes)
    if not mistakes and machine is not None and machine not in (machines := machines_of(topology)):
        mistakes = [f"{file}: no router of --machine {machine}; the machines are {', '.join(machines)}"]
    if mistakes:
        click.echo("\n".join(mistakes), err=True)
        if as_json:
            click.echo(json.dumps({"file": file, "sound": False, "mistakes": mistakes}))
        return 1
    for line in warnings:
        click.echo(line, err=True)
    summary, logs = topology.summary(), topology.durable_by_router()
    if as_json:
        forms = {router: settings.model_dump(mode="json") | _of_free(settings) for router, settings in logs.items()}
        sound = {"file": file, "sound": True, "warnings": warnings}
        click.echo(json.dumps(sound | summary | (with_old({"durable": forms}, kept="durable") if forms else {})))
        return 0
    click.echo(f"{file}: {_in_words(summary)}")
    for line in durable_meaning(topology):
        click.echo(line)
    return 0


def _of_rules(file: str, topology: Topology) -> list[str]:
    """Return the mistakes of rules of access that stand in the topology file itself."""
    from tamis.configs.access.load import load_access

    try:
        if isinstance(topology.access, dict):
            load_access(file)
    except ConfigError as error:
        return list(error.mistakes)
    return []


def _of_free(settings: DurableSettings) -> dict[str, float]:
    """Return, for a log that is enabled by default, its share of the free space, at most `bytes`."""
    from tamis.configs.sections.durable import SHARE_OF_FREE

    return {"share_of_free": 1 / SHARE_OF_FREE} if settings.is_by_default else {}


def _in_words(summary: dict[str, object]) -> str:
    engines = summary["engines"]
    engine = " and ".join(engines) if isinstance(engines, list) else engines
    counts = ", ".join(_counted(summary[key], noun) for key, noun in (("routers", "router"), ("links", "link")))
    return f"{counts}, {of_file(summary)}, engine {engine}"


def _counted(count: object, noun: str) -> str:
    return f"{count} {noun if count == 1 else f'{noun}s'}"
