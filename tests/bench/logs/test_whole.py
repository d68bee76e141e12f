from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from pathlib import Path

from tamis.bench.logs import whole
from tamis.simulate.run import Scenario, run


@pytest.mark.long
def test_a_whole_analysis_is_timed_to_its_first_answers(tmp_path: Path) -> None:
    run(Scenario("ring:3", 0, "cut", 1), records=tmp_path / "logs")
    found = whole.run("now", None, tmp_path / "logs", tmp_path / "out")
    assert found.first_s is not None
    assert 0 < found.first_s < found.seconds
    assert found.java_s > 1
    assert found.python_s > 0.5
