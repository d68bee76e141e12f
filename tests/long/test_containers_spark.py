"""The Spark profile with a real engine: what the ring has recorded, answered by a master and a worker."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tamis.analysis import answers
from tamis.analysis.job import REPORT
from tamis.analysis.page import report
from tests.long.conftest import Ring, built_wheels, until

pytestmark = pytest.mark.long

PROFILE = ("--profile", "spark")
ANALYSIS_S = 1_500.0


def test_spark_answers_from_what_the_ring_has_recorded(ring: Ring, tmp_path: Path) -> None:
    built_wheels(ring.folder, "router,analysis")
    ring.compose(*PROFILE, "build", "analyze")  # the image of all three
    ring.comes_up()
    ring.arrives("b", "on-call", "db-grave")
    ring.arrives("e", "web-team", "web-first")
    ring.compose(*PROFILE, "up", "-d")
    it_ends_well(ring, "analyze")
    it_wrote_what_is_so(ring, tmp_path)
    ring.goes_and_leaves_nothing(*PROFILE)


def it_ends_well(ring: Ring, service: str) -> None:
    state = ("inspect", "-f", "{{.State.Status}} {{.State.ExitCode}}", ring.container(service))
    until(lambda: ring.docker(*state).startswith("exited"), ANALYSIS_S)
    assert ring.docker(*state).strip() == "exited 0", ring.engine.ran("docker", "logs", state[-1]).stderr


def it_wrote_what_is_so(ring: Ring, folder: Path) -> None:
    """Whoever ran before it: the answers outlive the container, in a volume that the master has too."""
    ring.docker("cp", f"{ring.container('spark-master')}:/var/lib/tamis/report", str(folder))
    found = report.read(folder / "report")
    assert {name.partition("/")[0] for name in found} == answers.QUESTIONS.keys() - answers.OPTIONAL.keys()
    assert (folder / "report" / REPORT).stat().st_size > 10_000
    assert {row["router"] for row in found["logs/lives"]} == set("abcde")
    assert {row["router"] for row in found["delivery/by_client"]} == set("cd")
    assert sum(row["due"] for row in found["delivery/counts"]) > 0
    assert found["delivery/faults"] == []
