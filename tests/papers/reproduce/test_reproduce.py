"""`tamis reproduce`: what it measures, what it leaves behind, and when it fails."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install -e '.[reproduce]'")

from matplotlib.axes import Axes

from tamis.cli.main import main
from tamis.papers.models.forwarding import Forwarded, ForwardingTable
from tamis.papers.reproduce import claims, drawing, outputs, running
from tamis.papers.reproduce.figure import (
    Criterion,
    FigureRun,
    Judgement,
    PaperFigure,
    PlotSpec,
    Reproduced,
    ResultRow,
    Ruling,
    Scale,
)
from tamis.papers.reproduce.judging import number, ruled, slope
from tamis.papers.reproduce.papers import FIGURES, PAPERS, figures_of

KEPT = claims.KEPT


def test_every_figure_and_claim_has_a_name_of_its_own() -> None:
    names = [(figure.paper, figure.id) for figure in FIGURES]
    claims = [criterion.name for figure in FIGURES for criterion in figure.criteria]
    assert len(set(names)) == len(names)
    assert len(set(claims)) == len(claims)
    for figure in FIGURES:
        assert figure.paper in PAPERS
        assert figure.criteria, f"{figure.id} of {figure.paper} claims nothing"
        assert all(criterion.name.startswith(f"{figure.paper}-") for criterion in figure.criteria)
        assert set(figure.settings) == set(figure.seconds) == set(Scale)


def test_what_does_not_hold_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Judgement(Ruling.DIFFERS, "1 of 2")
    assert ruled(True, "2 of 2", "never said").why == ""


def test_a_slope_of_a_power_is_its_exponent() -> None:
    assert slope([(x, 3 * x**0.5) for x in (1, 10, 100)]) == pytest.approx(0.5)


@pytest.mark.slow
def test_exact_figures_give_the_verdicts_that_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same on every machine, in three minutes or four on two cores."""
    assert main(["reproduce", "all", "--exact", "--out", str(tmp_path), "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    kept = {row["id"]: row for row in json.loads(KEPT.read_text())}
    exact = {criterion.name for figure in FIGURES if figure.is_exact for criterion in figure.criteria}
    assert {row["id"] for row in told} == exact
    assert {row["id"]: (row["verdict"], row["ours"]) for row in told} == {
        name: (kept[name]["verdict"], kept[name]["ours"]) for name in exact
    }
    page = (tmp_path / outputs.INDEX).read_text()
    assert all(f'id="{name}"' in page for name in exact)
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert page.count("<svg") == sum(len(figure["plots"]) for figure in outputs.read(tmp_path))


def test_the_page_of_the_papers_says_what_is_kept() -> None:
    """`python -m tamis.papers.reproduce.claims` renews it."""
    page = claims.PAGE.read_text()
    assert page == claims.renewed(page, claims.kept())
    names = {criterion.name for figure in FIGURES for criterion in figure.criteria}
    assert {row["id"] for row in json.loads(KEPT.read_text())} == names
    assert {row["id"] for row in json.loads(claims.KEPT_PAPER.read_text())} <= names


# --- a figure of our own ---------------------------------------------------------------------------------------------


def squares(asked: list[int], interrupted_at: int = 0) -> PaperFigure:
    """A figure that notes what it measures, and is interrupted once."""

    def measure(run: FigureRun) -> list[ResultRow]:
        def one(x: int) -> dict[str, int]:
            asked.append(x)
            if len(asked) == interrupted_at:
                raise KeyboardInterrupt
            return {"x": x, "y": x * x}

        return [run.cell(f"square of {x}", lambda x=x: one(x)) for x in run.numbers("xs")]  # type: ignore[misc]

    holds = Criterion("000-own", "It grows", "4", lambda rows: ruled(number(rows[-1], "y") > 4, "9", "it does not"))
    return PaperFigure(
        paper="000",
        id="example",
        title="Squares",
        shows="squares",
        chosen="",
        settings={scale: {"xs": (1, 2, 3)} for scale in Scale},
        measure=measure,
        criteria=(holds,),
        plots=(PlotSpec("Squares", "x", "y", "none", "x", "x squared"),),
    )


@pytest.mark.slow
def test_a_run_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    asked: list[int] = []
    figure = squares(asked, interrupted_at=3)
    with pytest.raises(KeyboardInterrupt):
        running.run([figure], Scale.SMALL, 1, tmp_path)
    done = running.run([figure], Scale.SMALL, 1, tmp_path)
    assert asked == [1, 2, 3, 3]
    assert [row["y"] for row in done[0].rows] == [1, 4, 9]
    running.run([figure], Scale.SMALL, 2, tmp_path)
    assert asked[4:] == [1, 2, 3], "another seed is another run"


@pytest.mark.slow
def test_what_a_run_leaves_behind(tmp_path: Path) -> None:
    running.run([squares([])], Scale.SMALL, 1, tmp_path)
    assert (tmp_path / "000" / "example.csv").read_text().splitlines() == ["x,y", "1,1", "2,4", "3,9"]
    assert (tmp_path / "000" / "example.plot1.png").read_bytes().startswith(b"\x89PNG")
    first = (tmp_path / "000" / "example.plot1.svg").read_text()
    assert first.startswith("<svg")
    assert [row["verdict"] for row in json.loads((tmp_path / outputs.VERDICTS).read_text())] == ["holds"]
    page = (tmp_path / outputs.INDEX).read_text()
    assert "var(--c0)" in page, "the plot has the colours of the page"
    assert "prefers-color-scheme: dark" in page
    running.run([squares([])], Scale.SMALL, 1, tmp_path)
    assert (tmp_path / "000" / "example.plot1.svg").read_text() == first


# --- pictures --------------------------------------------------------------------------------------------------------

BARE_UNITS = re.compile(r"\b(us|ms|s|times|%)\b|%")
"""Units that are no words, and a count of nothing."""


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: f"{figure.paper}-{figure.id}")
def test_axes_are_named_in_words_with_their_units(figure: PaperFigure) -> None:
    for spec in figure.plots:
        assert spec.title
        for label in (spec.x_label, spec.y_label):
            assert label, spec.title
            assert not BARE_UNITS.search(label), label
        assert len(spec.y_label.split()) > 1, f"{spec.y_label} is a count of what, or a time in which unit?"


def done_with(spec: PlotSpec, rows: list[ResultRow], ruling: Ruling = Ruling.HOLDS) -> Reproduced:
    judgement = Judgement(ruling, "3", "" if ruling is Ruling.HOLDS else "it does not")
    figure = replace(squares([]), plots=(spec,))
    return Reproduced(figure, Scale.SMALL, 1, rows, {"000-own": judgement}, 1.0)


def drawn_axes(spec: PlotSpec, rows: list[ResultRow]) -> Axes:
    made = drawing.picture(done_with(spec, rows), spec)
    assert made is not None
    return made.axes[0]


@pytest.mark.parametrize("ruling", Ruling)
def test_a_picture_has_a_title_words_on_its_axes_and_each_claim_with_its_verdict(ruling: Ruling) -> None:
    spec = PlotSpec("Squares of numbers", "x", "y", "none", "a number", "its square")
    made = drawing.drawn(done_with(spec, [{"x": 1, "y": 1}, {"x": 2, "y": 4}], ruling), spec, "p")
    assert made is not None
    words = re.findall(r"<text[^>]*>(.*?)</text>", made[0])
    for said in ("Squares of numbers", "Paper 000, squares", "a number", "its square"):
        assert said in words
    assert f"{drawing.SIGNS[ruling][0]} {ruling}: It grows" in words


BARS = PlotSpec("Bars", "at", "height", "kind", "a place", "the height", kind="bars")


def test_bars_stand_over_their_labels_where_some_were_not_measured() -> None:
    rows: list[ResultRow] = [
        {"at": "first", "kind": "a", "height": 2},
        {"at": "first", "kind": "b", "height": 3},
        {"at": "second", "kind": "b", "height": 4},
        {"at": "third", "kind": "a", "height": 0},
        {"at": "third", "kind": "b", "height": 5},
    ]
    axes = drawn_axes(BARS, rows)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["first", "second", "third"]
    bars = sorted((bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height()) for bar in axes.patches)
    for tick in axes.get_xticks():
        own = [bar for bar in bars if tick - 0.5 < (bar[0] + bar[1]) / 2 < tick + 0.5]
        assert (own[0][0] + own[-1][1]) / 2 == pytest.approx(tick), "the bars of a place are centred on its label"
    assert [height for *_, height in bars] == [2, 3, 4, 0, 5]


@pytest.mark.parametrize("kind", ["bars", "stack"])
def test_a_height_of_zero_is_a_figure_and_what_was_not_measured_is_not(kind: str) -> None:
    rows: list[ResultRow] = [
        {"at": "first", "kind": "a", "height": 0},
        {"at": "second", "kind": "a", "height": 4},
        {"at": "second", "kind": "b", "height": 4},
    ]
    axes = drawn_axes(replace(BARS, kind=kind), rows)
    assert [(each.get_text(), each.xy) for each in axes.texts] == [("0", (0.0, 0))]


def test_many_labels_do_not_run_into_one_another() -> None:
    rows: list[ResultRow] = [{"at": f"F={10**k:,} A={k}", "kind": "a", "height": k} for k in range(1, 7)]
    axes = drawn_axes(BARS, [*rows, *({"at": f"a_long_name_{k}", "kind": "a", "height": 1} for k in range(6))])
    assert {(label.get_rotation(), label.get_ha()) for label in axes.get_xticklabels()} == {(35.0, "right")}
    axes = drawn_axes(BARS, rows)
    assert axes.get_xticklabels()[0].get_text() == "F=10 A=1"
    assert axes.get_xticklabels()[5].get_text() == "F=1,000,000\nA=6"


@pytest.mark.parametrize("kinds", [["a", "b", "c"], ["a name of many letters " + each for each in "abc"], [*"abcdef"]])
def test_a_legend_is_within_its_picture(kinds: list[str]) -> None:
    rows: list[ResultRow] = [{"at": at, "kind": kind, "height": at} for kind in kinds for at in (1, 2)]
    axes = drawn_axes(replace(BARS, kind="line"), rows)
    legend, figure = axes.get_legend(), axes.figure
    assert legend is not None
    assert figure is not None
    whole, own = figure.bbox, legend.get_window_extent()
    assert whole.x0 <= own.x0 < own.x1 <= whole.x1
    assert whole.y0 <= own.y0 < own.y1 <= whole.y1


# --- the command -----------------------------------------------------------------------------------------------------


def test_a_model_that_disagrees_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ForwardingTable, "forward", lambda *_asked, **_options: Forwarded(frozenset(), 0, 0, 0))
    assert main(["reproduce", "000", "--figure", "example", "--out", str(tmp_path)]) == 1
    assert "the model of the paper []" in capsys.readouterr().err


