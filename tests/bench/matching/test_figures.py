"""What `make bench` writes, on tables small enough for a test."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from tamis.analysis.page.svg import Axis, PlotLine, plot
from tamis.bench.matching import figures, libraries, sections
from tamis.bench.matching.__main__ import main
from tamis.bench.matching.contenders import contenders
from tamis.bench.matching.journal import Journal
from tamis.bench.matching.runner import Runner


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


TITLES = ["Targets", "Even spread", "Growth", "Updates", "Grouping", "Instructions", "Adversary", "Libraries"]
TITLES += ["Filters per interface", "Rounds", "Beyond a million"]


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every section at a size for tests; of the libraries the one that is always there."""
    monkeypatch.setattr(figures, "MESSAGES", 20)
    monkeypatch.setattr(figures, "GROWTH", (100, 200))
    monkeypatch.setattr(figures, "TARGETS", ((100, 20), (100, None)))
    monkeypatch.setattr(figures, "BEYOND", (150, 1_000))
    monkeypatch.setattr(figures, "FIGURE_11_ROUNDS", (0, 5))
    monkeypatch.setattr(sections, "GROUPED", (200,))
    monkeypatch.setattr(sections, "UPDATED", ((100, 20),))
    monkeypatch.setattr(sections, "COUNTED", ())
    monkeypatch.setattr(sections, "PEER_SIZES", (50, 100))
    monkeypatch.setattr(libraries, "NAMES", ("sqlite",))
    monkeypatch.setattr(sections, "ADVERSARY_TRIES", 1)
    monkeypatch.setattr(sections, "FAMILIES", ("names", "buckets"))
    monkeypatch.setattr("tamis.bench.matching.adversary.search._PASSES", 1)
    monkeypatch.setattr("tamis.bench.matching.adversary.search._PASSES_MIN", 1)
    monkeypatch.setattr("tamis.bench.matching.churn._DURATION_S", 0.01)
    monkeypatch.setattr("tamis.bench.matching.updates._TIMED", 10)
    monkeypatch.setattr("tamis.bench.matching.passes._REPEAT_S", 0)
    monkeypatch.setattr("tamis.bench.matching.__main__.bound_memory", lambda _gibibytes: None)


def bench(into: Path, *options: str) -> str:
    done = CliRunner().invoke(main, ["--filters-max", "200", "--into", str(into), *options], catch_exceptions=False)
    assert done.exit_code == 0
    return (into / "matching.md").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_the_page_and_the_plots_are_written(tmp_path: Path) -> None:
    page = bench(tmp_path)
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == TITLES
    tables = json.loads((tmp_path / "matching.json").read_text())["tables"]
    assert [len(tables[title]) for title in TITLES] == [2, 1, 6, 3, 3, 0, 2, 8, 3, 1, 2]
    assert all(0 <= row["churn"] < 2 for row in tables["Updates"])
    assert all(0 < row["links_matched"] <= sections.LINKS for row in tables["Grouping"])
    for name in ("matching", "figure10", "figure11"):
        root = ET.fromstring((tmp_path / f"{name}.svg").read_text())  # noqa: S314 - our own text
        assert any(each.tag.endswith("polyline") for each in root)
    assert not list(tmp_path.glob("*.jsonl"))


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_what_there_was_no_time_for_is_listed_and_the_rest_kept(tmp_path: Path) -> None:
    page = bench(tmp_path, "--minutes", "0")
    assert "- sigcomm03 100 x 20: sff r=0, sff r=10, tamis: time was up" in page
    assert list(tmp_path.glob("*.jsonl"))


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_a_larger_size_is_not_asked_of_a_library_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.bench.matching.libraries.contest.SECONDS_MAX", 0.01)
    runner = Runner(lambda _words: None, Journal(tmp_path / "rows", {}), 60)
    section = sections.against_libraries(runner, 200)
    assert section.notes == ["sqlite was not done with 50 filters in 0.01 s"]
    assert runner.skipped == {"library sqlite, 100 filters": section.notes[0]}
    assert {row["matcher"] for row in section.rows} == {"sff r=0", "sff r=10", "tamis"}


def test_settings_share_their_filters() -> None:
    one, two = (figures.setting(100, interfaces, contenders(["tamis"])) for interfaces in (20, None))
    assert one.make().filters.data == two.make().filters.data


@pytest.mark.slow
def test_a_contender_that_is_too_slow_has_no_point_and_its_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.bench.matching.runner.CONTENDER_S", 1e-6)
    runner = Runner(lambda _words: None, Journal(tmp_path / "rows", {}), 60)
    measured = runner.run(figures.setting(20, 4, contenders(["tamis"])))
    assert measured is not None
    assert "us a message: 3 passes take" in runner.skipped["sigcomm03 20 x 4: tamis: tamis"]
    assert figures.table_of([measured]).splitlines()[2].split("|")[3].strip() == ""
    monkeypatch.setattr("tamis.bench.matching.runner.CONTENDER_S", 60)
    other = runner.run(figures.setting(30, 4, contenders(["tamis"])))
    assert other is not None
    drawn = ET.fromstring(figures.draw_growth([measured, other]))  # noqa: S314 - our own text
    assert [each.attrib["points"].count(",") for each in drawn if each.tag.endswith("polyline")] == [1]
