"""Residual programs in C do what protocol/residual/evaluate.py does, and refuse the bytes that read_program refuses.

python -m tests.native.test_residual COUNT [SEED]    as many random programs, mutated ones besides
python -m tests.native.test_residual FOLDER          what fuzz_residual has found: its corpus, or its seeds
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
from tamis.protocol.errors import FrameError, Refused
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
from tamis.protocol.wire.attributes import decode_attributes, encode_attributes
from tests.native import residual_draw as draw

FORM = (Path(tamis.native.__file__).parent / "residual" / "form.h").read_text()
SEEDS = Path(tamis.native.__file__).parent / "tests" / "seeds" / "fuzz_residual"
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


def compare_found(path: Path) -> str:
    """Run an input of native/tests/fuzz_residual.c in both: [size of the program, 2 bytes] program message."""
    found = path.read_bytes()
    packed, message = found[2 : (end := 2 + int.from_bytes(found[:2]))], found[end:]
    try:
        program = read_program(packed)
    except Refused:
        with pytest.raises(Refused):
            NativeResidual(packed)
        return "refused"
    native = NativeResidual(packed)
    try:
        attributes = decode_attributes(message)
    except FrameError:
        attributes, message = {}, encode_attributes({})
    expected = run(program, attributes, BUDGET)
    assert native.run(message, BUDGET) == expected, (path, program, attributes)
    return expected.verdict.name


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


def test_c_does_what_the_plain_evaluator_does_on_what_a_fuzzer_has_found() -> None:
    seen = Counter(compare_found(path) for path in sorted(SEEDS.iterdir()))
    assert min(seen["TRUE"], seen["FALSE"], seen["UNKNOWN"]) > 3


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
    if Path(sys.argv[1]).is_dir():
        print(Counter(map(compare_found, sorted(Path(sys.argv[1]).iterdir()))))
        sys.exit()
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for what, times in sorted(compare_many(int(sys.argv[1]), seed).items()):
        print(what, times)
