"""The picture at the top of README.md: one message and three predicates over five routers, for light and dark pages.

    python -m tests.docs.picture    write docs/images/network-light.svg and docs/images/network-dark.svg

Law: the predicates are evaluated, and the links that the message takes are on shortest paths over the links that are
drawn. Only positions and words are chosen by hand.
"""

from __future__ import annotations

from html import escape
from math import hypot
from typing import Final

from tamis.analysis.page.style import DARK, LIGHT, Palette
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.language import parse
from tamis.protocol.message_text import parse_message_text
from tests.docs.commands import ROOT

IMAGES: Final = ROOT / "docs" / "images"
WIDTH, HEIGHT = 960, 390
PLACES: Final = {"a": (318, 200), "e": (402, 86), "d": (540, 130), "c": (540, 270), "b": (402, 314)}
LINKS: Final = ("ac", "ab", "bc", "cd", "de", "ea")
MESSAGE: Final = ('class = "alert"', "severity = 6", 'device = "web-3"')
SUBSCRIBERS: Final = {
    "web-team": ("e", 'device ^= "web"', 58),
    "on-call": ("d", 'class = "alert" and severity > 4', 182),
    "director": ("b", 'class = "alert" and severity > 8', 330),
}
"""The router of each, its predicate, and the middle of its box from above."""
ENTRY, RADIUS = "a", 23
BOX_LEFT, BOX_WIDTH, BOX_HEIGHT = 622, 326, 84
_STYLE: Final = """\
text {{ font: 15px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: {ink} }}
.code {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }}
.name {{ font-weight: 600 }} .soft {{ fill: {soft} }} .good {{ fill: {good} }}
.router {{ text-anchor: middle; font-size: 18px; font-weight: 600 }} .on {{ fill: {ground} }}
rect, circle {{ fill: {raised}; stroke: {drawn}; stroke-width: 1.5 }} rect.page {{ fill: {ground}; stroke: none }}
rect.reached {{ stroke: {accent}; stroke-width: 2 }} circle.reached {{ fill: {accent}; stroke: {accent} }}
path {{ stroke: {drawn}; stroke-width: 2; fill: none }} .idle {{ stroke-dasharray: 2 6; stroke-linecap: round }}
path.lit {{ stroke: {accent}; stroke-width: 4 }} path.head {{ fill: {accent}; stroke: none }}"""


def receivers() -> set[str]:
    """Return the names of the subscribers whose predicate the message satisfies."""
    message = parse_message_text(" ".join(part.replace(" ", "") for part in MESSAGE))
    return {name for name, (_, predicate, _) in SUBSCRIBERS.items() if predicate_matches(parse(predicate), message)}


def taken() -> set[tuple[str, str]]:
    """Return the links that the message takes, each as (from, to)."""
    before: dict[str, str] = {}
    reached = [ENTRY]
    for router in reached:
        for link in LINKS:
            other = link.replace(router, "") if router in link else ENTRY
            if other not in reached:
                before[other] = router
                reached.append(other)
    links: set[tuple[str, str]] = set()
    for name in receivers():
        at = SUBSCRIBERS[name][0]
        while at != ENTRY:
            links.add((before[at], at))
            at = before[at]
    return links


def picture(palette: Palette) -> str:
    lit = taken()
    reached = {ENTRY, *(to for _, to in lit)}
    idle = [link for link in LINKS if not {(link[0], link[1]), (link[1], link[0])} & lit]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
        f"<style>\n{_STYLE.format_map(palette)}\n</style>",
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        *(f'<path d="M{_at(PLACES[link[0]])}L{_at(PLACES[link[1]])}"/>' for link in idle),
        *(part for start, end in sorted(lit) for part in _arrow(PLACES[start], PLACES[end], RADIUS)),
        *_arrow((206, 200), PLACES[ENTRY], RADIUS),
        *(part for name in SUBSCRIBERS for part in _subscriber(name)),
        *(part for router in PLACES for part in _router(router, router in reached)),
        *_publisher(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _router(name: str, is_reached: bool) -> list[str]:
    (x, y), circle, letter = PLACES[name], *(("reached", "router on") if is_reached else ("", "router"))
    return [f'<circle class="{circle}" cx="{x}" cy="{y}" r="{RADIUS}"/>', _text(x, y + 6, letter, name)]


def _subscriber(name: str) -> list[str]:
    router, predicate, middle = SUBSCRIBERS[name]
    is_reached, top, end = name in receivers(), middle - BOX_HEIGHT // 2, (BOX_LEFT, middle)
    idle = f'<path class="idle" d="M{_at(PLACES[router])}L{_at(end)}"/>'
    verdict = ("good", "✓ satisfied: receives it") if is_reached else ("soft", f"✗ not satisfied: not sent to {router}")
    return [
        *(_arrow(PLACES[router], end, 0) if is_reached else [idle]),
        _box(BOX_LEFT, top, BOX_WIDTH, BOX_HEIGHT, is_reached),
        _text(BOX_LEFT + 16, top + 25, "name", f"{name}, at {router}"),
        _text(BOX_LEFT + 16, top + 48, "code", predicate),
        _text(BOX_LEFT + 16, top + 71, *verdict),
    ]


def _publisher() -> list[str]:
    lines = [_text(28, 174 + 24 * row, "code", line) for row, line in enumerate(MESSAGE)]
    return [_box(12, 146, 194, 92, True), _text(12, 132, "name", f"publisher, at {ENTRY}"), *lines]


def _box(left: int, top: int, width: int, height: int, is_reached: bool) -> str:
    kind = ' class="reached"' if is_reached else ""
    return f'<rect{kind} x="{left}" y="{top}" width="{width}" height="{height}" rx="8"/>'


def _arrow(start: tuple[int, int], end: tuple[int, int], gap: int) -> list[str]:
    """A lit line with a head that ends `gap` before `end`."""
    length = hypot(end[0] - start[0], end[1] - start[1])
    x, y = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    tip = (end[0] - (gap + 2) * x, end[1] - (gap + 2) * y)
    back = (tip[0] - 14 * x, tip[1] - 14 * y)
    sides = [(back[0] + side * y, back[1] - side * x) for side in (8, -8)]
    head = f'<path class="head" d="M{_at(tip)}L{_at(sides[0])}L{_at(sides[1])}Z"/>'
    return [f'<path class="lit" d="M{_at(start)}L{_at(back)}"/>', head]


def _at(place: tuple[float, float]) -> str:
    return f"{place[0]:.4g} {place[1]:.4g}"


def _text(x: float, y: float, kind: str, words: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words, quote=False)}</text>'


def main() -> None:
    for name, palette in (("light", LIGHT), ("dark", DARK)):
        (IMAGES / f"network-{name}.svg").write_text(picture(palette))


if __name__ == "__main__":
    main()
