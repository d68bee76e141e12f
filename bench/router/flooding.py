"""What a message costs a router in the middle where all others want everything:
`python -m tamis.bench.router.flooding`.

Law: instructions inside the switch, counted by callgrind over messages like those of `transit.py`, fed by hand; the
rows of one number of routers differ in the forwarding policy alone. What the first messages cost more is included.
"""

from __future__ import annotations

import argparse
import shutil
from typing import Final

from tamis.bench.router.moving import BLOCK_MESSAGES
from tamis.bench.router.transit import HOPS, LINE, Router, fed, instructions, tell
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


def main() -> None:
    parser = argparse.ArgumentParser(prog=f"python -m {PROGRAM}", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=10 * BLOCK_MESSAGES)
    parser.add_argument("--filters", type=int, default=ASKING[0], help="with --fed: how many others want everything")
    parser.add_argument("--fed", choices=tuple(FORWARDINGS), help="one router, fed by hand: us of CPU a message")
    parser.add_argument("--json", action="store_true", help="one object a line")
    arguments = parser.parse_args()
    if arguments.fed:
        us = fed(Asked(arguments.fed, arguments.filters), arguments.messages)
        tell({"what": arguments.fed, "us": us}, arguments.json)
        return
    if shutil.which("valgrind") is None:
        parser.error("valgrind is not installed")
    for asking in ASKING:
        found = {name: instructions(PROGRAM, name, asking, arguments.messages) for name in FORWARDINGS}
        tell({"what": "instructions a message", "asking": str(asking), **found}, arguments.json)


if __name__ == "__main__":
    main()
