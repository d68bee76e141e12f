"""Filters in the CloudEvents SQL expression language: `type LIKE 'com.example.%' AND (NOT EXISTS hop OR hop < 10)`.

Law: an event is wanted if the expression is the boolean true and no error arises on the way: of an absent attribute, a
cast that fails, a division by zero, a result outside 32 bits. So a filter has three outcomes (outcomes.py); what
predicates leave undecided the residual program decides (program.py).
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.dialects.cesql.casts import CesqlType
from tamis.protocol.dialects.cesql.expression import CESQL_GRAMMAR
from tamis.protocol.dialects.cesql.fold import Folding, is_error, type_of
from tamis.protocol.dialects.cesql.meaning import wanted
from tamis.protocol.dialects.cesql.program import program_of
from tamis.protocol.dialects.context import attributes
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.tree import Call, Expression, Literal
from tamis.protocol.dialects.widen import within_limits


def translate(text: str) -> Translated:
    folding = Folding(text)
    node = folding.fold(CESQL_GRAMMAR.parse(text))
    return within_limits(wanted(node, text), (*folding.warnings, *_warnings(node)), lambda: program_of(node))


def _warnings(node: Expression) -> tuple[str, ...]:
    """Return why no event can be wanted, if so."""
    if is_error(node) and isinstance(node, Call) and isinstance(node.parts[0], Literal):
        return (f"this can never match: {node.parts[0].value}",)
    of = type_of(node)
    if of not in (None, CesqlType.BOOLEAN):
        return (f"this can never match: its value is {of.value}, not a boolean",)
    return ()


DIALECT: Final = Dialect("cesql", "filters in the SQL expression language of CloudEvents", translate, attributes)
