"""Residual programs in the simulator: routers and one client each run them, and the judge finds who does not."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tamis.protocol import dialects, residual
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.limits import MATCH_STEPS
from tamis.protocol.residual import ResidualVerdict
from tamis.simulate.faults.programs import program, selector, with_programs
from tamis.simulate.faults.workload import CONTENTS, wishes
from tamis.simulate.oracle.expressions import contents_that_hold
from tamis.simulate.oracle.meaning import contents_of
from tamis.simulate.run import Scenario, run
from tests.simulate.test_each_strategy import SAFE

WISHES = with_programs(wishes(300, Random(1)), Random(2))


def test_oracle_dialect_and_program_say_the_same_of_every_content() -> None:
    expressions = [wish.expression for wish in WISHES if wish.expression is not None]
    assert len(expressions) > 50
    for expression in expressions:
        bits = contents_that_hold(expression, CONTENTS)
        expected = [bool(bits >> number & 1) for number in range(len(CONTENTS))]
        found = dialects.get("jms").translate(selector(expression))
        by_program = [residual.run(program(expression), each, MATCH_STEPS).verdict for each in CONTENTS]
        assert [verdict is ResidualVerdict.TRUE for verdict in by_program] == expected, expression
        by_dialect = [
            predicate_matches(found.predicate, each)
            and (found.residual is None or residual.run(found.residual, each, MATCH_STEPS).verdict == 1)
            for each in CONTENTS
        ]
        assert by_dialect == expected, selector(expression)


def test_some_filters_leave_something_to_their_program_and_some_do_not_match_all_it_wants() -> None:
    decided = [(contents_of(wish.plain, CONTENTS), wish.expression) for wish in WISHES]
    left = [bits & ~contents_that_hold(each, CONTENTS) for bits, each in decided if each is not None]
    kept = [bits & contents_that_hold(each, CONTENTS) for bits, each in decided if each is not None]
    assert sum(map(bool, left)) > 30
    assert sum(map(bool, kept)) > 30


@pytest.mark.parametrize("faults", ["programs,custody,stall", "programs,cut"])
def test_clients_get_what_programs_let_pass(faults: str) -> None:
    outcome = run(Scenario("random:5", 100, faults, 4))
    assert [str(violation) for violation in outcome.violations] == []
    assert outcome.counts["declined by a client"] > 50  # at the router that runs none
    assert outcome.counts["required at rest"] > 100
    if "custody" in faults:
        assert outcome.counts["filled"] > 50


@pytest.mark.slow
@pytest.mark.parametrize("strategy", SAFE)
def test_programs_of_each_strategy(strategy: str) -> None:
    assert run(Scenario("ring:5", 100, "programs,cut,crash", 5, strategy)).violations == []


@pytest.mark.slow
@pytest.mark.parametrize("faults", ["groups", "rules", "spaces", "custody"])
def test_programs_beside_other_parts(faults: str) -> None:
    assert run(Scenario("random:5", 120, f"programs,cut,{faults}", 6)).violations == []


def test_no_records_are_written_of_programs(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="residual programs"):
        run(Scenario("random:3", 10, "programs", 1), records=tmp_path)
