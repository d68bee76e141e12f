"""The reference page says what the code does: its hex blocks decode, its tables are the schemas and states."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tamis.protocol.wire import (
    client_bodies,
    custody_bodies,
    durable_bodies,
    edge_bodies,
    home_bodies,
    report_bodies,
    routing_bodies,
)
from tamis.protocol.wire.codes import ErrorCode, is_fatal
from tamis.protocol.wire.extensions import DELIVER_ONLY, ExtensionType
from tamis.protocol.wire.frames import BODY_OF, decode
from tamis.protocol.wire.header import HEADER, HEADER_BYTES, Flags
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.packed_filters import OPCODES, decode_filter
from tamis.protocol.wire.schema import record_of
from tamis.protocol.wire.session import CLIENT_CONNECTION, LINK, SessionState
from tests.protocol.wire.json_forms import json_form
from tests.protocol.wire.vectors import BY_NAME

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "wire.md").read_text()
HEX_BLOCKS = re.findall(r"```hex ([^\n]+)\n(.*?)```", PAGE, re.DOTALL)

SECTIONS = {
    **{
        f"{kind.name} 0x{kind:02x}": body
        for kind, body in BODY_OF.items()
        if kind not in (FrameKind.RA, FrameKind.SR, FrameKind.UR, FrameKind.SPACE, FrameKind.EA, FrameKind.DURABLES)
    },
    "Parts": BODY_OF[FrameKind.RA],
    "RA body": routing_bodies.ReceiverAdvertisement,
    "SR body": routing_bodies.SenderRequest,
    "UR body": routing_bodies.UpdateReply,
    "SPACE body": routing_bodies.SpaceStatement,
    "EA body": edge_bodies.EdgeStatement,
    "DURABLES body": home_bodies.DurablesStatement,
    **{
        record.__name__: record
        for record in (
            *(client_bodies.SubscriptionItem, client_bodies.Range, client_bodies.Refusal),
            *(client_bodies.KnownAt, client_bodies.Narrowed),
            *(durable_bodies.DurablePolicy, durable_bodies.DurableStatus, durable_bodies.DurableElsewhere),
            *(report_bodies.MatchedFilter, report_bodies.Departure, report_bodies.WouldDeliver),
            *(routing_bodies.Adjacency, routing_bodies.AdvertisedFilter, routing_bodies.Known, routing_bodies.Entry),
            *(edge_bodies.EdgeFilter, edge_bodies.EdgeSaid),
            *(custody_bodies.LogLife, custody_bodies.ChainRange),
            *(home_bodies.NumberedDurable, home_bodies.StatedDurable, home_bodies.StatedCopy),
            home_bodies.DurablesHolder,
        )
    },
}


def section(title: str) -> str:
    """What stands under a heading, up to the next one of any depth."""
    [found] = re.findall(rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return found


def rows(text: str) -> list[list[str]]:
    """The cells of every table in `text`, without heads and rules."""
    lines = [
        [cell.strip() for cell in line[1:].rstrip().removesuffix("|").split("|")]
        for line in text.splitlines()
        if line[:1] == "|"
    ]
    rules = [number for number, line in enumerate(lines) if line[0].startswith("---")]
    return [line for number, line in enumerate(lines) if number not in rules and number + 1 not in rules]


@pytest.mark.parametrize(("name", "block"), HEX_BLOCKS, ids=[name for name, _ in HEX_BLOCKS])
def test_a_hex_block_is_a_frozen_vector(name: str, block: str) -> None:
    data = bytes.fromhex("".join(line.split(";")[0] for line in block.splitlines()))
    assert data == BY_NAME[name].data
    assert json_form(decode(data)) == BY_NAME[name].frame


def test_there_are_hex_blocks() -> None:
    assert len(HEX_BLOCKS) >= 8


@pytest.mark.parametrize("title", SECTIONS)
def test_a_field_table_is_its_schema(title: str) -> None:
    declared = [(f"`{field.name}`", str(field.codec)) for field in record_of(SECTIONS[title]).fields]
    assert [(name, type_) for name, type_, _ in rows(section(title))] == declared


def test_every_kind_has_a_section() -> None:
    assert all(f"{kind.name} 0x{kind:02x}" in PAGE for kind in FrameKind)


def test_every_record_has_a_section() -> None:
    named = set(re.findall(r"(?:\d+: |\| )([A-Z][a-z]\w+)(?= \|)", "\n".join(map(section, SECTIONS))))
    assert named <= set(SECTIONS)
    assert len(named) > 5


def test_errors_that_are_not_fatal_are_named() -> None:
    [sentence] = re.findall(
        r"an ERROR is not fatal\s+with the codes (.*?), which", section("Errors and refusals"), re.DOTALL
    )
    assert set(re.findall(r"\w+_\w+", sentence)) == {code.name for code in ErrorCode if not is_fatal(code)}


def test_who_may_send_what() -> None:
    client, home, router = rows(section("Who may send what"))
    for row, table, own in (
        (client, CLIENT_CONNECTION.connector, SessionState.CONNECTOR_DRAINING),
        (home, CLIENT_CONNECTION.acceptor, SessionState.ACCEPTOR_DRAINING),
        (router, LINK.connector, SessionState.CONNECTOR_DRAINING),
        (router, LINK.acceptor, SessionState.ACCEPTOR_DRAINING),
    ):
        for state, cell in ((SessionState.OPEN, row[2]), (own, row[3])):
            assert {kind.name for at, kind in table if at is state} == set(cell.split())


def test_offsets_follow_each_other() -> None:
    sizes = [(int(offset), int(size or 0)) for offset, size, *_ in rows(section("Data frames"))[:11]]
    assert [offset for offset, _ in sizes[1:]] == [offset + size for offset, size in sizes[:-1]]
    assert sizes[-1][0] == HEADER_BYTES == HEADER.size
    assert [int(offset) for offset, *_ in rows(section("Frames"))] == [0, 4, 5, 6, 7]


def test_flags_extensions_and_opcodes_are_listed() -> None:
    flags = rows(section("Data frames"))[11:]
    assert [(int(bit, 16), name) for bit, name, _ in flags] == [(flag.value, flag.name) for flag in Flags]
    types = rows(section("Extensions"))
    assert [(int(number, 16), name) for number, name, *_ in types] == [(t.value, t.name) for t in ExtensionType]
    assert {name for _, name, where, _ in types if where == "DELIVER"} == {type_.name for type_ in DELIVER_ONLY}
    assert [(int(code), op) for code, op, _ in rows(section("Packed filters"))] == [
        (code, op.value) for op, code in OPCODES.items()
    ]


def test_the_filter_in_the_text_decodes() -> None:
    [packed] = re.findall(r"is `([0-9a-f ]+)`\.", section("Packed filters"))
    price, venue = decode_filter(bytes.fromhex(packed)).constraints
    assert (price.name, price.op.value, price.operands) == ("price", "<", (500,))
    assert (venue.name, venue.op.value, venue.operands, venue.negated) == ("venue", "in", ("X", "Y"), True)


def test_the_numbers_in_the_text_are_those_of_the_names() -> None:
    text = section("Numbers and digests")
    assert all(f"{stable_number(name)}" in text for name in ("rome", "alice"))
