"""Random residual programs and messages, of small alphabets so that values meet."""

from __future__ import annotations

from random import Random

from tamis.protocol.errors import Refused
from tamis.protocol.residual import Arithmetic, Assembler, Cast, Cidr, Glob, Opcode, Program
from tamis.protocol.values import Value

NAMES = ("a", "b", "ab", "ba", "name-of-sixteen", "ä")
KINDS = {"number": ("a", "b"), "text": ("ab", "ba", "ä"), "truth": ("name-of-sixteen",)}
"""What the attributes of these names mostly are."""
INTEGERS = (0, 1, -1, 2, 3, 7, 10, -12, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63))
DOUBLES = (0.5, -0.0, 1.5, 2.5, 2.0, 1e18, 9007199254740992.0, 2.0**63, -(2.0**63), 1e308, 5e-324, -3.25)
ADDRESSES = (
    "10.1.2.3",
    "10.255.0.1",
    "192.168.1.1",
    "2001:db8::1",
    "::ffff:10.1.2.3",
    "::",
    "10.01.2.3",
    "1.2.3",
    "fe80::1%0",
)
NUMERALS = (
    "12",
    "-7",
    "+5",
    "007",
    "1.5",
    ".5",
    "5.",
    "1e3",
    "-1.25E-2",
    "9223372036854775808",
    "1e999",
    "0x1",
    "1_0",
    "٣",
)
WORDS = (
    "",
    "true",
    "FALSE",
    "TrUe",
    " ab ",
    "\tAbc\n",
    "ABC",
    "abc",
    "aBc",
    "ß",
    "ẞ",
    "İi",
    "\u017fs",
    "Kk",
    "ÄÖ",
    "äö",
    "ǅ",
    "ᾈ",
)
ALPHABET = "aab bA%_éÉ€𐐀𐐀𐐨"
COMPARISONS = (Opcode.EQ, Opcode.NE, Opcode.LT, Opcode.LE, Opcode.GT, Opcode.GE)


def text(random: Random) -> str:
    """Return a text, now and then a long one."""
    match random.randrange(8):
        case 0:
            return random.choice(ADDRESSES)
        case 1:
            return random.choice(NUMERALS)
        case 2 | 3:
            return random.choice(WORDS)
        case 4 if random.random() < 0.3:
            return "".join(random.choices(ALPHABET, k=random.choice((17, 60, 400, 1400))))
        case _:
            return "".join(random.choices(ALPHABET, k=random.randrange(9)))


def value(random: Random, kind: str = "") -> Value:
    """Return a value, mostly of this kind."""
    if not kind or random.random() < 0.1:
        kind = random.choice(("truth", "number", "text"))
    if kind == "truth":
        return random.random() < 0.5
    return text(random) if kind == "text" else random.choice(random.choice((INTEGERS, DOUBLES, INTEGERS[:6])))


def message(random: Random) -> dict[str, Value]:
    """Return attributes, of which some are those that programs ask for."""
    made = {f"other{i}": value(random) for i in range(random.choice((0, 0, 3, 20)))}
    for kind, names in KINDS.items():
        made |= {name: value(random, kind) for name in names if random.random() < 0.9}
    return made


def pattern(random: Random) -> Glob:
    pieces = random.choices(
        [b"\xff", b"\xfe", b"a", b"b", b"ab", "é".encode(), "𐐀".encode(), b"A"], k=random.randrange(8)
    )
    return Glob(b"".join(pieces))


def network(random: Random) -> Cidr:
    size = random.choice((4, 16))
    start = random.choice((b"\x0a\x01\x02\x03", b"\xc0\xa8\x01\x01")) if size == 4 else b"\x20\x01\x0d\xb8"
    return Cidr(start.ljust(size, b"\0"), random.choice((0, 1, 7, 8, 13, 16, 24, 31, size * 8)))


