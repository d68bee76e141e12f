"""What C and Python say twice, they say alike: limits, operator numbers, kinds, fields."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import tamis.native
from tamis.native import TableStats
from tamis.protocol import limits
from tamis.protocol.filters import Op
from tamis.protocol.wire.packed_filters import NEGATED, OPCODES

NATIVE = Path(tamis.native.__file__).parent
HEADERS = ("tm_api.h", "tm_switch_api.h", "tm_forward_api.h", "tm_figures_api.h", "tm_records_api.h")
HEADER = "".join((NATIVE / name).read_text() for name in HEADERS)
DEFINED = {name: int(number) for name, number in re.findall(r"^#define TM_(\w+) (\d+)", HEADER, re.MULTILINE)}
# Of the table and the switch, not of the language.
OWN_LIMITS = {
    *("INTERFACES_MAX", "CONNECTIONS_MAX", "ROUTERS_MAX", "NEIGHBOURS_MAX", "CLASSES_MAX"),
    *("ENGINE_OPTIONS_MAX", "VIEWS_MAX", "VIEW_BYTES_MAX", "FIELDS_MAX"),
}


def test_limits_are_those_of_the_language() -> None:
    shared = {name: number for name, number in DEFINED.items() if name.endswith("_MAX")}
    assert len(shared) >= 7
    for name in shared.keys() - OWN_LIMITS:
        assert shared[name] == getattr(limits, name), name


def test_operator_numbers_are_those_of_the_wire() -> None:
    numbers = {name.removeprefix("OP_"): number for name, number in DEFINED.items() if name.startswith("OP_")}
    assert numbers.pop("NEGATED") == NEGATED
    assert numbers == {op.name: OPCODES[op] for op in Op}


def test_stats_have_the_fields_of_the_struct() -> None:
    struct = re.search(r"typedef struct tm_stats \{(.*?)\}", HEADER, re.DOTALL)
    assert struct is not None
    assert re.findall(r"uint64_t (\w+);", struct[1]) == [field.name for field in fields(TableStats)]
