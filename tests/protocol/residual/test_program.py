"""The form of a residual program: what is refused and why, and what a person is shown."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from tamis.native.residual import NativeResidual
from tamis.protocol.errors import Refused
from tamis.protocol.residual import (
    Assembler,
    Instruction,
    Opcode,
    Program,
    cidr,
    glob,
    in_words,
    like,
    listing,
    read_program,
)
from tamis.protocol.residual.patterns import spelled


def sample() -> Program:
    """price * qty > 1000 and sym like "A%C\""""
    made = Assembler()
    made.attribute("price")
    made.attribute("qty")
    made.emit(Opcode.MUL)
    made.constant(1000)
    made.emit(Opcode.GT)
    rest = made.jump(Opcode.JUMP_FALSE)
    made.attribute("sym")
    made.glob(like("A%C"))
    made.emit(Opcode.AND)
    made.place(rest)
    return made.program()


def test_the_bytes_of_a_program_never_change() -> None:
    made = Assembler()
    made.attribute("a")
    made.constant(-2)
    made.emit(Opcode.LT, 1)
    expected = "0102030004000100000002000800010001000000000100000501000061feffffffffffffff"
    assert made.program().pack().hex() == expected


def test_a_program_is_read_as_it_was_written() -> None:
    assert read_program(sample().pack()) == sample()
    constants = (True, -1, 0.5, "é", glob("a*?"), cidr("10.0.0.0/8"), cidr("::/0"))
    program = Program(constants, (Instruction(Opcode.EXISTS, 3),))
    assert read_program(program.pack()) == program


def code(*instructions: tuple[int, int, int], constants: bytes = b"\4\0\1\0\0\0", data: bytes = b"a") -> bytes:
    """Return the bytes of a program whose one constant is the text `a`, unchecked."""
    count = len(constants) // 6
    head = struct.pack("<BBH", 1, count, len(instructions))
    return head + constants + b"".join(struct.pack("<BBH", *each) for each in instructions) + data


LOAD = (Opcode.ATTRIBUTE, 0, 0)


def beside(kind: int, data: bytes, *instructions: tuple[int, int, int]) -> bytes:
    """Return the bytes of a program with the text `a` as constant 0, and another constant."""
    entry = struct.pack("<BBHH", kind, 0, len(data), 1)
    return code(LOAD, *instructions, constants=b"\4\0\1\0\0\0" + entry, data=b"a" + data)


