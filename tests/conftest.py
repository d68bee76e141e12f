"""What a run of the tests says at its end, and which slow tests `make test` runs beside the quick ones.

Law: each test runs as it would without this file, but no example of a property is timed, since machines are busy,
Spark leaves no archive of its classes, and Ctrl-C is heeded.
"""

from __future__ import annotations

import gc
import os
import signal
import time
from collections import defaultdict
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")  # unless --hypothesis-profile names another
os.environ.setdefault("TAMIS_SPARK_ARCHIVE", "no")  # each start of Spark would write 190 MB after its end
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a run in the background of a shell, which its children inherit
    signal.signal(signal.SIGINT, signal.default_int_handler)
SAMPLES = (
    "tests/testing/test_routers.py::test_a_link_is_cut_and_restored",
    "tests/docs/test_tutorial.py::test_a_command_prints_what_is_shown",  # a ring of five, one of which is killed
    "tests/docs/test_tutorial.py::test_the_session_with_a_router",
    "tests/docs/test_tutorial_durable.py::test_each_command_prints_what_is_shown",
    "tests/docs/test_commands.py::test_the_commands_of_a_page_do_what_it_says[link-routers",
    "tests/router/durable/test_kill.py::test_what_was_confirmed_is_delivered_after_a_kill",
    "tests/router/durable/test_kill.py::test_what_was_not_acknowledged_comes_again_after_a_kill",
    "tests/client/test_with_router.py::test_a_killed_router_comes_back_and_so_does_the_subscription",
    "tests/cli/test_live.py::test_what_is_published_reaches_who_wants_it",
    "tests/cli/test_up.py::test_a_changed_file_takes_effect_router_by_router",
    "tests/simulate/test_each_strategy.py::test_it_is_clean_under_all_faults[random:6",
    "tests/simulate/test_breaks.py::test_a_rule_that_is_left_out_is_missed",
    "tests/native/test_c_programs.py::test_a_network_of_switches_does_what_its_model_does",
    "tests/native/test_durables_history.py::test_no_history_breaks_a_rule[1000",
    "tests/native/codecs/test_events.py::test_c_writes_what_its_twin_writes",
    "tests/native/codecs/test_json.py::test_c_and_its_twin_say_the_same_of_mutated_messages",
    "tests/analysis/test_one_partition.py::test_one_partition_and_two_give_the_same_tables[advertise]",
    "tests/attack/test_attacks.py::test_an_attack_stays_within_its_bounds[predicate]",
    "tests/fuzz/test_live.py::test_three_thousand_mutated_frames",
    "tests/protocol/dialects/test_judges.py::test_a_predicate_is_as_wide_as_its_filter[mqtt",
    "tests/stranger/test_meaning.py::test_what_is_delivered_is_what_the_pages_say",
)
"""How the node ids of the slow tests begin that `make test` runs: a few of each kind."""
gc.disable()  # while tests are collected next to nothing becomes garbage


LEFT_OUT = "left out: the time of this run is over"
_began_s = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("time", "the time of a run")
    group.addoption("--within-minutes", type=float, help="Skip the tests that have not begun by then, and count them.")
    group.addoption("--from-percent", type=int, default=0, help="Begin there, and go on at the first test.")


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, object, object]:
    """Mark the samples before tests are chosen by their marks; then let runs that may be too short begin elsewhere."""
    for item in items:
        if item.nodeid.startswith(SAMPLES):
            item.add_marker(pytest.mark.sample)
    result = yield
    first = len(items) * config.getoption("--from-percent") // 100
    items[:] = items[first:] + items[:first]
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    minutes = item.config.getoption("--within-minutes")
    if minutes is not None and time.monotonic() - _began_s > minutes * 60:
        pytest.skip(LEFT_OUT)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Let garbage be collected from here on, and leave out what the collection of the tests made."""
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how long the tests of each folder took, added up over processes."""
    skipped = terminalreporter.stats.get("skipped", [])
    left_out = sum(LEFT_OUT in str(report.longrepr) for report in skipped)
    if left_out:
        terminalreporter.line(f"{left_out} tests were {LEFT_OUT}")
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