def test_what_there_is_is_listed_and_what_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "004", "--list"]) == 0
    assert "004-48-bytes" in capsys.readouterr().out
    assert main(["reproduce", "all", "--list", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(FIGURES)
    assert main(["reproduce", "004", "--figure", "example,99"]) == 2
    assert "no figure '99'; it has " in capsys.readouterr().err
    assert main(["reproduce", "005"]) == 2
    assert [figure.id for figure in figures_of("002", ["chart-2"])] == ["chart-2"]


def test_a_package_without_benchmarks_says_where_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("tamis.papers")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tamis.papers", None)  # as where there is none
    assert main(["reproduce", "all"]) == 1
    assert "pip install -e '.[reproduce]'" in capsys.readouterr().err


# --- in a browser ----------------------------------------------------------------------------------------------------

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed: apt-get install chromium")
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_the_page_in_a_browser(tmp_path: Path, width: int, scheme: str) -> None:
    """Nothing is said on the console, nothing is wider than the page, every plot is drawn; `print` says where the
    screenshot is."""
    sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright
    assert main(["reproduce", "000", "--figure", "11,example", "--out", str(tmp_path)]) == 0
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((tmp_path / outputs.INDEX).as_uri())
        page.screenshot(path=tmp_path / "page.png", full_page=True)
        print(f"\n{tmp_path / 'page.png'}")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        for plot in page.locator("svg[role=img]").all():
            box = plot.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) > 100
        browser.close()
    assert said == []
