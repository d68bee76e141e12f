"""Every number of the wire is given out once, and the page of numbers says what the code does."""

from __future__ import annotations

import enum
import inspect
import re
from pathlib import Path

import pytest

from tamis.protocol import limits
from tamis.protocol.errors import FrameError
from tamis.protocol.wire import (
    client_bodies,
    codes,
    durable_bodies,
    extensions,
    header,
    home_bodies,
    kinds,
    reference,
    report_bodies,
    routing_bodies,
    session_bodies,
)
from tamis.protocol.wire.frames import BODY_OF
from tamis.protocol.wire.kinds import SKIPPABLE
from tamis.protocol.wire.register import CAPABILITIES, EXTENSIONS, FLAGS, KINDS, LOSSES, REFUSALS, REGISTERS, Register
from tamis.protocol.wire.versions import PROTOCOL_VERSION

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "numbers.md"
by_title = pytest.mark.parametrize("register", REGISTERS, ids=lambda register: register.title)


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text() == reference.page(), (
        "run python -m tamis.protocol.wire.reference > docs/reference/numbers.md"
    )


@by_title
def test_no_number_and_no_name_is_given_out_twice(register: Register) -> None:
    numbers = [member.value for member in register.in_use] + [row.number for row in register.reserved]
    names = [member.name for member in register.in_use] + [row.name for row in register.reserved]
    assert len(numbers) == len(set(numbers))
    assert len(names) == len(set(names))


@by_title
def test_every_number_in_use_has_a_meaning_and_a_version(register: Register) -> None:
    assert set(register.meanings) == {member.value for member in register.in_use}
    assert all(meaning.text and 1 <= meaning.since <= PROTOCOL_VERSION for meaning in register.meanings.values())
    assert all(row.text for row in register.reserved)


def test_every_enumeration_of_the_wire_has_a_register() -> None:
    modules = (
        kinds,
        codes,
        extensions,
        header,
        session_bodies,
        client_bodies,
        durable_bodies,
        report_bodies,
        routing_bodies,
    )
    found = {
        member
        for module in modules
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, enum.IntEnum | enum.IntFlag) and member.__module__ == module.__name__
    }
    assert found == {register.in_use for register in REGISTERS}


def test_numbers_fit_their_fields() -> None:
    for register, most in ((KINDS, 0xFF), (FLAGS, 0xFF), (EXTENSIONS, 0xFFFF)):
        assert all(0 < row.number <= most for row in register.reserved)
    assert all(row.number.bit_count() == 1 for row in FLAGS.reserved)


def test_a_reserved_number_is_not_in_use() -> None:
    kinds_reserved = {row.number for row in KINDS.reserved}
    assert not kinds_reserved & {int(kind) for kind in BODY_OF}
    for flag in FLAGS.reserved:
        with pytest.raises(FrameError, match="a bit without a name"):
            header.check_header(kinds.FrameKind.PUBLISH, flag.number, 1, 1)
    for row in EXTENSIONS.reserved:
        assert extensions.shown(row.number) == f"0x{row.number:04x}"


PROMISED = (
    (KINDS, {"DIRECTED": 0x04, "CUSTODY_ACK": 0x50, "CUSTODY_ASK": 0x51, "GAP": 0x52, "DURABLES": 0x90}),
    (KINDS, {"DURABLES_HELD": 0x91}),
    (EXTENSIONS, {"DESTINATIONS": 7, "CUSTODY": 8, "REPLY": 9, "GROUP_CHOICE": 10, "DELIVERIES": 11}),
    (EXTENSIONS, {"ROUTE": 0x8007, "TENANT": 0x8008}),
    (REFUSALS, {"NUMBER_REUSED": 24, "NO_LOG": 25, "UNWANTED": 26}),
    (LOSSES, {"CUSTODY_FULL": 10, "ENTRY_LOST": 11, "NOT_ALLOWED": 12}),
)
"""Numbers that designs, notes and clients elsewhere already name: they may come into use, and never move."""


def test_what_later_parts_count_on_is_promised() -> None:
    for register, promised in PROMISED:
        names = {row.name: row.number for row in register.reserved} | {m.name: m.value for m in register.in_use}
        assert promised.items() <= names.items()


def test_each_capability_is_given_out_once() -> None:
    words = [row.word for row in CAPABILITIES]
    assert len(words) == len(set(words))
    assert not any(word.startswith("access:") for word in words if word != "access:")
    assert all(row.text and 1 <= len(row.word) <= limits.CAPABILITY_BYTES_MAX for row in CAPABILITIES)


def test_every_capability_that_a_part_says_is_registered() -> None:
    found = set()
    for module in (session_bodies, client_bodies, home_bodies):
        source = inspect.getsource(module)
        found |= set(re.findall(r'^[A-Z_]+: Final = "([a-z:-]+)"$', source, re.MULTILINE))
    assert found == {row.word for row in CAPABILITIES}


def test_what_is_flooded_later_can_be_skipped_by_routers_of_today() -> None:
    numbers = {row.name: row.number for row in KINDS.reserved} | {kind.name: kind.value for kind in KINDS.in_use}
    for name in ("DURABLES", "DURABLES_HELD", "EA", "EH", "ER", "PLAN", "SPACE"):
        assert numbers[name] & SKIPPABLE
