"""A measurement knows how long it waited for a processor."""

from __future__ import annotations

import time

from tamis.papers.measures.waiting import Waiting


def test_what_runs_all_the_time_waits_less_than_what_sleeps() -> None:
    with Waiting() as slept:
        until = time.process_time() + 0.02
        while time.process_time() < until:
            pass
        time.sleep(0.2)
    assert slept.share >= 0.2 / 0.04, "20 ms of work, or a little more, and 200 ms of waiting"
    with Waiting() as ran:
        until = time.process_time() + 0.02
        while time.process_time() < until:
            pass
    assert ran.share >= 0
