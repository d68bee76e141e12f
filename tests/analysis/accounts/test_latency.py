"""How long messages took, against the simulator's account: each microsecond, though clocks are up to 80 ms apart."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.analysis.accounts.told import percentiles
from tests.analysis.conftest import Simulated, Tables

pytestmark = pytest.mark.long


def test_latency_is_that_of_the_links(tables: Tables, simulated: Simulated) -> None:
    messages = simulated.truth["messages"]
    links = {f"{row['from_router']} {row['to_router']}": percentiles_of(row) for row in tables["latency/by_link"]}
    assert links == {link: percentiles(took) for link, took in messages["link_us"].items()}
    lengths = {str(row["hop"]): percentiles_of(row) for row in tables["latency/by_length"]}
    assert lengths == {hop: percentiles(took) for hop, took in messages["way_us"].items()}
    assert tables["latency/matching"] == []  # nothing takes time in a simulated table


def percentiles_of(row: dict[str, Any]) -> list[int]:
    return [row[name] for name in ("messages", "p50_us", "p90_us", "p99_us", "max_us")]
