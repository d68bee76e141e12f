"""How many ways were unsteady in each span of unrest."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

pytest.importorskip("pyspark")

from tests.analysis.accounts.told import reference_ahead_us
from tests.analysis.accounts.ways import Ends, Way, asked_for, unsteady, way_between
from tests.analysis.conftest import Simulated, Tables

pytestmark = pytest.mark.long


def test_unsteady_ways_are_counted(tables: Tables, simulated: Simulated) -> None:
    known = unsteady(tables, simulated)
    for row in tables["delivery/undecidable"]:
        meeting = [
            pair
            for pair, spans in known.items()
            if any(from_us <= row["to_us"] and to_us >= row["from_us"] for from_us, to_us in spans)
        ]
        assert ((row["ways"] or 0), row["of"]) == (len(meeting), len(known)), row
    found = {row["ways"] for row in tables["delivery/undecidable"]}
    assert len(found) > 1, "some changes concern some ways only"


def test_each_way_that_changed_counts(tables: Tables, simulated: Simulated) -> None:
    """In truth, whatever the routers saw. From a router to itself there is always one."""
    pairs = {(source, home) for source, home in asked_for(simulated) if source != home}
    moved: list[tuple[int, Ends]] = []
    whole: dict[str, int] = {}
    ways: Mapping[Ends, Way] = dict.fromkeys(pairs)
    for at_us, link, cost in simulated.truth["changes"]["whole"]:
        whole = {name: known for name, known in whole.items() if name != link} | ({link: cost} if cost else {})
        seen = frozenset((*sorted(name.split()), known) for name, known in whole.items())
        before, ways = ways, {pair: way_between(seen, *pair) for pair in pairs}
        moved += [(at_us + reference_ahead_us(simulated), pair) for pair in pairs if before[pair] != ways[pair]]
    assert moved
    for row in tables["delivery/undecidable"]:
        truly = {pair for at_us, pair in moved if row["from_us"] <= at_us <= row["to_us"]}
        assert len(truly) <= (row["ways"] or 0), row
