"""One run: a network, its operations round by round, rest after each, and the violations found.

Law: the outcome is a function of the scenario. `only` leaves out all other operations and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Final, cast

from tamis.protocol.strategies import BY_NAME, DEFAULT
from tamis.router.core.core import CoreSettings
from tamis.router.core.routing.trees import Broadcast
from tamis.router.links.covering import index_of
from tamis.simulate import drills
from tamis.simulate.account.log_files import LogFiles
from tamis.simulate.custody_breaks import ALL_BREAKS
from tamis.simulate.faults import faults, schemas, topologies
from tamis.simulate.faults.faults import Operation
from tamis.simulate.faults.topologies import NetworkPlan
from tamis.simulate.nodes.classes import NO_CLASSES, classes_of_run
from tamis.simulate.nodes.custody import NodeCustody
from tamis.simulate.nodes.programs import NO_PROGRAMS, programs_of_run
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.oracle.violation import Violation
from tamis.simulate.settle import Rest
from tamis.simulate.twin.filter_index import PureIndex
from tamis.simulate.world.world import World

JOINING: Final = frozenset({"return", "wake", "merge", "restore", "add"})
"""Operations that connect routers which may have been disconnected for long."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """All inputs of a run."""

    topology: str = "random:12"
    operations: int = 1_500
    faults: str = "all"
    seed: int = 1
    strategy: str = DEFAULT.name
    broadcast: Broadcast | None = None
    coarse: bool = False
    without: str | None = None
    """The rule that is left out, if there is one."""
    only: tuple[int, ...] | None = None
    merge: float | None = None
    """The limit of merging; None: routers merge no filters."""
    engine: str | None = None
    """The engine of the routers whose index of covering finds covered filters, in C; None: the index of the twin."""

    def command(self) -> str:
        """Return the command that repeats this scenario."""
        words = ["tamis simulate", f"--topology {self.topology}", f"--ops {self.operations}", f"--faults {self.faults}"]
        words.append(f"--seed {self.seed}")
        if self.strategy != DEFAULT.name:
            words.append(f"--strategy {self.strategy}")
        if self.broadcast is not None:
            words.append(f"--broadcast {self.broadcast}")
        if self.coarse:
            words.append("--coarse")
        if self.merge is not None:
            words.append(f"--merge {self.merge:g}")
        if self.engine is not None:
            words.append(f"--engine {self.engine}")
        if self.without is not None:
            words.append(f"--break {self.without}")
        if self.only is not None:
            words.append(f"--only {','.join(map(str, self.only)) or 'none'}")
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Outcome:
    scenario: Scenario
    routers: int
    violations: list[Violation]
    digest: str
    virtual_s: float
    counts: dict[str, int] = field(default_factory=dict)


TRUTH = "truth.json"
Progress = Callable[[int, int], Any]
"""Called with operations done and violations found; a true result stops the run."""


def run(
    scenario: Scenario,
    progress: Progress = lambda *_: None,
    stop_at_first: bool = False,
    records: Path | None = None,
) -> Outcome:
    """Run a scenario and return its outcome. `records` is a folder for the records of the routers; the simulator's own
    account is written beside them in `truth.json`."""
    network = topologies.read(scenario.topology, scenario.seed)
    kit = _kit(scenario, network)
    if records is not None and kit.programs is not NO_PROGRAMS:
        raise ValueError("a simulation writes no records of residual programs")
    world = World(network, scenario.seed, kit, None if records is None else LogFiles(records))
    rest = Rest(world, scenario.seed)
    world.begin()
    rest.come(0)
    for round_, operations in groupby(plan_of(scenario), key=lambda operation: operation.round):
        _do(world, rest, list(operations))
        rest.come(round_)
        if not any(world.rules.by_router):  # drills count frames for filters as clients ask for them
            drills.drill(world, rest, round_, scenario.seed)
        if progress(world.recorder.counts["operations"], len(world.recorder.violations)):
            break
        if stop_at_first and world.recorder.violations:
            break
    else:
        if kit.custody is not None:
            rest.glance(at_all=True)
            world.heal()
            rest.come(-1)
        rest.long_after()
    outcome = _outcome(scenario, world, rest)
    if records is not None and world.records is not None:
        world.records.catalog.close()
        world.records.account.write(records / TRUTH, outcome.counts)
    return outcome


def plan_of(scenario: Scenario) -> list[Operation]:
    """Return the operations of `scenario` that `only` selects."""
    network = topologies.read(scenario.topology, scenario.seed)
    kinds = faults.kinds_of(scenario.faults)
    operations = faults.plan(network, scenario.operations, kinds, scenario.seed)
    if scenario.only is None:
        return operations
    kept = frozenset(scenario.only)
    return [operation for operation in operations if operation.number in kept]


def _kit(scenario: Scenario, network: NetworkPlan) -> RunParts:
    if scenario.merge is not None and not BY_NAME[scenario.strategy].merges:
        raise ValueError(f"strategy {scenario.strategy} does not merge filters")
    if scenario.merge is not None and "rules" in faults.kinds_of(scenario.faults):
        raise ValueError("filters that are AND-ed with rules are not merged in a simulation")
    if "groups" in faults.kinds_of(scenario.faults) and not BY_NAME[scenario.strategy].carries_groups:
        raise ValueError(f"strategy {scenario.strategy} has no worker groups")
    layer = cast("Broadcast | None", BY_NAME[scenario.strategy].layer)
    broadcast = layer or scenario.broadcast or network.broadcast
    classes = classes_of_run(network.names) if BY_NAME[scenario.strategy].has_roots else NO_CLASSES
    is_coarse = scenario.coarse and layer is None
    settings = CoreSettings(broadcast, is_coarse, classes=classes.choices, merge=scenario.merge)
    has_spaces = "spaces" in faults.kinds_of(scenario.faults)
    declared = schemas.DECLARED if has_spaces else ()
    index = PureIndex if scenario.engine is None else index_of(scenario.engine)
    custody = NodeCustody if "custody" in faults.kinds_of(scenario.faults) else None
    has_programs = "programs" in faults.kinds_of(scenario.faults)
    programs = programs_of_run(network.names, scenario.seed) if has_programs else NO_PROGRAMS
    kit = RunParts(
        scenario.strategy, settings, index=index, classes=classes, declared=declared, custody=custody, programs=programs
    )
    return kit if scenario.without is None else ALL_BREAKS[scenario.without].apply(kit)


def _do(world: World, rest: Rest, operations: list[Operation]) -> None:
    began_us = world.clock.now_us
    for operation in operations:
        world.clock.run_until(began_us + operation.at_us)
        # A router that returns may be older than the state of it that others forgot: the judge must have seen that
        # state.
        rest.glance(at_all=operation.kind in JOINING)
        world.perform(operation)


def _outcome(scenario: Scenario, world: World, rest: Rest) -> Outcome:
    recorder = world.recorder
    counts = dict(
        sorted(
            (
                recorder.counts
                + recorder.deliveries.counts
                + recorder.gaps.counts
                + recorder.order.counts
                + recorder.groups.counts
                + recorder.schemas.counts
                + recorder.durables.counts
                + recorder.custody.counts
                + recorder.bounds.counts
                + world.access.counts
            ).items()
        )
    )
    counts |= rest.merged_counts()
    counts |= {f"sent {what}": count for what, count in sorted(recorder.said.items())}
    return Outcome(
        scenario,
        len(world.nodes),
        recorder.violations,
        recorder.trace.digest(),
        world.clock.now_us / 1e6,
        counts,
    )