class Drawing:
    """One random program: an expression tree, written down in order."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.made = Assembler()

    def program(self) -> Program:
        self._expression(self.random.randrange(6), "truth")
        return self.made.program()

    def _expression(self, depth: int, kind: str) -> None:
        random = self.random
        if random.random() < 0.1:
            kind = random.choice(("truth", "number", "text"))
        if depth <= 0 or random.random() < 0.05:
            self._leaf(kind)
            return
        if random.random() < 0.1:
            self._jumps(depth, kind)
            return
        {"truth": self._truth, "number": self._number, "text": self._text}[kind](depth - 1)
        if random.random() < 0.02:
            self.made.emit(Opcode.REQUIRE)

    def _leaf(self, kind: str) -> None:
        random = self.random
        if random.random() < 0.6:
            self.made.attribute(random.choice(NAMES if random.random() < 0.1 else KINDS[kind]))
        elif random.random() < 0.1:
            self.made.exists(random.choice(NAMES))
        else:
            self.made.constant(value(random, kind))

    def _jumps(self, depth: int, kind: str) -> None:
        self._expression(depth - 2, "truth")
        if self.random.random() < 0.5:
            label = self.made.jump(self.random.choice((Opcode.JUMP_FALSE, Opcode.JUMP_TRUE, Opcode.JUMP_UNKNOWN)))
            if self.random.random() < 0.5:
                self.made.emit(Opcode.DROP)
                self._expression(depth - 2, kind)
            else:
                self._expression(depth - 2, "truth")
                self.made.emit(self.random.choice((Opcode.AND, Opcode.OR)))
            self.made.place(label)
            return
        other = self.made.jump(Opcode.BRANCH)
        self._expression(depth - 2, kind)
        end = self.made.jump(Opcode.JUMP)
        self.made.place(other)
        self._expression(depth - 2, kind)
        self.made.place(end)

    def _truth(self, depth: int) -> None:
        random, made = self.random, self.made
        match random.randrange(11):
            case 0 | 1 | 2:
                kind = random.choice(("number", "text", "truth"))
                self._two(depth, kind, kind, random.choice(COMPARISONS), random.randrange(4))
            case 3 | 4:
                self._two(depth, "truth", "truth", random.choice((Opcode.AND, Opcode.OR)))
            case 5:
                self._one(depth, "truth", Opcode.NOT)
            case 6:
                self._one(depth, random.choice(("truth", "number", "text")), Opcode.KIND, random.randrange(1, 32))
            case 7:
                self._expression(depth, random.choice(("number", "text")))
                made.among([value(random) for _ in range(random.randrange(1, 5))])
            case 8:
                self._expression(depth, "text")
                made.glob(pattern(random))
            case 9:
                self._expression(depth, "text")
                made.cidr(network(random))
            case _:
                op = random.choice((Opcode.SAME_FOLDED, Opcode.PREFIX, Opcode.SUFFIX, Opcode.CONTAINS))
                self._two(depth, "text", "text", op, random.randrange(2) if op in (Opcode.PREFIX, Opcode.SUFFIX) else 0)

    def _number(self, depth: int) -> None:
        random = self.random
        match random.randrange(6):
            case 0:
                self._one(depth, "text", Opcode.LENGTH)
            case 1:
                cast = random.choice((Cast.INTEGER, Cast.DOUBLE, Cast.INT32))
                self._one(depth, random.choice(("text", "number")), Opcode.CAST, cast)
            case 2:
                self._one(depth, "number", Opcode.NEG, random.randrange(3))
            case _:
                op = random.choice((Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.DIV, Opcode.MOD))
                most = Arithmetic.REAL if op is Opcode.DIV else Arithmetic.INT32
                self._two(depth, "number", "number", op, random.randrange(most + 1))

    def _text(self, depth: int) -> None:
        random = self.random
        match random.randrange(6):
            case 0 | 1:
                self._one(depth, "text", random.choice((Opcode.UPPER, Opcode.LOWER, Opcode.TRIM)))
            case 2:
                self._two(depth, "text", "text", Opcode.CONCAT)
            case 3:
                self._two(depth, "text", "number", random.choice((Opcode.LEFT, Opcode.RIGHT)))
            case 4:
                self._expression(depth, "text")
                self._two(depth, "number", "number", Opcode.SUBSTRING)
            case _:
                self._one(
                    depth, random.choice(("number", "truth")), Opcode.CAST, random.choice((Cast.TEXT, Cast.BOOLEAN))
                )

    def _one(self, depth: int, kind: str, op: Opcode, a: int = 0) -> None:
        self._expression(depth, kind)
        self.made.emit(op, a)

    def _two(self, depth: int, left: str, right: str, op: Opcode, a: int = 0) -> None:
        self._expression(depth, left)
        self._expression(depth, right)
        self.made.emit(op, a)


def program(random: Random) -> Program:
    """Return a program; of those that grow too large, another one."""
    while True:
        try:
            return Drawing(random).program()
        except Refused:
            continue


def mutated(random: Random, packed: bytes) -> bytes:
    """Return bytes that differ little from those of a program."""
    changed = bytearray(packed)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = random.randrange(min(len(changed), 300) if random.random() < 0.7 else len(changed))
        match random.randrange(6):
            case 0:
                changed[at] = random.randrange(256)
            case 1 | 2:
                changed[at] = (changed[at] + random.choice((1, -1, 2))) % 256
            case 3:
                changed[at] = random.randrange(45)
            case 4:
                del changed[at:]
            case _:
                changed.insert(at, random.randrange(256))
        if not changed:
            break
    return bytes(changed)
