"""Conditions between the parts of a topology: links join known routers, listeners do not clash, all is connected.

Law: the input is a model or plain data, whose malformed parts are skipped, since the models report them; all mistakes
of a file are thus reported together. A condition is checked only if its parts are valid: a link to an unknown router is
one mistake, not also a network in two pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from tamis.configs import behind
from tamis.configs.address import ADDRESSES_MAX, Address, joined, parse_address
from tamis.configs.fields import is_off
from tamis.configs.mistakes import Path, Problem, dotted, one_of, quoted
from tamis.native.engines import DEFAULT_ENGINE, ENGINES
from tamis.protocol.strategies import KEYS, STRATEGIES

PARTS_SHOWN = 4
IDS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _WiredLink:
    """A link with two readable ends."""

    path: Path
    ends: tuple[str, str]
    end_paths: tuple[Path, Path]


@dataclass(slots=True)
class _Wires:
    """The readable links, and whether these are all links of the file."""

    wires: list[_WiredLink] = field(default_factory=list)
    complete: bool = True


def problems(topology: object, folder: str = "") -> Iterator[Problem]:
    """Yield all problems between the parts of `topology`, a Topology or the data of a file in `folder`."""
    if isinstance(topology, Mapping):
        yield from _layers(topology)
    routers = _part(topology, "routers")
    if not isinstance(routers, Mapping) or not routers:
        return
    yield from _proofs(topology, routers)
    yield from _roots(topology, list(routers))
    yield from _engines(topology, routers)
    links = _wires(_part(topology, "links"))
    yield from _clashes(routers, _part(topology, "data"), folder)
    yield from _homeless(routers, topology)
    wrong = list(_link_problems(routers, links.wires))
    yield from wrong
    if links.complete and not wrong:
        pieces = list(_pieces(list(routers), links.wires))
        yield from pieces
        bounded = [] if pieces else _bounded(_part(topology, "links"), links.wires)
        if any(link.behind for link in bounded):
            yield from behind.problems(routers, bounded, str(_part(topology, "broadcast") or "source-trees"))


def _bounded(written: object, wires: list[_WiredLink]) -> list[behind.BoundedLink]:
    """Return all links with what they list as behind their ends; unreadable parts count as if they were not there."""
    found = []
    for wire, link in zip(wires, written if _is_list(written) else (), strict=True):
        lists = _part(link, "behind")
        listed = {
            end: _texts(each) for end, each in (lists.items() if isinstance(lists, Mapping) else ()) if end in wire.ends
        }
        found.append(behind.BoundedLink(wire.path, wire.ends, _cost(_part(link, "cost")), listed))
    return found


def _cost(written: object) -> int:
    """Return the cost of a link as the model reads it, 1 for what is absent or not a whole number."""
    try:
        cost = float(str(written))
    except ValueError:
        return 1
    return int(cost) if cost.is_integer() else 1


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in (value if _is_list(value) else (value,)) if isinstance(each, str))


def _layers(topology: Mapping[object, object]) -> Iterator[Problem]:
    """Yield a problem if `broadcast` differs from the layer of the strategy."""
    strategy, broadcast = topology.get("strategy"), topology.get("broadcast")
    name = strategy if isinstance(strategy, str) else _part(strategy, "name")
    layer = next((facts.layer for facts in STRATEGIES if facts.key == name), None)
    if layer is not None and isinstance(broadcast, str) and broadcast != layer:
        yield Problem(("broadcast",), other_layer(str(name), broadcast))


def _proofs(topology: object, routers: Mapping[object, object]) -> Iterator[Problem]:
    """Yield a problem for each token file beside rules of access, in which principals have their tokens, and for
    certificates of clients without rules, which say whom they prove."""
    has_rules = _part(topology, "access") is not None
    sections: list[tuple[Path, object]] = [
        ((), topology),
        *((("routers", str(id_)), each) for id_, each in routers.items()),
    ]
    for path, section in sections:
        if not has_rules and _part(_part(section, "tls"), "clients") not in (None, "none"):
            what = "needs `access`, whose principals with `certificate: true` say which names may come in"
            yield Problem((*path, "tls", "clients"), what)
        if has_rules and _part(section, "tokens") is not None:
            what = "is not used beside `access`: principals have the digests of their tokens (`tamis token new NAME`)"
            yield Problem((*path, "tokens"), what)


def _roots(topology: object, router_ids: list[str]) -> Iterator[Problem]:
    """Yield a problem for each unknown router and space in the roots and classes of the strategy."""
    strategy = _part(topology, "strategy")
    lists, others, classes = (_part(strategy, key) for key in ("roots", "others", "classes"))
    named: list[tuple[Path, object]] = [(("others",), others)]
    named += [(("roots", name), ids) for name, ids in (lists.items() if isinstance(lists, Mapping) else ())]
    for where, ids in named:
        for index, router in enumerate(ids if _is_list(ids) else ()):
            if isinstance(router, str) and router not in router_ids:
                yield Problem(
                    ("strategy", *where, index), f"no router is called {quoted(router)}", word=router, known=router_ids
                )
    spaces = _part(topology, "spaces")
    for name, predicate in classes.items() if isinstance(classes, Mapping) else ():
        if predicate == "space" and not (isinstance(spaces, Mapping) and name in spaces):
            what = f"there is no space {quoted(str(name))}: declare it under spaces, or give a predicate"
            yield Problem(("strategy", "classes", str(name)), what)


def _engines(topology: object, routers: Mapping[str, object]) -> Iterator[Problem]:
    """Yield a problem for each engine that cannot stop a match after some filters, if the strategy needs that."""
    if _part(_part(topology, "strategy"), "reuse") != KEYS:
        return
    known = [name for name, engine in ENGINES.items() if engine.limits]
    own = {name: _part(router, "engine") for name, router in routers.items()}
    general = _part(topology, "engine")
    if general is None and None in own.values():
        what = f"{KEYS} needs an engine that can stop a match after some filters, {one_of(known)}"
        yield Problem(("strategy", "reuse"), f"{what}; the default {DEFAULT_ENGINE} cannot: set `engine`")
    sections: list[tuple[Path, object]] = [(("engine",), general)] if None in own.values() else []
    for path, section in [*sections, *((("routers", name, "engine"), engine) for name, engine in own.items())]:
        name = section if isinstance(section, str) else _part(section, "name")
        if isinstance(name, str) and name in ENGINES and name not in known:
            what = f"{quoted(name)} cannot stop a match after some filters, as reuse: {KEYS} needs"
            yield Problem(path, f"{what}; choose {one_of(known)}")


def other_layer(strategy: str, broadcast: str) -> str:
    """Return the text of the problem that `broadcast` differs from the layer of the strategy."""
    layer = next(facts.layer for facts in STRATEGIES if facts.key == strategy)
    return f"strategy {strategy} uses {layer}, not {broadcast}: remove `broadcast`"


def _part(section: object, key: str) -> object:
    return section.get(key) if isinstance(section, Mapping) else getattr(section, key, None)


def _is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(value, list | tuple)


def _wires(links: object) -> _Wires:
    found = _Wires(complete=links is None or _is_list(links))
    for index, link in enumerate(links if _is_list(links) else ()):
        path: Path = ("links", index)
        ends, ends_path = (link, path) if _is_list(link) else (_part(link, "ends"), (*path, "ends"))
        a, b = ends if _is_list(ends) and len(ends) == 2 else (None, None)
        if isinstance(a, str) and isinstance(b, str) and a and b:
            found.wires.append(_WiredLink(path, (a, b), ((*ends_path, 0), (*ends_path, 1))))
        else:
            found.complete = False
    return found


# --- links ---------------------------------------------------------------------------------------------------------


def _link_problems(routers: Mapping[str, object], wires: list[_WiredLink]) -> Iterator[Problem]:
    first: dict[frozenset[str], int] = {}
    for wire in wires:
        a, b = wire.ends
        unknown = list(_unknown_ends(routers, wire))
        yield from unknown
        if a == b:
            yield Problem(wire.path, f"links router {quoted(a)} with itself")
        elif frozenset(wire.ends) in first:
            where = first[frozenset(wire.ends)]
            yield Problem(wire.path, f"links {quoted(a)} and {quoted(b)} a second time (links.{where} does already)")
        elif not unknown and not (_can_be_dialled(routers[a]) or _can_be_dialled(routers[b])):
            yield Problem(
                wire.path, f"needs an end that can be dialled: give {quoted(a)} or {quoted(b)} a `neighbours` address"
            )
        elif not unknown and (bare := _bare_end(routers, wire)):
            yield Problem(wire.path, f"is encrypted at one end: give {quoted(bare)} `neighbour_tls` too")
        first.setdefault(frozenset(wire.ends), int(wire.path[1]))


def _unknown_ends(routers: Mapping[str, object], wire: _WiredLink) -> Iterator[Problem]:
    for end, path in zip(wire.ends, wire.end_paths, strict=True):
        if end not in routers:
            yield Problem(path, f"no router is called {quoted(end)}", word=end, known=routers)


def _bare_end(routers: Mapping[str, object], wire: _WiredLink) -> str:
    """Return the end without `neighbour_tls` if the other end has it; "" otherwise."""
    without = [end for end in wire.ends if _part(routers[end], "neighbour_tls") is None]
    return without[0] if len(without) == 1 else ""


def _can_be_dialled(router: object) -> bool:
    if _part(router, "reached_at") is not None:
        return True
    items = _items((), _part(router, "neighbours"))
    # An address that cannot be read is a mistake of its own and counts as one that can be dialled.
    return any(item is not None and getattr(_address(item), "dialable", True) for _, item in items)


# --- listeners and folders -------------------------------------------------------------------------------------------


def _clashes(routers: Mapping[str, object], data: object, folder: str) -> Iterator[Problem]:
    taken: dict[object, Path] = {}
    for router_id, router in routers.items():
        machine = _part(router, "machine") or "local"
        if not isinstance(machine, str):
            continue
        for path, shown, claims, conflicts in _resources(router_id, router, data, folder):
            other = next((taken[machine, claim] for claim in conflicts if (machine, claim) in taken), None)
            if other:
                yield Problem(path, f"{shown} is taken already by {dotted(other)}")
            for claim in claims:
                taken.setdefault((machine, claim), path)


def _resources(
    router_id: str, router: object, data: object, folder: str
) -> Iterator[tuple[Path, str, set[object], set[object]]]:
    """Yield the resources that a router occupies on its machine: (path, text, claims, conflicting claims)."""
    for key in ("clients", "neighbours", "admin"):
        for path, item in _items(("routers", router_id, key), _part(router, key)):
            address = _address(item, folder)
            if address:
                yield path, quoted(str(address)), address.claims(), address.conflicts()
    own = _part(router, "data")
    if own is None and isinstance(data, str):
        own = joined(data, router_id)
    if isinstance(own, str) and own:
        claim: set[object] = {("folder", joined(folder, own))}
        yield ("routers", router_id, "data"), f"folder {quoted(own)}", claim, claim


def _homeless(routers: Mapping[str, object], topology: object) -> Iterator[Problem]:
    """Yield a problem for each router that stores messages and has no folder for its log."""
    if _part(topology, "data") is not None or isinstance(_part(_part(topology, "durable"), "folder"), str):
        return
    for router_id, router in routers.items():
        own, general = _part(router, "durable"), _part(topology, "durable")
        if is_off(own) or (own is None and (general is None or is_off(general))):
            continue
        if _part(router, "data") is None and _part(own, "folder") is None:
            path: Path = ("durable",) if own is None else ("routers", router_id, "durable")
            yield Problem(path, f"needs `folder`, or `data`: router {quoted(router_id)} has no folder for its log")


def _items(path: Path, written: object) -> list[tuple[Path, object]]:
    """Return the values at `path`, one value or a list, with their paths."""
    if not _is_list(written):
        return [(path, written)]
    return [((*path, index), item) for index, item in enumerate(written[:ADDRESSES_MAX])]


def _address(item: object, folder: str = "") -> Address | None:
    if isinstance(item, Address):
        return item
    try:
        return parse_address(item, folder) if isinstance(item, str) else None
    except ValueError:
        return None


# --- the graph -------------------------------------------------------------------------------------------------------


def _pieces(router_ids: list[str], wires: list[_WiredLink]) -> Iterator[Problem]:
    parts = _connected_parts(router_ids, wires)
    if len(parts) > 1:
        names = _few([f"({_ids(part)})" for part in parts[:PARTS_SHOWN]], PARTS_SHOWN, len(parts))
        where: Path = ("links",) if wires else ("routers",)
        yield Problem(where, f"the network is in {len(parts)} parts that no link joins: {names}", at_key=True)


def _connected_parts(router_ids: list[str], wires: list[_WiredLink]) -> list[list[str]]:
    beside: dict[str, list[str]] = {router_id: [] for router_id in router_ids}
    for wire in wires:
        a, b = wire.ends
        beside[a].append(b)
        beside[b].append(a)
    parts, seen = [], set()
    for start in router_ids:
        if start not in seen:
            part = _reached(start, beside)
            seen |= part
            parts.append(sorted(part))
    return parts


def _reached(start: str, beside: dict[str, list[str]]) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        for router_id in beside[waiting.pop()]:
            if router_id not in reached:
                reached.add(router_id)
                waiting.append(router_id)
    return reached


def _ids(part: list[str]) -> str:
    return _few([quoted(router_id) for router_id in part[:IDS_SHOWN]], IDS_SHOWN, len(part))


def _few(shown: list[str], shown_max: int, count: int) -> str:
    return ", ".join(shown) + (f" and {count - shown_max} more" if count > shown_max else "")
