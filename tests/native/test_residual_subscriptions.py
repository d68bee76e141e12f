"""Subscriptions with residual programs at the switch: who gets a message, what is refused, what is counted.

The judge is predicate_matches and the twin of the machine, which share no code with C.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tamis.native import Switch
from tamis.native.switch_values import Subscribed
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.language import parse
from tamis.protocol.residual import Assembler, Program, ResidualVerdict, run
from tamis.protocol.values import Value
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import encode_publish
from tests.native import residual_draw as draw
from tests.native.residual_switch import (
    ALICE,
    BOB,
    BUDGET,
    add,
    asked,
    delivered,
    opened,
    product_above,
    residual_switch,
)

PREDICATES = ("true", "a > 0", "exists ab", 'ba contains "a"', "not exists b", "b in {1, 2} or exists name-of-sixteen")


@pytest.fixture
def switch() -> Iterator[Switch]:
    with residual_switch() as made:
        yield made


def test_random_programs_decide_as_the_twin_does(switch: Switch) -> None:
    random = Random(41)
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    there: dict[int, tuple[str, Program | None]] = {}
    seen, passed, asked_of = 0, 0, 0
    for counter in range(1, 1_201):
        if counter % 4 == 0:
            id_ = random.randrange(60)
            if id_ in there:
                assert switch.unsubscribe(switch.subscriber_of(bob), id_)
                del there[id_]
            else:
                predicate, program = random.choice(PREDICATES), None if random.random() < 0.2 else draw.program(random)
                refusals = add(switch, bob, asked(id_, predicate, program.pack() if program else b""))
                unindexed = sum(each == "true" and other is not None for each, other in there.values())
                assert len(refusals) == (predicate == "true" and program is not None and unindexed >= 40)
                if not refusals:
                    there[id_] = predicate, program
        message = draw.message(random)
        switch.feed(alice, encode_publish(ALICE, counter, 0, message))
        wanted = {id_ for id_, (predicate, program) in there.items() if is_wanted(predicate, program, message)}
        got = delivered(switch, bob)
        assert {id_ for _, ids in got for id_ in ids} == wanted, (message, wanted)
        assert [number for number, _ in got] == ([counter] if wanted else [])
        seen += len(wanted)
        asked_of += sum(
            program is not None and predicate_matches(parse(predicate), message)
            for predicate, program in there.values()
        )
        passed += sum(there[id_][1] is not None for id_ in wanted)
    figures = switch.figures()
    assert (figures.residual_candidates, figures.residual_passed) == (asked_of, passed)
    assert passed > 1_000 < asked_of - passed, "both verdicts are common"
    assert seen > passed, "so are subscriptions without a program"


def is_wanted(predicate: str, program: Program | None, message: dict[str, Value]) -> bool:
    matches = predicate_matches(parse(predicate), message)
    return matches and (program is None or run(program, message, BUDGET).verdict is ResidualVerdict.TRUE)


def test_names_that_no_filter_has_are_decoded(switch: Switch) -> None:
    """Attributes that no filter names are left out of messages of a known shape, until a program asks for them."""
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    add(switch, bob, asked(1, "exists price", b""))
    message: dict[str, Value] = {"price": 3, "quantity": 400, "hidden": 9}
    for counter in range(1, 6):
        switch.feed(alice, encode_publish(ALICE, counter, 0, message))
    add(switch, bob, asked(2, "exists price", product_above(1_000).pack()))
    add(switch, bob, asked(3, "exists price", product_above(3_500, "hidden").pack()))
    for counter in range(6, 11):
        switch.feed(alice, encode_publish(ALICE, counter, 0, message))
    assert [set(ids) for _, ids in delivered(switch, bob)] == [{1}] * 5 + [{1, 2, 3}] * 5


def test_what_is_no_program_is_refused_with_its_bytes(switch: Switch) -> None:
    bob = opened(switch, BOB)
    [refused] = add(switch, bob, asked(1, "true", b"\x01\x00\x00"))
    assert (refused.code, refused.residual, refused.filter) == (RefusalCode.BAD_FILTER, b"\x01\x00\x00", b"")
    assert switch.figures().subscriptions == 0


def test_a_group_takes_no_program(switch: Switch) -> None:
    bob = opened(switch, BOB)
    [refused] = add(switch, bob, asked(1, "exists price", product_above(1).pack(), group="workers"))
    assert (refused.code, refused.residual, refused.filter) == (RefusalCode.BAD_FILTER, b"", b"")


def test_programs_that_every_message_asks_are_bounded(switch: Switch) -> None:
    bob, program = opened(switch, BOB), product_above(1).pack()
    for number in range(40):
        assert add(switch, bob, asked(number, "true", program)) == []
    [refused] = add(switch, bob, asked(40, "true", program))
    assert (refused.code, refused.residual) == (RefusalCode.OVER_QUOTA, program)
    assert add(switch, bob, asked(40, "exists price", program)) == []
    switch.unsubscribe(switch.subscriber_of(bob), 3)
    assert add(switch, bob, asked(41, "true or x = 1", program)) == []


def test_programs_count_in_the_bytes_of_a_client(switch: Switch) -> None:
    bob = opened(switch, BOB, table_bytes=20_000)
    made = Assembler()
    made.attribute("x")
    made.among(["x" * 700 + str(i) for i in range(5)])
    large = made.program().pack()
    outcomes = [add(switch, bob, asked(number, "x = 1", large)) for number in range(8)]
    refused = [each for each in outcomes if each]
    assert 2 < len(refused) < 8, "some have room"
    assert all(each[0].code == RefusalCode.OVER_QUOTA for each in refused)
    bytes_before = switch.figures().memory_bytes
    for number in range(8):
        switch.unsubscribe(switch.subscriber_of(bob), number)
    assert switch.figures().memory_bytes < bytes_before - 3_500


def test_a_program_that_costs_too_much_concerns_its_subscription_alone(switch: Switch) -> None:
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    made = Assembler()
    made.attribute("text")
    made.glob(draw.Glob(b"\xff\xfea" * 300))
    costly = made.program().pack()
    for number in range(10):
        add(switch, bob, asked(number, "exists text", costly))
    add(switch, bob, asked(10, "exists text", b""))
    add(switch, bob, asked(11, "exists text", product_above(1_000).pack()))
    switch.feed(alice, encode_publish(ALICE, 1, 0, {"text": "b" * 60_000, "price": 500, "quantity": 3}))
    [(_, ids)] = delivered(switch, bob)
    assert set(ids) == {10, 11}
    assert switch.figures().residual_over_budget == 10


def test_programs_of_one_client_take_no_steps_of_another(switch: Switch) -> None:
    alice, bob, carol = opened(switch, ALICE), opened(switch, BOB), opened(switch, BOB + 1)
    made = Assembler()
    made.attribute("text")
    made.glob(draw.Glob(b"\xff\xfea" * 300))
    for number in range(100):
        add(switch, bob, asked(number, "exists text", made.program().pack()))
    add(switch, carol, asked(1, "exists text", product_above(1_000).pack()))
    for counter in range(1, 4):
        message = {"text": "b" * 300 * counter, "price": 500, "quantity": 3}
        switch.feed(alice, encode_publish(ALICE, counter, 0, message))
    assert switch.figures().residual_over_budget > 100
    assert delivered(switch, carol) == [(1, (1,)), (2, (1,)), (3, (1,))]


def test_the_dialect_of_a_predicate_stays_when_the_filters_of_others_make_room(switch: Switch) -> None:
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    long = "y" * 900
    for number in range(900):
        filter_ = f'x = "{long}{number}" and y = "{long}" and z = "{long}"'
        assert not add(switch, alice, asked(number, filter_, b"", dialect="cesql"))
        if number % 100 == 0:
            assert not add(switch, bob, asked(number, f"x = {number}", b"", dialect="jms" if number % 200 else ""))
    before = switch.figures().memory_bytes
    subscriber = switch.subscriber_of(alice)
    switch.end(alice, now=True)
    switch.tick()
    while switch.forget(alice, 500):
        pass
    assert subscriber not in {found.subscriber for found in listed(switch)}
    assert before - switch.figures().memory_bytes > 1_000_000
    assert {each.subscription: each.dialect for each in listed(switch)} == {
        number: "jms" if number % 200 else "" for number in range(0, 900, 100)
    }
    switch.validate()


def listed(switch: Switch) -> Iterator[Subscribed]:
    handle = 0
    while (found := switch.subscribed(handle)) is not None:
        yield found
        handle = found.handle + 1


def test_the_name_of_a_dialect_has_a_bound() -> None:
    with pytest.raises((FrameError, Refused)):
        asked(1, "x = 1", b"", dialect="d" * 33)
