"""`python -m tamis.bench.router.brokers.chart`: the chart of README.md, from `results/peers.md`.

    messages a second, and CPU of a message | each broker with one filter | those that filter by content, with 10,000

Law: each dot is a cell of the page of results, whose head names the machine and the day. Axes are logarithmic and both
charts, for light and for dark pages, differ in colours alone. Dots and not bars, since a logarithmic axis has no zero.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from tamis.analysis.page.style import DARK, LIGHT, Palette
from tamis.analysis.page.svg import Axis

ROOT: Final = Path(__file__).parents[3]
RESULTS: Final = ROOT / "bench" / "results" / "peers.md"
IMAGES: Final = ROOT / "docs" / "images"
BROKERS: Final = ("tamis", "nats", "redis", "mosquitto", "rabbitmq")
PARTS: Final = {
    "one": "1 subscriber that gets all messages: Tamis by a predicate, the others by a name",
    "symbols-10k": "10,000 predicates on three attributes, one of which matches (RabbitMQ: headers, without the price)",
}
"""The measures that are drawn, each with what it asks."""
NAMES: Final = {"tamis": "Tamis", "nats": "NATS", "redis": "Redis", "mosquitto": "Mosquitto", "rabbitmq": "RabbitMQ"}
WIDTH, ROW, PART = 960, 26, 48
_PANELS: Final = ((118, 500), (574, 900))
"""Where each axis begins and ends from the left; its labels stand to the right of dots."""
_STYLE: Final = """\
text {{ font: 14px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: {ink};
  paint-order: stroke; stroke: {ground}; stroke-width: 4px; stroke-linejoin: round }}
.title {{ font-size: 16px; font-weight: 600 }} .part, .ours {{ font-weight: 600 }} .soft {{ fill: {soft} }}
.middle {{ text-anchor: middle }} .end {{ text-anchor: end }} .small {{ font-size: 12px; fill: {soft} }}
rect {{ fill: {ground} }} path {{ stroke: {rule}; fill: none }} path.stem {{ stroke: {drawn}; stroke-width: 2 }}
path.ours {{ stroke: {c0}; stroke-width: 3 }} circle {{ fill: {drawn} }} circle.ours {{ fill: {c0} }}"""


@dataclass(frozen=True, slots=True)
class Measured:
    rate: float
    cpu_us: float
    spread: int
    """(largest - smallest) / median of the rounds, in percent: the widest of a row."""


def read(page: str, measure: str) -> dict[str, Measured]:
    """Return the rows of one table of the page of results, by broker."""
    [part] = re.findall(rf"^## {measure}:.*?\n\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    head, _line, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines() if "|" in line)
    found: dict[str, Measured] = {}
    for row in rows:
        cells = dict(zip(head, row, strict=True))
        rate, cpu_us = (float(cells[column].replace(",", "")) for column in ("msg/s", "CPU us/msg"))
        found[cells["peer"]] = Measured(rate, cpu_us, int(cells["±"].removesuffix("%")))
    return {broker: found[broker] for broker in BROKERS if broker in found}


def chart(page: str, palette: Palette) -> str:
    parts = {measure: read(page, measure) for measure in PARTS}
    cells = [cell for rows in parts.values() for cell in rows.values()]
    axes = (
        Axis.over("messages a second (more is better)", [cell.rate for cell in cells], log=True),
        Axis.over("CPU of the broker, µs a message (less is better)", [cell.cpu_us for cell in cells], log=True),
    )
    lines: list[str] = []
    top = 44
    for measure, rows in parts.items():
        lines += [_text(16, top + 32, "part", PARTS[measure])]
        top += PART
        for broker in BROKERS:
            lines += _row(broker, rows.get(broker), axes, top + ROW // 2)
            top += ROW
    spread = max(cell.spread for cell in cells)
    height = top + 108
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">',
        f"<style>\n{_STYLE.format_map(palette)}\n</style>",
        f'<rect width="{WIDTH}" height="{height}" rx="8"/>',
        _text(16, 30, "title", "One router or broker, messages of 150 bytes (logarithmic axes)"),
        *(part for axis, panel in zip(axes, _PANELS, strict=True) for part in _axis(axis, panel, top)),
        *lines,
        _text(16, height - 32, "small", f"python -m tamis.bench.router.brokers --measure {','.join(PARTS)}"),
        _text(
            16,
            height - 14,
            "small",
            f"{_machine(page)}; medians of three rounds, whose range is up to {spread} % of the median",
        ),
        "</svg>",
    ]
    return "\n".join(body) + "\n"


def _machine(page: str) -> str:
    """Return the day and the machine, as the page of results has them."""
    [found] = re.findall(r"^(\d{4}-\d\d-\d\d, .*? cores), ", page, re.MULTILINE)
    return str(found)


def _axis(axis: Axis, panel: tuple[int, int], bottom: int) -> list[str]:
    parts = []
    for tick in axis.ticks:
        at = _across(axis, panel, tick)
        parts += [f'<path d="M{at:.1f} 60V{bottom + 6}"/>', _text(at, bottom + 24, "middle soft", _number(tick))]
    return [*parts, _text(sum(panel) / 2, bottom + 46, "middle", axis.label)]


def _row(broker: str, cell: Measured | None, axes: Sequence[Axis], middle: int) -> list[str]:
    ours = "ours" if broker == "tamis" else ""
    parts = [_text(106, middle + 5, f"end {ours}", NAMES[broker])]
    if cell is None:
        return [*parts, _text(_PANELS[0][0] + 8, middle + 5, "soft", "cannot filter by content")]
    for axis, panel, value in zip(axes, _PANELS, (cell.rate, cell.cpu_us), strict=True):
        at = _across(axis, panel, value)
        parts += [
            f'<path class="{ours or "stem"}" d="M{panel[0]} {middle}H{at:.1f}"/>',
            f'<circle class="{ours}" cx="{at:.1f}" cy="{middle}" r="6"/>',
            _text(at + 12, middle + 5, ours, f"{value:,.0f}" if value >= 100 else f"{value:.3g}"),
        ]
    return parts


def _across(axis: Axis, panel: tuple[int, int], value: float) -> float:
    return panel[0] + axis.share(value) * (panel[1] - panel[0])


def _number(value: float) -> str:
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"


def _text(left: float, down: float, kind: str, words: str) -> str:
    return f'<text class="{kind.strip()}" x="{left:.1f}" y="{down:.1f}">{escape(words, quote=False)}</text>'


def main() -> None:
    page = RESULTS.read_text()
    for name, palette in (("light", LIGHT), ("dark", DARK)):
        (IMAGES / f"brokers-{name}.svg").write_text(chart(page, palette))


if __name__ == "__main__":
    main()
