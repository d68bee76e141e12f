"""Whole runs: clean ones, the same ones, shorter ones."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tamis.simulate.run import Outcome, Scenario, plan_of, run
from tamis.simulate.shrink import shrink
from tests.docs.commands import ROOT, commands_of

FIRST_TEN = "cut,reset,half-open,stall,lose,add,crash,partition,jump,flood"
"""All there were when the seeds below were found."""
FEWER_BELIEVED = (29, 43, 50, 60, 86, 87, 135, 139, 143, 165, 167)
"""A router goes back to its neighbours' clocks; a message from before that comes after its word must not be taken."""
REFUSED_AND_LOWER = (
    *(61, 65, 66, 68, 69, 74, 75),
    *(*range(80, 86), *range(88, 94), *range(96, 100)),
    *(112, 113, 120, 121, *range(128, 134)),
)
"""The statement of a router whose clock is ahead is refused, its messages were taken: its lower epoch is not muted."""
CLOCK_SET_RIGHT = (19, 20, 35, 36, 37, 71, 79, 115, 116, 121)
"""What a router believed of one issuer while its clock was years ahead is not believed of others afterwards."""
CHOSEN_BEHIND_SILENCE = (1, 17, 21, 31, 50, 58, 60, 64, 67, 70)
"""A router was chosen for a group while older trees still had the links behind which it lay, which were silent."""
JUST_ENDED = (15, 22, 23, 36, 37, 39)
OTHER_MEMBERS = (1, 3, 8, 10, 12, 13, 14, 15, 20, 24, 25)
ASKED_BETWEEN = (3, 4, 6, 7, 9, 10, 14, 20)
SMALL = Scenario("random:5", 40, "all", 3)


def _clean(outcome: Outcome) -> None:
    assert [str(violation) for violation in outcome.violations] == [], outcome.scenario.command()
    assert outcome.counts["required at rest"]


@pytest.mark.slow
def test_a_small_network_under_all_faults_is_clean_and_repeats() -> None:
    outcome = run(SMALL)
    _clean(outcome)
    assert outcome.counts["operations"] == 40
    again = run(SMALL)
    assert (again.digest, again.counts) == (outcome.digest, outcome.counts)
    assert run(replace(SMALL, seed=4)).digest != outcome.digest


