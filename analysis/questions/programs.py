"""Residual programs of subscriptions: a filter of such a subscription is its constraints and its program.

    [["price","exists"],["program","residual","0103..."]]      the program in hexadecimal

Law: a program is evaluated by its twin (protocol/residual/evaluate.py), which shares no code with routers, on those
messages alone that satisfy the constraints.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tamis.protocol import limits
from tamis.protocol.residual import ResidualVerdict, read_program, run
from tamis.protocol.values import Value, canonical

RESIDUAL: Final = "residual"
_BUDGET: Final = limits.MATCH_STEPS // limits.RESIDUAL_PARTS
Rows = NDArray[np.int64]


def with_program(form: str, residual: str | None) -> str:
    """Return the form of a filter with the program of its subscription."""
    if residual is None:
        return form
    return f"{form[:-1]}{',' if form != '[]' else ''}{json.dumps(['program', RESIDUAL, residual])}]"


def index_part(form: str) -> list[Any]:
    """Return the constraints of a filter, parsed, without its program."""
    return [each for each in json.loads(form) if each[1] != RESIDUAL]


class Decided:
    """The rows that a program lets pass."""

    def __init__(self, residual: str, count: int, message: Callable[[int], Mapping[str, Value]]) -> None:
        """`message` returns the attributes of a row; `count` is the number of rows, of which the program may let pass
        any."""
        self.count = count
        self._program = read_program(bytes.fromhex(residual))
        self._message = message

    def rows(self) -> Rows:
        every = np.arange(self.count)
        return every[self.holds(every)]

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        return np.array([self._passes(int(row)) for row in rows], np.bool_)

    def _passes(self, row: int) -> bool:
        attributes = {name: canonical(value) for name, value in self._message(row).items()}
        return run(self._program, attributes, _BUDGET).verdict is ResidualVerdict.TRUE
