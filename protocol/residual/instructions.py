"""The instructions of a residual program: their numbers, their operands, and what they mean.

A value is unknown, a boolean, a 64-bit integer, a finite double or a text. Instructions take values from a stack of
STACK_MAX and put one back. A value that an instruction has no result for becomes unknown, never a fault:

    loads        `constant`, `attribute` (unknown where it is absent), `exists` (a boolean)
    comparisons  unknown if a value is. Integers and doubles compare exactly, texts by code point; booleans are equal or
                 not and have no order. Values of other kinds are Mixed: false, also for `ne`, or unknown
    logic        three-valued: `false and unknown` is false, `true or unknown` is true; what is no boolean is unknown
    jumps        forward only. `jump_false`, `jump_true`, `jump_unknown` look at the top and leave it; `branch` takes it
                 and jumps unless it is true
    require      ends the program with the verdict ERROR if the top is unknown: a language whose errors spread has it
                 behind each step that may fail
    arithmetic   of numbers, see Arithmetic. Never a NaN or an infinity: what is not finite is unknown, and so is a
                 division by zero. Integer division cuts towards zero, a remainder has the sign of the first number
    cast         see Cast
    kind         true if the kind of the value is in a set; of unknown as well
    in           true if the value equals one of `b` constants from `a` on; unknown if it is unknown
    texts        `glob` and the folded comparisons of anything but texts are Mixed.FALSE; of unknown, unknown. `cidr` is
                 true if the text is an IPv4 or IPv6 address inside the network
    functions    of a text that is none: unknown. Positions count characters (code points) from 1. `substring` takes
                 text, start, length: a negative start counts from the end, 0 gives "", a start outside and a negative
                 length are unknown. `left` and `right` take text and length. `upper`, `lower` and folding map each
                 character to one (cases.py); `trim` removes ASCII white space. `upper`, `lower`, `concat` and casts of
                 integers to text use the arena: unknown once ARENA_BYTES are used up

Law: numbers never change; native/residual/residual.h has the same (a test compares them).

Cost: an instruction is a step. Those that read texts cost a step more for each TEXT_STEP_BYTES: a comparison of the
shorter one, a function of all of its texts. `glob` and `contains` cost this once more for each TEXT_STEP_BYTES of the
pattern, or for each byte of a pattern with a `?`, where the search has no better bound. An attribute costs a step more
for each ATTRIBUTE_STEP attributes of the message, `in` one for each constant.
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

from tamis.protocol import limits

VERSION: Final = 1
CONSTANTS_MAX: Final = 64
TEXT_BYTES_MAX: Final = 1024
INSTRUCTIONS_MAX: Final = 256
PROGRAM_BYTES_MAX: Final = limits.RESIDUAL_BYTES_MAX
STACK_MAX: Final = 16
ARENA_BYTES: Final = 4096
TEXT_STEP_BYTES: Final = 16
ATTRIBUTE_STEP: Final = 8
NUMBER_BYTES_MAX: Final = 64
"""A longer text is not cast to a number."""


class Opcode(enum.IntEnum):
    CONSTANT = 0
    ATTRIBUTE = 1
    EXISTS = 2
    EQ = 3
    NE = 4
    LT = 5
    LE = 6
    GT = 7
    GE = 8
    NOT = 9
    AND = 10
    OR = 11
    JUMP = 12
    JUMP_FALSE = 13
    JUMP_TRUE = 14
    JUMP_UNKNOWN = 15
    BRANCH = 16
    DROP = 17
    REQUIRE = 18
    ADD = 19
    SUB = 20
    MUL = 21
    DIV = 22
    MOD = 23
    NEG = 24
    CAST = 25
    KIND = 26
    IN = 27
    GLOB = 28
    CIDR = 29
    SAME_FOLDED = 30
    PREFIX = 31
    SUFFIX = 32
    CONTAINS = 33
    LENGTH = 34
    UPPER = 35
    LOWER = 36
    TRIM = 37
    SUBSTRING = 38
    LEFT = 39
    RIGHT = 40
    CONCAT = 41


class Mixed(enum.IntFlag):
    """How a comparison treats values that do not compare."""

    FALSE = 0
    UNKNOWN = 1
    NUMBERS_ONLY = 2
    """Not even two texts have an order."""


class Arithmetic(enum.IntEnum):
    """The numbers that an operation is made with."""

    WIDE = 0
    """64-bit integers; a result that is too large becomes the nearest double. A double makes the result one."""
    INT64 = 1
    """As WIDE, but a result of integers that is too large is unknown."""
    INT32 = 2
    """32-bit integers alone: any other operand or result is unknown."""
    REAL = 3
    """Of `div` alone: the quotient of two integers is an integer only if nothing is left, else a double."""


class Cast(enum.IntEnum):
    """What a value becomes; what cannot be cast becomes unknown."""

    BOOLEAN = 1
    """Of a number whether it is not 0; of the texts "true" and "false" in any case of ASCII."""
    INTEGER = 2
    """Of a boolean 0 or 1; of a double its whole part; of a text of decimal digits with or without a sign."""
    DOUBLE = 3
    """Of a text like `-12.5e3`."""
    TEXT = 4
    """"true", "false", decimal digits; of a double only if it is whole and a 64-bit integer."""
    INT32 = 5
    """As INTEGER, inside 32 bits."""


class KindBit(enum.IntFlag):
    """The kinds of a value, for `kind`."""

    UNKNOWN = 1
    BOOLEAN = 2
    INTEGER = 4
    DOUBLE = 8
    TEXT = 16

    NUMBER = 12


class Takes(enum.Enum):
    """What stands in the operand `a` of an instruction."""

    __hash__ = object.__hash__  # the hash of Enum is written in Python, and slower

    NOTHING = "nothing"
    VALUE = "a constant"
    NAME = "a text of 1 to 256 bytes"
    GLOB = "a glob"
    CIDR = "a network"
    MIXED = "a Mixed"
    ARITHMETIC = "an Arithmetic"
    DIVISION = "an Arithmetic, or REAL"
    CAST = "a Cast"
    KINDS = "a set of KindBit"
    FOLDED = "0 or 1: folded"
    SET = "the first of `b` constants"
    TARGET = "nothing; `b` is the place that it jumps to"


class Instruction(NamedTuple):
    op: Opcode
    a: int = 0
    b: int = 0


class StackEffect(NamedTuple):
    """The values that an instruction takes from the stack and puts on it, and its operand."""

    pops: int
    pushes: int
    takes: Takes = Takes.NOTHING


_COMPARISON: Final = StackEffect(2, 1, Takes.MIXED)
_ARITHMETIC: Final = StackEffect(2, 1, Takes.ARITHMETIC)
_PEEK: Final = StackEffect(1, 1, Takes.TARGET)
_OF_ONE: Final = StackEffect(1, 1)
_OF_TWO: Final = StackEffect(2, 1)

EFFECTS: Final[dict[Opcode, StackEffect]] = {
    Opcode.CONSTANT: StackEffect(0, 1, Takes.VALUE),
    Opcode.ATTRIBUTE: StackEffect(0, 1, Takes.NAME),
    Opcode.EXISTS: StackEffect(0, 1, Takes.NAME),
    **dict.fromkeys((Opcode.EQ, Opcode.NE, Opcode.LT, Opcode.LE, Opcode.GT, Opcode.GE), _COMPARISON),
    Opcode.NOT: _OF_ONE,
    Opcode.AND: _OF_TWO,
    Opcode.OR: _OF_TWO,
    Opcode.JUMP: StackEffect(0, 0, Takes.TARGET),
    **dict.fromkeys((Opcode.JUMP_FALSE, Opcode.JUMP_TRUE, Opcode.JUMP_UNKNOWN), _PEEK),
    Opcode.BRANCH: StackEffect(1, 0, Takes.TARGET),
    Opcode.DROP: StackEffect(1, 0),
    Opcode.REQUIRE: _OF_ONE,
    **dict.fromkeys((Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.MOD), _ARITHMETIC),
    Opcode.DIV: StackEffect(2, 1, Takes.DIVISION),
    Opcode.NEG: StackEffect(1, 1, Takes.ARITHMETIC),
    Opcode.CAST: StackEffect(1, 1, Takes.CAST),
    Opcode.KIND: StackEffect(1, 1, Takes.KINDS),
    Opcode.IN: StackEffect(1, 1, Takes.SET),
    Opcode.GLOB: StackEffect(1, 1, Takes.GLOB),
    Opcode.CIDR: StackEffect(1, 1, Takes.CIDR),
    Opcode.SAME_FOLDED: _OF_TWO,
    Opcode.PREFIX: StackEffect(2, 1, Takes.FOLDED),
    Opcode.SUFFIX: StackEffect(2, 1, Takes.FOLDED),
    Opcode.CONTAINS: _OF_TWO,
    **dict.fromkeys((Opcode.LENGTH, Opcode.UPPER, Opcode.LOWER, Opcode.TRIM), _OF_ONE),
    Opcode.SUBSTRING: StackEffect(3, 1),
    Opcode.LEFT: _OF_TWO,
    Opcode.RIGHT: _OF_TWO,
    Opcode.CONCAT: _OF_TWO,
}