INVALID = {
    "nothing": b"",
    "three bytes": b"\1\0\1",
    "another version": b"\2" + code(LOAD)[1:],
    "no instruction": code(),
    "257 instructions": code(LOAD, *[(Opcode.NOT, 0, 0)] * 256),
    "65 constants": code(LOAD, constants=b"".join(b"\4\0\0\0\0\0" for _ in range(65)), data=b""),
    "cut off": code(LOAD)[:-1],
    "cut off in the code": code(LOAD)[:11],
    "bytes behind": code(LOAD) + b"a",
    "4,097 bytes": code(LOAD, data=b"a" * 4083),
    "a gap in front of the data": code(LOAD, constants=b"\4\0\1\0\1\0", data=b"aa"),
    "a byte that is not zero": code(LOAD, constants=b"\4\1\1\0\0\0"),
    "an unknown kind of constant": beside(7, b"a"),
    "a constant without a kind": beside(0, b"a"),
    "a boolean of 2": beside(1, b"\2"),
    "a boolean of two bytes": beside(1, b"\1\1"),
    "an integer of four bytes": beside(2, b"aaaa"),
    "a double of four bytes": beside(3, b"aaaa"),
    "infinity": beside(3, struct.pack("<d", float("inf"))),
    "no number": beside(3, struct.pack("<d", float("nan"))),
    "a text that is no UTF-8": beside(4, b"\xc3"),
    "a text of 1,025 bytes": beside(4, b"a" * 1025),
    "a glob of 1,025 bytes": beside(5, b"a" * 1025),
    "a glob that is no UTF-8": beside(5, b"a\xff\x80"),
    "a glob with half a character": beside(5, b"\xc3\xff"),
    "a network of 33 bits": beside(6, b"\x21aaaa"),
    "a network of 129 bits": beside(6, b"\x81" + b"a" * 16),
    "a network of six bytes": beside(6, b"\1" + b"a" * 5),
    "an empty name": code(LOAD, constants=b"\4\0\0\0\0\0", data=b""),
    "a name of 257 bytes": code(LOAD, constants=b"\4\0\1\1\0\0", data=b"a" * 257),
    "a name that is a number": code(LOAD, constants=b"\2\0\10\0\0\0", data=b"a" * 8),
    "a constant that is not there": code((Opcode.CONSTANT, 1, 0)),
    "a glob as a value": code((Opcode.CONSTANT, 0, 0), constants=b"\5\0\1\0\0\0"),
    "a network as a value": beside(6, b"\1aaaa", (Opcode.CONSTANT, 1, 0), (Opcode.AND, 0, 0)),
    "a glob in a set": beside(5, b"a", (Opcode.IN, 0, 2)),
    "a set that begins late": beside(4, b"a", (Opcode.IN, 1, 2)),
    "a network as a glob": beside(6, b"\1aaaa", (Opcode.GLOB, 1, 0)),
    "a glob as a network": beside(5, b"aaaaa", (Opcode.CIDR, 1, 0)),
    "a text as a glob": code(LOAD, (Opcode.GLOB, 0, 0)),
    "a text as a network": code(LOAD, (Opcode.CIDR, 0, 0)),
    "an empty set": code(LOAD, (Opcode.IN, 0, 0)),
    "a set past the constants": code(LOAD, (Opcode.IN, 0, 2)),
    "an unknown instruction": code(LOAD, (42, 0, 0)),
    "an operand that is not used": code(LOAD, (Opcode.NOT, 1, 0)),
    "a place that is not used": code(LOAD, (Opcode.NOT, 0, 1)),
    "an unknown way to compare": code(LOAD, LOAD, (Opcode.EQ, 4, 0)),
    "an unknown arithmetic": code(LOAD, LOAD, (Opcode.ADD, 3, 0)),
    "an unknown division": code(LOAD, LOAD, (Opcode.DIV, 4, 0)),
    "a cast to nothing": code(LOAD, (Opcode.CAST, 0, 0)),
    "an unknown cast": code(LOAD, (Opcode.CAST, 6, 0)),
    "no kind": code(LOAD, (Opcode.KIND, 0, 0)),
    "an unknown kind": code(LOAD, (Opcode.KIND, 32, 0)),
    "folded twice": code(LOAD, LOAD, (Opcode.PREFIX, 2, 0)),
    "contains, folded": code(LOAD, LOAD, (Opcode.CONTAINS, 1, 0)),
    "an empty stack": code((Opcode.NOT, 0, 0), LOAD),
    "one value for two": code(LOAD, (Opcode.AND, 0, 0)),
    "no value at the end": code(LOAD, (Opcode.DROP, 0, 0)),
    "two values at the end": code(LOAD, LOAD),
    "seventeen values": code(*[LOAD] * 17, *[(Opcode.AND, 0, 0)] * 16),
    "a jump to itself": code(LOAD, (Opcode.JUMP_FALSE, 0, 1), (Opcode.NOT, 0, 0)),
    "a jump back": code(LOAD, (Opcode.JUMP_FALSE, 0, 0), (Opcode.NOT, 0, 0)),
    "a jump past the end": code(LOAD, (Opcode.JUMP_FALSE, 0, 3)),
    "two depths at one place": code(LOAD, (Opcode.JUMP_FALSE, 0, 3), LOAD, (Opcode.NOT, 0, 0)),
    "two depths at the end": code(LOAD, (Opcode.BRANCH, 0, 3), LOAD),
    "an instruction that is reached from nowhere": code(LOAD, (Opcode.JUMP, 0, 3), (Opcode.NOT, 0, 0)),
}


@pytest.mark.parametrize("what", INVALID)
def test_what_is_no_program_is_refused(what: str) -> None:
    with pytest.raises(Refused):
        read_program(INVALID[what])
    with pytest.raises(Refused):
        NativeResidual(INVALID[what])


VALID = {
    "one load": code(LOAD),
    "256 instructions": code(LOAD, *[(Opcode.NOT, 0, 0)] * 255),
    "sixteen values": code(*[LOAD] * 16, *[(Opcode.AND, 0, 0)] * 15),
    "a jump to the end": code(LOAD, (Opcode.JUMP_FALSE, 0, 3), (Opcode.NOT, 0, 0)),
    "a choice": code(LOAD, (Opcode.BRANCH, 0, 4), LOAD, (Opcode.JUMP, 0, 5), LOAD),
    "a name of 256 bytes": code(LOAD, constants=b"\4\0\0\1\0\0", data=b"a" * 256),
    "a text of 1,024 bytes": code((Opcode.CONSTANT, 0, 0), constants=b"\4\0\0\4\0\0", data=b"a" * 1024),
    "a boolean": beside(1, b"\1", (Opcode.IN, 0, 2)),
    "an integer": beside(2, b"a" * 8, (Opcode.IN, 1, 1)),
    "a double": beside(3, b"a" * 8),
    "a glob": beside(5, b"\xc3\xa4\xff\xfe\xff", (Opcode.GLOB, 1, 0)),
    "a network of 32 bits": beside(6, b"\x20aaaa", (Opcode.CIDR, 1, 0)),
    "a network of 128 bits": beside(6, b"\x80" + b"a" * 16, (Opcode.CIDR, 1, 0)),
    "64 constants": code((Opcode.CONSTANT, 63, 0), constants=b"".join(b"\4\0\0\0\0\0" for _ in range(64)), data=b""),
}


