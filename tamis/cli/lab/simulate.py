"""`tamis simulate`: run a network in virtual time, with faults, and judge its deliveries."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from tamis.cli.extras import router_extra
from tamis.protocol.errors import ConfigError
from tamis.protocol.strategies import BY_NAME, DEFAULT

if TYPE_CHECKING:
    from tamis.router.core.routing.trees import Broadcast
    from tamis.simulate.run import Outcome, Scenario

SHRINKING_S = 60
"""The most seconds for finding a shorter command."""
_EXAMPLE = """\b
Examples:
  tamis simulate --topology random:12 --ops 1500 --faults all
  tamis simulate --topology configs/topologies/ring5.yaml --faults cut,crash --seed 7
  tamis simulate --break R5b
  tamis simulate --topology ring:5 --ops 200 --records logs && tamis analyze logs --out answers
"""


@click.command("simulate", epilog=_EXAMPLE)
@click.option(
    "--topology", metavar="FILE|KIND:N", default="random:12", show_default=True, help="A topology file, or a shape."
)
@click.option("--ops", type=click.IntRange(min=0), default=1_500, show_default=True, help="Faults and changes.")
@click.option(
    "--faults",
    metavar="MIX",
    default="all",
    show_default=True,
    help="all, worst, grouped, spaced, durable, ruled, decided, none, or kinds joined by commas.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Equal seeds give equal runs.")
@click.option("--strategy", type=click.Choice(tuple(BY_NAME)), default=DEFAULT.name, show_default=True)
@click.option(
    "--broadcast",
    type=click.Choice(("source-trees", "shared-tree", "reverse-path")),
    help="Instead of the topology's broadcast layer.",
)
@click.option("--coarse", is_flag=True, help="One predicate for each interface.")
@click.option("--merge", type=click.FloatRange(0, 0.9), metavar="LIMIT", help="Merge filters within this limit.")
@click.option(
    "--engine", metavar="NAME", help="Find covered filters like a router with this engine, in C (default: in Python)."
)
@click.option("--break", "rule", metavar="RULE", help="Disable a rule: R1 to R17, R19, R20, E3 to E7, E9, E10, R5b...")
@click.option("--only", metavar="LIST", help="Run only these operations, by number, joined by commas, or none.")
@click.option(
    "--records",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the records of each router, and the true deliveries (truth.json), to this empty folder.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object with all counts.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    as_json: bool,
    records: Path | None,
    **options: Any,  # noqa: ANN401 - click's options by name
) -> int:
    """Simulate a network under faults, and judge every delivery. Its routers run in virtual time.

    Shapes are tree, line, ring, grid, random, scale-free and dumbbell, each with a number of routers. Kinds of faults
    are cut, reset, half-open, stall, lose, add, crash, partition, jump, flood, leave and rewind; clients connect, leave
    and change their subscriptions throughout. With --break, the other options default to values at which the missing
    rule is detected soon.

    The exit code is 1 if a delivery was wrong; it is printed with the shortest command that reproduces it.
    """
    given = {name for name in options if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT}
    with router_extra("simulations"):
        from tamis.simulate import report
    scenario = _scenario(options, given)
    _check_records(scenario, records)
    began = time.monotonic()
    outcome = _watched(scenario, lambda told: _run(scenario, told, records))
    seconds = time.monotonic() - began
    if outcome.violations and options["only"] is None and BY_NAME[options["strategy"]].loses_nothing:
        click.echo(report.violations(outcome), err=True)
        outcome = _shrunk(outcome)
    click.echo(json.dumps(report.for_programs(outcome, seconds)) if as_json else report.for_people(outcome, seconds))
    if outcome.violations:
        click.echo(
            f"{report.violations(outcome)}\nseed {scenario.seed}; repeat: {outcome.scenario.command()}", err=True
        )
    return 1 if outcome.violations else 0


def _scenario(options: dict[str, Any], given: set[str]) -> Scenario:
    """Return the scenario of the options; UsageError if it is impossible."""
    from tamis.native.engines import engine_called
    from tamis.simulate.custody_breaks import ALL_BREAKS
    from tamis.simulate.run import Scenario, plan_of

    rule, strategy, layer = options["rule"], BY_NAME[options["strategy"]], options["broadcast"]
    if strategy.layer is not None and layer not in (None, strategy.layer):
        raise click.UsageError(f"--broadcast: strategy {strategy.name} uses {strategy.layer}, not {layer}")
    if options["merge"] is not None and not strategy.merges:
        raise click.UsageError(f"--merge: strategy {strategy.name} does not merge filters")
    if rule is not None and (rule not in ALL_BREAKS or not strategy.loses_nothing):
        rules = ", ".join(ALL_BREAKS)
        raise click.UsageError(f"--break {rule}: it takes {rules}, with a strategy that loses nothing: {_sound()}")
    if rule is not None:
        soon = ALL_BREAKS[rule]
        chosen = {"topology": soon.topology, "ops": soon.operations, "faults": soon.faults, "strategy": soon.strategy}
        options |= {name: value for name, value in chosen.items() if name not in given}
    try:
        if options["engine"] is not None:
            engine_called(options["engine"])
        scenario = Scenario(
            options["topology"],
            options["ops"],
            options["faults"],
            options["seed"],
            options["strategy"],
            cast("Broadcast | None", options["broadcast"]),
            options["coarse"],
            rule,
            _numbers(options["only"]),
            options["merge"],
            options["engine"],
        )
        plan_of(scenario)
    except ConfigError as error:
        raise click.UsageError("\n".join(error.mistakes)) from None
    except (ValueError, OSError) as error:
        raise click.UsageError(str(error)) from None
    return scenario


def _sound() -> str:
    return ", ".join(facts.name for facts in BY_NAME.values() if facts.loses_nothing)


def _numbers(listed: str | None) -> tuple[int, ...] | None:
    try:
        return None if listed is None else tuple(int(number) for number in listed.split(",") if number != "none")
    except ValueError:
        raise click.UsageError(f"--only: expected numbers joined by commas, or none, not {listed!r}") from None


def _check_records(scenario: Scenario, records: Path | None) -> None:
    from tamis.simulate.run import plan_of

    if records is None:
        return
    if not BY_NAME[scenario.strategy].loses_nothing:
        raise click.UsageError(f"--records needs a strategy that loses nothing: {_sound()}")
    if any(operation.kind == "reload" for operation in plan_of(scenario)):
        raise click.UsageError("--records: a run with rules of access has no account")
    records.mkdir(parents=True, exist_ok=True)
    if any(records.iterdir()):
        raise click.UsageError(f"{records} is not empty: records of two runs cannot be distinguished")


def _run(scenario: Scenario, told: Callable[[int, int], None], records: Path | None) -> Outcome:
    from tamis.simulate.run import run

    return run(scenario, told, stop_at_first=scenario.without is not None, records=records)


def _watched(scenario: Scenario, do: Callable[[Callable[[int, int], None]], Outcome]) -> Outcome:
    """Run with a progress bar if stderr is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("operations", total=scenario.operations)

        def told(done: int, violations: int) -> None:
            found = f", {violations} violations" if violations else ""
            bar.update(task, completed=done, description=f"operations{found}")

        return do(told)


def _shrunk(outcome: Outcome) -> Outcome:
    from rich.console import Console
    from rich.progress import Progress

    from tamis.simulate.shrink import RUNS_MAX, shrink

    until = time.monotonic() + SHRINKING_S
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("shrinking", total=RUNS_MAX)

        def told(runs: int, left: int) -> bool:
            bar.update(task, completed=runs, description=f"shrinking, {left} operations left")
            return time.monotonic() > until

        return shrink(outcome, told)
