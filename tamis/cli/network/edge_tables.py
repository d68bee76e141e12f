"""The edges of routers, for `tamis show routes --edges`: a table for one router, and the trees of several.

Law: an edge is shown once for each tree that contains it, under the root of that tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tamis.cli.tables import columns, fitted, so_many
from tamis.protocol.shown import shown

Form = dict[str, Any]
_ANY_WIDTH: Final = 10_000
_HEAD: Final = ("root", "edge to", "routers behind", "filters there", "filters sent")


def edges_text(answer: Form) -> str:
    """Return the edges of one router, from its page `/edges`."""
    if not answer["by_edges"]:
        return f"edges: none: strategy {answer['strategy']} uses no edges"
    if not answer["edges"]:
        return "edges: none: no other router is reachable, or those reachable have another strategy, classes or roots"
    table = columns(_HEAD, [_row(each) for each in answer["edges"]])
    lines = [table, *(shown(f"{root} is the root of {what}") for root, what in _roots(answer["edges"]))]
    return "\n".join(lines)


def _row(edge: Form) -> tuple[object, ...]:
    return edge["root"], edge["neighbour"], edge["routers"], _wanted(edge), _said(edge)


def _wanted(edge: Form) -> str:
    """Return the filters behind an edge, as far as this router knows them."""
    held = edge["held"]
    if held is None:
        return "every message, towards the root"
    filters = so_many(held["filters"], "filter")
    return filters if held["complete"] else f"every message, until complete ({filters} so far)"


def _said(edge: Form) -> str:
    said = edge["said"]
    if said is None:
        return "none: every message comes from there"
    filters = so_many(said["filters"], "filter")
    return filters if said["complete"] else f"{filters}, not complete"


def _roots(edges: Sequence[Form]) -> Iterator[tuple[str, str]]:
    """Yield each root that has classes, and the text of these classes."""
    classes = {edge["root"]: edge["classes"] for edge in edges if edge["classes"] is not None}
    for root, names in classes.items():
        yield root, in_words(names)


def in_words(classes: Sequence[str | None]) -> str:
    """Return a text such as `class orders and messages of no class`."""
    named = [name for name in classes if name is not None]
    of_classes = [f"{'class' if len(named) == 1 else 'classes'} {', '.join(named)}"] if named else []
    return " and ".join(of_classes + (["messages of no class"] if None in classes else []))


def trees_text(answers: Sequence[Form]) -> str:
    """Return the trees whose edges these routers have: each router is below the one nearer to the root, with the
    filters that the upper one holds for it and those that it has reported upwards; empty if there are no edges."""
    edges = {
        (each["root"], answer["router"], each["neighbour"]): each for answer in answers for each in answer["edges"]
    }
    trees = []
    for root in dict.fromkeys(root for root, _, _ in edges):
        classes = next(each["classes"] for (of, _, _), each in edges.items() if of == root)
        title = shown(f"tree of {root}" + ("" if classes is None else f", the root of {in_words(classes)}"))
        trees.append(f"{title}\n{_tree_table(root, edges)}")
    return "\n\n".join(trees)


Edges = Mapping[tuple[str, str, str], Form]
"""By (root, router, neighbour): the edge of that tree, as the router sees it."""


def _tree_table(root: str, edges: Edges) -> str:
    children: dict[str, list[str]] = {}
    for of, router, neighbour in edges:
        if of == root:
            is_up = edges[of, router, neighbour]["towards_root"]
            parent, child = (neighbour, router) if is_up else (router, neighbour)
            if child not in children.setdefault(parent, []):
                children[parent].append(child)
    below = children.get(root, [])
    known = [edges[root, root, child]["routers"] for child in below if (root, root, child) in edges]
    total: object = 1 + sum(known) if len(known) == len(below) else ""
    rows = [(root, total, "", ""), *_rows(root, root, children, edges, "", {root})]
    head = ("router", "routers", "filters there", "filters above")
    return columns(*fitted(head, rows, _ANY_WIDTH, ()))


def _rows(
    root: str, parent: str, children: Mapping[str, list[str]], edges: Edges, indent: str, seen: set[str]
) -> Iterator[tuple[object, ...]]:
    """Yield the rows depth first, each router once, whatever the answers contain."""
    below = sorted(child for child in children.get(parent, ()) if child not in seen)
    seen.update(below)
    for left, child in zip(reversed(range(len(below))), below, strict=True):
        down, up = edges.get((root, parent, child)), edges.get((root, child, parent))
        wanted = "not queried" if down is None else _wanted(down)
        above = "" if up is None or up["held"] is None else _wanted(up)
        yield f"{indent}{'├─ ' if left else '└─ '}{child}", "" if down is None else down["routers"], wanted, above
        yield from _rows(root, child, children, edges, f"{indent}{'│  ' if left else '   '}", seen)
