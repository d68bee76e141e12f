"""Comparisons of texts that ignore case.

In predicates such a comparison is as wide as any text is. For its own index a router has the folded text of the
attribute `name` under the name `name~` (wire.md, SubscriptionItem), so that an index finds the few filters that match.
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.dialects.decide import AttributeTest
from tamis.protocol.dialects.rails import Rail, holds, undecided
from tamis.protocol.filters import Op
from tamis.protocol.limits import NAME_BYTES_MAX
from tamis.protocol.residual import Assembler, Opcode
from tamis.protocol.residual.cases import FOLDED_MARK, folded

_OPCODES: Final = {Op.EQ: Opcode.SAME_FOLDED, Op.PREFIX: Opcode.PREFIX, Op.SUFFIX: Opcode.SUFFIX}


def in_any_case(name: str, op: Op, text: str) -> Rail:
    """Return where an attribute is a text that equals `text`, begins or ends with it, in any case."""

    def append(made: Assembler) -> None:
        made.attribute(name)
        append_in_any_case(made, op, text)

    marked = name + FOLDED_MARK
    is_short = len(marked.encode()) <= NAME_BYTES_MAX
    indexed = holds(marked, op, folded(text)).node if is_short else None
    return undecided(holds(name, Op.PREFIX, ""), _need(op, text), AttributeTest(name, append), indexed)


def append_in_any_case(made: Assembler, op: Op, text: str) -> None:
    """Append instructions that compare the value on top of the stack."""
    made.constant(text)
    made.emit(_OPCODES[op], *(() if op is Op.EQ else (1,)))


def _need(op: Op, text: str) -> str:
    return f"{text!r} in any case" if op is Op.EQ else f"{op.value} {text!r} in any case"
