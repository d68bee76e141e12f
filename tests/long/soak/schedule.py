"""The faults of a soak: their proportions are those of an hour, their order and their targets come from a seed.

Law: a schedule is the same for the same seed and length, so that a soak can be resumed behind the faults that it has
had.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

ROUTERS: Final = ("r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7")
ENTRIES: Final = ("r0", "r3", "r5")
HOMES: Final = ("r1", "r4", "r6")
LINKS: Final = (
    *(("r0", "r1"), ("r1", "r2"), ("r2", "r3"), ("r3", "r4"), ("r4", "r5"), ("r5", "r6"), ("r6", "r7"), ("r0", "r7")),
    *(("r0", "r4"), ("r2", "r6")),
)
"""A ring with two chords."""
IN_AN_HOUR: Final = {"killed": 600, "cut": 150, "stopped": 150, "full": 30, "lost": 10}
LASTS_S: Final = {
    "killed": (0.1, 3.0),
    "cut": (0.5, 6.0),
    "stopped": (0.5, 5.0),
    "full": (1.0, 5.0),
    "lost": (0.1, 1.0),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """`at_s`: when it begins, from the beginning of the soak. `target`: a router, or the ends of a link."""

    at_s: float
    kind: str
    target: tuple[str, ...]
    lasts_s: float

    def __str__(self) -> str:
        return f"{' - '.join(self.target)} {self.kind} for {self.lasts_s:.1f} s"


def schedule(seed: int, minutes: float) -> list[Fault]:
    """Return the faults of a soak, at least one of each kind, in their order."""
    dice = Random(seed)
    kinds = [kind for kind, count in IN_AN_HOUR.items() for _ in range(max(1, round(count * minutes / 60)))]
    dice.shuffle(kinds)
    each_s = minutes * 60 / len(kinds)
    return [
        Fault((at + dice.random()) * each_s, kind, _target(kind, dice), dice.uniform(*LASTS_S[kind]))
        for at, kind in enumerate(kinds)
    ]


def _target(kind: str, dice: Random) -> tuple[str, ...]:
    if kind == "cut":
        return dice.choice(LINKS)
    among = {"lost": ENTRIES, "full": (*ENTRIES, *HOMES)}.get(kind, ROUTERS)
    return (dice.choice(among),)
