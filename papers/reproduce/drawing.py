"""Pictures of figures, with matplotlib, as SVG and PNG: a title, the plot, and each claim with its verdict.

Law: equal rows give equal files. A picture says by itself what it shows. What is zero is drawn, and what was not
measured is not. matplotlib is imported here alone; who has no matplotlib is told how to get it.
"""

from __future__ import annotations

import importlib.util
import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from tamis.analysis.page.style import LIGHT, SERIES
from tamis.papers.reproduce.figure import OF_PAPER, Judgement, PlotSpec, Reproduced, ResultRow, Ruling, Scalar
from tamis.papers.reproduce.judging import number
from tamis.protocol.errors import TamisError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_Names = Sequence[Scalar]
_Heights = Mapping[tuple[Scalar, Scalar], float]
"""The height of a bar by its place and its kind; what was not measured has none."""
_DASHES: Final = ("-", "--", ":")
_MARKS: Final = "osD^vPX*"
_HATCHES: Final = ("//", "..", "xx")
_WIDTH_IN, _PLOT_IN, _DPI = 6.4, 3.9, 110
_TITLE_IN, _LINE_IN, _MARGIN_IN = 0.5, 0.17, 0.1
_CLAIM_LETTERS: Final = 100
"""Letters in a line of the caption, with room for fonts that are wider than ours."""
_ROW_LETTERS: Final = 78
"""Letters of labels that fit side by side; more of them are turned."""
_MARK_LETTERS: Final = 6
"""What the line or the square before a name in a legend is as wide as."""
_LONG_AXIS: Final = 300
"""How many times its beginning a logarithmic axis ends, from which on it has ticks at powers of ten alone."""
_TICKS_APART: Final = 0.045
"""The part of an axis that ticks are apart, at least: where what was measured is, there are ticks at it."""
_NAMELESS: Final = "line"
"""The column of rows that says which line it is, and is no word of the paper."""
_GROUP: Final = 0.8
"""The part of a place that its bars take."""
SIGNS: Final = {Ruling.HOLDS: ("✓", "good"), Ruling.DIFFERS: ("≠", "bad"), Ruling.OPEN: ("?", "doubt")}
"""The sign and the colour of a verdict."""
_STACKS: Final = ("c0", "c6", "c4", "c1", "c7", "c3", "c2", "c5")


class NoMatplotlib(TamisError):
    """The library that draws is not installed."""


def check_installed() -> None:
    """NoMatplotlib, with the command that installs it, if it is not there."""
    if importlib.util.find_spec("matplotlib") is None:
        raise NoMatplotlib("figures need matplotlib: pip install 'tamis[reproduce]'")


def drawn(done: Reproduced, spec: PlotSpec, name: str) -> tuple[str, bytes] | None:
    """SVG and PNG; None if there is nothing to draw. `name` is unique on a page."""
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9.5, "axes.linewidth": 0.8}):
        figure = picture(done, spec)
        return None if figure is None else (_svg(figure, spec, name), _png(figure))


def picture(done: Reproduced, spec: PlotSpec) -> Figure | None:
    """Return the title, the plot and the caption below one another; None if there is nothing to draw."""
    from matplotlib.figure import Figure

    rows = spec.chosen(done.rows)
    if not rows:
        return None
    caption = _caption(done)
    caption_in = _MARGIN_IN + _LINE_IN * sum(len(lines) for _, lines in caption)
    height_in = _TITLE_IN + _PLOT_IN + caption_in
    figure = Figure(figsize=(_WIDTH_IN, height_in), dpi=_DPI, facecolor=LIGHT["ground"])
    axes = figure.add_subplot()
    if spec.kind == "line":
        _draw_lines(axes, spec, rows)
        _draw_paper(axes, spec)
    else:
        _draw_bars(axes, spec, [*rows, *spec.paper])
    _dress(axes, spec)
    _place_legend(axes, spec)
    _lay_out(figure, axes, (0, caption_in / height_in, 1, _PLOT_IN / height_in))
    _write(figure, 1 - 0.13 / height_in, spec.title, LIGHT["ink"], 11, fontweight="bold")
    where = f"Paper {done.figure.paper}, {done.figure.heading[:1].lower()}{done.figure.heading[1:]}"
    _write(figure, 1 - 0.36 / height_in, where, LIGHT["soft"], 8.5)
    coloured = [(LIGHT[colour], line) for colour, lines in caption for line in lines]
    for at, (colour, line) in enumerate(coloured):
        _write(figure, (caption_in - _LINE_IN * (at + 0.5)) / height_in, line, colour, 8)
    return figure


