"""What a run of the tests says at its end, and how much of them `make quick` runs.

Law: each test runs as it would without this file, but no example of a property is timed, since machines are busy,
Spark leaves no archive of its classes, and Ctrl-C is heeded. In the profile `quick`, properties are tried on fewer
examples.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import defaultdict

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.register_profile("quick", max_examples=8, deadline=None)
settings.load_profile("untimed")  # unless --hypothesis-profile names another
os.environ.setdefault("TAMIS_SPARK_ARCHIVE", "no")  # each start of Spark would write 190 MB after its end
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a run in the background of a shell, which its children inherit
    signal.signal(signal.SIGINT, signal.default_int_handler)
gc.disable()  # while tests are collected next to nothing becomes garbage


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Let garbage be collected from here on, and leave out what the collection of the tests made."""
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how long the tests of each folder took, added up over processes."""
    seconds: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                folder = "/".join(report.nodeid.split("::")[0].split("/")[:-1][:2])
                seconds[folder] += report.duration
                counts[folder] += report.when == "call"
    if len(seconds) > 1:
        terminalreporter.section("seconds of test by folder")
        for folder in sorted(seconds, key=lambda each: -seconds[each]):
            terminalreporter.line(f"{seconds[folder]:8.1f} s  {counts[folder]:5} tests  {folder}")
