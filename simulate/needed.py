"""Show that a strategy needs each of its rules: `python -m tamis.simulate.needed --strategy rendezvous`.

Law: a rule is needed if some run without it violates an invariant of that rule (`breaks.py`). Runs use the scenario in
which the missing rule fails soon, with seeds from 1 on, until one fails or the time is over; a run that has begun is
completed.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from itertools import count
from typing import Final

import click

from tamis.protocol.strategies import BY_NAME, Asks, StrategyFacts
from tamis.simulate.breaks import BREAKS
from tamis.simulate.run import Scenario, run

FOUND_WITHIN_S: Final = 60.0
IDLE: Final[dict[Asks, frozenset[str]]] = {
    Asks.WANTED: frozenset(),
    Asks.EVERYTHING_FOR_CLIENTS: frozenset({"R1", "R2", "R6", "R7", "R12"}),
    Asks.EVERYTHING: frozenset({"R1", "R2", "R6", "R7", "R12"}),
    Asks.BY_EDGES: frozenset({"R1", "R2", "R3"}),
}
"""Rules with almost no effect, by the kind of requests of a strategy. If each router states one filter for everything,
there are no storms to damp (R1), no late statements (R2), no uninterested neighbours (R6), no withdrawals (R7) and no
queues of control (R12). Routers with statements about edges also state such a filter, and damp those statements
separately (E5)."""
IDLE_IF_PREVENTIVE: Final = frozenset({"E7"})
"""Rules with no effect if routers also state covered filters."""


@dataclass(frozen=True, slots=True)
class MissedRule:
    """The result of leaving out `rule`. `seed` is that of the run that failed; None if no run failed."""

    strategy: str
    rule: str
    seed: int | None
    invariants: tuple[int, ...]
    """The invariants of the rule that were violated."""
    seconds: float
    command: str
    """The command that repeats the last run."""


def rules_of(facts: StrategyFacts) -> list[str]:
    """Return the rules of routers that follow a strategy, in the order of the page of rules."""
    by_edges, reuse = facts.asks is Asks.BY_EDGES, facts.options.get("reuse", "never")
    left_out = IDLE[facts.asks] | (IDLE_IF_PREVENTIVE if facts.options.get("storing") == "preventive" else frozenset())

    def keeps(rule: str) -> bool:
        needs = BY_NAME[BREAKS[rule].strategy]
        return (
            rule not in left_out
            and (by_edges or needs.asks is not Asks.BY_EDGES)
            and (facts.has_roots or not needs.has_roots)
            and needs.options.get("reuse", "never") in ("never", reuse)
        )

    return [rule for rule in BREAKS if keeps(rule)]


def missed(strategy: str, rule: str, within_s: float = FOUND_WITHIN_S) -> MissedRule:
    """Run networks that follow `strategy` without `rule` until an invariant of the rule fails, or `within_s` is
    over."""
    how, began = BREAKS[rule], time.monotonic()
    for seed in count(1):
        scenario = Scenario(how.topology, how.operations, how.faults, seed, strategy, without=rule)
        found = how.invariants & {violation.invariant for violation in run(scenario, stop_at_first=True).violations}
        seconds = round(time.monotonic() - began, 2)
        if found or seconds > within_s:
            break
    return MissedRule(strategy, rule, seed if found else None, tuple(sorted(found)), seconds, scenario.command())


@click.command()
@click.option(
    "--strategy",
    "strategies",
    type=click.Choice([name for name, facts in BY_NAME.items() if facts.loses_nothing]),
    multiple=True,
    help="Test this strategy; repeat for several (default: all).",
)
@click.option(
    "--rule", "rules", type=click.Choice(tuple(BREAKS)), multiple=True, help="Leave out this rule (default: all)."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def main(strategies: tuple[str, ...], rules: tuple[str, ...], as_json: bool) -> int:
    """Leave out each rule of a strategy and print how soon a run fails; exit with 1 if none fails without a rule."""
    is_needed = True
    for strategy in strategies or [name for name, facts in BY_NAME.items() if facts.loses_nothing]:
        for rule in rules_of(BY_NAME[strategy]):
            if rules and rule not in rules:
                continue
            what = missed(strategy, rule)
            is_needed &= what.seed is not None
            click.echo(json.dumps(asdict(what)) if as_json else _line(what))
    return 0 if is_needed else 1


def _line(what: MissedRule) -> str:
    found = f"invariant {', '.join(map(str, what.invariants))}, seed {what.seed}" if what.invariants else "NOT MISSED"
    return f"{what.strategy:26} {what.rule:4} {what.seconds:6.1f} s  {found}"


if __name__ == "__main__":
    raise SystemExit(main(standalone_mode=False))
