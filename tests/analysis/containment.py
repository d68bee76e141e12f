"""Which wishes say no more than another one, by trying all values that can tell any two of them apart.

Law: shares nothing with the product's covering. A wish constrains an attribute once at most and admits something of
each, and attributes are independent of each other: so one contains another if it does for every attribute alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Final

from tamis.protocol.values import Value
from tamis.simulate.faults.workload import LEVELS, Plain
from tamis.simulate.oracle.meaning import contents_of

TEXTS_MAX: Final = 4
"""Any pattern of a wish, with another letter before or behind it."""
TEXTS: Final = tuple("".join(letters) for length in range(TEXTS_MAX + 1) for letters in product("abcx", repeat=length))
NUMBERS: Final = tuple(half / 2 for half in range(-1, 2 * len(LEVELS)))
"""Each level, one between each two, and one on either side."""
ANYTHING: Final[tuple[Value, ...]] = (*NUMBERS, *TEXTS, True, False)
NAMES: Final = ("level", "place", "urgent")


def covered(forms: Sequence[Plain]) -> list[tuple[int, int]]:
    """Each that another contains, with the first that does; of two that mean the same, the later is contained."""
    found = []
    for number, form in enumerate(forms):
        wider = [other for other, wide in enumerate(forms) if other != number and contains(wide, form)]
        wider = [other for other in wider if other < number or not contains(form, forms[other])]
        found += [(number, wider[0])] if wider else []
    return found


def contains(wide: Plain, narrow: Plain) -> bool:
    return all(admitted(narrow, name) & ~admitted(wide, name) == 0 for name in NAMES)


@cache
def admitted(form: Plain, name: str) -> int:
    constraints = [constraint for constraint in form if constraint[0] == name]
    assert len(constraints) <= 1
    bits = contents_of(constraints, [{}, *({name: value} for value in ANYTHING)])
    assert bits
    return bits