def _lay_out(figure: Figure, axes: Axes, rect: tuple[float, float, float, float]) -> None:
    """Place the plot with its labels and legend in `rect`. Places are rounded: the last digits differ between runs."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure.set_layout_engine(ConstrainedLayoutEngine(rect=rect))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    left, bottom, width, height = axes.get_position().bounds
    axes.set_position((round(left, 4), round(bottom, 4), round(width, 4), round(height, 4)))


def _write(figure: Figure, up: float, text: str, colour: str, size: float, **look: Any) -> None:  # noqa: ANN401 - as matplotlib has it
    figure.text(0.015, up, text, color=colour, fontsize=size, ha="left", va="center", **look)


def _caption(done: Reproduced) -> list[tuple[str, list[str]]]:
    """Return the colour and the lines of each claim of the figure, with its verdict."""
    found = []
    for criterion in done.figure.criteria:
        judged = done.judgements[criterion.name]
        sign, colour = SIGNS[judged.ruling]
        words = f"{sign} {judged.ruling}{_holds_if(judged)}: {criterion.claim}"
        found.append((colour, textwrap.wrap(words, _CLAIM_LETTERS, subsequent_indent="    ")))
    return found


def _holds_if(judged: Judgement) -> str:
    """In which readings a claim holds that has several."""
    if not judged.readings:
        return ""
    holding = [reading.name for reading in judged.readings if reading.judged.ruling is Ruling.HOLDS]
    return f" (read {', '.join(holding)})" if holding else " (in every reading)"


def _draw_lines(axes: Axes, spec: PlotSpec, rows: Sequence[ResultRow]) -> None:
    """Draw a line for each kind; those that are drawn first are broader, so that they show under the others."""
    kinds = list(dict.fromkeys(row.get(spec.by) for row in rows))
    for rank, kind in enumerate(kinds):
        line = sorted((number(row, spec.x), number(row, spec.y)) for row in rows if row.get(spec.by) == kind)
        dash, mark = _DASHES[rank // SERIES % len(_DASHES)], _MARKS[rank % len(_MARKS)]
        above = (len(kinds) - 1 - rank) / max(len(kinds) - 1, 1)
        look: dict[str, Any] = {"color": LIGHT[f"c{rank % SERIES}"], "lw": 1.3 + 1.7 * above, "ms": 3.6 + 3.4 * above}
        axes.plot(*zip(*line, strict=True), label=f"{kind}", ls=dash, marker=mark, **look)
    places = sorted({number(row, spec.x) for row in rows})
    if not spec.log_x and len(places) > 1:
        apart = min(after - before for before, after in pairwise(places)) / (places[-1] - places[0])
        if apart >= _TICKS_APART:
            axes.set_xticks(places)


def _draw_paper(axes: Axes, spec: PlotSpec) -> None:
    """Draw the points that the paper states as hollow marks, with a thin line where it states several."""
    for rank, kind in enumerate(dict.fromkeys(row[spec.by] for row in spec.paper)):
        line = sorted((number(row, spec.x), number(row, spec.y)) for row in spec.paper if row[spec.by] == kind)
        mark = _MARKS[rank % len(_MARKS)]
        look: dict[str, Any] = {"color": LIGHT["ink"], "lw": 0.9, "ms": 8, "mfc": "none"}
        axes.plot(*zip(*line, strict=True), label=f"{kind}", ls=":", marker=mark, **look)


def _draw_bars(axes: Axes, spec: PlotSpec, rows: Sequence[ResultRow]) -> None:
    """Draw the bars of each place over its label; a bar without a height is the figure 0."""
    kinds = list(dict.fromkeys(row.get(spec.by) for row in rows))
    places = list(dict.fromkeys(row[spec.x] for row in rows))
    heights = {(row[spec.x], row.get(spec.by)): number(row, spec.y) for row in rows}
    draw = _draw_stacks if spec.kind == "stack" else _draw_groups
    for middle, top in draw(axes, kinds, places, heights):
        if top == 0:
            axes.annotate("0", (middle, 0), (0, 2), textcoords="offset points", ha="center", color=LIGHT["ink"])
    _label_places(axes, places)


def _draw_groups(axes: Axes, kinds: _Names, places: _Names, heights: _Heights) -> list[tuple[float, float]]:
    """Draw the bars of a place side by side; return the middle and the height of each."""
    own = [[kind for kind in kinds if (place, kind) in heights] for place in places]
    width = _GROUP / max(map(len, own))
    drawn: list[tuple[float, float]] = []
    for rank, kind in enumerate(kinds):
        among = [(at, beside.index(kind), len(beside)) for at, beside in enumerate(own) if kind in beside]
        middles = [at + (index - (of - 1) / 2) * width for at, index, of in among]
        values = [heights[places[at], kind] for at, _, _ in among]
        look: dict[str, Any] = {"color": LIGHT[f"c{rank % SERIES}"]}
        if f"{kind}".endswith(OF_PAPER):
            look = {"color": "none", "edgecolor": LIGHT["ink"], "hatch": _HATCHES[rank % len(_HATCHES)]}
        axes.bar(middles, values, width, label=f"{kind}", **look)
        drawn += zip(middles, values, strict=True)
    return drawn


def _draw_stacks(axes: Axes, kinds: _Names, places: _Names, heights: _Heights) -> list[tuple[float, float]]:
    """Draw the bars of a place on one another; return the middle and the height of each pile."""
    below = [0.0] * len(places)
    for rank, kind in enumerate(kinds):
        values = [heights.get((place, kind), 0.0) for place in places]
        colour = LIGHT[_STACKS[rank % len(_STACKS)]]
        axes.bar(range(len(places)), values, 0.72, below, color=colour, label=f"{kind}")
        below = [low + value for low, value in zip(below, values, strict=True)]
    return list(enumerate(below))


def _label_places(axes: Axes, places: _Names) -> None:
    """Write the label of each place below it, in several lines; turned where so many do not fit."""
    names = [f"{place:,}" if isinstance(place, int) else _plain(place) for place in places]
    longest = max(len(word) for name in names for word in name.split())
    letters = max(longest, _ROW_LETTERS // len(places) - 1)
    if letters * len(places) > _ROW_LETTERS:
        axes.set_xticks(range(len(places)), names, rotation=35, ha="right", rotation_mode="anchor")
    else:
        axes.set_xticks(range(len(places)), [textwrap.fill(name, letters) for name in names])


def _plain(place: Scalar) -> str:
    return f"{place:g}" if isinstance(place, float) else f"{place}"


def _dress(axes: Axes, spec: PlotSpec) -> None:
    from matplotlib.ticker import FuncFormatter

    if spec.log_x and spec.kind == "line":
        axes.set_xscale("log")
    if spec.log_y:
        axes.set_yscale("log")
    elif not axes.get_ylim()[0] < 0:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(spec.x_label)
    axes.set_ylabel(spec.y_label)
    axes.set_facecolor(LIGHT["ground"])
    axes.grid(visible=True, color=LIGHT["rule"], lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    for spine in axes.spines.values():
        spine.set_color(LIGHT["drawn"])
    axes.tick_params(which="both", color=LIGHT["drawn"], labelcolor=LIGHT["ink"])
    for axis, is_numeric in ((axes.xaxis, spec.kind == "line"), (axes.yaxis, True)):
        if is_numeric:
            _space_ticks(axis)
            axis.set_major_formatter(FuncFormatter(lambda value, _at: _tick(value)))
        axis.label.set_color(LIGHT["ink"])


def _space_ticks(axis: Axis) -> None:
    """Have ticks at 1, 2 and 5 of each decade of a logarithmic axis; at its powers of ten alone where it is long."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if axis.get_scale() == "log":
        low, high = axis.get_view_interval()
        parts = (1.0, 2.0, 5.0) if high / low < _LONG_AXIS else (1.0,)
        axis.set_major_locator(LogLocator(subs=parts))
        axis.set_minor_formatter(NullFormatter())


