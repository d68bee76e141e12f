"""A violation that the judge found, and the list of invariants."""

from __future__ import annotations

from typing import Final, NamedTuple

INVARIANTS: Final = {
    1: "no message is lost",
    2: "no message comes twice",
    3: "no message comes to who did not ask for it",
    4: "all routers hold the same, and what follows from it",
    5: "covering is sound",
    6: "a message takes each router at most once, and only where it is wanted",
    7: "nothing is kept of what has gone",
    8: "versions never go back",
    9: "quiet soon, and little is said",
    10: "the same seed gives the same trace",
    11: "frames are accounted for",
    13: "who misses messages is told, and nobody else",
    14: "messages of one source come in the order in which they entered",
    15: "of a worker group one member gets a message, and never two",
    16: "a message that fits its space is not refused",
}


class Violation(NamedTuple):
    invariant: int
    at_us: int
    what: str
    operation: int
    """Number of the last operation before it."""

    def __str__(self) -> str:
        rule = INVARIANTS[self.invariant]
        return (
            f"invariant {self.invariant} ({rule}) at {self.at_us / 1e6:.3f} s, operation {self.operation}: {self.what}"
        )
