"""Residual programs in C do what protocol/residual/evaluate.py does, and refuse the bytes that read_program refuses.

python -m tests.native.test_residual COUNT [SEED]    as many random programs, mutated ones besides
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import tamis.native
from tamis.native._tm import lib
from tamis.native.residual import NativeResidual
from tamis.protocol.errors import Refused
from tamis.protocol.residual import (
    Arithmetic,
    Assembler,
    Cast,
    Mixed,
    Opcode,
    Program,
    ResidualVerdict,
    instructions,
    patterns,
    read_program,
    run,
)
from tamis.protocol.residual.cases import folded, lower, upper
from tamis.protocol.residual.program import _stored
from tamis.protocol.wire.attributes import encode_attributes
from tests.native import residual_draw as draw

FORM = (Path(tamis.native.__file__).parent / "residual" / "form.h").read_text()
BUDGET = 10_000


def compare(random: Random, program: Program, packed: bytes) -> ResidualVerdict:
    """Run the program in both on some messages; return the last verdict."""
    native = NativeResidual(packed)
    for _ in range(3):
        message = draw.message(random)
        expected = run(program, message, BUDGET)
        budget = BUDGET
        if random.random() < 0.1:
            budget = random.randrange(max(1, min(expected.steps + 1, BUDGET)))
            expected = run(program, message, budget)
        assert native.run(encode_attributes(message), budget) == expected, (program, message, budget)
    return expected.verdict


def compare_mutated(random: Random, packed: bytes) -> str:
    """Ask both whether changed bytes are a program, and run it if it is one."""
    changed = draw.mutated(random, packed)
    try:
        program = read_program(changed)
    except Refused:
        with pytest.raises(Refused):
            NativeResidual(changed)
        return "refused"
    assert program.pack() == changed
    return compare(random, program, changed).name


def compare_many(count: int, seed: int) -> Counter[str]:
    random, seen = Random(seed), Counter[str]()
    for _ in range(count):
        program = draw.program(random)
        packed = program.pack()
        assert read_program(packed) == program
        seen[compare(random, program, packed).name] += 1
        seen[f"mutated: {compare_mutated(random, packed)}"] += 1
        seen.update(f"op: {instruction.op.name}" for instruction in program.code)
    return seen


def test_c_does_what_the_plain_evaluator_does() -> None:
    seen = compare_many(3000, 1)
    assert all(seen[verdict.name] > 10 for verdict in ResidualVerdict)
    assert all(seen[f"op: {op.name}"] > 10 for op in Opcode)
    assert seen["mutated: refused"] > 500
    assert seen["mutated: TRUE"] > 5


def test_c_knows_the_case_of_every_character() -> None:
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    for op, mapping in ((Opcode.LOWER, lower), (Opcode.UPPER, upper)):
        made = Assembler()
        made.attribute("a")
        made.emit(op)
        made.attribute("b")
        made.emit(Opcode.EQ)
        _check_characters(NativeResidual(made.program().pack()), characters, mapping)
    made = Assembler()
    made.attribute("a")
    made.attribute("b")
    made.emit(Opcode.SAME_FOLDED)
    _check_characters(NativeResidual(made.program().pack()), characters, folded)


def _check_characters(program: NativeResidual, characters: list[str], mapping: Callable[[str], str]) -> None:
    for start in range(0, len(characters), 1000):
        text = "".join(characters[start : start + 1000])
        message = encode_attributes({"a": text, "b": mapping(text)})
        assert program.run(message, 10**6).verdict is ResidualVerdict.TRUE, hex(ord(text[0]))


def test_numbers_of_c_are_those_of_python() -> None:
    assert _enum("residual_op") == [*(op.name for op in Opcode), "OPS"]
    assert _enum("residual_arithmetic") == [kind.name for kind in Arithmetic]
    assert _enum("residual_cast") == [f"TO_{cast.name}" for cast in Cast]
    assert _enum("residual_constant_kind") == ["IS_BOOLEAN", "IS_INTEGER", "IS_DOUBLE", "IS_TEXT", "IS_GLOB", "IS_CIDR"]
    values = (True, 1, 1.5, "a", patterns.glob("*"), patterns.cidr("::/0"))
    assert [_stored(constant).kind for constant in values] == [1, 2, 3, 4, 5, 6]
    defined = {name: int(number, 0) for name, number in re.findall(r"#define RESIDUAL_(\w+) (\w+?)U\b", FORM)}
    for name in ("CONSTANTS_MAX", "TEXT_BYTES_MAX", "INSTRUCTIONS_MAX", "STACK_MAX", "ARENA_BYTES", "TEXT_STEP_BYTES"):
        assert defined[name] == getattr(instructions, name)
    for name in ("VERSION", "ATTRIBUTE_STEP", "NUMBER_BYTES_MAX"):
        assert defined[name] == getattr(instructions, name)
    assert (defined["MIXED_UNKNOWN"], defined["NUMBERS_ONLY"]) == (Mixed.UNKNOWN, Mixed.NUMBERS_ONLY)
    assert bytes([defined["ANY_TEXT"], defined["ANY_CHARACTER"]]) == patterns.ANY_TEXT + patterns.ANY_CHARACTER
    assert instructions.PROGRAM_BYTES_MAX == lib.TM_RESIDUAL_BYTES_MAX
    assert [verdict.value for verdict in ResidualVerdict] == [
        getattr(lib, f"TM_RESIDUAL_{verdict.name}") for verdict in ResidualVerdict
    ]


def _enum(name: str) -> list[str]:
    """Return the words of an enum in form.h, which counts from 0 or 1."""
    found = re.search(rf"typedef enum {{([^}}]*)}} {name};", FORM)
    assert found is not None
    return re.findall(r"RESIDUAL_(\w+)", found[1])


if __name__ == "__main__":
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for what, times in sorted(compare_many(int(sys.argv[1]), seed).items()):
        print(what, times)
