"""The tree of the network effect leads to every destination."""

from __future__ import annotations

import pytest

from tamis.bench.matching.network_effect import height, interfaces_at


@pytest.mark.parametrize(("filters", "fan", "levels"), [(10, 10, 1), (11, 10, 2), (90, 10, 2), (91, 10, 3), (9, 3, 3)])
def test_a_tree_is_as_high_as_it_must_be(filters, fan, levels):
    assert height(filters, fan) == levels


def test_each_level_divides_what_its_first_router_leads_to():
    leaf, middle, root = (list(interfaces_at(level, 12, 3)) for level in range(3))
    assert leaf == [0, 1, *[2] * 10]
    assert middle == [0, 0, 1, 1, *[2] * 8]
    assert root == [0] * 4 + [1] * 4 + [2] * 4