@pytest.mark.slow
def test_the_trace_does_not_depend_on_the_hash_seed() -> None:
    code = "from tests.simulate.test_run import SMALL, run; print(run(SMALL).digest)"
    digests = {
        subprocess.run(  # noqa: S603
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "12345")
    }
    assert len(digests) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("tree:9", 80, "all", 11),
        Scenario("random:6", 120, "worst", 15),
        Scenario("dumbbell:6", 200, "worst", 5081, broadcast="source-trees"),
        Scenario("random:5", 200, "worst", 5226, broadcast="source-trees"),
        Scenario("line:4", 200, "worst", 3000012, broadcast="source-trees", only=(115, 147)),
        Scenario("dumbbell:6", 200, "worst", 6000049, broadcast="source-trees"),
        Scenario("line:6", 200, "worst", 6000051, broadcast="source-trees"),
        Scenario("line:6", 200, "worst", 6000051, broadcast="source-trees", only=FEWER_BELIEVED),
        Scenario("scale-free:5", 200, "worst", 7700047, broadcast="shared-tree"),
        Scenario("tree:5", 200, "worst", 7700049, broadcast="reverse-path"),
        Scenario("random:3", 200, "worst", 1000185, broadcast="source-trees", only=REFUSED_AND_LOWER),
        Scenario("random:4", 200, "worst", 53, broadcast="source-trees", only=CLOCK_SET_RIGHT),
        Scenario("ring:8", 200, "all", 5084, strategy="flood-everywhere", broadcast="source-trees"),
        Scenario("grid:8", 200, "all", 5183, strategy="flood-everywhere", broadcast="shared-tree"),
        Scenario("ring:6", 200, "all", 5070, broadcast="source-trees"),
        Scenario("ring:6", 120, "forge", 2),
        Scenario("line:5", 200, "forge", 2),
        Scenario("line:5", 200, "forge", 3),
        Scenario("random:8", 200, "forge", 2),
        Scenario("grid:6", 200, "clock,crash,cut", 4),
        Scenario("line:5", 200, "clock,crash,cut", 2),
        Scenario("line:12", 60, "all", 12),
        Scenario("ring:7", 80, "all", 13),
        Scenario("grid:12", 60, "all", 14),
        Scenario("random:12", 80, "all", 15),
        Scenario("scale-free:16", 50, "all", 16),
        Scenario("dumbbell:10", 80, "all", 17),
        Scenario("random:8", 60, "all", 18, broadcast="shared-tree"),
        Scenario("random:8", 60, "all", 19, broadcast="reverse-path"),
        Scenario("random:8", 60, "all", 20, coarse=True),
        Scenario("random:2", 100, "crash,jump", 21),
        Scenario("line:1", 40, "all", 22),
        Scenario("random:8", 120, "grouped", 23),
        Scenario("grid:9", 80, "grouped", 24, broadcast="shared-tree"),
        Scenario("ring:6", 80, "grouped", 25, broadcast="reverse-path"),
        Scenario("random:6", 80, "grouped", 26, coarse=True),
        Scenario("random:6", 80, "grouped", 27, strategy="flood"),
        Scenario("line:1", 40, "groups", 28),
        Scenario("random:8", 120, "spaced", 29),
        Scenario("ring:6", 80, "spaced", 30, broadcast="shared-tree"),
        Scenario("random:6", 80, "spaced", 31, strategy="flood"),
        Scenario("line:1", 60, "crash,spaces", 32),
    ],
    ids=Scenario.command,
)
def test_every_shape_and_layer_is_clean(scenario: Scenario) -> None:
    """The slice of the ledger that CI runs."""
    _clean(run(scenario))


@pytest.mark.slow
def test_the_run_that_the_page_begins_with_is_clean() -> None:
    scenario = Scenario("random:12", 1_500, "all", 7)
    shown = [command.text for command in commands_of(ROOT / "docs/design/simulator.md") if not command.reason]
    assert shown == [scenario.command()]
    _clean(run(scenario))


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("random:3", 200, FIRST_TEN, 375, only=(5, 9, 10, 16, 19, 25)),  # asked by one that went out of reach
        Scenario("ring:2", 200, FIRST_TEN, 555, only=(0, 2, 3, 4, 16, 18)),  # a wait answered before a link was known
        pytest.param(  # a message of an epoch that a clock has which is a month ahead
            Scenario("random:12", 200, "worst", 7500049, broadcast="shared-tree", only=(5, 10)), marks=pytest.mark.slow
        ),
        pytest.param(  # forged between a confirmation and the answer
            Scenario("line:12", 200, "worst", 1000007, broadcast="source-trees", only=(0, 4)), marks=pytest.mark.slow
        ),
        pytest.param(  # it waited at a router that ended
            Scenario("ring:10", 200, "grouped", 9000819, broadcast="source-trees", only=(7, 10)), marks=pytest.mark.slow
        ),
        Scenario("dumbbell:4", 200, "grouped", 9400782, broadcast="shared-tree", only=CHOSEN_BEHIND_SILENCE),
        pytest.param(  # an end that was news still when the message entered
            Scenario("random:5", 200, "grouped", 9000989, broadcast="source-trees", only=JUST_ENDED),
            marks=pytest.mark.slow,
        ),
        pytest.param(  # the first copy was lost in silence
            Scenario("random:6", 30, "grouped", 9000807, broadcast="source-trees"), marks=pytest.mark.slow
        ),
        pytest.param(  # a message for other members went another way
            Scenario("dumbbell:12", 200, "grouped", 9000522, broadcast="source-trees", only=OTHER_MEMBERS),
            marks=pytest.mark.slow,
        ),
        pytest.param(  # a router asked for messages between two of them, and passed the later one on by an old way
            Scenario("scale-free:5", 200, "all", 8000025, broadcast="source-trees", only=ASKED_BETWEEN),
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda scenario: f"{scenario.topology}/{scenario.seed}",
)
def test_what_the_judge_once_took_for_a_fault_is_none(scenario: Scenario) -> None:
    outcome = run(scenario)
    assert outcome.counts["operations"] == len(plan_of(scenario))
    assert not outcome.violations


