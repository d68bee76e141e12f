"""What a message costs a router in the middle while two generations of trees are in force:
`python -m tamis.bench.router.rerouting`.

Law: instructions inside the switch, counted by callgrind over messages like those of `transit.py`, fed by hand; the
rows of one engine differ in the trees alone. Of 100 routers behind two links the last change moved none (`agreed`), or
every tenth from one link to the other (`differ`); `one` has a single generation. The grouping of both generations,
which the first message makes, is included.
"""

from __future__ import annotations

import argparse
import shutil
from typing import Final

from tamis.bench.router.moving import BLOCK_MESSAGES
from tamis.bench.router.transit import HOPS, LINE, OTHERS, WANTED, Router, _packed, fed, instructions, tell
from tamis.native import Switch, SwitchOptions, Table

PROGRAM: Final = "tamis.bench.router.rerouting"
ENGINES: Final = ("tamis", "pst")
TREES: Final = ("one", "agreed", "differ")
ROUTERS: Final = 100
WANTING: Final = 10
"""Of the routers so many want the messages."""
HOLD_MS: Final = 10**9


class Rerouted(Router):
    """The router in the middle; `filters` are dealt to ROUTERS others, which lie behind two links."""

    def __init__(self, trees: str, engine: str, filters: int) -> None:
        self._trees, self._filters = trees, filters
        self.number, self.role = LINE[1], "transit"
        self.switch = Switch(Table(), SwitchOptions(self.number, 1, connections_max=5, publishers_max=4, hop_limit=1))
        self.switch.join(Table(engine), 8)
        self._route()

    def _route(self) -> None:
        source, links = LINE[0], (self.number + 1, self.number + 2)
        others = range(links[1] + 1, links[1] + 1 + ROUTERS)
        for place, other in enumerate(others):
            texts = [OTHERS.format(10 + i, 1 + i % 97) for i in range(place, self._filters, ROUTERS)]
            texts += [WANTED] * (place % (ROUTERS // WANTING) == 0)
            self.switch.install(other, dict(enumerate(map(_packed, texts))))
        ways = {link: link for link in links} | {other: links[place // 2 % 2] for place, other in enumerate(others)}
        moved = {other: links[1 - place // 2 % 2] for place, other in enumerate(others) if place % 10 == 1}
        changes = {"one": [ways], "agreed": [ways, ways], "differ": [ways, ways | moved]}
        for each in changes[self._trees]:
            generation = self.switch.begin_routes(HOPS)
            self.switch.route(generation, self.number, None, each | {source: source})
            self.switch.route(generation, source, source, each)
            self.switch.commit(HOLD_MS)

    def ends(self, came_from: int, goes_to: int) -> tuple[int, int]:
        """Admit both links onward; what waits for the second one stays there."""
        self.admit(self.number + 2, -1, is_link=True)
        return super().ends(came_from, goes_to)

    @property
    def passed(self) -> int:
        return self.switch.figures().forwarded // 2


def main() -> None:
    parser = argparse.ArgumentParser(prog=f"python -m {PROGRAM}", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=10 * BLOCK_MESSAGES)
    parser.add_argument("--filters", type=int, default=2_000, help="of all routers together (2,000)")
    parser.add_argument("--fed", choices=[f"{engine}/{trees}" for engine in ENGINES for trees in TREES])
    parser.add_argument("--json", action="store_true", help="one object a line")
    arguments = parser.parse_args()
    if arguments.fed:
        engine, trees = arguments.fed.split("/")
        us = fed(Rerouted(trees, engine, arguments.filters), arguments.messages)
        tell({"what": arguments.fed, "us": us}, arguments.json)
        return
    if shutil.which("valgrind") is None:
        parser.error("valgrind is not installed")
    for engine in ENGINES:
        found = {
            each: instructions(PROGRAM, f"{engine}/{each}", arguments.filters, arguments.messages) for each in TREES
        }
        ratio = found["differ"] / found["one"]
        tell({"what": "instructions a message", "engine": engine, **found, "ratio": ratio}, arguments.json)


if __name__ == "__main__":
    main()
