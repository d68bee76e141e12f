"""Keeps in C through histories: consumers that acknowledge late, never, twice or what another has, and die; crashes
that lose what was not on disk; clocks that jump. Each planted fault is found, by the judge of histories or that in C.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.durables_history import History
from tests.native.durables_oracle import Wrong
from tests.native.test_c_programs import FOLDER, has_sanitizers, ran

PROGRAM = FOLDER / "build" / "run_test_durables_history"
HEADER = FOLDER.parent / "base" / "tested.h"
FAULTS = re.findall(
    r"FAULT\((\w+)\) +/\*",
    HEADER.read_text().partition("TM_FAULTS_OF_DURABLES(FAULT)")[2].partition("ARRIVALS(FAULT)")[0],
)
SEEDS = 60
HAPPENS = ("made", "began", "gone", "owed", "crashed", "sent", "consumer", "left", "acked", "given", "lost", "rest")


@pytest.fixture(scope="module", autouse=True)
def _built(tmp_path_factory: pytest.TempPathFactory) -> None:
    if not has_sanitizers(tmp_path_factory.mktemp("sanitizers")):
        pytest.skip("a C compiler with its sanitizers is not installed")
    assert ran("test_durables_history").split()[2:] == FAULTS


def lived(which: object, fault: str = "", *, choices: bytes = b"") -> list[str]:
    """Return the history of a life; Wrong: something in C has found a fault."""
    command = [str(PROGRAM), str(which), *fault.split()]
    run = subprocess.run(command, input=choices, capture_output=True, check=False)  # noqa: S603 - no input
    if run.returncode:
        raise Wrong(run.stderr.decode()[-500:])
    return run.stdout.decode().splitlines()


def is_wrong(seed: int, fault: str) -> bool:
    try:
        History().take(lived(seed, fault))
    except Wrong:
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 1_200, 50))
def test_no_history_breaks_a_rule(first: int) -> None:
    happened = Counter[str]()
    for seed in range(first, first + 50):
        lines = lived(seed)
        History().take(lines)
        happened.update(line.split()[1] for line in lines)
    assert all(happened[what] > 50 for what in HAPPENS), happened


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed",
    [
        406,  # a full log lacks what has left: the newest message in it is another one than in memory
        589,  # the record of a loss waits for a second commit at the end
        625,  # the log fails while it copies a segment and no record waits
    ],
)
def test_a_life_that_was_judged_wrong_breaks_no_rule(seed: int) -> None:
    History().take(lived(seed))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(choices=st.binary(max_size=2_000))
def test_no_history_that_bytes_choose_breaks_a_rule(choices: bytes) -> None:
    History().take(lived("/dev/stdin", choices=choices))


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str) -> None:
    assert any(is_wrong(seed, fault) for seed in range(SEEDS))