@pytest.mark.slow
def test_a_way_that_is_taken_again_soon_is_an_old_one() -> None:
    """A link came and a router left at once: for one router the way was old, new and old within 50 ms."""
    _clean(run(Scenario("ring:4", 200, "all", 30000231, "profile", "source-trees", only=(0, 2))))


@pytest.mark.slow
def test_two_lives_that_lost_their_epochs_do_not_share_one() -> None:
    """The one jumped to where the other had been, of which none of its neighbours had heard."""
    some = (*range(29, 34), *range(64, 69), *range(98, 103), *range(108, 113), *range(118, 123), *range(132, 147))
    _clean(run(Scenario("random:6", 200, FIRST_TEN, 3105, broadcast="shared-tree", only=some)))


@pytest.mark.long
def test_a_message_on_a_longer_way_than_its_source_knows_has_hops_enough() -> None:
    _clean(run(Scenario("ring:64", 200, FIRST_TEN, 4209, only=(12, 14, 15, 16))))


def test_only_some_operations_are_done() -> None:
    some = replace(SMALL, only=(3, 17))
    assert [operation.number for operation in plan_of(some)] == [3, 17]
    assert some.command().endswith("--only 3,17")
    assert run(some).counts["operations"] == 2


@pytest.mark.slow
def test_a_failure_shrinks_to_what_it_takes() -> None:
    scenario = Scenario("random:4", 40, "crash,jump", 3, without="R9")
    failed = run(scenario, stop_at_first=True)
    first = failed.violations[0]
    lefts: list[int] = []

    def told(_: int, left: int) -> bool:
        lefts.append(left)
        return False

    smallest = shrink(failed, told)
    assert smallest.scenario.only is not None
    assert 1 <= len(smallest.scenario.only) <= 6
    assert any(found.invariant == first.invariant for found in run(smallest.scenario).violations)
    assert lefts == sorted(lefts, reverse=True)


@pytest.mark.slow
def test_shrinking_stops_when_it_is_told_to() -> None:
    failed = run(Scenario("random:8", 100, "none", 1, without="R11"), stop_at_first=True)
    assert shrink(failed, lambda runs, _: runs == 1).scenario.only is not None
    assert shrink(run(SMALL)).scenario == SMALL


@pytest.mark.slow
def test_what_fails_before_anything_is_done_needs_no_operation() -> None:
    failed = run(Scenario("random:8", 20, "none", 1, without="R4"), stop_at_first=True)
    assert shrink(failed).scenario.only == ()


@pytest.mark.slow
def test_the_paper_to_the_letter_loses_messages() -> None:
    outcome = run(Scenario("random:8", 40, "none", 1, strategy="paper"))
    assert outcome.counts["missing"] > 0
    assert {violation.invariant for violation in outcome.violations} <= {1, 2, 3, 6, 9}


@pytest.mark.slow
def test_members_of_groups_get_messages_wherever_they_are() -> None:
    counts = run(Scenario("random:6", 80, "groups", 1)).counts
    assert counts["required of groups at rest"] > 100
    assert counts["required of groups in motion"] > 100
    assert counts["passed on to another router"] > 0


def test_a_strategy_without_groups_is_refused() -> None:
    with pytest.raises(ValueError, match="strategy paper has no worker groups"):
        run(Scenario("random:3", 5, "groups", 1, strategy="paper"))
