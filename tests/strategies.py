"""Hypothesis strategies for values, filters and messages, built for the shapes that hurt.

Law: everything drawn here is within the limits, and small enough that two draws often meet: three names, two letters,
shared prefixes, repeated substrings, neighbouring numbers, values of several kinds under one name. `neighbours`
gives the values at which a constraint on `value` can change its mind; `messages_near` draws from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tamis.protocol import limits
from tamis.protocol.filters import PATTERN_OPS, Constraint, Filter, Op, Predicate
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.values import Value, canonical, identity

NAMES = ("a", "b", "c")
ALPHABET = "ab"
TOP = "\U0010ffff"

# Below, between and above the surrogates, and past 16 bits: where the orders of UTF-8 and UTF-16 part.
AWKWARD_STRINGS = ("", "\0", "a\0", "a\0\0", "é", "\ud7ff", "\ue000", "\uffff", "\U00010000", TOP, "a" + TOP, TOP + "a")
AWKWARD_NUMBERS: tuple[int | float, ...] = (
    *(2**53 - 1, 2**53, 2**53 + 1, float(2**53), float(2**53 + 2)),
    *(limits.INT_MIN, limits.INT_MIN + 1, limits.INT_MAX - 1, limits.INT_MAX),
    *(2.0**63, -(2.0**63), math.nextafter(2.0**63, 0), math.nextafter(-(2.0**63), -math.inf)),
    *(5e-324, -5e-324, -0.0, 1e308, math.nextafter(math.inf, 0), math.nextafter(-math.inf, 0)),
    *(math.nextafter(1.0, 0), math.nextafter(1.0, 2), 0.5, 1.0, 1.5),
)


def names() -> SearchStrategy[str]:
    return st.sampled_from(NAMES)


def wide_names() -> SearchStrategy[str]:
    """Any name the model allows: quotes, spaces, words of the language, non-ASCII."""
    odd = st.sampled_from(["and", "not", "true", "between", "a b", "`", '"', "é", TOP, "a-b", "a.b", "1", "\0"])
    return names() | odd | st.text(min_size=1, max_size=20)


def strings() -> SearchStrategy[str]:
    return st.text(ALPHABET, max_size=4) | st.sampled_from(AWKWARD_STRINGS)


def numbers() -> SearchStrategy[int | float]:
    return st.integers(-2, 4) | st.sampled_from(AWKWARD_NUMBERS)


def values() -> SearchStrategy[Value]:
    return strings() | numbers() | st.booleans()


def wide_values() -> SearchStrategy[Value]:
    """Any value the model allows, for codecs: no bias towards small or equal ones beyond Hypothesis's own."""
    integers = st.integers(limits.INT_MIN, limits.INT_MAX)
    return values() | st.text(max_size=60) | integers | st.floats(allow_nan=False, allow_infinity=False)


def operands(op: Op) -> SearchStrategy[tuple[Value, ...]]:
    """Operands that `op` takes."""
    if op is Op.EXISTS:
        return st.just(())
    if op is Op.IN:
        return st.lists(values(), min_size=1, max_size=4).map(tuple)
    if op is Op.BETWEEN:
        return (st.tuples(numbers(), numbers()) | st.tuples(strings(), strings())).map(_in_order)
    if op in PATTERN_OPS:
        return st.tuples(strings())
    return st.tuples(values() if op in (Op.EQ, Op.NE) else strings() | numbers())


def _in_order(pair: tuple[Value, Value]) -> tuple[Value, ...]:
    return tuple(sorted(pair, key=identity))


@st.composite
def constraints(draw: st.DrawFn, name: SearchStrategy[str] | None = None, negated: bool | None = None) -> Constraint:
    op = draw(st.sampled_from(list(Op)))
    flip = draw(st.sampled_from([False, False, True])) if negated is None else negated
    return Constraint(draw(names() if name is None else name), op, draw(operands(op)), flip)


def filters(max_size: int = 4, name: SearchStrategy[str] | None = None) -> SearchStrategy[Filter]:
    """Conjunctions; many contradict themselves, as those of users do."""
    return st.lists(constraints(name), max_size=max_size).map(lambda chosen: Filter(tuple(chosen)))


def predicates(max_size: int = 3) -> SearchStrategy[Predicate]:
    return st.lists(filters(), max_size=max_size).map(lambda chosen: Predicate(tuple(chosen)))


def attributes() -> SearchStrategy[dict[str, Value]]:
    return st.dictionaries(names(), values(), max_size=len(NAMES))


def wide_attributes(max_size: int = 8) -> SearchStrategy[dict[str, Value]]:
    return st.dictionaries(wide_names(), wide_values(), max_size=max_size)


def messages() -> SearchStrategy[Message]:
    number = st.integers(0, 2**64 - 1)
    return st.builds(Message, attributes(), st.binary(max_size=8), st.builds(MessageId, number, number))


def neighbours(value: Value) -> list[Value]:
    """`value` and those next to it in the order of its kind, or one edit away."""
    if isinstance(value, bool):
        return [value, not value, int(value)]
    if isinstance(value, str):
        edits = [value + "\0", value + "a", value + TOP, "a" + value, value[:-1], value[1:], value + value]
        last = [value[:-1] + chr(ord(value[-1]) + 1)] if value and value[-1] not in ("\ud7ff", TOP) else []
        return [value, *edits, *last]
    return [value, *_numbers_next_to(value)]


def _numbers_next_to(value: float) -> Iterable[Value]:
    steps: list[int | float] = [math.nextafter(value, -math.inf), math.nextafter(value, math.inf)]
    if limits.INT_MIN <= value <= limits.INT_MAX:
        steps += [math.floor(value) - 1, math.floor(value), math.floor(value) + 1, math.ceil(value), float(value)]
    for step in steps:
        if math.isfinite(step) and (isinstance(step, float) or limits.INT_MIN <= step <= limits.INT_MAX):
            yield step


def values_near(*chosen: Filter) -> dict[str, list[Value]]:
    """For each name that the filters constrain, the neighbours of its operands (a boolean alone for `exists`)."""
    near: dict[str, dict[object, Value]] = {}
    for constraint in (constraint for filter_ in chosen for constraint in filter_.constraints):
        pool = near.setdefault(constraint.name, {identity(True): True})
        for operand in constraint.operands:
            pool.update((identity(value), canonical(value)) for value in neighbours(operand))
    return {name: list(pool.values()) for name, pool in near.items()}


@st.composite
def attributes_near(draw: st.DrawFn, *chosen: Filter) -> dict[str, Value]:
    """Attributes at the operands of the filters and beside them; each name is present more often than not."""
    found: dict[str, Value] = {}
    for name, pool in values_near(*chosen).items():
        if draw(st.sampled_from([True, True, True, False])):
            found[name] = draw(st.sampled_from(pool) | values())
    return found


def spaces_near(*about: Filter) -> SearchStrategy[Filter]:
    """Spaces in which names of these filters may have the values that these ask for, and one more."""
    values: dict[str, list[Value]] = {}
    for constraint in (constraint for filter_ in about for constraint in filter_.constraints):
        values.setdefault(constraint.name, [7]).extend(constraint.operands)
    domains = [Constraint(name, Op.IN, tuple(each[:9])) for name, each in values.items()]
    few = st.lists(st.sampled_from(domains), max_size=4, unique=True) if domains else st.just([])
    return few.map(lambda each: Filter(tuple(each))) | filters(max_size=3)


def messages_near(*chosen: Filter) -> SearchStrategy[Message]:
    return attributes_near(*chosen).map(Message)
