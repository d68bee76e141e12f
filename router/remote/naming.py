"""Which durable subscription a client means by a name: one of this router, or of another one.

Law: a name without a router means the one here, if there is one, else the only one elsewhere. NAME@ROUTER names the
router, and is needed where several have the name. Of copies of one, each of these names means the one that serves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol

from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.home_bodies import StatedDurable
from tamis.router.durable.copies import StatedAt, are_copies, serving
from tamis.router.durable.refusals import RequestRefused


class StatedHomes(Protocol):
    """What other routers state of their durable subscriptions."""

    def at(self, name: str) -> Sequence[tuple[str, StatedDurable]]: ...

    def everywhere(self, name: str) -> Sequence[tuple[str, StatedDurable]]: ...


class Meant(NamedTuple):
    """The durable subscription `name`; `home` is its router, empty for this one, where `stated` is None."""

    name: str
    home: str = ""
    stated: StatedDurable | None = None


def copies_of(name: str, me: str, routers: Collection[str], homes: StatedHomes) -> list[StatedAt]:
    """Return the copies of the durable subscription `name`, with their routers; none if there are not several."""
    found = [each for each in homes.everywhere(name) if each[0] == me or each[0] in routers]
    return found if len(found) > 1 and are_copies(found) else []


def meant(
    name: str,
    me: str,
    own: Collection[str],
    routers: Collection[str],
    homes: StatedHomes,
    reaches: Callable[[str], bool],
) -> Meant | None:
    """Return which durable subscription `name` means to router `me`, which has `own`; None if there is none. `routers`:
    the others of the topology file, of which `reaches` returns whether one is in reach. Raise RequestRefused if several
    routers have the name."""
    plain, _, router = name.rpartition("@")
    for each in (name, plain):
        copies = copies_of(each, me, routers, homes)
        if copies and (each == name or router in dict(copies)):
            home, stated = serving(copies, lambda at: at == me or reaches(at)) or copies[0]
            return Meant(each) if home == me else Meant(each, home, stated)
    if name in own:
        return Meant(name)
    found = [Meant(name, home, stated) for home, stated in homes.at(name) if home in routers]
    if len(found) > 1:
        where = " and ".join(each.home for each in found)
        raise RequestRefused(
            RefusalCode.DURABLE_ELSEWHERE,
            f"routers {where} have a durable subscription {name!r}: say which, as in {name}@{found[0].home}",
        )
    if found:
        return found[0]
    if plain and router == me and plain in own:
        return Meant(plain)
    for home, stated in homes.at(plain) if plain and router in routers else ():
        if home == router:
            return Meant(plain, home, stated)
    return None
