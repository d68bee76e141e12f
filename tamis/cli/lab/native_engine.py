"""An engine in C with the interface that `tamis match` uses: interfaces have any name, and messages are passed in
batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from tamis.native import Batch, InterfaceNames, Table
from tamis.native.residual import NativeResidual
from tamis.protocol.filters import Filter
from tamis.protocol.json_form import Interface
from tamis.protocol.limits import MATCH_STEPS_MAX
from tamis.protocol.residual import Program, ResidualVerdict
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import encode_attributes

_ANSWER_ROWS_MAX = 1_000_000
"""The most interfaces in the answer to one batch, which bounds memory for any messages and any table."""


class NativeEngine:
    def __init__(self, spelled: str, hash_seed: int | None = None) -> None:
        # no other work waits behind a message here
        self._table = Table(spelled, match_steps=MATCH_STEPS_MAX, hash_seed=hash_seed)
        self._names = InterfaceNames()

    def add(self, filter_: Filter, interface: Interface) -> None:
        self._table.add(filter_, self._names.id_of(interface))

    def match_many(self, messages: Sequence[Mapping[str, Value]]) -> Iterator[list[Interface]]:
        size = max(1, _ANSWER_ROWS_MAX // max(1, len(self._names)))
        for start in range(0, len(messages), size):
            batch = Batch.of(map(encode_attributes, messages[start : start + size]))
            for interfaces in self._table.match_batch(batch):
                yield [self._names.name_of(interface) for interface in interfaces]

    def figures(self) -> dict[str, int]:
        stats = self._table.stats()
        return {"constraints": stats.constraints, "steps": stats.steps, "memory_bytes": stats.memory_bytes}


def native_decider(program: Program) -> Callable[[Mapping[str, Value]], bool]:
    verified = NativeResidual(program.pack())

    def decides(attributes: Mapping[str, Value]) -> bool:
        return verified.run(encode_attributes(attributes), MATCH_STEPS_MAX).verdict is ResidualVerdict.TRUE

    return decides
