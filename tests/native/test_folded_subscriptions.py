"""Filters of the index on folded texts at the switch: the same messages arrive, and fewer programs are asked.

The judge is the twin of the machine, which shares no code with C.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest

from tamis.native import Switch
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.residual import Assembler, Opcode, Program, ResidualVerdict, run
from tamis.protocol.residual.cases import folded
from tamis.protocol.values import Value
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.packed_filters import encode_filter
from tests.native.residual_switch import ALICE, BOB, BUDGET, add, asked, delivered, opened, residual_switch

WORDS = ("Bob", "BOB", "bobby", "Straße", "STRASSE", "ΣΊΣΥΦΟΣ", "Σίσυφος", "\u212aelvin", "kelvin", "\u023a\u023a", "")
OPCODES = {Op.EQ: Opcode.SAME_FOLDED, Op.PREFIX: Opcode.PREFIX, Op.SUFFIX: Opcode.SUFFIX}


@pytest.fixture
def switch() -> Iterator[Switch]:
    with residual_switch() as made:
        yield made


class Wanted(NamedTuple):
    name: str
    op: Op
    text: str

    def program(self) -> Program:
        made = Assembler()
        made.attribute(self.name)
        made.constant(self.text)
        made.emit(OPCODES[self.op], *() if self.op is Op.EQ else (1,))
        return made.program()

    def indexed(self) -> bytes:
        on_folded = Constraint(f"{self.name}~", self.op, (folded(self.text),))
        return encode_filter(Filter((Constraint(self.name, Op.EXISTS, ()), on_folded)))

    def subscribe(self, switch: Switch, client: int, number: int) -> None:
        frame = asked(number, f"exists {self.name}", self.program().pack(), indexed=(self.indexed(),))
        assert add(switch, client, frame) == []

    def wants(self, message: dict[str, Value]) -> bool:
        return run(self.program(), message, BUDGET).verdict is ResidualVerdict.TRUE


def drawn_message(random: Random) -> dict[str, Value]:
    values: list[Value] = [*WORDS, 7, 0.5, True, "x" * 4_000 + "bob", "\u212a" * 1_100, "BOB" + "é" * 2_000]
    message = {name: random.choice(values) for name in ("name", "other", "third") if random.random() < 0.7}
    if random.random() < 0.1:
        message["name~"] = random.choice(("bob", 3))
    for number in range(random.choice((0, 0, 0, 0, 58, 59, 60))):
        message[f"filler-{number}"] = number
    return dict(random.sample([*message.items()], len(message)))


def test_random_messages_reach_whom_the_twin_says(switch: Switch) -> None:
    random = Random(41)
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    there: dict[int, Wanted] = {}
    seen = 0
    for counter in range(1, 2_001):
        id_ = random.randrange(40)
        if id_ in there:
            assert switch.unsubscribe(switch.subscriber_of(bob), id_)
            del there[id_]
        elif counter % 2:
            there[id_] = Wanted(
                random.choice(("name", "other", "third")), random.choice([*OPCODES]), random.choice(WORDS)
            )
            there[id_].subscribe(switch, bob, id_)
        message = drawn_message(random)
        for again in range(2):  # the second time the shape of the message is known
            switch.feed(alice, encode_publish(ALICE, 2 * counter + again, 0, message))
            wanted = {id_ for id_, each in there.items() if each.wants(message)}
            assert {id_ for _, ids in delivered(switch, bob) for id_ in ids} == wanted, (message, there)
            seen += len(wanted)
    assert seen > 1_000
    for id_ in there:
        switch.unsubscribe(switch.subscriber_of(bob), id_)


def test_the_index_leaves_few_candidates(switch: Switch) -> None:
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    for number in range(500):
        Wanted("name", Op.EQ, f"User-{number}").subscribe(switch, bob, number)
    for counter in range(1, 101):
        switch.feed(alice, encode_publish(ALICE, counter, 0, {"name": f"USER-{counter}", "age": counter}))
    assert [ids for _, ids in delivered(switch, bob)] == [(counter,) for counter in range(1, 101)]
    assert switch.figures().residual_candidates == 100


def test_a_message_that_has_the_name_of_a_folded_text_misses_nobody(switch: Switch) -> None:
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    Wanted("name", Op.EQ, "Bob").subscribe(switch, bob, 1)
    Wanted("name", Op.EQ, "Eve").subscribe(switch, bob, 2)
    switch.feed(alice, encode_publish(ALICE, 1, 0, {"name": "BOB", "name~": "eve"}))
    assert [ids for _, ids in delivered(switch, bob)] == [(1,)]


def test_a_filter_for_the_index_that_is_none_is_refused(switch: Switch) -> None:
    bob = opened(switch, BOB)
    program = Wanted("name", Op.EQ, "Bob").program().pack()
    [refused] = add(switch, bob, asked(1, "exists name", program, indexed=(b"\xc1",)))
    assert (refused.code, refused.filter) == (RefusalCode.BAD_FILTER, b"\xc1")
    assert switch.figures().subscriptions == 0


def test_without_a_program_filters_for_the_index_are_left_alone(switch: Switch) -> None:
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    add(switch, bob, asked(1, "exists name", b"", indexed=(Wanted("name", Op.EQ, "Bob").indexed(),)))
    switch.feed(alice, encode_publish(ALICE, 1, 0, {"name": "Eve"}))
    assert [ids for _, ids in delivered(switch, bob)] == [(1,)]
