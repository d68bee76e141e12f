"""Constraint, filter and predicate as immutable values.

Law: an object that exists is within the limits and has operands of the kinds its operator takes. Operands are kept in
canonical form (1.0 is 1, an `in` is a sorted set); otherwise a filter is as it was written. `normal.py` gives the form
in which equal meanings are equal objects. Only `evaluate.py` defines the meaning of an operator.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.values import Value, ValueKind, canonical, check_name, check_value, identity, kind_of


class Op(enum.Enum):
    """An operator; its value is its name in JSON. A normal form orders operators as they are declared here."""

    EXISTS = "exists"
    EQ = "="
    IN = "in"
    BETWEEN = "between"
    GT = ">"
    GE = ">="
    LT = "<"
    LE = "<="
    NE = "!="
    PREFIX = "prefix"
    SUFFIX = "suffix"
    CONTAINS = "contains"

    __hash__ = object.__hash__  # the hash of Enum is written in Python, and slower

    rank: int
    """Its place among the operators."""


for _rank, _op in enumerate(Op):
    _op.rank = _rank
PATTERN_OPS = frozenset({Op.PREFIX, Op.SUFFIX, Op.CONTAINS})
ORDER_OPS = frozenset({Op.LT, Op.LE, Op.GT, Op.GE})

_ANY = frozenset(ValueKind)
_ORDERED = frozenset({ValueKind.NUMBER, ValueKind.STRING})
_STRING = frozenset({ValueKind.STRING})
_KINDS = {
    **dict.fromkeys((Op.EQ, Op.NE, Op.IN), _ANY),
    **dict.fromkeys((Op.LT, Op.LE, Op.GT, Op.GE, Op.BETWEEN), _ORDERED),
    **dict.fromkeys(PATTERN_OPS, _STRING),
}
_COUNTS = {Op.EXISTS: 0, Op.BETWEEN: 2}


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """One condition on one attribute. A negated constraint holds exactly where the plain one does not, also if the
    attribute is absent."""

    name: str
    op: Op
    operands: tuple[Value, ...] = ()
    negated: bool = False

    def __post_init__(self) -> None:
        check_name(self.name)
        object.__setattr__(self, "operands", _checked_operands(self.op, self.operands))

    @property
    def identity(self) -> tuple[object, ...]:
        """A sortable key, equal for equal constraints only: name, plain before negated, operator, operands."""
        return (self.name, self.negated, self.op.rank, tuple(map(identity, self.operands)))

    def __eq__(self, other: object) -> bool:
        return self.identity == other.identity if isinstance(other, Constraint) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.identity)

    def negate(self) -> Constraint:
        return _made(self.name, self.op, self.operands, not self.negated)

    def renamed(self, name: str) -> Constraint:
        """Return the same condition on another attribute, whose name another constraint has."""
        return _made(name, self.op, self.operands, self.negated)


def _made(name: str, op: Op, operands: tuple[Value, ...], negated: bool) -> Constraint:
    """Return a constraint of parts that are checked."""
    made = object.__new__(Constraint)
    object.__setattr__(made, "name", name)
    object.__setattr__(made, "op", op)
    object.__setattr__(made, "operands", operands)
    object.__setattr__(made, "negated", negated)
    return made


@dataclass(frozen=True, slots=True)
class Filter:
    """A conjunction; without constraints it matches every message."""

    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", tuple(self.constraints))
        if len(self.constraints) > limits.CONSTRAINTS_MAX:
            raise Refused(
                f"a filter has at most {limits.CONSTRAINTS_MAX} constraints, this one {len(self.constraints)}"
            )


@dataclass(frozen=True, slots=True)
class Predicate:
    """A disjunction; without filters it matches nothing."""

    filters: tuple[Filter, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", tuple(self.filters))


EVERYTHING = Filter()
NOTHING = Predicate()


def _checked_operands(op: Op, operands: tuple[Value, ...]) -> tuple[Value, ...]:
    if len(operands) == 1 and _is_plain(op, operands[0]):
        return tuple(operands)
    _check_count(op, len(operands))
    bytes_max = limits.PATTERN_BYTES_MAX if op in PATTERN_OPS else limits.OPERAND_BYTES_MAX
    values = tuple([canonical(check_value(value, bytes_max)) for value in operands])
    kinds = _KINDS.get(op, _ANY)
    for value in values:
        if kinds is not _ANY and kind_of(value) not in kinds:
            allowed = " or ".join(sorted(kind.name.lower() for kind in kinds))
            raise Refused(f"operator {op.value} takes a {allowed}, not the {kind_of(value).name.lower()} {value!r}")
    if op is Op.BETWEEN:
        _check_bounds(values[0], values[1])
    if op is Op.IN:
        return tuple(sorted({identity(value): value for value in values}.values(), key=identity))
    return values


def _is_plain(op: Op, operand: Value) -> bool:
    """Return whether an operator that takes one operand has a short text or an integer, as most have."""
    if op is Op.EXISTS or op is Op.BETWEEN:
        return False
    if type(operand) is str:
        return operand.isascii() and len(operand) <= limits.PATTERN_BYTES_MAX
    return type(operand) is int and limits.INT_MIN <= operand <= limits.INT_MAX and op not in PATTERN_OPS


def _check_count(op: Op, count: int) -> None:
    if op is Op.IN:
        if not 1 <= count <= limits.IN_VALUES_MAX:
            raise Refused(f"operator in takes 1 to {limits.IN_VALUES_MAX} values, this one has {count}")
        return
    expected = _COUNTS.get(op, 1)
    if count != expected:
        raise Refused(f"operator {op.value} takes {expected} value{'s' * (expected != 1)}, this one has {count}")


def _check_bounds(low: Value, high: Value) -> None:
    if kind_of(low) is not kind_of(high):
        raise Refused(f"between takes two numbers or two strings, not {low!r} and {high!r}")
    if identity(low) > identity(high):
        raise Refused(f"between needs the lower bound first: {low!r} is above {high!r}")
