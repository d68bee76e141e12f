"""A message that satisfies given constraints, as an example for people.

Law: a message that is returned satisfies all of them. None proves nothing: only a few values of each attribute are
tried, those near the operands. Attributes are independent, so each is searched for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tamis.protocol.errors import Refused
from tamis.protocol.evaluate import constraint_holds
from tamis.protocol.filters import Constraint, Op
from tamis.protocol.values import Value, check_value

_OTHERS: tuple[Value, ...] = (1, "x", "", True, False)


def witness(constraints: Iterable[Constraint]) -> dict[str, Value] | None:
    """Return a message with few attributes that satisfies all constraints; None if none was found."""
    by_name: dict[str, list[Constraint]] = {}
    for constraint in constraints:
        by_name.setdefault(constraint.name, []).append(constraint)
    message: dict[str, Value] = {}
    for name, of_name in by_name.items():
        if all(constraint_holds(each, {}) for each in of_name):
            continue
        found = [value for value in _candidates(of_name) if _holds(of_name, name, value)]
        if not found:
            return None
        message[name] = found[0]
    return message


def _holds(constraints: Sequence[Constraint], name: str, value: Value) -> bool:
    try:
        check_value(value)
    except Refused:
        return False
    return all(constraint_holds(each, {name: value}) for each in constraints)


def _candidates(constraints: Sequence[Constraint]) -> Iterator[Value]:
    plain = [each for each in constraints if not each.negated]
    texts = {
        op: [str(each.operands[0]) for each in plain if each.op is op] for op in (Op.PREFIX, Op.CONTAINS, Op.SUFFIX)
    }
    operands = [value for each in constraints for value in each.operands]
    yield from operands
    if any(texts.values()):
        longest = [max(texts[op], key=len, default="") for op in (Op.PREFIX, Op.SUFFIX)]
        yield longest[0] + "".join(texts[Op.CONTAINS]) + longest[1]
        yield longest[0] + "x".join(["", *texts[Op.CONTAINS], ""]) + longest[1]
    for value in operands:
        if isinstance(value, str):
            yield from (value + "x", "x" + value, value[:-1])
        elif not isinstance(value, bool):
            yield from (value + 1, value - 1, value + 0.5)
    yield from _OTHERS
