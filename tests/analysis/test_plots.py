"""Plots are XML with a curve for each line, between axes with round ticks."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tamis.analysis.page.svg import Axis, PlotLine, plot


def test_a_plot_is_xml_with_a_curve_for_each_line() -> None:
    lines = [PlotLine("a < b", [(1, 10), (1000, 20)]), PlotLine("c", [(10, 100)], 1, 1)]
    drawn = plot("t", Axis.over("x", [1, 1000], log=True), Axis.over("y", [10, 100], log=True), lines)
    root = ET.fromstring(drawn)  # noqa: S314 - our own text
    spots = [each.attrib["points"] for each in root if each.tag.endswith("polyline")]
    assert len(spots) == 2
    assert spots[0].split()[0] == "70.0,410.0"
    assert "a < b" in "".join(root.itertext())


@pytest.mark.parametrize(
    ("low", "high", "log", "ticks"),
    [
        (1_000, 200_000, True, [1e3, 1e4, 1e5, 1e6]),
        (5, 5, True, [1, 10]),
        (0, 100, False, [0, 20, 40, 60, 80, 100]),
        (-20, 35, False, [-20, -10, 0, 10, 20, 30]),
    ],
)
def test_axes_have_a_handful_of_round_ticks(low: float, high: float, log: bool, ticks: list[float]) -> None:
    axis = Axis.over("x", [low, high], log)
    assert axis.ticks == pytest.approx(ticks)
    assert axis.share(axis.low) == 0
    assert axis.share(axis.high) == pytest.approx(1)
