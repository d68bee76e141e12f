"""The network as a drawing: routers on a circle, links as wide as their traffic.

Law: the drawing shows the tables: routers with records, links with traffic. The figures of each router and link are in
a title of its own, and the whole in a description, so a screen reader has all of the information.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from tamis.analysis.page import formatting
from tamis.analysis.page.formatting import so_many

Tables = Mapping[str, Sequence[Mapping[str, Any]]]
ROUTERS_MAX: Final = 80
"""Routers up to which a drawing is readable."""
LABELLED_MAX: Final = 14
"""Links up to which each has its rate beside it."""
WIDTH, HEIGHT = 560, 380
_WIDE: Final = 9.0
_THIN: Final = 1.5
_LETTER: Final = 7.4
"""Width of a letter, about."""


@dataclass(slots=True)
class DrawnLink:
    """A link between two routers, by name in order: messages and bytes that each sent, and how often each saw it go
    down."""

    messages: dict[str, int] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)
    seen_down: dict[str, int] = field(default_factory=dict)

    @property
    def downs(self) -> int:
        return max(self.seen_down.values(), default=0)

    @property
    def total(self) -> int:
        return sum(self.messages.values())


def links(tables: Tables) -> dict[tuple[str, str], DrawnLink]:
    """Return the links by their ends: as the interfaces counted them, or else as recorded messages crossed them."""
    found: dict[tuple[str, str], DrawnLink] = {}
    for row in tables.get("traffic/by_link", ()):
        link = found.setdefault(_ends(row["router"], row["neighbour"]), DrawnLink())
        link.messages[row["router"]] = row["messages_out"]
        link.bytes[row["router"]] = row["bytes_out"]
    if not found:
        for row in tables.get("delivery/in_vain", ()):
            link = found.setdefault(_ends(row["from_neighbour"], row["router"]), DrawnLink())
            link.messages[row["from_neighbour"]] = row["frames"]
    for row in tables.get("logs/changes", ()):
        cut = found.get(_ends(row["router"], row["neighbour"])) if row["what"] == "link down" else None
        if cut is not None:
            cut.seen_down[row["router"]] = cut.seen_down.get(row["router"], 0) + 1
    return found


def drawing(tables: Tables) -> str:
    """Return the figure; nothing if there are no links, or too many routers to tell apart."""
    found = links(tables)
    lives = tables["logs/lives"]
    names = sorted({row["router"] for row in lives}.union(*found))
    if not found or len(names) > ROUTERS_MAX:
        return ""
    seconds = (max(row["last_us"] for row in lives) - min(row["first_us"] for row in lives)) / 1e6
    broke = {row["router"] for row in lives if row["end"] == "broke off"}
    at = {name: _place(number, len(names)) for number, name in enumerate(names)}
    most = max(link.total for link in found.values()) or 1
    words = [_words(ends, link, seconds) for ends, link in sorted(found.items())]
    title = f"{so_many(len(names), 'router')} and {so_many(len(found), 'link')}; wider lines carried more messages"
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="network-title network-text">',
        f'<title id="network-title">{escape(title)}</title>',
        f'<desc id="network-text">{escape(" ".join(words))}</desc>',
        *(part for ends, link in sorted(found.items()) for part in _link(ends, link, at, most, seconds)),
    ]
    if len(found) <= LABELLED_MAX:
        parts += [_rate(ends, link, at, seconds) for ends, link in sorted(found.items())]
    parts += [_router(name, at[name], name in broke, len(names)) for name in names]
    note = "dashed red: went down at least once" if any(link.downs for link in found.values()) else ""
    caption = f'<figcaption>{escape(title)} <span class="soft">{note}</span></figcaption>'
    return f'<figure class="frame">{"".join(parts)}</svg>{caption}</figure>'


def _ends(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _place(number: int, of: int) -> tuple[float, float]:
    """Return the position of router `number`; two are side by side."""
    turn = 2 * math.pi * number / of + (math.pi if of == 2 else -math.pi / 2)
    return WIDTH / 2 + (WIDTH / 2 - 70) * math.cos(turn), HEIGHT / 2 + (HEIGHT / 2 - 44) * math.sin(turn)


def _words(ends: tuple[str, str], link: DrawnLink, seconds: float) -> str:
    ways = []
    for one, other in (ends, ends[::-1]):
        bytes_ = f", {formatting.volume(link.bytes[one])}" if one in link.bytes else ""
        rate = f" ({_per_s(link.messages.get(one, 0), seconds)})"
        ways.append(f"{one} to {other} {so_many(link.messages.get(one, 0), 'message')}{rate}{bytes_}")
    downs = f"; went down {'once' if link.downs == 1 else f'{link.downs:,} times'}" if link.downs else ""
    return f"{'; '.join(ways)}{downs}."


def _per_s(messages: int, seconds: float) -> str:
    return f"{formatting.digits(messages / seconds)}/s" if seconds else "0/s"


def _link(
    ends: tuple[str, str], link: DrawnLink, at: Mapping[str, tuple[float, float]], most: int, seconds: float
) -> Iterable[str]:
    (x1, y1), (x2, y2) = (at[name] for name in ends)
    wide = _THIN + (_WIDE - _THIN) * math.sqrt(link.total / most)
    line = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
    title = escape(_words(ends, link, seconds))
    yield f'<path class="link" stroke-width="{wide:.1f}" d="{line}"><title>{title}</title></path>'
    if link.downs:
        yield f'<path class="was-down" d="{line}"/>'


def _rate(ends: tuple[str, str], link: DrawnLink, at: Mapping[str, tuple[float, float]], seconds: float) -> str:
    """Return the words beside a link: both ways together, two fifths along it, so that crossing links keep apart."""
    (x1, y1), (x2, y2) = (at[name] for name in ends)
    x, y = x1 + (x2 - x1) * 0.4, y1 + (y2 - y1) * 0.4
    words = _per_s(link.total, seconds)
    wide = _LETTER * len(words) + 6
    return (
        f'<rect class="ground" x="{x - wide / 2:.1f}" y="{y - 10:.1f}" width="{wide:.1f}" height="20" rx="4"/>'
        f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle">{words}</text>'
    )


def _router(name: str, at: tuple[float, float], is_broken: bool, of: int) -> str:
    x, y = at
    radius = 20 if of <= 16 else 7
    title = f"router {name}" + (", which broke off at least once" if is_broken else "")
    is_short = len(name) <= 4 and radius == 20
    down = y + 5 if is_short else y + radius + 15
    circle = f'<circle class="router{" broke" if is_broken else ""}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
    look = "" if is_short else 'class="halo" '
    label = f'<text {look}x="{x:.1f}" y="{down:.1f}" text-anchor="middle">{escape(name)}</text>'
    return f"<g><title>{escape(title)}</title>{circle}{label}</g>"
