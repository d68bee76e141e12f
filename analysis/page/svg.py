"""A line plot as SVG, written by hand: axes, decades, lines with marks, a legend.

Law: the plot is computed from the points alone, so equal results give equal files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 200, 40, 50
_COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94", "#b8860b", "#444444", "#17a2a2", "#d1477d", "#6b8e23"]
_FONT = 'font-family="sans-serif" font-size="12"'
_DASHES = ["", "6 3", "2 3"]


@dataclass(frozen=True, slots=True)
class PlotLine:
    label: str
    points: Sequence[tuple[float, float]]
    colour: int = 0
    dash: int = 0


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`; a logarithmic one runs over whole decades. With `whole` only whole numbers get
    ticks."""

    label: str
    low: float
    high: float
    log: bool
    whole: bool = False

    @staticmethod
    def over(label: str, values: Sequence[float], log: bool) -> Axis:
        low, high = min(values, default=1.0), max(values, default=1.0)
        if log:
            low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
            return Axis(label, low, high if high > low else 10 * low, log)
        is_whole = all(isinstance(value, int) for value in values)
        return Axis(label, min(low, 0.0), high if high > min(low, 0.0) else 1.0, log, is_whole)

    def share(self, value: float) -> float:
        if self.log:
            return math.log10(value / self.low) / math.log10(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        if self.log:
            decades = round(math.log10(self.high / self.low))
            return [self.low * 10**power for power in range(decades + 1)]
        step = max(_step(self.high - self.low), 1.0 if self.whole else 0.0)
        return [step * k for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def _step(span: float) -> float:
    """Return a round distance between ticks that gives 4 to 10 of them."""
    decade: float = 10.0 ** math.floor(math.log10(span))
    return next(decade / parts for least, parts in ((5, 1), (2, 2), (1, 5)) if span / decade >= least)


def plot(title: str, x: Axis, y: Axis, lines: Sequence[PlotLine]) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {_FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(_LEFT, 24, title, 'font-size="15"'),
        *_grid(x, y),
        *(part for line in lines for part in _curve(line, x, y)),
        *(part for row, line in enumerate(lines) for part in _legend(line, row)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _across(x: Axis, value: float) -> float:
    return _LEFT + x.share(value) * (WIDTH - _LEFT - _RIGHT)


def _down(y: Axis, value: float) -> float:
    return HEIGHT - _BOTTOM - y.share(value) * (HEIGHT - _TOP - _BOTTOM)


def _grid(x: Axis, y: Axis) -> list[str]:
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    parts = []
    for tick in x.ticks:
        at = _across(x, tick)
        parts.append(f'<path d="M{at:.1f} {_TOP}V{bottom}" stroke="#ddd"/>')
        parts.append(_text(at, bottom + 18, _number(tick), 'text-anchor="middle"'))
    for tick in y.ticks:
        at = _down(y, tick)
        parts.append(f'<path d="M{_LEFT} {at:.1f}H{right}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 8, at + 4, _number(tick), 'text-anchor="end"'))
    parts.append(_text((_LEFT + right) / 2, HEIGHT - 12, x.label, 'text-anchor="middle"'))
    middle = (_TOP + bottom) / 2
    parts.append(_text(18, middle, y.label, f'text-anchor="middle" transform="rotate(-90 18 {middle:.1f})"'))
    return parts


def _curve(line: PlotLine, x: Axis, y: Axis) -> list[str]:
    at = [(_across(x, a), _down(y, b)) for a, b in line.points]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in at)
    marks = [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{_colour(line)}"/>' for a, b in at]
    return [f'<polyline points="{path}" fill="none" {_stroke(line)}/>', *marks]


def _legend(line: PlotLine, row: int) -> list[str]:
    left, at = WIDTH - _RIGHT + 16, _TOP + 12 + 20 * row
    return [f'<path d="M{left} {at}h28" {_stroke(line)}/>', _text(left + 36, at + 4, line.label)]


def _stroke(line: PlotLine) -> str:
    return f'stroke="{_colour(line)}" stroke-width="2" stroke-dasharray="{_DASHES[line.dash % len(_DASHES)]}"'


def _colour(line: PlotLine) -> str:
    return _COLOURS[line.colour % len(_COLOURS)]


def _text(left: float, down: float, words: str, style: str = "") -> str:
    return f'<text x="{left:.1f}" y="{down:.1f}" {style}>{escape(words)}</text>'


def _number(value: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
