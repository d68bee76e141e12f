"""Rules of access in the simulator: each router enforces a file and reloads it, and the judge finds what does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tamis.cli.lab.simulate import command
from tamis.simulate.nodes.rules import EnforcedRules
from tamis.simulate.run import Outcome, Scenario, run

SCENARIO = Scenario("random:4", 60, "ruled", 38)


def broken(outcome: Outcome) -> set[int]:
    return {violation.invariant for violation in outcome.violations}


@pytest.mark.parametrize("strategy", ["advertise", "profile", "flood"])
def test_messages_arrive_where_rules_allow_it(strategy: str) -> None:
    outcome = run(replace(SCENARIO, strategy=strategy))
    assert [str(each) for each in outcome.violations] == []
    counts = outcome.counts
    assert min(counts["did reload"], counts["refused by rules"], counts["required at rest"]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("faults", ["ruled", "rules,groups", "rules,clock,forge,crash", "rules,durables,spaces"])
def test_messages_arrive_beside_other_faults(faults: str) -> None:
    outcome = run(Scenario("ring:5", 120, faults, 7))
    assert [str(each) for each in outcome.violations] == []


def let_everything_in(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EnforcedRules, "enters", lambda *_: True)


def deliver_what_is_wanted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EnforcedRules, "delivered", lambda _rules, _router, _client, contents: contents)


def state_the_first_filter_only(patch: pytest.MonkeyPatch) -> None:
    whole = EnforcedRules.stated
    patch.setattr(EnforcedRules, "stated", lambda *asked: whole(*asked)[:1])


@pytest.mark.parametrize(
    ("plant", "invariant"),
    [
        (let_everything_in, 18),
        (deliver_what_is_wanted, 3),
        (state_the_first_filter_only, 5),
    ],
)
def test_a_planted_break_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], invariant: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert invariant in broken(run(SCENARIO))


def test_a_run_with_rules_writes_no_records(tmp_path) -> None:
    words = ["--ops", "40", "--faults", "rules", "--records", str(tmp_path / "records")]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 2
    assert "has no account" in done.output
