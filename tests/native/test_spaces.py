"""Messages and spaces in the switch: C says of each message what Python says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.native import Switch, SwitchOptions, Table
from tamis.native._tm import lib
from tamis.native.switch_figures import DROP_REASONS
from tamis.protocol import limits
from tamis.protocol.spaces import Space, SpaceSet, Violation, space_from
from tamis.protocol.values import Value
from tamis.protocol.wire import client_bodies as bodies
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.header import Flags
from tests.native.test_switch import ALICE, BOB, opened, output, subscribing
from tests.protocol.spaces.space_strategies import nearly_fitting, spaces

SPACE_DROP = DROP_REASONS.index("space")
TRADES = space_from(
    "trades",
    {"attributes": {"price": {"fixed": [0, 10000], "digits": 2}, "side": {"one_of": ["buy", "sell"]}}},
)


class _Publisher:
    """A client that publishes with confirmation and tells what it was answered."""

    def __init__(self, switch: Switch) -> None:
        self._switch = switch
        self._connection = opened(switch, ALICE)
        self._counter = 0
        output(switch, self._connection)

    def publish(self, attributes: dict[str, Value]) -> tuple[int, str] | None:
        """Return the code and the reason of a refusal; None: it was taken."""
        self._counter += 1
        self._switch.feed(self._connection, encode_publish(ALICE, self._counter, 0, attributes, flags=Flags.CONFIRM))
        [ack] = [body for body in output(self._switch, self._connection) if isinstance(body, bodies.Ack)]
        if ack.refusals:
            return ack.refusals[0].code, ack.refusals[0].reason
        assert [tuple(done) for done in ack.ranges] == [(self._counter, self._counter)]
        return None


def _switch() -> tuple[Switch, Table]:
    table = Table()
    return Switch(table, SwitchOptions(number=1, epoch=2, connections_max=3, publishers_max=10, hop_limit=9)), table


@pytest.fixture
def switch() -> Iterator[Switch]:
    made, table = _switch()
    yield made
    made.validate()
    made.close()
    table.close()


def test_the_numbers_are_those_of_c() -> None:
    for violation in Violation:
        assert getattr(lib, f"TM_VIOLATION_{violation.name}") == violation
    assert lib.TM_SPACES_MAX == limits.SPACES_MAX
    assert lib.TM_SPACE_ATTRIBUTES_MAX == limits.SPACE_ATTRIBUTES_MAX
    assert lib.TM_SPACE_VALUES_MAX == limits.SPACE_VALUES_MAX
    header = (Path(__file__).parents[2] / "native" / "model" / "space.h").read_text()
    assert int(re.findall(r"SPACE_UNITS_MAX INT64_C\((\d+)\)", header)[0]) == limits.SPACE_UNITS_MAX
    assert int(re.findall(r"SPACE_DIGITS_MAX (\d+)U", header)[0]) == limits.SPACE_DIGITS_MAX


def test_a_message_that_does_not_fit_is_refused_with_attribute_and_reason(switch: Switch) -> None:
    switch.know_spaces(SpaceSet({"trades": TRADES}))
    alice = _Publisher(switch)
    assert alice.publish({"type": "trades", "price": 12.35, "side": "buy"}) is None
    assert alice.publish({"type": "other", "price": "anything"}) is None
    refused = alice.publish({"type": "trades", "price": 12.345, "side": "buy"})
    allowed = "a number of at most 2 digits behind the point from 0 to 10000"
    sentence = f"space trades: attribute price has too many digits; allowed: {allowed}"
    assert refused == (RefusalCode.NOT_IN_SPACE, sentence)
    assert alice.publish({"type": "trades", "side": "buy"}) is not None
    assert switch.spaces() == {"trades": (3, 2)}
    assert switch.figures().dropped[SPACE_DROP] == 2


def test_without_a_confirmation_it_is_dropped_and_counted(switch: Switch) -> None:
    switch.know_spaces(SpaceSet({"trades": TRADES}))
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    switch.subscribe(switch.subscriber_of(bob), subscribing(5, "true"), 100)
    output(switch, bob)
    switch.feed(alice, encode_publish(ALICE, 1, 0, {"type": "trades", "price": -1, "side": "buy"}))
    switch.feed(alice, encode_publish(ALICE, 2, 0, {"type": "trades", "price": 1, "side": "buy"}))
    assert [delivered.message.attributes["price"] for delivered in output(switch, bob)] == [1]
    assert switch.figures().dropped[SPACE_DROP] == 1


def test_a_counter_of_a_message_that_was_refused_may_be_used_again(switch: Switch) -> None:
    switch.know_spaces(SpaceSet({"trades": TRADES}))
    alice = opened(switch, ALICE)
    for price in (-1, 1):
        switch.feed(alice, encode_publish(ALICE, 1, 0, {"type": "trades", "price": price, "side": "buy"}))
    assert switch.figures().dropped[DROP_REASONS.index("duplicate")] == 0


def test_attributes_that_no_filter_speaks_of_are_checked(switch: Switch) -> None:
    """They are left out of what tables are asked of, unless the message may name a space."""
    alice, bob = opened(switch, ALICE), opened(switch, BOB)
    switch.subscribe(switch.subscriber_of(bob), subscribing(5, "side = 'buy'"), 100)
    output(switch, bob)
    counter = 0

    def arrives(price: Value) -> bool:
        nonlocal counter
        counter += 1
        switch.feed(alice, encode_publish(ALICE, counter, 0, {"type": "trades", "price": price, "side": "buy"}))
        return len(output(switch, bob)) == 1

    assert arrives(-1)
    assert arrives(-1)  # of a shape that leaves out type and price
    switch.know_spaces(SpaceSet({"trades": TRADES}))
    assert [arrives(price) for price in (1, -1, 1, -1)] == [True, False, True, False]
    switch.know_spaces(SpaceSet())
    assert [arrives(price) for price in (1, -1, -1)] == [True, True, True]
    assert switch.spaces() == {}


def test_spaces_of_one_shape_take_turns(switch: Switch) -> None:
    other = space_from("quotes", {"attributes": {"price": "number", "side": "string"}})
    switch.know_spaces(SpaceSet({"trades": TRADES, "quotes": other}))
    alice = _Publisher(switch)
    for _ in range(3):
        assert alice.publish({"type": "trades", "price": -1, "side": "buy"}) is not None
        assert alice.publish({"type": "quotes", "price": -1, "side": "buy"}) is None
        assert alice.publish({"type": "neither", "price": -1, "side": "buy"}) is None
        assert alice.publish({"type": 5, "price": -1, "side": "buy"}) is None
    assert switch.spaces() == {"trades": (3, 3), "quotes": (3, 0)}


def test_counts_outlive_a_change_of_spaces(switch: Switch) -> None:
    switch.know_spaces(SpaceSet({"trades": TRADES}))
    alice = _Publisher(switch)
    assert alice.publish({"type": "trades", "price": 1, "side": "hold"}) is not None
    wider = {"attributes": {"price": "number", "side": {"one_of": ["buy", "hold", "sell"]}}}
    switch.know_spaces(SpaceSet({"a": space_from("a", {}), "trades": space_from("trades", wider)}))
    assert alice.publish({"type": "trades", "price": 1, "side": "hold"}) is None
    assert switch.spaces() == {"a": (0, 0), "trades": (2, 1)}


def test_a_sentence_is_cut_between_characters(switch: Switch) -> None:
    for name in ("é" * 120, "aé" * 80, "x" * 256):
        alone = space_from("s", {"attributes": {name: "string"}})
        switch.know_spaces(SpaceSet({"s": alone}))
        refused = _refusal(alone, {"type": "s"})
        connection = opened(switch, ALICE)
        output(switch, connection)
        switch.feed(connection, encode_publish(ALICE, 1, 0, {"type": "s"}, flags=Flags.CONFIRM))
        [ack] = [body for body in output(switch, connection) if isinstance(body, bodies.Ack)]
        assert ack.refusals[0].reason == refused
        assert 250 < len(refused.encode()) <= 255
        switch.end(connection, now=True)
        switch.tick()
        switch.forget(connection, 10)


def _refusal(space: Space, message: dict[str, Value]) -> str:
    return _cut(str(space.check(message)))


def _cut(text: str) -> str:
    return text.encode()[:255].decode(errors="ignore")


SPACES_AND_MESSAGES = st.tuples(spaces("s"), spaces("other"), st.booleans()).flatmap(
    lambda drawn: st.tuples(
        st.just(drawn),
        st.lists(st.tuples(st.sampled_from(["s", "other", "none", 5, None]), nearly_fitting(drawn[0])), max_size=6),
    )
)


@given(SPACES_AND_MESSAGES)
def test_c_says_of_a_message_what_python_says(
    drawn: tuple[tuple[Space, Space, bool], list[tuple[Value | None, dict[str, Value]]]],
) -> None:
    (one, other, refuses_unknown), messages = drawn
    known = SpaceSet({"s": one, "other": other}, refuses_unknown=refuses_unknown)
    made, table = _switch()
    made.know_spaces(known)
    publisher = _Publisher(made)
    for named, attributes in messages:
        message = attributes if named is None else {**attributes, "type": named}
        refusal = known.check(message)
        expected = None if refusal is None else (RefusalCode.NOT_IN_SPACE, _cut(str(refusal)))
        for _ in range(2):  # once before the shape is known, and once after
            assert publisher.publish(message) == expected
    made.validate()
    made.close()
    table.close()


def test_where_memory_fails_the_old_spaces_stay(switch: Switch) -> None:
    """With the n-th allocation failing, for n = 1, 2, ... until the new spaces are known."""
    switch.know_spaces(SpaceSet({"trades": TRADES}))
    alice = _Publisher(switch)
    wide = {"attributes": {"price": "number", "side": {"one_of": ["a", "b"]}}}
    bytes_before = switch.figures().memory_bytes
    for nth in range(1, 40):
        lib.tm_switch_fail_allocation(switch.c, nth)
        try:
            switch.know_spaces(SpaceSet({"trades": space_from("trades", wide)}))
        except MemoryError:
            assert switch.figures().memory_bytes == bytes_before
        else:
            break
        finally:
            lib.tm_switch_fail_allocation(switch.c, 0)
        refused = alice.publish({"type": "trades", "price": -1, "side": "a"})
        assert refused is not None
        assert "price lies outside" in refused[1]
    assert 5 < nth < 39
    assert alice.publish({"type": "trades", "price": -1, "side": "a"}) is None


@given(st.binary(max_size=80))
def test_bytes_that_are_no_spaces_are_refused(packed: bytes) -> None:
    made, table = _switch()
    before = made.figures().memory_bytes
    result = lib.tm_switch_spaces(made.c, packed, len(packed))
    assert result == lib.TM_MALFORMED or (result == lib.TM_OK and packed == b"")
    assert made.figures().memory_bytes == before
    made.close()
    table.close()
