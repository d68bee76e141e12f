"""Whether two filters may meet: whether some message may satisfy both.

Law: False is proven, attribute by attribute; True may be wrong where patterns exclude each other in ways that
`_regions.py` does not detect. A caller that drops filters by this result drops no needed one.
"""

from __future__ import annotations

from tamis.protocol._regions import region_of
from tamis.protocol.filters import Filter


def may_meet(a: Filter, b: Filter) -> bool:
    """Return whether some message may satisfy both filters."""
    for name in {constraint.name for constraint in (*a.constraints, *b.constraints)}:
        constraints = [each for each in (*a.constraints, *b.constraints) if each.name == name]
        if region_of(constraints) is None:
            return False
    return True
