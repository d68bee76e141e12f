"""Wrong inputs of a few seeds get answers with which nothing is wrong that can be found without reading."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tamis.configs import parse_topology
from tests.wrong.case import Answer, Case
from tests.wrong.draw import drawn
from tests.wrong.grade import faults
from tests.wrong.run import Place, answer, at_place, place
from tests.wrong.topologies import GOOD

SEEDS = (1, 2, 3, 4)
COUNT = 10


@pytest.fixture(scope="module")
def at() -> Iterator[Place]:
    with place() as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_no_answer_is_bad(at: Place, seed: int) -> None:
    bad = []
    for drawn_case in drawn(seed, COUNT):
        case = at_place(drawn_case, at)
        got = answer(case, at.router)
        found = list(faults(case, got))
        if found:
            bad.append((case.mutation, case.shown, got, found))
    assert not bad, f"seed {seed}: {bad}"


def test_equal_seeds_give_equal_cases() -> None:
    assert drawn(7, 30) == drawn(7, 30) != drawn(8, 30)


@pytest.mark.parametrize("name", sorted(GOOD))
def test_the_files_that_are_made_wrong_are_sound(name: str) -> None:
    parse_topology(GOOD[name], name)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(None, "", ""), "no answer came in time"),
        (Answer(0, "done", ""), "it was taken"),
        (Answer(1, "", ""), "it says nothing"),
        (Answer(1, "", "Error: no"), "it does not say where: one of ('n.yaml:3:',)"),
        (Answer(1, "", "n.yaml:3: wrong"), "it does not say what is allowed: one of ('must be',)"),
        (Answer(1, "", "n.yaml:3: must be x\nTraceback"), "it says Traceback"),
        (Answer(1, "", "n.yaml:3: must be " + "x" * 600), "it has 618 characters"),
        (Answer(1, "", "n.yaml:3: must be x\n" * 6), "it has 6 lines"),
        (Answer(70, "", "n.yaml:3: must be x"), "the exit code is 70"),
    ],
)
def test_what_is_wrong_with_an_answer_is_found(answer: Answer, fault: str) -> None:
    case = Case("a slip", ("check", "n.yaml"), ("n.yaml:3:",), ("must be",))
    assert fault in list(faults(case, answer))
