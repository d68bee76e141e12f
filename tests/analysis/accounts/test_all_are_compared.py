"""No figure is left out: whichever is changed, one of the tests of this folder says so.

Law: what a simulated run has nothing of is named here, with the test that compares it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.answers import OPTIONAL, QUESTIONS
from tests.analysis.accounts import (
    test_content,
    test_control,
    test_delivery,
    test_latency,
    test_logs,
    test_traffic,
    test_ways,
)
from tests.analysis.conftest import Simulated, Tables

pytestmark = pytest.mark.long
MODULES: Final = (test_content, test_control, test_delivery, test_latency, test_logs, test_traffic, test_ways)
EMPTY: Final = {
    "control/storms": "test_storms_where_less_is_one",
    "delivery/faults": "tests/analysis/test_faults.py",
    "latency/matching": "tests/analysis/test_latency.py",
    "logs/holes": "tests/analysis/test_faults.py",
}
UNKNOWN: Final = {
    "logs/changes reason": "tests/analysis/test_faults.py",
    "traffic/by_link queued_bytes_max": "tests/analysis/test_traffic.py",
    "traffic/by_router queued_bytes_max": "tests/analysis/test_traffic.py",
    "traffic/over_time queued_bytes_max": "tests/analysis/test_traffic.py",
    "traffic/drops client": "tests/analysis/test_traffic.py",
}


@pytest.mark.parametrize("question", sorted(QUESTIONS.keys() - OPTIONAL.keys()))
def test_each_figure_that_is_wrong_is_found(question: str, tables: Tables, simulated: Simulated) -> None:
    comparisons = sorted(taking_tables(), key=lambda one: question not in one.__module__)
    for name in (each for each in tables if each.startswith(f"{question}/")):
        assert (not tables[name]) == (name in EMPTY), name
        for column in tables[name][0] if tables[name] else ():
            wrong = with_one_wrong(tables[name], column)
            assert (wrong is None) == (f"{name} {column}" in UNKNOWN), (name, column)
            if wrong is not None:
                assert any(fails(one, tables | {name: wrong}, simulated) for one in comparisons), (name, column)


def taking_tables() -> Iterator[Callable[..., None]]:
    for module in MODULES:
        for name, one in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and inspect.signature(one).parameters.keys() <= {"tables", "simulated"}:
                yield one


def with_one_wrong(rows: list[dict[str, Any]], column: str) -> list[dict[str, Any]] | None:
    """The middle one of those that are there."""
    places = [place for place, row in enumerate(rows) if row[column] is not None]
    if not places:
        return None
    place = places[len(places) // 2]
    return [row | {column: another(row[column])} if at == place else row for at, row in enumerate(rows)]


def another(value: Any) -> Any:
    """As near as can be."""
    if isinstance(value, list):
        return [*value, another(value[-1])]
    return f"{value}x" if isinstance(value, str) else value + 1 if isinstance(value, int) else value * 1.001 + 0.001


def fails(one: Callable[..., None], tables: Tables, simulated: Simulated) -> bool:
    known = {"tables": tables, "simulated": simulated}
    try:
        one(**{name: known[name] for name in inspect.signature(one).parameters})
    except (AssertionError, LookupError, ValueError):
        return True
    return False
