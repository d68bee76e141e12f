"""Plots of rows, with matplotlib, as SVG and PNG.

Law: equal rows give equal files. matplotlib is imported here alone; who has no matplotlib is told how to get it.
"""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from tamis.analysis.page.style import LIGHT, SERIES
from tamis.papers.reproduce.figure import PlotSpec, ResultRow, ResultRows
from tamis.papers.reproduce.judging import number
from tamis.protocol.errors import TamisError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DASHES: Final = ("-", "--", ":")
_MARKS: Final = "osD^vPX*"
_WIDTH_IN, _HEIGHT_IN, _DPI = 6.4, 3.9, 110
_STACKS: Final = ("c0", "c6", "c4", "c1", "c7", "c3", "c2", "c5")


class NoMatplotlib(TamisError):
    """The library that draws is not installed."""


def check_installed() -> None:
    """NoMatplotlib, with the command that installs it, if it is not there."""
    if importlib.util.find_spec("matplotlib") is None:
        raise NoMatplotlib("figures need matplotlib: pip install 'tamis[reproduce]'")


def drawn(spec: PlotSpec, rows: ResultRows, name: str) -> tuple[str, bytes] | None:
    """SVG and PNG; None if there is nothing to draw. `name` is unique on a page."""
    chosen = spec.chosen(rows)
    if not chosen:
        return None
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 9.5, "axes.linewidth": 0.8}):
        figure = Figure(figsize=(_WIDTH_IN, _HEIGHT_IN), dpi=_DPI, layout="constrained", facecolor=LIGHT["ground"])
        axes = figure.add_subplot()
        _fill(axes, spec, chosen)
        _dress(axes, spec)
        _place_legend(figure, axes, spec.by)
        return _svg(figure, spec, name), _png(figure)


def _fill(axes: Axes, spec: PlotSpec, rows: Sequence[ResultRow]) -> None:
    kinds = list(dict.fromkeys(row.get(spec.by) for row in rows))
    places = list(dict.fromkeys(row[spec.x] for row in rows))
    below = dict.fromkeys(places, 0.0)
    for rank, kind in enumerate(kinds):
        own = [row for row in rows if row.get(spec.by) == kind]
        label, colour = f"{kind}", LIGHT[f"c{rank % SERIES}"]
        if spec.kind == "line":
            line = sorted((number(row, spec.x), number(row, spec.y)) for row in own)
            dash, mark = _DASHES[rank // SERIES % len(_DASHES)], _MARKS[rank % len(_MARKS)]
            axes.plot(*zip(*line, strict=True), color=colour, label=label, lw=1.7, ms=4.2, ls=dash, marker=mark)
            continue
        heights = {row[spec.x]: number(row, spec.y) for row in own}
        values = [heights.get(place, 0.0) for place in places]
        if spec.kind == "stack":
            colour = LIGHT[_STACKS[rank % len(_STACKS)]]
            axes.bar(range(len(places)), values, 0.72, list(below.values()), color=colour, label=label)
            below = {place: below[place] + value for place, value in zip(places, values, strict=True)}
        else:
            width = 0.8 / len(kinds)
            left = [index - 0.4 + width * (rank + 0.5) for index in range(len(places))]
            axes.bar(left, values, width, color=colour, label=label)
    if spec.kind != "line":
        axes.set_xticks(
            range(len(places)), [f"{place:,}" if isinstance(place, int) else f"{place}" for place in places]
        )
        if max(len(f"{place}") for place in places) * len(places) > 70:
            axes.tick_params("x", rotation=30)


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
            axis.set_major_formatter(FuncFormatter(lambda value, _at: _tick(value)))
        axis.label.set_color(LIGHT["ink"])


def _tick(value: float) -> str:
    for least, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= least:
            return f"{value / least:g}{letter}"
    return f"{value:g}"


def _place_legend(figure: Figure, axes: Axes, title: str) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) > 1:
        beside = len(labels) > 4
        look: dict[str, Any] = {"frameon": False, "labelcolor": LIGHT["ink"], "fontsize": 8.5, "title_fontsize": 8.5}
        look |= {"title": title, "ncols": 1 if beside else len(labels)}
        legend = figure.legend(handles, labels, loc="outside right upper" if beside else "outside upper left", **look)
        legend.get_title().set_color(LIGHT["ink"])


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
