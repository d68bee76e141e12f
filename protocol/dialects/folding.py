"""Comparisons of texts that ignore case.

In predicates such a comparison is as wide as any text is. For its own index a router has the folded text of the
attribute `name` under the name `name~` (wire.md, SubscriptionItem), so that an index finds the few filters that match.
"""

from __future__ import annotations

from typing import Final

from tamis.protocol.dialects.decide import AttributeTest
from tamis.protocol.dialects.rails import Rail, holds, undecided
from tamis.protocol.filters import Op
from tamis.protocol.language.tree import Node
from tamis.protocol.limits import NAME_BYTES_MAX
from tamis.protocol.residual import Assembler, Opcode
from tamis.protocol.residual.cases import FOLDED_MARK, folded

_OPCODES: Final = {Op.EQ: (Opcode.SAME_FOLDED, 0), Op.PREFIX: (Opcode.PREFIX, 1), Op.SUFFIX: (Opcode.SUFFIX, 1)}


def in_any_case(name: str, op: Op, text: str, need: str) -> Rail:
    """Return where an attribute is a text that equals `text`, begins or ends with it, in any case. `need` is that in
    words."""

    def append(made: Assembler) -> None:
        made.attribute(name)
        append_in_any_case(made, op, text)

    return undecided(holds(name, Op.PREFIX, ""), need, AttributeTest(name, append), on_folded(name, op, text))


def on_folded(name: str, op: Op, text: str) -> Node | None:
    """Return what the index knows of a text that equals `text`, begins or ends with it, in any case or in lower case;
    None if the name has no room for the mark."""
    marked = name + FOLDED_MARK
    return holds(marked, op, folded(text)).node if len(marked.encode()) <= NAME_BYTES_MAX else None


def append_in_any_case(made: Assembler, op: Op, text: str) -> None:
    """Append instructions that compare the value on top of the stack."""
    made.constant(text)
    made.emit(*_OPCODES[op])