def _tick(value: float) -> str:
    for least, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= least:
            return f"{value / least:g}{letter}"
    return f"{value:g}"


def _place_legend(axes: Axes, spec: PlotSpec) -> None:
    """Write what is what above the plot, or beside it where that is long."""
    labels = axes.get_legend_handles_labels()[1]
    if len(labels) > 1:
        beside = len(labels) > 4 or sum(len(label) + _MARK_LETTERS for label in labels) > _ROW_LETTERS
        look: dict[str, Any] = {"frameon": False, "labelcolor": LIGHT["ink"], "fontsize": 8.5, "title_fontsize": 8.5}
        look |= {"loc": "upper left", "bbox_to_anchor": (1, 1)} if beside else {"loc": "lower left"}
        look |= {} if beside else {"bbox_to_anchor": (0, 1), "ncols": len(labels)}
        look["title"] = spec.by_label or ("" if spec.by == _NAMELESS else spec.by)
        axes.legend(**look).get_title().set_color(LIGHT["ink"])


def _svg(figure: Figure, spec: PlotSpec, name: str) -> str:
    """The drawing as a file of its own, in the light colours; ids begin with `name`."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    text = file.getvalue()[file.getvalue().index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", text)
    return re.sub(r"<svg ", f'<svg role="img" aria-label="{escape(spec.title, quote=True)}" ', text, count=1)


def inline(svg: str) -> str:
    """The same as an element of a page: each colour by its name in the page's sheet, so that it goes dark with it."""
    for colour, value in sorted(LIGHT.items(), reverse=True):
        svg = re.sub(rf'{value}(?=[;"])', f"var(--{colour})", svg)
    return svg


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()
