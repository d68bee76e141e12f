"""The result of a residual program for a message, as text and as JSON.

Law: a message matches a filter with a program if the predicate matches and the program says true, as at a router.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tamis.cli.delivery.verdicts import yes_or_no
from tamis.protocol import limits
from tamis.protocol.language.literals import write_name, write_value
from tamis.protocol.residual import Program, ResidualVerdict, conditions, in_words, run
from tamis.protocol.values import Value

NAMES_SHOWN_MAX: Final = 8
"""The most attributes in the text: a program may ask for each element of several arrays."""

_IN_WORDS: Final = {
    ResidualVerdict.FALSE: "false",
    ResidualVerdict.TRUE: "true",
    ResidualVerdict.UNKNOWN: "unknown",
    ResidualVerdict.ERROR: "an error",
    ResidualVerdict.OVER: f"undecided after {limits.MATCH_STEPS:,} steps",
}


@dataclass(frozen=True, slots=True)
class ProgramVerdict:
    """What the program of a filter says. `values` has the attributes that it asks for, None for those that the message
    lacks."""

    program: Program
    needs: tuple[str, ...]
    verdict: ResidualVerdict
    values: Mapping[str, Value | None]
    parts: tuple[ProgramVerdict, ...] = ()
    """Its conditions, if they are several."""

    @property
    def matches(self) -> bool:
        return self.verdict is ResidualVerdict.TRUE

    def lines(self) -> Iterator[str]:
        """Return `no   price * qty > 1000  a program decides: price is 3, qty is absent: unknown`; of several
        conditions, the values that each saw on a line of its own."""
        if len(self.parts) < 2:
            yield f"{yes_or_no(self.matches):<3}  {self._said()}  a program decides: {self._found()}"
            return
        yield f"{yes_or_no(self.matches):<3}  {self._said()}  a program decides: {_IN_WORDS[self.verdict]}"
        yield from self.condition_lines()

    def condition_lines(self) -> Iterator[str]:
        """Return one line for each condition: whether it is true, and the values that it saw."""
        parts = self.parts or (self,)
        width = max(len(part._said()) for part in parts)
        for part in parts:
            yield f"     {yes_or_no(part.matches):<3}  {part._said():<{width}}  {part._found()}"

    def form(self) -> dict[str, object]:
        return {
            "match": self.matches,
            "verdict": self.verdict.name.lower(),
            "text": in_words(self.program),
            "needs": list(self.needs),
            "values": dict(self.values),
        } | ({"conditions": [part.form() for part in self.parts]} if self.parts else {})

    def _said(self) -> str:
        words = in_words(self.program)
        if "\n" not in words:
            return words
        return "; ".join(self.needs) or "a program with jumps"  # a listing takes a line for each instruction

    def _found(self) -> str:
        return f"{', '.join(self._seen()) or 'no attribute'}: {_IN_WORDS[self.verdict]}"

    def _seen(self) -> list[str]:
        """Return the values in words, those that are there before those that are absent."""
        there = [
            f"{write_name(name)} is {write_value(value)}" for name, value in self.values.items() if value is not None
        ]
        absent = [f"{write_name(name)} is absent" for name, value in self.values.items() if value is None]
        rest = len(there) + len(absent) - NAMES_SHOWN_MAX
        return (there + absent)[:NAMES_SHOWN_MAX] + ([f"and {rest} others"] if rest > 0 else [])


def program_verdict(program: Program, needs: tuple[str, ...], attributes: Mapping[str, Value]) -> ProgramVerdict:
    said = run(program, attributes, limits.MATCH_STEPS).verdict
    parts = conditions(program)
    found = tuple(program_verdict(each, (), attributes) for each in parts) if len(parts) > 1 else ()
    return ProgramVerdict(program, needs, said, {name: attributes.get(name) for name in program.names()}, found)
