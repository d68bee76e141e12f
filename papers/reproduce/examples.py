"""The forwarding table that papers 000 (figure 4) and 004 (figure 2) show, and what all engines make of small tables.

Law: an answer is asked of every engine there is; engines that differ end the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from tamis.native import ENGINES, InterfaceKind, Table
from tamis.papers.models.forwarding import ForwardingTable
from tamis.papers.reproduce.figure import Disagreement
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.values import Value

_Answer = TypeVar("_Answer")


def equal(name: str, value: Value) -> Constraint:
    return Constraint(name, Op.EQ, (value,))


def above(name: str, value: int) -> Constraint:
    return Constraint(name, Op.GT, (value,))


def below(name: str, value: int) -> Constraint:
    return Constraint(name, Op.LT, (value,))


TABLE: Final[Mapping[int, Sequence[Filter]]] = {
    1: [
        Filter((equal("dest", "Milano"), below("price", 500))),
        Filter((equal("stock", "DYS"), above("quantity", 1000), below("price", 500))),
    ],
    2: [
        Filter((equal("airline", "UA"), equal("orig", "Denver"), equal("dest", "Milano"))),
        Filter((equal("dest", "New York"), below("price", 200))),
        Filter((equal("orig", "Denver"),)),
        Filter((equal("airline", "UA"), equal("upgradeable", True))),
    ],
    3: [Filter((equal("stock", "MSFT"), below("price", 200)))],
}


def told(constraint: Constraint) -> str:
    """As the papers write it."""
    sign = {Op.EQ: "=", Op.LT: "<", Op.GT: ">", Op.PREFIX: "pf", Op.SUFFIX: "sf", Op.CONTAINS: "ss"}[constraint.op]
    return f"{constraint.name} {sign} {constraint.operands[0]}"


def forwarded(message: Mapping[str, Value]) -> list[int]:
    """The interfaces of TABLE that every engine, and the model, give the message to."""
    answers = {"model": sorted(ForwardingTable(TABLE).forward(message).interfaces)}
    for name in ENGINES:
        with Table(name) as table:
            for interface, filters in TABLE.items():
                for filter_ in filters:
                    table.add(filter_, interface)
            answers[name] = table.match(message)
    return _one(answers, f"{dict(message)}")


def satisfied(constraints: Sequence[Constraint], message: Mapping[str, Value]) -> list[str]:
    """The constraints that the message satisfies, each asked as a filter of its own, by every engine and the model."""
    table_of_each = {number: [Filter((constraint,))] for number, constraint in enumerate(constraints)}
    model = ForwardingTable(table_of_each).forward(message, circuit=False).interfaces
    answers = {"model": [told(constraints[number]) for number in sorted(model)]}
    for name in ENGINES:
        with Table(name) as table:
            table.set_interface(0, InterfaceKind.CLIENT)
            handles = {table.add(Filter((constraint,)), 0): constraint for constraint in constraints}
            found = {handle for _, handle in table.match_all(message)}
            answers[name] = [told(constraint) for handle, constraint in handles.items() if handle in found]
    return _one(answers, f"{dict(message)}")


def _one(answers: Mapping[str, _Answer], asked: str) -> _Answer:
    first = answers["model"]
    for name, answer in answers.items():
        if answer != first:
            raise Disagreement(f"{asked}: {name} answers {answer}, the model of the paper {first}")
    return first
