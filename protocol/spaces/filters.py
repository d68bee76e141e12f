"""The effect of a space on a filter that is subscribed already.

Law: a filter can never match if it is about messages of the space and requires a value that none of them has. Only
certain cases are reported: patterns, orders within a kind, and negated constraints may match something.
"""

from __future__ import annotations

from tamis.protocol.filters import ORDER_OPS, PATTERN_OPS, Constraint, Filter, Op
from tamis.protocol.spaces.space import Space
from tamis.protocol.values import ValueKind, kind_of


def asks_in_vain(filter_: Filter, space: Space, naming: str) -> bool:
    """Return whether the filter is about messages of `space` alone, and certainly matches no valid one."""
    plain = [each for each in filter_.constraints if not each.negated]
    is_of_space = any(
        each.name == naming and each.op in (Op.EQ, Op.IN) and each.operands == (space.name,) for each in plain
    )
    return is_of_space and any(_is_vain(each, space) for each in plain if each.name != naming)


def _is_vain(constraint: Constraint, space: Space) -> bool:
    declared = space.attributes.get(constraint.name)
    if declared is None:
        return not space.is_open
    if constraint.op in (Op.EQ, Op.IN):
        return all(declared.domain.violation(value) is not None for value in constraint.operands)
    if constraint.op in PATTERN_OPS:
        return declared.domain.kind is not ValueKind.STRING
    if constraint.op in ORDER_OPS or constraint.op is Op.BETWEEN:
        return declared.domain.kind is not kind_of(constraint.operands[0])
    return False
