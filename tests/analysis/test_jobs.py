"""How many jobs Spark runs for a whole report of few records: each costs its planning, whatever it computes.

A report with everything in it, of records in partitions, is counted in test_one_partition.py.
"""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from tests.analysis.conftest import Whole

pytestmark = pytest.mark.slow
USUAL = 2
"""Traffic and latency; control frames and contents."""


def test_a_report_of_few_records_takes_few_jobs(whole: Whole) -> None:
    assert whole.jobs == USUAL
