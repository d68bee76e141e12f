"""What a message costs a router in the middle where all others want everything:
`python -m tamis.bench.router.flooding`.

Law: instructions inside the switch, counted by callgrind over messages like those of `transit.py`, fed by hand; the
rows of one number of routers differ in the forwarding policy alone. What the first messages cost more is included.
With --fed, --filters says how many others want everything.
"""

from __future__ import annotations

from typing import Final

from tamis.bench.router.transit import HOPS, LINE, Router, fed, instructions, run_command
from tamis.bench.tables import tell
from tamis.native.others import FORWARDINGS

PROGRAM: Final = "tamis.bench.router.flooding"
ASKING: Final = (4, 100, 1_000)
EVERYTHING: Final = b"\x90"
"""The filter without constraints, packed."""


class Asked(Router):
    """The router in the middle; behind its one link onward stand `asking` others."""

    def __init__(self, forwarding: str, asking: int) -> None:
        self.forwarding, self._asking = forwarding, asking
        super().__init__("transit", 1)

    def _route(self) -> None:
        source, me = LINE[0], self.number
        others = range(me + 1, me + 1 + self._asking)
        for other in others:
            self.switch.install(other, {1: EVERYTHING})
        generation = self.switch.begin_routes(HOPS)
        self.switch.route(generation, source, source, dict.fromkeys(others, me + 1))
        self.switch.commit(0)


def _fed(forwarding: str, asking: int, messages: int) -> float:
    return fed(Asked(forwarding, asking), messages)


def _counted(_filters: int, messages: int, as_json: bool) -> None:
    for asking in ASKING:
        found = {name: instructions(PROGRAM, name, asking, messages) for name in FORWARDINGS}
        tell({"what": "instructions a message", "asking": str(asking), **found}, as_json)


def main() -> None:
    run_command(PROGRAM, __doc__, tuple(FORWARDINGS), _fed, _counted, filters=ASKING[0])


if __name__ == "__main__":
    main()
