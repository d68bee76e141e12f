"""The result of a filter for a message, constraint by constraint, as text."""

from __future__ import annotations

from collections.abc import Iterator

from tamis.protocol.explain import FilterVerdict
from tamis.protocol.language import format_constraint


def constraint_lines(verdict: FilterVerdict) -> Iterator[str]:
    """Return one line for each constraint: whether it holds, the constraint, and the value of the attribute."""
    texts = [format_constraint(part.constraint) for part in verdict.constraints]
    width = max(map(len, texts), default=0)
    for part, text in zip(verdict.constraints, texts, strict=True):
        yield f"     {yes_or_no(part.holds):<3}  {text:<{width}}  {part.seen}"


def yes_or_no(answer: bool) -> str:
    return "yes" if answer else "no"
