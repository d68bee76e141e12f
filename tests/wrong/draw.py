"""Draw cases by a seed."""

from __future__ import annotations

from random import Random

from tests.wrong import calls, commands, secrets, topologies
from tests.wrong.case import Case

_KINDS = (
    *(
        topologies.drawn,
        topologies.drawn,
        topologies.drawn,
        commands.drawn,
        commands.drawn,
        commands.drawn,
        commands.drawn,
    ),
    *(secrets.drawn, calls.drawn, calls.drawn),
)


def drawn(seed: int, count: int) -> list[Case]:
    """Return `count` cases; of ten, three are topology files, four command lines, one a credential, two are calls."""
    rng = Random(seed)
    return [_KINDS[number % len(_KINDS)](rng) for number in range(count)]
