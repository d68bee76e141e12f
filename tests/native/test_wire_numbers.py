"""The numbers of model/wire.h, which C has for itself, are those of the codec in Python."""

from __future__ import annotations

import enum
import re
from pathlib import Path

import pytest

from tamis.protocol.wire.client_bodies import AckOf
from tamis.protocol.wire.codes import ErrorCode, LossReason, RefusalCode
from tamis.protocol.wire.extensions import MUST_UNDERSTAND, ExtensionType
from tamis.protocol.wire.header import FLAGS_OFFSET, HEADER_BYTES, HOP_LIMIT_OFFSET, ID_OFFSET, TRANSIT_OFFSET, Flags
from tamis.protocol.wire.kinds import DATA_KINDS_END, SKIPPABLE, Kind
from tamis.protocol.wire.prefix import PREFIX_BYTES

HEADER = (Path(__file__).parents[2] / "native" / "model" / "wire.h").read_text()
DEFINED = {name: int(number, 0) for name, number in re.findall(r"#define WIRE_(\w+) (\w+?)U\b", HEADER)}
ENUMS = {name: body for body, name in re.findall(r"typedef enum \{(.*?)\} (\w+);", HEADER, re.DOTALL)}


def members(name: str, prefix: str) -> dict[str, int]:
    """An enum of the header; one without a number follows the one before it."""
    found: dict[str, int] = {}
    for member, number in re.findall(rf"{prefix}(\w+)(?: = (\w+))?", ENUMS[name]):
        found[member] = int(number, 0) if number else max(found.values()) + 1
    return found


@pytest.mark.parametrize(
    ("name", "prefix", "codec"),
    [
        ("wire_kind", "WIRE_", Kind),
        ("wire_extension", "WIRE_", ExtensionType),
        ("wire_error", "WIRE_", ErrorCode),
        ("wire_refusal", "WIRE_REFUSED_", RefusalCode),
        ("wire_loss", "WIRE_LOST_", LossReason),
    ],
)
def test_enums(name: str, prefix: str, codec: type[enum.IntEnum]) -> None:
    ours = members(name, prefix)
    theirs = {"RESERVED_SET" if item is ErrorCode.RESERVED else item.name: int(item) for item in codec}
    assert ours
    assert ours.items() <= theirs.items()


def test_offsets_and_bits() -> None:
    expected = {
        "PREFIX_BYTES": PREFIX_BYTES,
        "HEADER_BYTES": HEADER_BYTES,
        "DATA_KINDS_END": DATA_KINDS_END,
        "SKIPPABLE": SKIPPABLE,
        "FLAGS": FLAGS_OFFSET,
        "HOPS": HOP_LIMIT_OFFSET,
        "TRANSIT": TRANSIT_OFFSET,
        "ORIGIN": ID_OFFSET,
        "FLAG_CONFIRM": Flags.CONFIRM,
        "FLAG_OWN": Flags.OWN,
        "FLAG_TRACED": Flags.TRACED,
        "FLAGS_KNOWN": sum(Flags),
        "MUST_UNDERSTAND": MUST_UNDERSTAND,
        "ACK_OF_PUBLISH": AckOf.PUBLISH,
    }
    assert {name: DEFINED[name] for name in expected} == expected
