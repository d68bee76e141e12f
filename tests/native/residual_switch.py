"""A switch whose clients subscribe with residual programs, for tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tamis.native import Admission, Switch, SwitchOptions, Table
from tamis.native.subscribe_frame import RefusedFilter, SubscribeFrame
from tamis.protocol import limits
from tamis.protocol.language import parse
from tamis.protocol.residual import Assembler, Opcode, Program
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.protocol.wire.reader import FrameReader

ALICE, BOB = 7, 8
MATCH_STEPS = 640_000
BUDGET = MATCH_STEPS // limits.RESIDUAL_PARTS


@contextmanager
def residual_switch() -> Iterator[Switch]:
    table = Table()
    options = SwitchOptions(
        number=1, epoch=2, connections_max=3, publishers_max=10, hop_limit=9, match_steps=MATCH_STEPS
    )
    made = Switch(table, options)
    yield made
    made.validate()
    made.close()
    table.close()


def opened(switch: Switch, number: int, table_bytes: int = 1 << 40) -> int:
    connection = switch.open()
    window = 1_048_576
    admission = Admission(
        number, window * 8, window, 100_000, window, 1_000, unindexed_max=40, table_bytes_max=table_bytes
    )
    switch.admit(connection, admission)
    return connection


def packed(predicate: str) -> tuple[bytes, ...]:
    return tuple(encode_filter(filter_) for filter_ in parse(predicate).filters)


def asked(
    number: int,
    predicate: str,
    residual: bytes,
    group: str = "",
    indexed: Sequence[bytes] = (),
    dialect: str = "",
) -> SubscribeFrame:
    item = bodies.SubscriptionItem(number, packed(predicate), residual, tuple(indexed), dialect)
    return SubscribeFrame(encode(bodies.Subscribe(1, (item,), False, bodies.Reach.HOME, False, group)))


def add(switch: Switch, client: int, frame: SubscribeFrame) -> list[RefusedFilter]:
    return switch.subscribe(switch.subscriber_of(client), frame, 100)


def delivered(switch: Switch, client: int) -> list[tuple[int, tuple[int, ...]]]:
    """The counter of each message that the client got, with the subscriptions that it satisfies."""
    reader = FrameReader()
    reader.authenticated()
    while data := switch.output(client, 65_536):
        reader.feed(data)
    frames = [decode(frame) for frame in reader]
    return [(each.message.id.counter, each.extensions.get(5, ())) for each in frames if hasattr(each, "message")]


def product_above(bound: int, first: str = "price") -> Program:
    made = Assembler()
    made.attribute(first)
    made.attribute("quantity")
    made.emit(Opcode.MUL)
    made.constant(bound)
    made.emit(Opcode.GT)
    return made.program()
