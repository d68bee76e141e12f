"""The bench of reuse: its routers are those of one tree, and sets are written and believed in it."""

from __future__ import annotations

import pytest

from tamis.bench.router.reuse import ROLES, Load, Router, frames_of, measured
from tamis.protocol.wire.data_frames import decode_data
from tamis.protocol.wire.extensions import ExtensionType, LinkKeys, RouterSet


def test_frames_of_one_router_go_to_the_next_with_their_sets() -> None:
    load = Load.drawn("market", 600, 15, 40)
    plain, stated = (frames_of(load, policy) for policy in ("wanted", "destinations"))
    for role in ("transit", "last"):
        found = [decode_data(frame) for frame in stated[role]]
        assert found
        assert all(isinstance(frame.extensions[ExtensionType.ROUTE], RouterSet) for frame in found)
        assert [frame.message for frame in found] == [decode_data(frame).message for frame in plain[role]]
    router = Router(ROLES["transit"], load, "destinations")
    router.feed(router.links[ROLES["entry"]], stated["transit"])
    assert router.switch.figures().sets_believed == len(stated["transit"])


def test_copies_carry_keys_where_the_engine_can_limit_a_match() -> None:
    load = Load.drawn("market", 600, 15, 40)
    keyed = frames_of(load, "keys", "counting")
    plain = frames_of(load, "wanted", "counting")
    for role in ("transit", "last"):
        found = [decode_data(frame) for frame in keyed[role]]
        assert [frame.message for frame in found] == [decode_data(frame).message for frame in plain[role]]
        assert all(isinstance(frame.extensions[ExtensionType.ROUTE], LinkKeys) for frame in found)
    rows = measured(Load.drawn("market", 600, 15, 5), counted=False, engine="counting")
    assert [row["policy"] for row in rows] == ["wanted", "destinations", "weighed", "keys"]


@pytest.mark.slow
def test_a_row_for_each_policy() -> None:
    one, other, weighed = measured(Load.drawn("market", 600, 15, 40), counted=False)
    assert [row["policy"] for row in (one, other, weighed)] == ["wanted", "destinations", "weighed"]
    assert float(other["bytes"]) == float(one["bytes"]) + 4 + 1 + 16 + 2
    assert float(one["bytes"]) < float(weighed["bytes"]) < float(other["bytes"])
