"""What a log has of custody after crashes, judged in Python by its records; each planted fault of custody is found."""

from __future__ import annotations

import subprocess

import pytest

from tests.native.log_judge import Judge, Wrong
from tests.native.test_c_programs import FOLDER, has_sanitizers, ran
from tests.native.test_durables_history import HEADER

PROGRAM = FOLDER / "build" / "run_test_log_crashes"
FAULTS = (
    "MESSAGES_MOVE_NOTHING",
    "CHECKPOINT_WITHOUT_CHAINS",
    "HOMES_ACK_NOTHING",
    "GIVEN_UP_STAYS",
    "GIVEN_UP_TO_THE_LAST",
)
SEEDS = 8
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _built(tmp_path_factory: pytest.TempPathFactory) -> None:
    if not has_sanitizers(tmp_path_factory.mktemp("sanitizers")):
        pytest.skip("a C compiler with its sanitizers is not installed")
    ran("test_log_crashes")


def lived(points: int, seed: int, fault: str = "NOTHING") -> Judge:
    names = HEADER.read_text().split("FAULT(")[1:]
    number = next((i for i, text in enumerate(names, 1) if text.startswith(f"{fault})")), 0)
    command = [str(PROGRAM), str(points), str(seed), str(number), "history"]
    run = subprocess.run(command, capture_output=True, check=False, text=True)  # noqa: S603 - no input
    if run.returncode:
        raise Wrong(run.stdout[-500:] + run.stderr[-500:])
    judge = Judge()
    judge.take(run.stdout.splitlines())
    return judge


def test_each_crash_leaves_what_the_records_say() -> None:
    judges = [lived(500, seed) for seed in (1, 2, 3, 5, 7)]
    assert sum(judge.crashes for judge in judges) >= 2_500
    assert min(sum(judge.chains for judge in judges), sum(judge.waits for judge in judges)) > 5_000


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str) -> None:
    for seed in range(1, 2 * SEEDS, 2):
        try:
            lived(1_500, seed, fault)
        except Wrong:
            return
    pytest.fail(f"{fault} is not found")
