"""What is published, and what clients want of it.

Law: a predicate stands here twice, as text for the router and as constraints for the judge, who reads them himself. A
content is what decides who gets a message; clients number their messages besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tamis.simulate.oracle.meaning import Value, contents_of

COLUMNS: Final = 4
"""Clients of one column get all messages of each other."""

_ITEMS: Final[Sequence[Mapping[str, Value]]] = (
    {"kind": "trade", "symbol": "AB1", "price": 120, "urgent": False},
    {"kind": "trade", "symbol": "CD2", "price": 640.5, "urgent": False},
    {"kind": "quote", "symbol": "AB7", "price": 90},
    {"kind": "quote", "symbol": "EF3", "price": 199, "urgent": True},
    {"kind": "alert", "symbol": "XAB", "price": 501, "urgent": True},
    {"kind": "alert", "price": -3, "urgent": False},
    {"kind": "news", "symbol": "CD1"},
    {"kind": "news", "urgent": True},
)
CONTENTS: Final[Sequence[Mapping[str, Value]]] = tuple(
    {"column": column} | dict(item) for column in range(COLUMNS) for item in _ITEMS
)
ITEMS: Final = len(_ITEMS)

Constraint = tuple[str, str, tuple[Value, ...], bool]


@dataclass(frozen=True, slots=True)
class Shape:
    """A predicate and its disjuncts, in two forms."""

    text: str
    disjuncts: tuple[tuple[Constraint, ...], ...]

    @property
    def contents(self) -> int:
        """A bit for each content that satisfies it."""
        bits = 0
        for constraints in self.disjuncts:
            bits |= contents_of(constraints, CONTENTS)
        return bits


SHAPES: Final = (
    Shape('kind = "alert" and price > 500', ((("kind", "=", ("alert",), False), ("price", ">", (500,), False)),)),
    Shape(
        'symbol ^= "AB" and not (urgent = true)',
        ((("symbol", "prefix", ("AB",), False), ("urgent", "=", (True,), True)),),
    ),
    Shape(
        'price between 100 and 200 or symbol in {"CD1", "CD2"}',
        ((("price", "between", (100, 200), False),), (("symbol", "in", ("CD1", "CD2"), False),)),
    ),
    Shape('urgent = true and kind != "quote"', ((("urgent", "=", (True,), False), ("kind", "!=", ("quote",), False)),)),
)


def column_shape(column: int) -> Shape:
    return Shape(f"column = {column}", ((("column", "=", (column,), False),),))
