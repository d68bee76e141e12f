"""What `make bench` writes, on tables small enough for a test."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from tamis.bench import figures
from tamis.bench.__main__ import main
from tamis.bench.match import contenders
from tamis.bench.svg import Axis, Line, plot


def test_a_plot_is_xml_with_a_curve_for_each_line() -> None:
    lines = [Line("a < b", [(1, 10), (1000, 20)]), Line("c", [(10, 100)], 1, 1)]
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


@pytest.mark.slow
def test_the_page_and_the_plots_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MESSAGES", 20)
    monkeypatch.setattr(figures, "GROWTH", (100, 200))
    monkeypatch.setattr(figures, "TARGETS", ((100, 20), (100, None)))
    monkeypatch.setattr(figures, "FIGURE_11_ROUNDS", (0, 5))
    monkeypatch.setattr("tamis.bench.match._UPDATES_TIMED", 10)
    done = CliRunner().invoke(main, ["--filters-max", "200", "--into", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    page = (tmp_path / "matching.md").read_text()
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == ["Targets", "Growth", "Filters per interface", "Rounds"]
    tables = json.loads((tmp_path / "matching.json").read_text())["tables"]
    assert [len(tables[title]) for title in tables] == [2, 6, 3, 1]
    for name in ("matching", "figure10", "figure11"):
        root = ET.fromstring((tmp_path / f"{name}.svg").read_text())  # noqa: S314 - our own text
        assert any(each.tag.endswith("polyline") for each in root)


def test_settings_share_their_filters() -> None:
    one, two = (figures.setting(100, interfaces, contenders(["tamis"])) for interfaces in (20, None))
    assert one.make().filters.data == two.make().filters.data
