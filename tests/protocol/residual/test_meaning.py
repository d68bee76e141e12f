"""What instructions mean, case by case: the plain evaluator and C against tables written by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tamis.native.residual import NativeResidual
from tamis.protocol.residual import (
    Arithmetic,
    Assembler,
    Cast,
    KindBit,
    Mixed,
    Opcode,
    Program,
    ResidualResult,
    ResidualVerdict,
    cidr,
    glob,
    like,
)
from tamis.protocol.residual.evaluate import run as run_plainly
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import encode_attributes

Emit = Callable[[Assembler], object]
U = None
T, F = True, False
BIG, LEAST = 2**63 - 1, -(2**63)


def run(program: Program, attributes: dict[str, Value], budget: int) -> ResidualResult:
    """Return what both evaluators say."""
    said = run_plainly(program, attributes, budget)
    assert NativeResidual(program.pack()).run(encode_attributes(attributes), budget) == said
    return said


def result(op: Opcode, *values: Value | None, a: int = 0) -> Value | None:
    """Return what an instruction makes of values, None for unknown; found by asking for its kind and by comparing."""
    return _found(lambda made: made.emit(op, a), *values)


def _found(emit: Emit, *values: Value | None) -> Value | None:
    attributes = {f"v{i}": value for i, value in enumerate(values) if value is not None}

    def says(end: Emit) -> bool:
        made = Assembler()
        for i in range(len(values)):
            made.attribute(f"v{i}")
        emit(made)
        end(made)
        return run(made.program(), attributes, 10**6).verdict is ResidualVerdict.TRUE

    kinds = [bit for bit in KindBit if says(lambda made, bit=bit: made.emit(Opcode.KIND, bit))]
    assert len(kinds) == 1
    return _value_of(kinds[0], says)


def _value_of(kind: KindBit, says: Callable[[Emit], bool]) -> Value | None:
    """Return which of the values that stand in the tables it is."""
    candidates = {KindBit.UNKNOWN: [None], KindBit.BOOLEAN: [True, False]}.get(kind, EXPECTED.get(kind, []))
    for value in candidates:
        if value is None or says(lambda made, value=value: (made.constant(value), made.emit(Opcode.EQ))):
            return value
    raise AssertionError(f"a value of kind {kind!r} that no table has")


LOGIC = [
    (Opcode.AND, (T, T), T),
    (Opcode.AND, (T, F), F),
    (Opcode.AND, (F, F), F),
    (Opcode.AND, (U, T), U),
    (Opcode.AND, (T, U), U),
    (Opcode.AND, (U, F), F),
    (Opcode.AND, (F, U), F),
    (Opcode.AND, (U, U), U),
    (Opcode.AND, (1, T), U),
    (Opcode.AND, ("true", F), F),
    (Opcode.OR, (F, F), F),
    (Opcode.OR, (T, F), T),
    (Opcode.OR, (U, T), T),
    (Opcode.OR, (T, U), T),
    (Opcode.OR, (U, F), U),
    (Opcode.OR, (F, U), U),
    (Opcode.OR, (U, U), U),
    (Opcode.OR, (1, F), U),
    (Opcode.NOT, (T,), F),
    (Opcode.NOT, (F,), T),
    (Opcode.NOT, (U,), U),
    (Opcode.NOT, ("true",), U),
    (Opcode.NOT, (0,), U),
]

COMPARISONS = [
    (Opcode.EQ, (1, 1.0), 0, T),
    (Opcode.EQ, (2**53 + 1, 2.0**53), 0, F),
    (Opcode.GT, (2**53 + 1, 2.0**53), 0, T),
    (Opcode.LT, (BIG, 2.0**63), 0, T),
    (Opcode.LE, (LEAST, -(2.0**63)), 0, T),
    (Opcode.GE, (LEAST, -(2.0**63)), 0, T),
    (Opcode.LT, (-0.5, 0), 0, T),
    (Opcode.EQ, ("1", 1), 0, F),
    (Opcode.NE, ("1", 1), 0, F),
    (Opcode.NE, ("1", 1), Mixed.UNKNOWN, U),
    (Opcode.LT, ("1", 2), 0, F),
    (Opcode.GE, ("1", 0), 0, F),
    (Opcode.EQ, (T, 1), 0, F),
    (Opcode.EQ, (T, T), 0, T),
    (Opcode.NE, (T, F), 0, T),
    (Opcode.LT, (F, T), 0, F),
    (Opcode.LT, (F, T), Mixed.UNKNOWN, U),
    (Opcode.LT, ("a", "b"), 0, T),
    (Opcode.LT, ("a", "a\0"), 0, T),
    (Opcode.LT, ("Z", "a"), 0, T),
    (Opcode.GT, ("é", "z"), 0, T),
    (Opcode.LT, ("\uffff", "\U00010000"), 0, T),
    (Opcode.LE, ("", ""), 0, T),
    (Opcode.LT, ("a", "b"), Mixed.NUMBERS_ONLY, F),
    (Opcode.LT, ("a", "b"), Mixed.NUMBERS_ONLY | Mixed.UNKNOWN, U),
    (Opcode.EQ, ("a", "a"), Mixed.NUMBERS_ONLY, T),
    (Opcode.LT, (U, 1), 0, U),
    (Opcode.NE, (1, U), 0, U),
]

ARITHMETIC = [
    (Opcode.ADD, (1, 2), Arithmetic.WIDE, 3),
    (Opcode.ADD, (1, 0.5), Arithmetic.WIDE, 1.5),
    (Opcode.ADD, (BIG, 1), Arithmetic.WIDE, 2.0**63),
    (Opcode.ADD, (BIG, 1), Arithmetic.INT64, U),
    (Opcode.ADD, (2**31 - 1, 1), Arithmetic.INT32, U),
    (Opcode.ADD, (2**31 - 1, 0), Arithmetic.INT32, 2**31 - 1),
    (Opcode.SUB, (2**31, 1), Arithmetic.INT32, U),
    (Opcode.ADD, (1, 0.5), Arithmetic.INT32, U),
    (Opcode.ADD, ("1", 2), Arithmetic.WIDE, U),
    (Opcode.ADD, (T, 2), Arithmetic.WIDE, U),
    (Opcode.ADD, (U, 2), Arithmetic.WIDE, U),
    (Opcode.ADD, (1e308, 1e308), Arithmetic.WIDE, U),
    (Opcode.MUL, (BIG, BIG), Arithmetic.WIDE, float(BIG * BIG)),
    (Opcode.MUL, (LEAST, -1), Arithmetic.WIDE, 2.0**63),
    (Opcode.MUL, (LEAST, -1), Arithmetic.INT64, U),
    (Opcode.DIV, (7, 2), Arithmetic.WIDE, 3),
    (Opcode.DIV, (-7, 2), Arithmetic.WIDE, -3),
    (Opcode.DIV, (7, 2), Arithmetic.REAL, 3.5),
    (Opcode.DIV, (8, 2), Arithmetic.REAL, 4),
    (Opcode.DIV, (7.5, 2), Arithmetic.WIDE, 3.75),
    (Opcode.DIV, (LEAST, -1), Arithmetic.WIDE, 2.0**63),
    (Opcode.DIV, (LEAST, -1), Arithmetic.REAL, 2.0**63),
    (Opcode.DIV, (1, 0), Arithmetic.WIDE, U),
    (Opcode.DIV, (1.5, 0), Arithmetic.WIDE, U),
    (Opcode.DIV, (1.5, -0.0), Arithmetic.WIDE, U),
    (Opcode.MOD, (7, 3), Arithmetic.WIDE, 1),
    (Opcode.MOD, (-7, 3), Arithmetic.WIDE, -1),
    (Opcode.MOD, (7, -3), Arithmetic.WIDE, 1),
    (Opcode.MOD, (LEAST, -1), Arithmetic.WIDE, 0),
    (Opcode.MOD, (7.5, 2), Arithmetic.WIDE, 1.5),
    (Opcode.MOD, (7, 0), Arithmetic.WIDE, U),
    (Opcode.NEG, (5,), Arithmetic.WIDE, -5),
    (Opcode.NEG, (LEAST,), Arithmetic.WIDE, 2.0**63),
    (Opcode.NEG, (LEAST,), Arithmetic.INT64, U),
    (Opcode.NEG, (-(2**31),), Arithmetic.INT32, U),
    (Opcode.NEG, (1.5,), Arithmetic.WIDE, -1.5),
    (Opcode.NEG, (1.5,), Arithmetic.INT32, U),
    (Opcode.NEG, ("5",), Arithmetic.WIDE, U),
]

CASTS = [
    (Cast.BOOLEAN, "TRUE", T),
    (Cast.BOOLEAN, "fAlse", F),
    (Cast.BOOLEAN, "yes", U),
    (Cast.BOOLEAN, " true", U),
    (Cast.BOOLEAN, 0, F),
    (Cast.BOOLEAN, -3, T),
    (Cast.BOOLEAN, 0.5, T),
    (Cast.INTEGER, "42", 42),
    (Cast.INTEGER, "+42", 42),
    (Cast.INTEGER, "-0042", -42),
    (Cast.INTEGER, "", U),
    (Cast.INTEGER, "-", U),
    (Cast.INTEGER, "1_000", U),
    (Cast.INTEGER, " 1", U),
    (Cast.INTEGER, "0x10", U),
    (Cast.INTEGER, "1.0", U),
    (Cast.INTEGER, "٣", U),
    (Cast.INTEGER, str(BIG), BIG),
    (Cast.INTEGER, str(BIG + 1), U),
    (Cast.INTEGER, str(LEAST), LEAST),
    (Cast.INTEGER, "0" * 63 + "7", 7),
    (Cast.INTEGER, "0" * 64 + "7", U),
    (Cast.INTEGER, 2.9, 2),
    (Cast.INTEGER, -2.9, -2),
    (Cast.INTEGER, 1e300, U),
    (Cast.INTEGER, T, 1),
    (Cast.INT32, "2147483647", 2**31 - 1),
    (Cast.INT32, "2147483648", U),
    (Cast.INT32, 2**31, U),
    (Cast.DOUBLE, "1.5", 1.5),
    (Cast.DOUBLE, ".5e1", 5.0),
    (Cast.DOUBLE, "5.", 5.0),
    (Cast.DOUBLE, ".", U),
    (Cast.DOUBLE, "1e", U),
    (Cast.DOUBLE, "nan", U),
    (Cast.DOUBLE, "inf", U),
    (Cast.DOUBLE, "0x1p3", U),
    (Cast.DOUBLE, "1e999", U),
    (Cast.DOUBLE, 3, 3.0),
    (Cast.DOUBLE, F, 0.0),
    (Cast.TEXT, 42, "42"),
    (Cast.TEXT, LEAST, str(LEAST)),
    (Cast.TEXT, T, "true"),
    (Cast.TEXT, "x", "x"),
    (Cast.TEXT, 1.5, U),
    (Cast.TEXT, 1e300, U),
]

FUNCTIONS: list[tuple[Opcode, tuple[Value | None, ...], Value | None]] = [
    (Opcode.LENGTH, ("",), 0),
    (Opcode.LENGTH, ("añ€𐐀",), 4),
    (Opcode.LENGTH, (5,), U),
    (Opcode.UPPER, ("aß.é",), "Aß.É"),
    (Opcode.LOWER, ("AÉİ",), "aéİ"),
    (Opcode.TRIM, (" \t a b\n",), "a b"),
    (Opcode.TRIM, ("\r\v\fa b\f\v\r",), "a b"),
    (Opcode.TRIM, ("\x0ea\x08",), "\x0ea\x08"),
    (Opcode.TRIM, ("\u00a0a",), "\u00a0a"),
    (Opcode.TRIM, ("   ",), ""),
    (Opcode.CONCAT, ("a", "é"), "aé"),
    (Opcode.CONCAT, ("a", 1), U),
    (Opcode.CONCAT, ("a" * 2048, "b" * 2049), U),
    (Opcode.SUBSTRING, ("añ€d", 2, 2), "ñ€"),
    (Opcode.SUBSTRING, ("añ€d", -2, 9), "€d"),
    (Opcode.SUBSTRING, ("abc", 0, 2), ""),
    (Opcode.SUBSTRING, ("abc", 3, 1), "c"),
    (Opcode.SUBSTRING, ("abc", -3, 1), "a"),
    (Opcode.SUBSTRING, ("añ€", 1, 2**63 - 1), "añ€"),
    (Opcode.SUBSTRING, ("abc", -(2**63), 1), U),
    (Opcode.SUBSTRING, ("abc", 4, 1), U),
    (Opcode.SUBSTRING, ("abc", -4, 1), U),
    (Opcode.SUBSTRING, ("abc", 1, -1), U),
    (Opcode.SUBSTRING, ("abc", 1, 1.5), U),
    (Opcode.SUBSTRING, ("abc", T, 1), U),
    (Opcode.SUBSTRING, ("", 0, 1), ""),
    (Opcode.LEFT, ("añ€", 2), "añ"),
    (Opcode.LEFT, ("añ€", 9), "añ€"),
    (Opcode.LEFT, ("abc", -1), U),
    (Opcode.RIGHT, ("añ€", 2), "ñ€"),
    (Opcode.RIGHT, ("añ€", 9), "añ€"),
    (Opcode.RIGHT, ("añ€", 0), ""),
]

TEXTS = [
    (Opcode.SAME_FOLDED, ("Straße", "STRAßE"), 0, T),
    (Opcode.SAME_FOLDED, ("ß", "SS"), 0, F),
    (Opcode.SAME_FOLDED, ("\u212a", "k"), 0, T),
    (Opcode.SAME_FOLDED, ("\u017f", "S"), 0, T),
    (Opcode.SAME_FOLDED, ("Σς", "\u03c3\u03c3"), 0, T),
    (Opcode.SAME_FOLDED, ("İ", "i"), 0, F),
    (Opcode.SAME_FOLDED, ("ǅ", "ǆ"), 0, T),
    (Opcode.SAME_FOLDED, ("ẞ", "ß"), 0, T),
    (Opcode.SAME_FOLDED, ("a", "ab"), 0, F),
    (Opcode.SAME_FOLDED, ("a", 1), 0, F),
    (Opcode.SAME_FOLDED, (U, "a"), 0, U),
    (Opcode.PREFIX, ("abc", "ab"), 0, T),
    (Opcode.PREFIX, ("Abc", "ab"), 0, F),
    (Opcode.PREFIX, ("Abc", "aB"), 1, T),
    (Opcode.PREFIX, ("\u212ab", "KB"), 1, T),
    (Opcode.PREFIX, ("k", "\u212a"), 1, T),
    (Opcode.PREFIX, ("a", ""), 1, T),
    (Opcode.SUFFIX, ("abc", "bc"), 0, T),
    (Opcode.SUFFIX, ("abÉ", "Bé"), 1, T),
    (Opcode.SUFFIX, ("é", "aé"), 1, F),
    (Opcode.CONTAINS, ("abc", "b"), 0, T),
    (Opcode.CONTAINS, ("abc", ""), 0, T),
    (Opcode.CONTAINS, ("abc", "B"), 0, F),
    (Opcode.CONTAINS, ("", "a"), 0, F),
]

ALL = [
    *(value for _, values, _, value in (*COMPARISONS, *ARITHMETIC, *TEXTS)),
    *(value for _, _, value in (*LOGIC, *CASTS, *FUNCTIONS)),
]
EXPECTED: dict[KindBit, list[Value | None]] = {
    KindBit.INTEGER: [value for value in ALL if type(value) is int],
    KindBit.DOUBLE: [value for value in ALL if type(value) is float],
    KindBit.TEXT: [value for value in ALL if type(value) is str],
}


@pytest.mark.parametrize(("op", "values", "expected"), LOGIC + FUNCTIONS)
def test_logic_and_functions(op: Opcode, values: tuple[Value | None, ...], expected: Value | None) -> None:
    assert _same(result(op, *values), expected)


@pytest.mark.parametrize(("op", "values", "a", "expected"), COMPARISONS + ARITHMETIC + TEXTS)
def test_comparisons_arithmetic_and_texts(
    op: Opcode, values: tuple[Value | None, ...], a: int, expected: Value | None
) -> None:
    assert _same(result(op, *values, a=a), expected)


@pytest.mark.parametrize(("cast", "value", "expected"), CASTS)
def test_casts(cast: Cast, value: Value, expected: Value | None) -> None:
    assert _same(result(Opcode.CAST, value, a=cast), expected)


def _same(found: Value | None, expected: Value | None) -> bool:
    return type(found) is type(expected) and found == expected


GLOBS = [
    ("%", "", T),
    ("", "", T),
    ("", "a", F),
    ("a%a", "a", F),
    ("a%a", "aa", T),
    ("a%b%c", "aXbXc", T),
    ("a%b%c", "abXcb", F),
    ("%b_d%", "abbcd", T),
    ("_", "", F),
    ("_", "𐐀", T),
    ("__", "é", F),
    ("%_", "", F),
    ("%_%", "é", T),
    ("%é_", "aéé€", T),
    ("a_", "a\n", T),
    ("%aab", "aaaab", T),
    ("%ab%ab", "xab", F),
    ("%ab%b", "xab", F),
    ("a%b_", "ab", F),
    ("%a_%_b", "axb", F),
    ("%a_%_b", "axyb", T),
    ("/var/%/web_.log", "/var/x/y/web1.log", T),
    ("/var/%/web_.log", "/var/web1.log", F),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), GLOBS)
def test_globs(pattern: str, text: str, expected: bool) -> None:
    assert _found(lambda made: made.glob(like(pattern)), text) is expected
    assert _found(lambda made: made.glob(glob(pattern.replace("%", "*").replace("_", "?"))), text) is expected


def test_what_is_no_text_matches_no_pattern() -> None:
    assert _found(lambda made: made.glob(like("%")), 5) is False
    assert _found(lambda made: made.glob(like("%")), None) is None


NETWORKS = [
    ("10.0.0.0/8", "10.255.0.1", T),
    ("10.0.0.0/8", "11.0.0.1", F),
    ("10.0.0.0/9", "10.128.0.0", F),
    ("0.0.0.0/0", "1.2.3.4", T),
    ("0.0.0.0/0", "::1", F),
    ("1.2.3.4/32", "1.2.3.4", T),
    ("1.2.3.4/32", "1.2.3.5", F),
    ("10.0.0.0/8", "10.0.0.01", F),
    ("10.0.0.0/8", "10.1", F),
    ("0.0.0.0/0", "1.2.3.4\0", F),
    ("10.0.0.0/8", "10.0.0.1 ", F),
    ("2001:db8::/33", "2001:db8:7fff::1", T),
    ("2001:db8::/33", "2001:db8:8000::1", F),
    ("::/0", "fe80::1", T),
    ("::/0", "fe80::1%eth0", F),
    ("::/0", "1.2.3.4", F),
    ("::ffff:0:0/96", "::ffff:1.2.3.4", T),
    ("10.0.0.0/8", 10, F),
    ("10.0.0.0/8", None, U),
]


@pytest.mark.parametrize(("network", "value", "expected"), NETWORKS)
def test_networks(network: str, value: Value | None, expected: bool | None) -> None:
    assert _found(lambda made: made.cidr(cidr(network)), value) is expected


def test_sets_and_kinds() -> None:
    def among(value: Value | None) -> Value | None:
        return _found(lambda made: made.among([1, "a", True, 2.5]), value)

    assert [among(value) for value in (1, 1.0, "a", T, 2.5)] == [T] * 5
    assert [among(value) for value in (F, "1", 2, "")] == [F] * 4
    assert among(None) is None
    assert result(Opcode.KIND, 1.0, a=KindBit.INTEGER) is True  # a whole number of 64 bits is an integer
    assert result(Opcode.KIND, 1.5, a=KindBit.NUMBER | KindBit.TEXT) is True
    assert result(Opcode.KIND, None, a=KindBit.NUMBER) is False
    assert result(Opcode.KIND, None, a=KindBit.UNKNOWN) is True


def test_an_error_on_the_left_poisons_an_or_and_one_on_the_right_of_a_true_one_does_not() -> None:
    def verdict(left: str, right: str) -> ResidualVerdict:
        made = Assembler()
        made.attribute(left)
        made.emit(Opcode.REQUIRE)
        end = made.jump(Opcode.JUMP_TRUE)
        made.attribute(right)
        made.emit(Opcode.REQUIRE)
        made.emit(Opcode.OR)
        made.place(end)
        return run(made.program(), {"yes": True, "no": False}, 100).verdict

    assert verdict("absent", "yes") is ResidualVerdict.ERROR
    assert verdict("yes", "absent") is ResidualVerdict.TRUE
    assert verdict("no", "absent") is ResidualVerdict.ERROR
    assert verdict("no", "no") is ResidualVerdict.FALSE


def test_only_a_boolean_is_a_verdict() -> None:
    made = Assembler()
    made.attribute("a")
    program = made.program()
    verdicts = [run(program, {"a": value}, 9).verdict for value in (True, False, 1, "true")]
    assert verdicts == [ResidualVerdict.TRUE, ResidualVerdict.FALSE, ResidualVerdict.UNKNOWN, ResidualVerdict.UNKNOWN]
    assert run(program, {}, 9).verdict is ResidualVerdict.UNKNOWN
    assert run(program, {"b": True}, 9).verdict is ResidualVerdict.UNKNOWN


def test_the_arena_is_used_up_once() -> None:
    made = Assembler()
    for name in ("a", "b"):
        made.attribute(name)
        made.emit(Opcode.UPPER)
        made.emit(Opcode.LENGTH)
    made.emit(Opcode.GT)
    program = made.program()
    assert run(program, {"a": "x" * 2049, "b": "x" * 2047}, 10**6).verdict is ResidualVerdict.TRUE
    assert run(program, {"a": "x" * 2049, "b": "x" * 2048}, 10**6).verdict is ResidualVerdict.UNKNOWN
    grows = "\u0250" * 1000  # two bytes each, and three in upper case
    assert run(program, {"a": grows, "b": "x" * 1096}, 10**6).verdict is ResidualVerdict.FALSE
    assert run(program, {"a": grows + "xx", "b": "x" * 1095}, 10**6).verdict is ResidualVerdict.UNKNOWN


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 7, 8, 9, 12, 256])
def test_a_name_is_a_whole_name(length: int) -> None:
    name = "".join(chr(ord("a") + i % 26) for i in range(length))
    others = [name + "a", name[:-1], *(name[:i] + "Z" + name[i + 1 :] for i in range(length))]
    others = [other for other in others if 0 < len(other) <= 256][-60:]
    made = Assembler()
    made.exists(name)
    program = made.program()
    assert run(program, dict.fromkeys(others, 1), 99).verdict is ResidualVerdict.FALSE
    assert run(program, {**dict.fromkeys(others, 1), name: 1}, 99).verdict is ResidualVerdict.TRUE
    assert run(program, {name + "a": 1} if length < 256 else {}, 99).verdict is ResidualVerdict.FALSE


@pytest.mark.parametrize(("real", "integer"), [(6e18, 6 * 10**18), (-(2.0**63), LEAST), (2.0**63, None), (-1e19, None)])
def test_whole_doubles_are_cast_inside_64_bits(real: float, integer: int | None) -> None:
    """A message has no such double, a program may."""
    for cast, expected in ((Cast.INTEGER, integer), (Cast.TEXT, None if integer is None else str(integer))):
        made = Assembler()
        made.constant(real)
        made.emit(Opcode.CAST, cast)
        made.emit(Opcode.KIND, KindBit.UNKNOWN)
        assert run(made.program(), {}, 9).verdict is ResidualVerdict(expected is None)
        if expected is not None:
            made = Assembler()
            made.constant(real)
            made.emit(Opcode.CAST, cast)
            made.constant(expected)
            made.emit(Opcode.EQ)
            assert run(made.program(), {}, 9).verdict is ResidualVerdict.TRUE


@pytest.mark.parametrize(
    ("emit", "attributes", "steps"),
    [
        (lambda made: (made.attribute("a"), made.attribute("b"), made.emit(Opcode.LT)), {"a": 1, "b": 2}, 3),
        (
            lambda made: (made.attribute("a"), made.attribute("b"), made.emit(Opcode.LT)),
            {"a": "x" * 40, "b": "x" * 33},
            5,
        ),
        (lambda made: (made.attribute("a"), made.emit(Opcode.LENGTH)), {"a": "é" * 16}, 4),
        (lambda made: made.exists("a"), {f"n{i}": 0 for i in range(17)}, 3),
        (lambda made: (made.attribute("a"), made.among(range(5))), {"a": 3}, 7),
        (lambda made: (made.attribute("a"), made.glob(like("%b%"))), {"a": "x" * 64}, 6),
        (lambda made: (made.attribute("a"), made.glob(like("%_%"))), {"a": "x" * 64}, 18),
        (lambda made: (made.attribute("a"), made.glob(like("%" + "b" * 31))), {"a": "x" * 64}, 14),
    ],
)
def test_steps(emit: Emit, attributes: dict[str, Value], steps: int) -> None:
    made = Assembler()
    emit(made)
    program = made.program()
    assert run(program, attributes, 1000).steps == steps
    assert run(program, attributes, steps).steps == steps
    assert run(program, attributes, steps - 1) == (ResidualVerdict.OVER, steps)
