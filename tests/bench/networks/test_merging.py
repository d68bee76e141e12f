"""What merging saves: fewer filters at a limit, and nothing in vain at a limit of 0."""

from __future__ import annotations

from tamis.bench.networks.merging import measure, neighbourhoods


def test_fewer_filters_are_stated_and_false_positives_counted() -> None:
    wants = neighbourhoods(2, 60, 300)
    plain, exact, wide = (measure("line2", "neighbourhoods", "advertise", limit, wants) for limit in (None, 0.0, 0.6))
    assert plain.filters >= exact.filters > wide.filters
    assert plain.in_vain == exact.in_vain == 0 < wide.in_vain
    assert plain.frames_of_data == exact.frames_of_data < wide.frames_of_data
