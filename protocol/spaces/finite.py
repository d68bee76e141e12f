"""The finite part of a space: what an engine may know of its messages before they come.

Law: each message that is valid in the space satisfies the filter. A name is in it if the space requires it and gives it
a finite number of values; names of the fewest values come first.
"""

from __future__ import annotations

from collections.abc import Sequence

from tamis.protocol import limits
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.spaces.domains import ChoiceDomain, Domain, FixedDomain, IntegerDomain, TruthDomain
from tamis.protocol.spaces.space import Space, SpaceSet
from tamis.protocol.values import Value


def finite_parts(spaces: SpaceSet) -> list[Filter]:
    """Return the finite part of each space that has one."""
    parts = [finite_part(space, spaces.naming) for space in spaces.spaces.values()]
    return [part for part in parts if part is not None]


def finite_part(space: Space, naming: str) -> Filter | None:
    """Return the filter on names of at most 256 values each; None if the space requires no such name."""
    domains = {
        name: _values(attribute.domain) for name, attribute in space.attributes.items() if not attribute.is_optional
    }
    finite = sorted((len(values), name, values) for name, values in domains.items() if values)
    if not finite:
        return None
    listed = [Constraint(name, Op.IN, tuple(values)) for _, name, values in finite[: limits.CONSTRAINTS_MAX - 1]]
    return Filter((Constraint(naming, Op.EQ, (space.name,)), *listed))


def _values(domain: Domain) -> Sequence[Value]:
    """Return the values of a domain; none if they are too many."""
    match domain:
        case TruthDomain():
            return (False, True)
        case ChoiceDomain():
            return domain.values
        case IntegerDomain() | FixedDomain() if domain.high - domain.low < limits.IN_VALUES_MAX:
            units = range(domain.low, domain.high + 1)
            return [domain.value(each) for each in units] if isinstance(domain, FixedDomain) else units
        case _:
            return ()
