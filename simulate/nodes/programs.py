"""R20: residual programs at routers and clients of a run, by the twin.

Law: a router with the capability `residual` runs the program of a subscription on what its filter matches. At the one
router without it the client does, on what arrives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from tamis.protocol import residual
from tamis.protocol.limits import MATCH_STEPS
from tamis.protocol.residual import Program, ResidualVerdict
from tamis.protocol.wire.numbers import stable_number
from tamis.simulate.faults.workload import CONTENTS


@dataclass(frozen=True)
class Programs:
    """`without`: the router that runs none, by its number."""

    without: int
    _passed: dict[Program, int] = field(default_factory=dict)

    def at_router(self, router: int, program: Program | None, contents: int) -> int:
        """Return what a router delivers of the contents that the filter of a subscription matches."""
        return contents if router == self.without else self.passed(program, contents)

    def at_client(self, router: int, program: Program | None, contents: int) -> int:
        """Return what a client of a router takes of the contents that the filter of a subscription matches."""
        return self.passed(program, contents) if router == self.without else contents

    def passed(self, program: Program | None, contents: int) -> int:
        """Return those of the contents that a program lets pass."""
        if program is None:
            return contents
        if program not in self._passed:
            verdicts = [residual.run(program, attributes, MATCH_STEPS).verdict for attributes in CONTENTS]
            self._passed[program] = sum(
                1 << number for number, verdict in enumerate(verdicts) if verdict is ResidualVerdict.TRUE
            )
        return contents & self._passed[program]


NO_PROGRAMS: Final = Programs(0)


def programs_of_run(names: Sequence[str], seed: int) -> Programs:
    """Return the programs of a run; one router, by the seed, does not run any."""
    return Programs(stable_number(names[seed % len(names)]))
