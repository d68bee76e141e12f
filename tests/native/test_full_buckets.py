"""Many filters in one place: a bucket larger than a slot can count, and runs of many chunks."""

from __future__ import annotations

from array import array

import pytest

from tamis.native import Batch, Table
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.wire.packed_filters import encode_filter

FULL_BUCKET = 20_000
ALIKE = {
    "equality": Filter((Constraint("x", Op.EQ, (1,)),)),
    "equality and range": Filter((Constraint("x", Op.EQ, (1,)), Constraint("y", Op.GT, (0,)))),
    "order": Filter((Constraint("y", Op.GT, (0,)),)),
}


@pytest.mark.parametrize("engine", Table.engines())
@pytest.mark.parametrize("shape", ALIKE)
def test_a_full_bucket_comes_and_goes(engine: str, shape: str) -> None:
    table = Table(engine)
    handles = table.add_many(Batch.of([encode_filter(ALIKE[shape])] * FULL_BUCKET), array("I", range(FULL_BUCKET)))
    message = {"x": 1, "y": 2}
    assert table.match(message) == list(range(FULL_BUCKET))
    table.remove_many(handles[::2])
    table.settle(FULL_BUCKET)
    table.validate()
    assert table.match(message) == list(range(1, FULL_BUCKET, 2))
    table.remove_many(handles[1::2])
    table.settle(FULL_BUCKET)
    assert table.match(message) == []
    assert table.stats().filters == 0
