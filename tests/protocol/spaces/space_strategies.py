"""Hypothesis strategies for spaces and for messages that fit them, nearly fit them, or do not.

Law: names, values and bounds are few and close together, so that two draws often meet at a bound.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tamis.protocol.spaces import (
    ChoiceDomain,
    Domain,
    FixedDomain,
    IntegerDomain,
    NumberDomain,
    Space,
    SpaceAttribute,
    TextDomain,
    TruthDomain,
)
from tamis.protocol.values import Value
from tests.strategies import values

ATTRIBUTES = ("a", "b", "c", "and", "größe")
WORDS = (
    "low",
    "mid",
    "high",
    "",
    "a",
    "ab",
    "a string of more than sixteen bytes",
    "a string of more than sixteen bits",
)
SMALL = st.integers(-3, 3)
EXTREME = st.sampled_from([-(2**63), -(10**15), 10**15, 2**53 + 1, 2**63 - 1])


def _ordered(bounds: SearchStrategy[int]) -> SearchStrategy[tuple[int, int]]:
    return st.tuples(bounds, bounds).map(lambda pair: (min(pair), max(pair)))


def integer_domains() -> SearchStrategy[IntegerDomain]:
    return _ordered(SMALL | EXTREME).map(lambda pair: IntegerDomain(*pair))


def fixed_domains() -> SearchStrategy[FixedDomain]:
    units = st.integers(-30, 30) | st.sampled_from([-(10**15), 10**15, 10**15 - 1, 125, 12_345])
    return st.builds(lambda pair, digits: FixedDomain(*pair, digits), _ordered(units), st.integers(0, 9))


def choice_domains() -> SearchStrategy[ChoiceDomain]:
    return st.lists(st.sampled_from(WORDS), min_size=1, unique=True).map(lambda words: ChoiceDomain(tuple(words)))


def domains() -> SearchStrategy[Domain]:
    plain = st.sampled_from([TextDomain(), TruthDomain(), NumberDomain()])
    return plain | integer_domains() | fixed_domains() | choice_domains()


def spaces(name: str = "s") -> SearchStrategy[Space]:
    said = st.builds(SpaceAttribute, domains(), st.booleans())
    attributes = st.dictionaries(st.sampled_from(ATTRIBUTES), said, max_size=4)
    return st.builds(Space, st.just(name), attributes, st.booleans(), st.integers(1, 3))


def values_of(domain: Domain) -> SearchStrategy[Value]:
    """Values of the domain, at its bounds mostly."""
    match domain:
        case TextDomain():
            return st.sampled_from(WORDS)
        case TruthDomain():
            return st.booleans()
        case NumberDomain():
            return SMALL | st.sampled_from([0.5, 1.0, 1e300, 2**63 - 1])
        case IntegerDomain(low, high):
            inside = st.integers(low, high) | st.sampled_from([low, high])
            return inside | inside.filter(lambda value: abs(value) < 2**53).map(float)
        case FixedDomain(low, high):
            return (st.integers(low, high) | st.sampled_from([low, high])).map(domain.value)
        case ChoiceDomain(words):
            return st.sampled_from(words)


def values_near(domain: Domain) -> SearchStrategy[Value]:
    """Values of the domain, just outside it, and of any kind."""
    near: SearchStrategy[Value] = values() | st.sampled_from(WORDS)
    if isinstance(domain, IntegerDomain):
        near |= st.sampled_from([domain.low, domain.high]).flatmap(
            lambda bound: st.sampled_from([clamped(bound - 1), clamped(bound + 1), bound + 0.5])
        )
    if isinstance(domain, FixedDomain):
        units = st.integers(domain.low - 1, domain.high + 1).filter(lambda units: abs(units) <= 10**15)
        near |= units.map(domain.value) | units.map(lambda units: units / 10**domain.digits + 10.0**-domain.digits / 3)
    return values_of(domain) | near


def clamped(number: int) -> int:
    return min(max(number, -(2**63)), 2**63 - 1)


@st.composite
def fitting(draw: st.DrawFn, space: Space) -> dict[str, Value]:
    """The attributes of a message that fits, in some order."""
    names = draw(st.permutations(list(space.attributes)))
    return {
        name: draw(values_of(space.attributes[name].domain))
        for name in names
        if not space.attributes[name].is_optional or draw(st.booleans())
    }


@st.composite
def nearly_fitting(draw: st.DrawFn, space: Space) -> dict[str, Value]:
    """The attributes of a message that may fit: some are left out, some are off, some may be strange."""
    message: dict[str, Value] = {}
    for name in draw(st.permutations(list(space.attributes))):
        if draw(st.integers(0, 7)) > 0:
            message[name] = draw(values_near(space.attributes[name].domain))
    if draw(st.integers(0, 3)) == 0:
        message[draw(st.sampled_from([*ATTRIBUTES, "z"]))] = draw(values())
    return message
