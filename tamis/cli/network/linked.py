"""The check whether the routers of a topology file are linked.

Law: the network is linked when each started router reports every link of the file between two started routers, from
both ends, and is ready, which requires the filters of its neighbours. From then on "all routers have it" is true of the
whole network. A router without an admin address cannot be checked.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from typing import Final

from tamis.cli.network.broken_links import broken_links
from tamis.cli.network.routes import whole
from tamis.cli.reach.admin import AdminTarget, NoAnswer, routers

WAIT_S: Final = 10.0
_ASK_AGAIN_S: Final = 0.05


def wait_until_linked(file: str, started: Collection[str], wait_s: float = WAIT_S) -> list[str]:
    """Wait until the routers are linked; return a sentence for each thing that is missing after `wait_s`."""
    end_s = time.monotonic() + wait_s
    while (missing := list(_missing(file, started))) and time.monotonic() < end_s:
        time.sleep(_ASK_AGAIN_S)
    return missing


def _missing(file: str, started: Collection[str]) -> Iterator[str]:
    links = [ends for ends in _links(file) if set(ends) <= set(started)]
    if not links:
        return
    for router in routers(file):
        if router.name not in started or router.address is None:
            continue
        try:
            known, status = _known(router), router.ask("/status")
        except NoAnswer as error:
            yield str(error)
            continue
        reasons = list(broken_links(router.name, status))
        yield from reasons
        for one, other in links:
            is_known = other in known.get(one, ()) and one in known.get(other, ())
            if not is_known and not (reasons and router.name in (one, other)):
                yield f"{router.name}: has no link from {one} to {other} yet"
        if not status.get("ready", True):
            yield f"{router.name}: is not ready yet" + "".join(f": {text}" for text in status["problems"].values())


def _links(file: str) -> list[tuple[str, str]]:
    from tamis.configs import load_topology

    return [(link.ends[0], link.ends[1]) for link in load_topology(file).links]


def _known(router: AdminTarget) -> dict[str, set[str]]:
    """Return, by router, the neighbours that it reports as linked."""
    rows = whole("/routes", router)["routers"]
    return {row["router"]: {link["neighbour"] for link in row["links"]} for row in rows}
