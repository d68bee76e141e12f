"""The numbers of model/wire.h, which C has for itself, are those of the codec in Python."""

from __future__ import annotations

import enum
import re
from pathlib import Path

import pytest

from tamis.protocol import limits
from tamis.protocol.wire.client_bodies import AckOf
from tamis.protocol.wire.codes import ErrorCode, LossReason, RefusalCode
from tamis.protocol.wire.extensions import MUST_UNDERSTAND, ExtensionType, RouteMode
from tamis.protocol.wire.header import FLAGS_OFFSET, HEADER_BYTES, HOP_LIMIT_OFFSET, ID_OFFSET, TRANSIT_OFFSET, Flags
from tamis.protocol.wire.kinds import DATA_KINDS_END, SKIPPABLE, FrameKind
from tamis.protocol.wire.prefix import PREFIX_BYTES
from tamis.protocol.wire.schema import FIELDS_MAX

NATIVE = Path(__file__).parents[2] / "native"


def _defined(text: str) -> dict[str, int]:
    """The names that C text defines as unsigned numbers."""
    return {name: int(number, 0) for name, number in re.findall(r"#define (\w+) (\w+?)U\b", text)}


HEADER = (NATIVE / "model" / "wire.h").read_text()
DEFINED = {name.removeprefix("WIRE_"): number for name, number in _defined(HEADER).items()}
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
        ("wire_kind", "WIRE_", FrameKind),
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
        "FLAG_EVERY_HOME": Flags.EVERY_HOME,
        "FLAGS_KNOWN": sum(Flags) - Flags.EVERY_HOME,
        "MUST_UNDERSTAND": MUST_UNDERSTAND,
        "EXTENSIONS_MAX": limits.EXTENSION_BYTES_MAX,
        "EXTENSION_COUNT_MAX": limits.EXTENSIONS_MAX,
        "SATISFIED_BYTES_MIN": limits.FRAME_BYTES_MAX - limits.DELIVERABLE_BYTES_MAX,
        "ACK_OF_PUBLISH": AckOf.PUBLISH,
        "CHOICE_BYTES": 12,
        "CHOICES_MAX": limits.GROUP_CHOICES_MAX,
        "ROUTE_ALL": RouteMode.ALL,
        "ROUTE_LIST": RouteMode.LIST,
        "ROUTE_TREE": RouteMode.TREE,
        "ROUTE_SET": RouteMode.SET,
        "DIGEST_BYTES": limits.DIGEST_BYTES,
        "SET_BYTES_MAX": limits.ROUTE_SET_ROUTERS_MAX // 8,
        "ROUTE_ROUTERS_MAX": limits.ROUTE_ROUTERS_MAX,
    }
    assert {name: DEFINED[name] for name in expected} == expected


def test_limits_of_a_subscribe_frame() -> None:
    assert _defined((NATIVE / "switch" / "subscribers" / "subscribe.c").read_text()) == {
        "SUBSCRIPTIONS_PER_FRAME_MAX": limits.SUBSCRIPTIONS_PER_FRAME_MAX,
        "DISJUNCTS_MAX": limits.DISJUNCTS_MAX,
        "GROUP_BYTES_MAX": limits.NAME_BYTES_MAX,
        "DIALECT_BYTES_MAX": limits.DIALECT_BYTES_MAX,
        "FIELDS_MAX": FIELDS_MAX,
        "SKIPPED_DEPTH_MAX": limits.CONTROL_DEPTH_MAX,
        "SLICE_BYTES": 16 * 1024,
    }
