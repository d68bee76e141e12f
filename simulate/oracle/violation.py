"""A violation that the judge found, and the list of invariants."""

from __future__ import annotations

from typing import Final, NamedTuple

INVARIANTS: Final = {
    1: "no message is lost",
    2: "no message is delivered twice",
    3: "no client receives a message without a matching subscription",
    4: "all routers hold equal state, and tables that follow from it",
    5: "covering is sound",
    6: "a message reaches each router at most once, and only routers that need it",
    7: "no state remains of what is gone",
    8: "versions never go back",
    9: "quiet soon, and few control frames",
    10: "the same seed gives the same trace",
    11: "frames are accounted for",
    13: "clients that miss messages are notified, and no others",
    14: "messages of one source arrive in the order in which they entered",
    15: "one member of a worker group receives each message, and never two",
    16: "a message that is valid in its space is not refused",
    17: "a router has on disk what it says to know of durable subscriptions, and knows it after a restart",
    18: "a message enters where the rules of access allow it, and nowhere else",
    19: "a confirmed message is at each home that wants it once, in the order of its entry, or its loss is told",
    20: "nothing is confirmed or acknowledged that is not on disk",
    21: "what waits for a home is within its bounds, and nothing is given up or refused for them without need",
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
