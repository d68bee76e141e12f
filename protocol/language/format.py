"""The text of a predicate, in its only written form.

Law: for every predicate in normal form whose text is within PREDICATE_BYTES_MAX, parsing the text yields the predicate.
"""

from __future__ import annotations

from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.language.literals import write_name, write_value


def format_predicate(predicate: Predicate) -> str:
    return " or ".join(map(format_filter, predicate.filters)) or "false"


def format_filter(filter_: Filter) -> str:
    return " and ".join(map(format_constraint, filter_.constraints)) or "true"


def format_constraint(constraint: Constraint) -> str:
    if constraint.op is Op.EXISTS:
        return f"{'not ' * constraint.negated}exists {write_name(constraint.name)}"
    plain = f"{write_name(constraint.name)} {constraint.op.value} {_operands(constraint)}"
    return f"not ({plain})" if constraint.negated else plain


def _operands(constraint: Constraint) -> str:
    written = [write_value(value) for value in constraint.operands]
    if constraint.op is Op.IN:
        return "{" + ", ".join(written) + "}"
    return " and ".join(written)  # two bounds of between, or the one operand
