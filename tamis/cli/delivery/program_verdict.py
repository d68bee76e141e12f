"""The result of a residual program for a message, as text and as JSON.

Law: a message matches a filter with a program if the predicate matches and the program says true, as at a router.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tamis.cli.delivery.verdicts import yes_or_no
from tamis.protocol import limits
from tamis.protocol.language.literals import write_name, write_value
from tamis.protocol.residual import Program, ResidualVerdict, in_words, run
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

    @property
    def matches(self) -> bool:
        return self.verdict is ResidualVerdict.TRUE

    def line(self) -> str:
        """Return `no   price * qty > 1000  a program decides: price is 3, qty is absent: unknown`."""
        words = in_words(self.program)
        said = "; ".join(self.needs) if "\n" in words else words  # a listing takes a line for each instruction
        seen = ", ".join(self._seen()) or "no attribute"
        return f"{yes_or_no(self.matches):<3}  {said}  a program decides: {seen}: {_IN_WORDS[self.verdict]}"

    def form(self) -> dict[str, object]:
        return {
            "match": self.matches,
            "verdict": self.verdict.name.lower(),
            "text": in_words(self.program),
            "needs": list(self.needs),
            "values": dict(self.values),
        }

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
    return ProgramVerdict(program, needs, said, {name: attributes.get(name) for name in program.names()})
