"""A line chart for the page: one SVG that takes its colours from the style sheet, and a legend as a list.

Law: the drawing is computed from the points alone. It has a title, and a text with the extremes of its lines; each line
has its label, each mark its event. Time is absolute: ticks are at whole seconds, minutes or hours of UTC.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Final

from tamis.analysis.page import formatting
from tamis.analysis.page.style import SERIES
from tamis.analysis.page.svg import Axis

WIDTH, HEIGHT = 560, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 14, 18, 42
_STEPS_S: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
TICKS_MAX: Final = 6
DOTS_MAX: Final = 60
"""Points of a line up to which each has a dot."""
MARKS_APART: Final = 0.012
"""The distance, as a share of the width, below which marks are drawn as one."""
MARK_WORDS_MAX: Final = 12
_DASHES: Final = ("", "7 3", "2 3")
Points = Sequence[tuple[float, float]]
Shown = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Time from `low` to `high`, seconds of Unix time."""

    low: float
    high: float

    @property
    def label(self) -> str:
        days = [datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d") for at in (self.low, self.high)]
        return f"{' to '.join(dict.fromkeys(days))}, UTC"

    def share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    @property
    def step(self) -> int:
        return next((step for step in _STEPS_S if (self.high - self.low) / step <= TICKS_MAX), _STEPS_S[-1])

    @property
    def ticks(self) -> list[float]:
        step = self.step
        if (self.high - self.low) / step > TICKS_MAX:  # days
            step *= math.ceil((self.high - self.low) / step / TICKS_MAX)
        return [float(at) for at in range(math.ceil(self.low / step) * step, math.floor(self.high) + 1, step)]

    def shown(self, tick: float) -> str:
        form = "%H:%M:%S" if self.step < 60 else "%H:%M" if self.step < 86_400 else "%m-%d"
        return datetime.fromtimestamp(tick, UTC).strftime(form)


@dataclass(frozen=True, slots=True)
class ChartLine:
    label: str
    points: Points


@dataclass(frozen=True, slots=True)
class ChartMark:
    """An event at a time."""

    at: float
    words: str


def chart(
    name: str,
    title: str,
    x: TimeAxis | Axis,
    y: Axis,
    lines: Sequence[ChartLine],
    y_shown: Shown,
    marks: Sequence[ChartMark] = (),
) -> str:
    """Return a figure with an id made of `name`."""
    gathered = list(_gathered(marks, x))
    drawn = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{name}-title {name}-text">',
        f'<title id="{name}-title">{escape(title)}</title>',
        f'<desc id="{name}-text">{escape(_in_words(lines, y_shown, gathered))}</desc>',
        *_grid(x, y, y_shown),
        *(part for mark in gathered for part in _marked(mark, x)),
        *(part for number, line in enumerate(lines) for part in _curve(number, line, x, y)),
        "</svg>",
    ]
    picture = "\n".join(drawn)
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f'<div class="frame" role="group" tabindex="0" aria-label="{escape(title)}">{picture}</div>'
        f"{_legend(lines, bool(gathered))}</figure>"
    )


def _in_words(lines: Sequence[ChartLine], y_shown: Shown, marks: Sequence[ChartMark]) -> str:
    tops = [f"{line.label} at most {y_shown(max(up for _, up in line.points))}" for line in lines if line.points]
    faults = [f"Marked: {'; '.join(mark.words for mark in marks)}."] if marks else []
    return " ".join([f"{', '.join(tops)}.", *faults])


def _across(x: TimeAxis | Axis, value: float) -> float:
    return _LEFT + x.share(value) * (WIDTH - _LEFT - _RIGHT)


def _down(y: Axis, value: float) -> float:
    return HEIGHT - _BOTTOM - y.share(value) * (HEIGHT - _TOP - _BOTTOM)


def _grid(x: TimeAxis | Axis, y: Axis, y_shown: Shown) -> Iterable[str]:
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    for tick in x.ticks:
        at = _across(x, tick)
        words = x.shown(tick) if isinstance(x, TimeAxis) else formatting.count(_whole(tick))
        yield f'<path class="grid" data-x="{tick!r}" d="M{at:.2f} {_TOP}V{bottom}"/>'
        anchor = "end" if at > right - 20 else "middle"
        place = f'x="{min(at, right):.1f}" y="{bottom + 18}" text-anchor="{anchor}"'
        yield f'<text class="soft" {place}>{escape(words)}</text>'
    for tick in y.ticks:
        at = _down(y, tick)
        yield f'<path class="grid" data-y="{tick!r}" d="M{_LEFT} {at:.2f}H{right}"/>'
        yield f'<text class="soft" x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{escape(y_shown(tick))}</text>'
    yield f'<text class="soft" x="{right}" y="{HEIGHT - 5}" text-anchor="end">{escape(x.label)}</text>'


def _whole(tick: float) -> float:
    return int(tick) if tick == int(tick) else tick


def _curve(number: int, line: ChartLine, x: TimeAxis | Axis, y: Axis) -> Iterable[str]:
    at = [(_across(x, a), _down(y, b)) for a, b in line.points]
    path = " ".join(f"{a:.2f},{b:.2f}" for a, b in at)
    yield f'<polyline {_look(number)} points="{path}"><title>{escape(line.label)}</title></polyline>'
    if len(at) <= DOTS_MAX:
        yield from (f'<circle class="f{number % SERIES}" cx="{a:.1f}" cy="{b:.1f}" r="2.5"/>' for a, b in at)


def _look(number: int) -> str:
    """Return the colour of a line, and dashes that distinguish it without colours."""
    dash = _DASHES[number % len(_DASHES)]
    return f'class="line s{number % SERIES}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _gathered(marks: Sequence[ChartMark], x: TimeAxis | Axis) -> Iterable[ChartMark]:
    """Yield the marks that lie on the axis, with one for those that would touch."""
    together: list[ChartMark] = []
    for mark in sorted((each for each in marks if x.low <= each.at <= x.high), key=lambda each: each.at):
        if together and x.share(mark.at) - x.share(together[0].at) > MARKS_APART:
            yield _one(together)
            together = []
        together.append(mark)
    if together:
        yield _one(together)


def _one(together: Sequence[ChartMark]) -> ChartMark:
    words = list(dict.fromkeys(mark.words for mark in together))
    more = [f"{len(words) - MARK_WORDS_MAX:,} more"] if len(words) > MARK_WORDS_MAX else []
    return ChartMark(together[0].at, ", ".join([*words[:MARK_WORDS_MAX], *more]))


def _marked(mark: ChartMark, x: TimeAxis | Axis) -> Iterable[str]:
    at = _across(x, mark.at)
    words = f"{datetime.fromtimestamp(mark.at, UTC):%H:%M:%S} {mark.words}" if isinstance(x, TimeAxis) else mark.words
    yield f"<g><title>{escape(words)}</title>"
    yield f'<path class="mark" d="M{at:.1f} {_TOP}V{HEIGHT - _BOTTOM}"/>'
    yield f'<path class="sign" d="M{at - 5:.1f} {_TOP - 10}h10l-5 9z"/></g>'


def _legend(lines: Sequence[ChartLine], has_marks: bool) -> str:
    looks = [(_look(number), line.label) for number, line in enumerate(lines)]
    if has_marks:
        looks.append(('class="mark"', "a fault"))
    each = [
        f'<li><svg viewBox="0 0 26 10" aria-hidden="true"><path {look} d="M0 5h26"/></svg>{escape(label)}</li>'
        for look, label in looks
    ]
    return f'<ul class="legend">{"".join(each)}</ul>' if len(each) > 1 else ""
