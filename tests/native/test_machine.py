"""Any sequence of adds, removals, settling and matches leaves every engine equal to the twin and valid inside."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tamis.native import InterfaceKind, Table
from tamis.protocol.filters import Filter
from tests.native.twin import TwinTable
from tests.strategies import attributes, attributes_near, filters

INTERFACES = st.integers(0, 3)
PATIENT: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}


class TableMachine(RuleBasedStateMachine):
    """A removed filter may match on as a tombstone until the table has settled: only where it was, and only on
    links."""

    handles: Bundle[int] = Bundle("handles")

    def __init__(self, engine: str) -> None:
        super().__init__()
        self.table, self.twin = Table(engine), TwinTable()
        self.removed: list[tuple[Filter, int]] = []

    @initialize(clients=st.frozensets(INTERFACES, max_size=2))
    def say_what_interfaces_are(self, clients: frozenset[int]) -> None:
        self.twin.clients = clients
        for interface in clients:
            self.table.set_interface(interface, InterfaceKind.CLIENT)

    @rule(target=handles, chosen=filters(max_size=3), interface=INTERFACES)
    def add(self, chosen: Filter, interface: int) -> int:
        handle = self.table.add(chosen, interface)
        assert handle not in self.twin.held
        self.twin.held[handle] = (chosen, interface)
        return handle

    @rule(target=handles, data=st.data(), interface=INTERFACES)
    def add_one_that_is_there(self, data: st.DataObject, interface: int) -> int:
        known = [chosen for chosen, _ in self.twin.held.values()]
        return self.add(data.draw(st.sampled_from(known)) if known else Filter(), interface)

    @rule(handle=consumes(handles))
    def remove(self, handle: int) -> None:
        self.table.remove(handle)
        self.removed.append(self.twin.held.pop(handle))

    @rule(steps=st.integers(1, 3))
    def settle_a_little(self, steps: int) -> None:
        if self.table.settle(steps) == 0:
            self.removed.clear()

    @rule(data=st.data())
    def match_settled(self, data: st.DataObject) -> None:
        while self.table.settle(1_000):
            pass
        self.removed.clear()
        assert self.table.stats().tombstones == 0
        message = self._message(data)
        assert self.table.match(message) == self.twin.match(message)
        of_clients = [row for row in self.twin.match_all(message) if row[0] in self.twin.clients]
        assert self.table.match_all(message) == of_clients

    @rule(data=st.data())
    def match_before_it_has_settled(self, data: st.DataObject) -> None:
        message = self._message(data)
        found, certain = set(self.table.match(message)), set(self.twin.match(message))
        tombstones = {interface for _, interface in self.removed} - self.twin.clients
        assert certain <= found <= certain | tombstones

    @invariant()
    def it_is_valid(self) -> None:
        self.table.validate()
        assert self.table.stats().filters == len(self.twin.held)

    def _message(self, data: st.DataObject) -> dict[str, Any]:
        known = [chosen for chosen, _ in [*self.twin.held.values(), *self.removed]]
        return data.draw(attributes_near(*known) | attributes())

    def teardown(self) -> None:
        self.table.close()


def test_any_sequence_of_operations(engine: str) -> None:
    run_state_machine_as_test(
        lambda: TableMachine(engine),
        settings=settings(max_examples=settings.default.max_examples // 4, stateful_step_count=30, **PATIENT),
    )


@pytest.mark.long
def test_many_sequences_of_operations(engine: str) -> None:
    many = settings(max_examples=1_000, stateful_step_count=80, **PATIENT)
    run_state_machine_as_test(lambda: TableMachine(engine), settings=many)
