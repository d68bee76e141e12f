"""What is put into the switch's table: in its order, but for what must be there at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import pytest

from tamis.native import Switch, SwitchOptions, Table
from tamis.protocol.filters import EVERYTHING, Constraint, Filter, Op
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.connections.work import SlicedWork
from tamis.router.core.commands import Install
from tamis.router.links import installing
from tamis.router.links.installing import Installer

ROUTER, EDGE = 7, 8
MANY = {id_: encode_filter(Filter((Constraint("x", Op.EQ, (id_,)),))) for id_ in range(500)}
ALL = {1 << 63: encode_filter(EVERYTHING)}


@pytest.fixture
def switch() -> Iterator[Switch]:
    table, network = Table(), Table()
    made = Switch(table, SwitchOptions(number=1, epoch=2, connections_max=3, publishers_max=10, hop_limit=9))
    made.join(network, 10)
    yield made
    made.close()
    table.close()
    network.close()


def test_what_must_be_there_at_once_does_not_wait_behind_a_long_job(
    switch: Switch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E3: a message that comes just after new trees goes to an edge that counts as everything."""
    monkeypatch.setattr(installing, "SLICE_S", 0)
    turns: deque[Callable[[], None]] = deque()
    installer = Installer(switch, SlicedWork(turns.append), lambda: None)
    installer.add(Install(ROUTER, MANY, ()))
    assert not installer.is_idle
    installer.add(Install(EDGE, ALL, (), at_once=True))
    assert switch.wanting({"x": 499}) == [EDGE]
    installer.add(Install(EDGE, {}, tuple(ALL)))
    assert switch.wanting({"x": 499}) == [EDGE], "it goes in its turn"
    while turns:
        turns.popleft()()
    assert installer.is_idle
    assert installer.is_whole
    assert switch.wanting({"x": 499}) == [ROUTER]