@pytest.mark.parametrize("what", VALID)
def test_what_is_a_program_is_accepted(what: str) -> None:
    assert read_program(VALID[what]).pack() == VALID[what]
    NativeResidual(VALID[what])


def test_a_refusal_says_where() -> None:
    with pytest.raises(Refused, match=r"instruction 1 jumps to 1; it may jump to 2 to 3"):
        read_program(INVALID["a jump to itself"])
    with pytest.raises(Refused, match=r"a jump leads back or past the end, at 1"):
        NativeResidual(INVALID["a jump to itself"])


@pytest.mark.parametrize(
    "make",
    [
        lambda made: [made.constant(i) for i in range(65)],
        lambda made: made.among(range(65)),
        lambda made: made.constant("a" * 1025),
        lambda made: made.constant(2**63),
        lambda made: made.constant(float("nan")),
        lambda made: made.constant("\ud800"),
        lambda made: made.jump(Opcode.JUMP_FALSE),
        lambda made: [made.emit(Opcode.NOT) for _ in range(256)],
        lambda made: [made.constant(f"{i}" * 500) for i in range(9)],
    ],
)
def test_the_assembler_refuses_what_does_not_fit(make: Callable[[Assembler], object]) -> None:
    def program() -> Program:
        made = Assembler()
        made.attribute("a")
        make(made)
        return made.program()

    with pytest.raises(Refused):
        program()


@pytest.mark.parametrize(
    ("pattern", "escape", "expected"),
    [
        ("a%_b", "", b"a\xff\xfeb"),
        ("%%a", "", b"\xffa"),
        ("50!%", "!", b"50%"),
        ("!_!!", "!", b"_!"),
        ("a\\%", "", b"a\\\xff"),
        ("é*?", "", "é*?".encode()),
    ],
)
def test_like(pattern: str, escape: str, expected: bytes) -> None:
    assert like(pattern, escape).pattern == expected


@pytest.mark.parametrize(("pattern", "escape"), [("a!", "!"), ("!a", "!"), ("a", "!!"), ("a", "%")])
def test_like_refuses(pattern: str, escape: str) -> None:
    with pytest.raises(Refused):
        like(pattern, escape)


def test_globs_and_networks() -> None:
    assert glob("a*\\*?").pattern == b"a\xff*\xfe"
    assert spelled(glob("a*?%\\\\")) == "a%_\\%\\\\"
    assert cidr("10.1.2.3/8") == (b"\x0a\0\0\0", 8)
    for text in ("10.0.0.0/33", "x", "10.0.0/8", ""):
        with pytest.raises(Refused):
            cidr(text)


def test_a_program_in_words() -> None:
    assert in_words(sample()) == 'price * qty > 1000 and sym like "A%C"'
    assert listing(sample()).splitlines()[5:8] == ["  5  jump_false 9", '  6  attribute "sym"', '  7  glob "A%C"']
    made = Assembler()
    made.attribute("a")
    made.constant(1)
    made.emit(Opcode.SUB)
    made.attribute("b c")
    made.emit(Opcode.MUL)
    made.among([1, "x"])
    made.attribute("ip")
    made.cidr(cidr("10.0.0.0/8"))
    made.attribute("s")
    made.emit(Opcode.LOWER)
    made.constant("é")
    made.emit(Opcode.PREFIX, 1)
    made.emit(Opcode.OR)
    made.emit(Opcode.NOT)
    made.emit(Opcode.AND)
    expected = '(a - 1) * "b c" in {1, "x"} and not (ip in 10.0.0.0/8 or lower(s) prefix "é" ignoring case)'
    assert in_words(made.program()) == expected


def test_the_attributes_that_a_program_asks_for() -> None:
    made = Assembler()
    for name in ("b", "a", "b"):
        made.attribute(name)
    made.emit(Opcode.EQ)
    made.emit(Opcode.EQ)
    assert made.program().names() == ("b", "a")
    assert sample().names() == ("price", "qty", "sym")


def test_a_choice_is_listed() -> None:
    program = read_program(VALID["a choice"])
    assert in_words(program) == listing(program)
    assert listing(program).splitlines()[1] == "  1  branch 4"
